//! State of one rank that no peer touches, and lending it to a callback of the program.

use core::cell::{Cell, RefCell, RefMut};
use core::ptr::NonNull;

/// A static of this rank alone. Peers see the memory but never use it.
pub struct RankLocal<T>(RefCell<T>);

// SAFETY: a rank is one thread, without signal handlers (lwk-user), and peers do not touch these objects.
unsafe impl<T> Sync for RankLocal<T> {}

impl<T> RankLocal<T> {
    pub const fn new(value: T) -> RankLocal<T> {
        RankLocal(RefCell::new(value))
    }

    /// The object, if no call further out is using it.
    #[inline(always)]
    pub fn try_borrow(&self) -> Option<RefMut<'_, T>> {
        self.0.try_borrow_mut().ok()
    }

    /// The same without a note that the object is in use: two stores less.
    ///
    /// # Safety
    /// `use_it` must not lead to another use of this object: nothing in it may run code of the program or wait for anything.
    #[inline(always)]
    pub unsafe fn try_briefly<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: nothing is changed through the reference, which is gone at once. (Who uses the object has an exclusive borrow.)
        if unsafe { self.0.try_borrow_unguarded() }.is_err() {
            return None;
        }
        // SAFETY: a rank is one thread; the check above found no borrow further out, and `use_it` leads to no
        // other use (this function's contract), so this reference is the only one.
        Some(use_it(unsafe { &mut *self.0.as_ptr() }))
    }

    /// Lets `use_it` use the object, if no call further out is using it.
    #[inline]
    pub fn try_with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.try_borrow().map(|mut value| use_it(&mut value))
    }
}

/// Where a call leaves the object that it is using while it runs a callback of the program (a reduction of the user, an
/// attribute's copy function), so that the callback's own calls find it.
pub struct Lent<T>(Cell<Option<NonNull<T>>>);

// SAFETY: a rank is one thread, without signal handlers (lwk-user), and peers do not touch these objects.
unsafe impl<T> Sync for Lent<T> {}

/// Puts back what was there before, also when the callback unwinds.
struct Restore<'a, T>(&'a Cell<Option<NonNull<T>>>, Option<NonNull<T>>);

impl<T> Drop for Restore<'_, T> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

impl<T> Lent<T> {
    pub const fn nothing() -> Lent<T> {
        Lent(Cell::new(None))
    }

    /// Runs `callback`; until it returns, [`Lent::try_with`] finds `value`.
    #[inline]
    pub fn lend<R>(&self, value: &mut T, callback: impl FnOnce() -> R) -> R {
        let restore = Restore(&self.0, self.0.replace(Some(NonNull::from(value))));
        let result = callback();
        drop(restore);
        result
    }

    /// The object that is lent, if one is and no call further out is using it.
    #[inline]
    pub fn try_with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut lent = self.0.take()?;
        let restore = Restore(&self.0, Some(lent));
        // SAFETY: `lend` made the pointer from an exclusive reference which it holds, unused, until its callback has returned, and this
        // runs inside that callback: afterwards `lend` has taken the pointer back. It was taken out of the cell just now, so nobody
        // else uses it.
        let result = use_it(unsafe { lent.as_mut() });
        drop(restore);
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_finds_what_is_lent_once_at_a_time_and_nobody_afterwards() {
        static LENT: Lent<u32> = Lent::nothing();
        let mut value = 1;
        assert_eq!(LENT.try_with(|_| ()), None);
        LENT.lend(&mut value, || {
            let inner = LENT.try_with(|it| {
                *it += 1;
                // In use further out: refused, unless lent again.
                assert_eq!(LENT.try_with(|_| ()), None);
                LENT.lend(it, || assert_eq!(LENT.try_with(|it| core::mem::replace(it, 5)), Some(2)));
                *it
            });
            assert_eq!(inner, Some(5));
            assert_eq!(LENT.try_with(|it| *it), Some(5));
        });
        assert_eq!(value, 5);
        assert_eq!(LENT.try_with(|_| ()), None);
    }
}
