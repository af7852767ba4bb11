//! What a PE has called of the symmetric heap, for its neighbour to compare with.
//!
//! There are two places, since a PE may begin its next call while its neighbour still reads of this one. Each call synchronises all PEs between telling
//! and reading. So a PE that tells its next call but one has passed the synchronisation of the next, which its neighbour entered when it had read.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::{array, made};

/// Words of a call.
pub(crate) const CALL_WORDS: usize = 4;

/// A place, on a line of its own.
#[repr(C, align(64))]
pub(crate) struct Place([AtomicU64; CALL_WORDS]);

/// A PE's calls.
#[repr(C)]
pub(crate) struct Calls([Place; 2]);

impl Calls {
    made! {
        /// Nothing has been called; calls count from 1.
        pub(crate) fn new() -> Calls {
            Calls(array!(Place(array!(AtomicU64::new(0); CALL_WORDS)); 2))
        }
    }

    /// Tells this PE's call of that number.
    pub(crate) fn tell(&self, number: u64, words: [u64; CALL_WORDS]) {
        for (place, word) in self.0[(number % 2) as usize].0.iter().zip(words) {
            // Relaxed: ordered by the synchronisation that follows.
            place.store(word, Ordering::Relaxed);
        }
    }

    /// Where the words of that call are, in bytes: to be read after the synchronisation, and before the next.
    pub(crate) const fn offset_of(number: u64) -> usize {
        (number % 2) as usize * size_of::<Place>()
    }
}

#[cfg(all(test, feature = "loom"))]
mod model {
    use super::*;
    use crate::primitive::{Memory, check};
    use crate::protocol::mailbox::Mailbox;
    use loom::sync::Arc;
    use loom::thread;

    /// Two PEs make three calls. Each reads the other's call of the same number, whole; the checker fails if a place is told anew meanwhile.
    #[test]
    fn the_neighbour_reads_the_call_of_the_same_number() {
        check(|| {
            let shared =
                Arc::new([0, 1].map(|_| (Mailbox::new(), Calls::new(), [Memory::new(), Memory::new()])));
            let run = |me: usize, shared: &[(Mailbox, Calls, [Memory; 2]); 2]| {
                for number in 1..=3u64 {
                    let place = (number % 2) as usize;
                    let ((_, mine, own), (boxed, theirs, other)) = (&shared[me], &shared[1 - me]);
                    mine.tell(number, [number; CALL_WORDS]);
                    // What the order of the words protects: the checker watches who touches it when.
                    own[place].store(number);
                    boxed.signal(number, 1);
                    shared[me].0.hear(number, 1, || false).unwrap();
                    assert_eq!(other[place].load(), number);
                    assert!(theirs.0[place].0.iter().all(|word| word.load(Ordering::Relaxed) == number));
                }
            };
            let other = {
                let shared = shared.clone();
                thread::spawn(move || run(1, &shared))
            };
            run(0, &shared);
            other.join().unwrap();
        });
    }
}
