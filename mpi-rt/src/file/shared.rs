//! What the ranks of a file share: one line in the first rank's memory.

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_epoch::TargetLock;

/// The shared file pointer, and the lock of atomic mode. Ranks that read share the lock, a rank that writes has it alone.
#[repr(C, align(64))]
pub(super) struct Control {
    /// In etypes of the view.
    pointer: AtomicU64,
    pub lock: TargetLock,
}

impl Control {
    pub fn new(pointer: u64) -> Control {
        Control { pointer: AtomicU64::new(pointer), lock: TargetLock::new() }
    }

    /// Where the shared pointer is.
    pub fn position(&self) -> u64 {
        // Relaxed: a number of its own; what is in the file is ordered by the system calls that move it.
        self.pointer.load(Ordering::Relaxed)
    }

    /// Moves it to a place. Only between two exchanges of all ranks.
    pub fn set_position(&self, position: u64) {
        // Relaxed: the exchanges order it.
        self.pointer.store(position, Ordering::Relaxed);
    }

    /// Moves it on by so many etypes; where it was. `None`, and it stays, if no file is that long.
    pub fn advance(&self, etypes: u64) -> Option<u64> {
        let on = |position: u64| position.checked_add(etypes).filter(|end| *end <= i64::MAX as u64);
        // Relaxed, both: as in `position`. Every rank gets a part of its own, since additions to one word have one order.
        self.pointer.fetch_update(Ordering::Relaxed, Ordering::Relaxed, on).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_gives_out_parts_that_follow_each_other() {
        let control = Control::new(7);
        assert_eq!(
            (control.advance(3), control.advance(0), control.advance(5)),
            (Some(7), Some(10), Some(10))
        );
        assert_eq!(control.position(), 15);
        assert_eq!((control.advance(i64::MAX as u64), control.position()), (None, 15));
        control.set_position(0);
        assert_eq!(control.advance(i64::MAX as u64), Some(0));
    }
}
