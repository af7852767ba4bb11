//! State of one rank that no peer touches.

use core::cell::RefCell;

/// A static of this rank alone. Peers see the memory but never use it.
pub struct RankLocal<T>(RefCell<T>);

// SAFETY: a rank is one thread, without signal handlers (lwk-user), and peers do not touch these objects.
unsafe impl<T> Sync for RankLocal<T> {}

impl<T> RankLocal<T> {
    pub const fn new(value: T) -> RankLocal<T> {
        RankLocal(RefCell::new(value))
    }

    /// The object, if no call further out is using it.
    #[inline]
    pub fn try_with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.0.try_borrow_mut().ok().map(|mut value| use_it(&mut value))
    }
}
