//! What orders a PE's accesses: the fences of `fence` and `quiet`.

use crate::primitive::{Ordering, memory_fence};

/// What is stored before is seen by whoever polls a word that is stored after, by any store.
#[inline(always)]
pub(crate) fn fence() {
    // Release: pairs with the acquire loads of the wait routines, in the PE that sees a later flag.
    memory_fence(Ordering::Release);
}

/// What is stored before is there before anything is loaded after.
#[inline(always)]
pub(crate) fn quiet() {
    // SeqCst: a store followed by a load of a flag the peer sets likewise must not pass it, in either PE.
    memory_fence(Ordering::SeqCst);
}

#[cfg(all(test, feature = "loom"))]
mod model {
    use super::*;
    use crate::primitive::{AtomicU64, Memory, check, wait_until};
    use loom::sync::Arc;
    use loom::thread;

    /// Puts, a fence, a flag; the other PE waits for the flag and uses what was put.
    #[test]
    fn a_flag_after_a_fence_publishes_what_was_put_before() {
        check(|| {
            let shared = Arc::new((Memory::new(), AtomicU64::new(0)));
            let writer = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.0.store(7);
                    fence();
                    // Relaxed: as a put of one word is.
                    shared.1.store(1, Ordering::Relaxed);
                })
            };
            // Acquire: as the wait routines load (`lwk_copy::Word::load`); pairs with the writer's fence.
            wait_until(|| shared.1.load(Ordering::Acquire) == 1);
            assert_eq!(shared.0.load(), 7);
            writer.join().unwrap();
        });
    }

    /// Each PE puts its flag, makes sure that it is there, and looks at the other's: at least one sees the other.
    #[test]
    fn after_quiet_one_of_two_sees_the_other() {
        check(|| {
            let flags = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let run = |me: usize, flags: &[AtomicU64; 2]| {
                // Relaxed, both: `quiet` orders them.
                flags[me].store(1, Ordering::Relaxed);
                quiet();
                flags[1 - me].load(Ordering::Relaxed)
            };
            let other = {
                let flags = flags.clone();
                thread::spawn(move || run(1, &flags))
            };
            let seen = run(0, &flags);
            assert!(seen + other.join().unwrap() > 0);
        });
    }
}
