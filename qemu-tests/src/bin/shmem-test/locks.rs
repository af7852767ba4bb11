//! Locks: exclusion, visibility, fairness of the word's contents.

use crate::check::{Check, array};
use lwk_shmem::{Shmem, engine};

/// Times each PE takes each lock.
const TIMES: u64 = 50;

pub fn run(_: &Shmem, check: &mut Check) {
    // Several locks, so that different PEs are home.
    let locks = array::<i64>(3 * 8, 0);
    let counters = array::<u64>(3, 0);
    let n = engine::n_pes() as u64;
    for index in 0..3 {
        let (lock, counter) = (locks.wrapping_add(index * 8), counters.wrapping_add(index));
        for time in 0..TIMES {
            // SAFETY: a symmetric long, zero at first; the counter is plain data under the lock.
            unsafe {
                if time % 2 == 1 {
                    while engine::test_lock(lock) != 0 {
                        lwk_user::syscall::sched_yield();
                    }
                } else {
                    engine::set_lock(lock);
                }
                let value = engine::g(counter, 0);
                engine::p(counter, value + 1, 0);
                engine::clear_lock(lock);
            }
        }
        engine::barrier_all();
        // SAFETY: after the barrier nobody writes.
        check.equal(unsafe { engine::g(counter, 0) }, n * TIMES);
    }
    // A lock that is free is zero in every PE, as it was at first.
    for index in 0..3 {
        // SAFETY: after the barrier nobody uses the locks.
        check.equal(unsafe { locks.add(index * 8).read_volatile() }, 0);
    }
    engine::barrier_all();
    engine::free(counters.cast());
    engine::free(locks.cast());
}
