//! The shared pointer of a file (MPI-5.0, section 14.4.4): every rank that moves it on gets a part of its own.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::made;

/// One file's, in its first rank's memory.
#[repr(transparent)]
pub struct SharedPointer(AtomicU64);

impl SharedPointer {
    made! {
        /// At the file's beginning.
        pub fn new() -> SharedPointer {
            SharedPointer(AtomicU64::new(0))
        }
    }

    /// Where it is.
    pub fn position(&self) -> u64 {
        // Relaxed: a number of its own; what is in the file is ordered by the system calls that move it.
        self.0.load(Ordering::Relaxed)
    }

    /// Moves it to a place. Only between two exchanges of all ranks.
    pub fn set_position(&self, position: u64) {
        // Relaxed: the exchanges order it.
        self.0.store(position, Ordering::Relaxed);
    }

    /// Moves it on by so many etypes; where it was. `None`, and it stays, if no file is that long.
    pub fn advance(&self, etypes: u64) -> Option<u64> {
        let on = |position: u64| position.checked_add(etypes).filter(|end| *end <= i64::MAX as u64);
        // Relaxed, both: as in `position`. Every rank gets a part of its own, since changes of one word have one order.
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, on).ok()
    }
}

impl Default for SharedPointer {
    fn default() -> SharedPointer {
        SharedPointer::new()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_gives_out_parts_that_follow_each_other() {
        let pointer = SharedPointer::new();
        pointer.set_position(7);
        assert_eq!(
            (pointer.advance(3), pointer.advance(0), pointer.advance(5)),
            (Some(7), Some(10), Some(10))
        );
        assert_eq!(pointer.position(), 15);
        assert_eq!((pointer.advance(i64::MAX as u64), pointer.position()), (None, 15));
        pointer.set_position(0);
        assert_eq!(pointer.advance(i64::MAX as u64), Some(0));
    }
}
