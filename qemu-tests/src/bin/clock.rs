//! Time never runs backwards between cores
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU64, Ordering};

use lwk_user::barrier::node_barrier;
use lwk_user::clock::node_ticks_ordered;
use lwk_user::smartmap::{Peer, Symmetric};
use lwk_user::{Env, job, println};

/// The latest time any rank has seen, in rank 0.
static LATEST: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
/// Comparisons by each rank.
const COMPARISONS: u64 = 20_000;

lwk_user::entry!(main);

fn main(_: &Env) -> i32 {
    let latest = LATEST.at(Peer::root()).get();
    node_barrier();
    let mut backwards = 0;
    for _ in 0..COMPARISONS {
        // Acquire: the counter is read here after the other rank has read its own.
        let seen = latest.load(Ordering::Acquire);
        let now = node_ticks_ordered();
        backwards += u64::from(now < seen);
        // Release: pairs with the load above, in another rank.
        latest.fetch_max(now, Ordering::Release);
    }
    println!("rank {} saw time go backwards {backwards} times", job().rank());
    i32::from(backwards > 0)
}
