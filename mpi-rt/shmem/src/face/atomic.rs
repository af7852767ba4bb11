//! Numbers in the symmetric heap that all PEs may use at once, locks, and signals.

use super::{Error, Pe, Shmem};
use crate::engine::{self, AtomicInteger, AtomicWord, WaitWord};
use core::marker::PhantomData;

/// How a wait compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// Equal.
    Eq = engine::CMP_EQ as isize,
    /// Not equal.
    Ne = engine::CMP_NE as isize,
    /// Greater.
    Gt = engine::CMP_GT as isize,
    /// Greater or equal.
    Ge = engine::CMP_GE as isize,
    /// Less.
    Lt = engine::CMP_LT as isize,
    /// Less or equal.
    Le = engine::CMP_LE as isize,
}

/// A number that every PE has, zero at first, on a cache line of its own. All use is atomic, so all of it is safe.
///
/// Making and dropping one is collective.
pub struct SymAtomic<'s, T: AtomicWord> {
    /// A cache line of the symmetric heap in every PE, zeroed before the constructor returns, live until
    /// `drop`; only atomics touch it.
    word: *mut T,
    _shmem: PhantomData<&'s Shmem>,
}

impl Shmem {
    /// A number, zero in all PEs. Collective.
    ///
    /// Errors: the symmetric heap has no room for it.
    pub fn atomic<T: AtomicWord>(&self) -> Result<SymAtomic<'_, T>, Error> {
        let word = engine::calloc(1, size_of::<T>()).cast::<T>();
        if word.is_null() {
            return Err(Error::HeapFull { bytes: size_of::<T>() });
        }
        Ok(SymAtomic { word, _shmem: PhantomData })
    }

    /// A free lock. Collective.
    ///
    /// Errors: the symmetric heap has no room for it.
    pub fn lock(&self) -> Result<SymLock<'_>, Error> {
        Ok(SymLock(self.atomic()?))
    }
}

impl<T: AtomicWord> Drop for SymAtomic<'_, T> {
    fn drop(&mut self) {
        engine::free(self.word.cast());
    }
}

impl<T: AtomicWord> SymAtomic<'_, T> {
    /// PE `pe`'s value.
    #[inline]
    pub fn fetch(&self, pe: Pe) -> T {
        // SAFETY: `word` is symmetric, aligned and live, and only atomics touch it (the field's invariant).
        unsafe { engine::atomic_fetch(self.word, pe.raw()) }
    }

    /// Sets PE `pe`'s value. What this PE stored before is visible to whoever sees it.
    #[inline]
    pub fn set(&self, pe: Pe, value: T) {
        // SAFETY: `word` is symmetric, aligned and live, and only atomics touch it (the field's invariant).
        unsafe { engine::atomic_set(self.word, value, pe.raw()) }
    }

    /// Sets PE `pe`'s value and returns the old one.
    #[inline]
    pub fn swap(&self, pe: Pe, value: T) -> T {
        // SAFETY: `word` is symmetric, aligned and live, and only atomics touch it (the field's invariant).
        unsafe { engine::atomic_swap(self.word, value, pe.raw()) }
    }
}

macro_rules! operations {
    ($($name:ident is $engine:ident: $what:literal;)*) => {
        impl<T: AtomicInteger> SymAtomic<'_, T> {
            $(
                #[doc = $what]
                #[inline]
                pub fn $name(&self, pe: Pe, value: T) -> T {
                    // SAFETY: `word` is symmetric, aligned and live, and only atomics touch it (the field's
                    // invariant).
                    unsafe { engine::$engine(self.word, value, pe.raw()) }
                }
            )*

            /// Sets PE `pe`'s value to `new` if it is `old`; returns what it was.
            #[inline]
            pub fn compare_swap(&self, pe: Pe, old: T, new: T) -> T {
                // SAFETY: `word` is symmetric, aligned and live, and only atomics touch it (the field's
                // invariant).
                unsafe { engine::atomic_compare_swap(self.word, old, new, pe.raw()) }
            }
        }
    };
}

operations! {
    add is atomic_fetch_add: "Adds to PE `pe`'s value, wrapping around; returns the old one.";
    and is atomic_fetch_and: "Bitwise and with PE `pe`'s value; returns the old one.";
    or is atomic_fetch_or: "Bitwise or with PE `pe`'s value; returns the old one.";
    xor is atomic_fetch_xor: "Bitwise exclusive or with PE `pe`'s value; returns the old one.";
}

impl<T: AtomicWord + WaitWord> SymAtomic<'_, T> {
    /// Waits until this PE's own value compares so; returns it.
    #[inline]
    pub fn wait_until(&self, compare: Compare, value: T) -> T {
        // SAFETY: `word` is symmetric, aligned and live, and only atomics touch it (the field's invariant).
        unsafe { engine::wait_until(self.word, compare as i32, value) }
    }
}

/// A fair lock that all PEs share. Making and dropping one is collective.
pub struct SymLock<'s>(SymAtomic<'s, i64>);

/// The lock, held. Dropping it completes this PE's puts and gives the lock to the next PE.
pub struct LockGuard<'l>(&'l SymLock<'l>);

impl SymLock<'_> {
    /// Waits for the lock. A PE that has it already ends the job with a line that says so.
    pub fn lock(&self) -> LockGuard<'_> {
        // SAFETY: `word` is a symmetric, aligned, live `long`, zero at first; it is private, so only the lock
        // routines touch it.
        unsafe { engine::set_lock(self.0.word) };
        LockGuard(self)
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<LockGuard<'_>> {
        // SAFETY: `word` is a symmetric, aligned, live `long`, zero at first; it is private, so only the lock
        // routines touch it.
        let taken = unsafe { engine::test_lock(self.0.word) } == 0;
        taken.then_some(LockGuard(self))
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: `word` is a symmetric, aligned, live `long` that only the lock routines touch. This PE has
        // the lock, since there is a guard.
        unsafe { engine::clear_lock(self.0.0.word) };
    }
}
