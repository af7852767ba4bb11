//! What one rank tells another in general active target synchronisation: how often it has posted to it, how often it has
//! completed access to it.
//!
//! Each rank has a line for every other, which only that other writes. Numbers count for ever, so that nothing has to be reset
//! and a rank may be an epoch ahead.

use crate::Singly;
use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::made;

/// A number that one rank raises and another waits for.
pub struct Tally(AtomicU64);

impl Tally {
    made! {
        /// Nothing yet.
        pub fn new() -> Tally {
            Tally(AtomicU64::new(0))
        }
    }

    /// Says that the event has happened `number` times; one more than the last time.
    #[inline]
    pub fn announce(&self, number: u64) {
        // Release: pairs with the acquire load in `has`; carries all that the announcer has stored in the listener's memory.
        self.0.store(number, Ordering::Release);
    }

    /// Whether it has happened `number` times.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        // Acquire: pairs with the release store in `announce`.
        self.0.load(Ordering::Acquire) >= number
    }
}

impl Default for Tally {
    fn default() -> Tally {
        Tally::new()
    }
}

/// What one peer tells this rank; a cache line of its own.
#[repr(C, align(64))]
pub struct PairLine {
    /// The peer has exposed its memory to this rank.
    pub posted: Tally,
    /// The peer has finished its access to this rank's memory.
    pub completed: Tally,
    /// The peer updates elements of this rank's singly.
    pub singly: Singly,
}

impl PairLine {
    made! {
        /// Nothing yet.
        pub fn new() -> PairLine {
            PairLine { posted: Tally::new(), completed: Tally::new(), singly: Singly::new() }
        }
    }
}

impl Default for PairLine {
    fn default() -> PairLine {
        PairLine::new()
    }
}
