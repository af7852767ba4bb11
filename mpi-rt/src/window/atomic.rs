//! Atomic updates of words in a target's memory: locked instructions where the processor has one for the operation, otherwise a loop
//! around compare-and-exchange.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A word that the processor updates atomically.
pub(super) trait Word: Copy + Eq {
    /// Its bits, zero-extended.
    fn to_bits(self) -> u64;
    /// The word with these as its lowest bits.
    fn from_bits(bits: u64) -> Self;
    /// # Safety
    /// At `at`, aligned, is a word that is only accessed atomically meanwhile.
    unsafe fn load(at: *mut Self) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn store(at: *mut Self, value: Self);
    /// # Safety
    /// As for `load`.
    unsafe fn swap(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn add(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn and(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn or(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn xor(at: *mut Self, value: Self) -> Self;
    /// What was there; `new` is there afterwards if it was `old`.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self;
}

macro_rules! word {
    ($($type:ty as $atomic:ty;)*) => {
        $(
            impl Word for $type {
                #[inline(always)]
                fn to_bits(self) -> u64 {
                    self as u64
                }
                #[inline(always)]
                fn from_bits(bits: u64) -> $type {
                    bits as $type
                }
                #[inline(always)]
                unsafe fn load(at: *mut $type) -> $type {
                    // SAFETY: the caller's promise, here and in all that follow. Acquire: pairs with the release of an origin's update of the
                    // same word.
                    unsafe { <$atomic>::from_ptr(at) }.load(Ordering::Acquire)
                }
                #[inline(always)]
                unsafe fn store(at: *mut $type, value: $type) {
                    // SAFETY: as above. Release: pairs with the acquire of an origin's load or update of the same word.
                    unsafe { <$atomic>::from_ptr(at) }.store(value, Ordering::Release)
                }
                #[inline(always)]
                unsafe fn swap(at: *mut $type, value: $type) -> $type {
                    // SAFETY: as above. Both orders, here and below: pairs with any origin's update of the same word.
                    unsafe { <$atomic>::from_ptr(at) }.swap(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn add(at: *mut $type, value: $type) -> $type {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_add(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn and(at: *mut $type, value: $type) -> $type {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_and(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn or(at: *mut $type, value: $type) -> $type {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_or(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn xor(at: *mut $type, value: $type) -> $type {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_xor(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn compare_exchange(at: *mut $type, old: $type, new: $type) -> $type {
                    // SAFETY: as above.
                    let word = unsafe { <$atomic>::from_ptr(at) };
                    match word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
                        Ok(seen) | Err(seen) => seen,
                    }
                }
            }
        )*
    };
}

word! {
    u8 as AtomicU8;
    u16 as AtomicU16;
    u32 as AtomicU32;
    u64 as AtomicU64;
}

/// Replaces a word by `new(word)`, however often that takes; what was there.
///
/// # Safety
/// As for [`Word::load`].
#[inline(always)]
pub(super) unsafe fn update<W: Word>(at: *mut W, mut new: impl FnMut(W) -> W) -> W {
    // SAFETY: the caller's promise.
    let mut old = unsafe { W::load(at) };
    loop {
        // SAFETY: the caller's promise.
        let seen = unsafe { W::compare_exchange(at, old, new(old)) };
        if seen == old {
            return old;
        }
        old = seen;
    }
}
