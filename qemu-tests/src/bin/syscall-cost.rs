//! What a system call costs: `getpid`, in batches, in nanoseconds a call: the fastest, the median and the slowest batch
#![no_std]
#![no_main]

use core::time::Duration;
use lwk_user::clock::Instant;
use lwk_user::{Env, println, syscall};

/// Batches, and calls in each: enough that reading the clock does not count.
const BATCHES: usize = 200;
const CALLS: u32 = 100;

lwk_user::entry!(main);

fn main(_: &Env) -> i32 {
    let mut batches = [0.0; BATCHES];
    for nanoseconds in &mut batches {
        let start = Instant::now();
        for _ in 0..CALLS {
            syscall::getpid();
        }
        let elapsed: Duration = start.elapsed();
        *nanoseconds = elapsed.as_nanos() as f64 / f64::from(CALLS);
    }
    batches.sort_unstable_by(f64::total_cmp);
    println!(
        "syscall-cost: min {:.0} median {:.0} max {:.0}",
        batches[0],
        batches[BATCHES / 2],
        batches[BATCHES - 1]
    );
    0
}
