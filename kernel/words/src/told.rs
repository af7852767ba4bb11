//! A word by which one side tells the other that something is there.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::made;

/// A word that one side stores, after all that it is about, and the other looks at, before that.
#[repr(transparent)]
#[derive(Debug)]
pub struct Told(AtomicU64);

impl Told {
    made! {
        /// Nothing has been told.
        pub fn new() -> Told {
            Told(AtomicU64::new(0))
        }
    }

    /// The word at an address.
    ///
    /// # Safety
    /// `place` is aligned and leads to eight bytes, readable and writable for as long as the word is used, which nobody reaches meanwhile but by loads and
    /// stores of the whole word.
    #[inline(always)]
    pub unsafe fn at<'a>(place: *mut u64) -> &'a Told {
        // SAFETY: this function's contract; the type is that of an atomic word.
        unsafe { &*place.cast::<Told>() }
    }

    /// Stores it after everything that this side has stored before.
    #[inline(always)]
    pub fn tell(&self, word: u64) {
        // Release: pairs with the acquire in `look`.
        self.0.store(word, Ordering::Release);
    }

    /// What is there. All that was stored before it was told can be read.
    #[inline(always)]
    pub fn look(&self) -> u64 {
        // Acquire: pairs with the release in `tell`.
        self.0.load(Ordering::Acquire)
    }

    /// Sets it before the other side knows of it, or to what the word alone says.
    #[inline(always)]
    pub(crate) fn set(&self, word: u64) {
        // Relaxed: what hands it over (a system call, another word) orders it.
        self.0.store(word, Ordering::Relaxed);
    }

    /// What is there, where another word has been looked at before.
    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: the other word orders it.
        self.0.load(Ordering::Relaxed)
    }

    /// Where it is, for the system.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        core::ptr::from_ref(self).expose_provenance() as u64
    }
}

impl Default for Told {
    fn default() -> Told {
        Told::new()
    }
}
