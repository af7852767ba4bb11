//! What the ranks of a file share: one line in the first rank's memory.

use lwk_epoch::{SharedPointer, TargetLock};

/// The shared file pointer, and the lock of atomic mode. Ranks that read share the lock, a rank that writes has it alone.
#[repr(C, align(64))]
pub(super) struct Control {
    /// In etypes of the view.
    pub pointer: SharedPointer,
    pub lock: TargetLock,
}

impl Control {
    pub fn new(pointer: u64) -> Control {
        let it = Control { pointer: SharedPointer::new(), lock: TargetLock::new() };
        it.pointer.set_position(pointer);
        it
    }
}
