//! Words that peers update at once: loads, stores and locked instructions at an address (MPI-5.0, section 12.3.4; OpenSHMEM 1.5, section 9.7).
//!
//! Orderings are the strongest that cost nothing here: a locked instruction is a full barrier anyway, and loads and stores are acquire
//! and release as they are.

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// An integer that the processor updates atomically. What changes a word answers with the value before; addition wraps around.
pub trait Word: Copy + Eq {
    /// Its bits, zero-extended.
    fn to_bits(self) -> u64;
    /// The word with these as its lowest bits.
    fn from_bits(bits: u64) -> Self;
    /// What is there. Acquire.
    ///
    /// # Safety
    /// `at` is aligned and leads to a word, readable and writable, that everybody accesses only atomically
    /// meanwhile.
    unsafe fn load(at: *mut Self) -> Self;
    /// `value` is there afterwards. Release.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn store(at: *mut Self, value: Self);
    /// `value` is there afterwards. Acquire and release, here and below.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn swap(at: *mut Self, value: Self) -> Self;
    /// The sum is there afterwards.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn add(at: *mut Self, value: Self) -> Self;
    /// The bits in both are there afterwards.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn and(at: *mut Self, value: Self) -> Self;
    /// The bits in either are there afterwards.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn or(at: *mut Self, value: Self) -> Self;
    /// The bits in just one are there afterwards.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn xor(at: *mut Self, value: Self) -> Self;
    /// `new` is there afterwards if `old` was.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self;
}

macro_rules! word {
    ($($type:ty as $atomic:ty, $bits:ty;)*) => {
        $(
            impl Word for $type {
                #[inline(always)]
                fn to_bits(self) -> u64 {
                    self as $bits as u64
                }
                #[inline(always)]
                fn from_bits(bits: u64) -> $type {
                    bits as $type
                }
                #[inline(always)]
                unsafe fn load(at: *mut $type) -> $type {
                    // SAFETY: `at` is aligned, readable and writable, and only accessed atomically meanwhile
                    // (this method's contract). Acquire: pairs with the release of any rank's store or update
                    // of the same word.
                    unsafe { <$atomic>::from_ptr(at) }.load(Ordering::Acquire)
                }
                #[inline(always)]
                unsafe fn store(at: *mut $type, value: $type) {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
                    // Release: pairs with the acquire of any rank's load or update of the same word.
                    unsafe { <$atomic>::from_ptr(at) }.store(value, Ordering::Release)
                }
                #[inline(always)]
                unsafe fn swap(at: *mut $type, value: $type) -> $type {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
                    // Both orders, here and below: pairs with any rank's update of the same word.
                    unsafe { <$atomic>::from_ptr(at) }.swap(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn add(at: *mut $type, value: $type) -> $type {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
                    unsafe { <$atomic>::from_ptr(at) }.fetch_add(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn and(at: *mut $type, value: $type) -> $type {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
                    unsafe { <$atomic>::from_ptr(at) }.fetch_and(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn or(at: *mut $type, value: $type) -> $type {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
                    unsafe { <$atomic>::from_ptr(at) }.fetch_or(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn xor(at: *mut $type, value: $type) -> $type {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
                    unsafe { <$atomic>::from_ptr(at) }.fetch_xor(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn compare_exchange(at: *mut $type, old: $type, new: $type) -> $type {
                    // SAFETY: an aligned, writable word, only accessed atomically (this method's contract).
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
    u8 as AtomicU8, u8;
    u16 as AtomicU16, u16;
    u32 as AtomicU32, u32;
    u64 as AtomicU64, u64;
    i32 as AtomicI32, u32;
    i64 as AtomicI64, u64;
}

/// Replaces a word by `new(word)`, however often that takes; what was there.
///
/// # Safety
/// As for [`Word::load`].
#[inline(always)]
pub unsafe fn update<W: Word>(at: *mut W, mut new: impl FnMut(W) -> W) -> W {
    // SAFETY: `at` leads to an aligned, writable word that is only accessed atomically (this function's
    // contract).
    let mut old = unsafe { W::load(at) };
    loop {
        // SAFETY: `at` leads to an aligned, writable word that is only accessed atomically (this function's
        // contract).
        let seen = unsafe { W::compare_exchange(at, old, new(old)) };
        if seen == old {
            return old;
        }
        old = seen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_update_answers_what_was_there() {
        let mut word = 6i32;
        let at = &raw mut word;
        // SAFETY: a variable of this test.
        unsafe {
            assert_eq!((i32::add(at, -8), i32::load(at)), (6, -2));
            assert_eq!((i32::swap(at, 12), i32::and(at, 10), i32::or(at, 3)), (-2, 12, 8));
            assert_eq!((i32::xor(at, 1), i32::compare_exchange(at, 11, 5), i32::load(at)), (11, 10, 10));
            assert_eq!(
                (i32::compare_exchange(at, 10, 5), update(at, |old| old * 7), i32::load(at)),
                (10, 5, 35)
            );
            i32::store(at, -1);
        }
        assert_eq!(
            (word.to_bits(), i32::from_bits(word.to_bits()), u8::from_bits(0x1ff)),
            (0xffff_ffff, -1, 255)
        );
    }
}
