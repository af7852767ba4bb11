//! The lock of a target's elements: held while elements are updated that no single instruction can update.

use crate::primitive::{AtomicU32, Ordering};
use lwk_primitive::made;

/// One rank's; a cache line of its own.
#[repr(C, align(64))]
pub struct ElementLock(AtomicU32);

impl ElementLock {
    made! {
        /// A free lock.
        pub fn new() -> ElementLock {
            ElementLock(AtomicU32::new(0))
        }
    }

    /// Takes it if it is free.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // Acquire: pairs with the release store in `unlock`. Relaxed: a failure tells nothing.
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether it looks free: who waits looks before it tries again, so that waiting does not move the line.
    #[inline]
    pub fn looks_free(&self) -> bool {
        // Relaxed: a hint; `try_lock` decides.
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Gives it back; only its holder may.
    #[inline]
    pub fn unlock(&self) {
        // Release: pairs with the acquire exchange in `try_lock`.
        self.0.store(0, Ordering::Release);
    }
}

impl Default for ElementLock {
    fn default() -> ElementLock {
        ElementLock::new()
    }
}
