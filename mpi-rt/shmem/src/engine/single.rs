//! State of this PE: statics that only one thread ever touches.

use core::cell::{Cell, RefCell};

/// A static of a PE's own. Peers never touch it.
pub(crate) struct Single<T>(RefCell<T>);

// SAFETY: a rank is one thread, without signal handlers, so the cell is never used by two threads; peers have their own copy
// at the same address of their own memory and do not look at this one.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    pub(crate) const fn new(value: T) -> Single<T> {
        Single(RefCell::new(value))
    }

    /// Uses the value. The closure must not come back to the same static; none of the crate's does.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.borrow_mut())
    }
}

/// A number of a PE's own, which costs what a plain variable does.
pub(crate) struct Number(Cell<u32>);

// SAFETY: a rank is one thread, without signal handlers, and peers have their own copy and do not look at this one.
unsafe impl Sync for Number {}

impl Number {
    pub(crate) const fn new(value: u32) -> Number {
        Number(Cell::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u32 {
        self.0.get()
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u32) {
        self.0.set(value);
    }
}
