//! How the cores of waiting ranks spend their time: rank 0 waits for rank 1, and counts how often it looks
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use lwk_user::barrier::node_barrier;
use lwk_user::clock::Instant;
use lwk_user::smartmap::{Peer, Symmetric};
use lwk_user::wait::{POLLS_BEFORE_SLEEP, spin_until};
use lwk_user::{Env, println};

/// Set in rank 0's memory by rank 1 after [`TIME`].
static DONE: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
const TIME: Duration = Duration::from_millis(20);

lwk_user::entry!(main);

fn main(_: &Env) {
    let done = DONE.at(Peer::root()).get();
    node_barrier();
    let begun = Instant::now();
    if Peer::me() == Peer::root() {
        let mut looks = 0u64;
        spin_until(|| {
            looks += 1;
            // Acquire: pairs with the store below.
            done.load(Ordering::Acquire) == 1
        });
        // A sleep takes a microsecond or more.
        let most = u64::from(POLLS_BEFORE_SLEEP) + begun.elapsed().as_micros() as u64 * 3 / 2;
        let verb = if looks <= most { "sleeps" } else { "looks again and again" };
        println!("while rank 0 waits, it {verb}");
    } else {
        while begun.elapsed() < TIME {}
        // Release: pairs with the load above.
        done.store(1, Ordering::Release);
    }
    node_barrier();
}
