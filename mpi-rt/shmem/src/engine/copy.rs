//! Moving bytes between PEs: one load and store for a word, [`lwk_copy::copy`] for more.

use super::fatal::stop;
use core::mem::{MaybeUninit, transmute_copy};
use lwk_copy::word;

/// Copies `bytes` bytes.
///
/// Eight bytes, the size of most flags and counters, are one load and one store where the caller is; everything else is a call.
///
/// # Safety
/// `source` must be readable and `target` writable for `bytes` bytes; the ranges must not overlap. Unless
/// `bytes` is 1, 2, 4 or 8, nobody else may write either or read `target` meanwhile.
#[inline(always)]
pub(crate) unsafe fn transfer(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: `source` is readable and `target` writable for `bytes` bytes, disjoint (this function's
    // contract); a word is eight bytes.
    unsafe {
        if bytes == 8 {
            word::copy_8(source, target);
        } else {
            any(source, target, bytes);
        }
    }
}

/// Copies `count` elements. What moves eight bytes is one load and one store, as in [`transfer`].
///
/// # Safety
/// As for [`transfer`], for the bytes of `count` elements.
#[inline(always)]
pub(crate) unsafe fn transfer_elements<T: Copy>(source: *const T, target: *mut T, count: usize) {
    let (source, target) = (source.cast(), target.cast());
    // SAFETY: `source` is readable and `target` writable for `count` elements, disjoint (this function's
    // contract); in the first arm they are eight bytes.
    unsafe {
        if 8usize.is_multiple_of(size_of::<T>()) && count == 8 / size_of::<T>() {
            word::copy_8(source, target);
        } else {
            any(source, target, bytes_of::<T>(count));
        }
    }
}

/// Bytes of `count` elements. A count whose bytes are more than an address can tell names no object: it ends the job, lest what is
/// left of it when the upper bits are lost be taken for the length.
#[inline(always)]
pub(crate) fn bytes_of<T>(count: usize) -> usize {
    product(count, size_of::<T>())
}

/// The product of a count with the bytes of what is counted; too large a one ends the job.
#[inline(always)]
pub(crate) fn product(count: usize, bytes: usize) -> usize {
    count.checked_mul(bytes).unwrap_or_else(|| too_many(count, bytes))
}

#[cold]
#[inline(never)]
fn too_many(count: usize, bytes: usize) -> ! {
    stop(format_args!(
        "{count} elements of {bytes} bytes each are more than there can be: a count is a `size_t`, which a negative number does not fit"
    ))
}

/// # Safety
/// As for [`transfer`].
#[inline(never)]
unsafe fn any(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: `source` is readable and `target` writable for `bytes` bytes, disjoint (this function's
    // contract); each arm moves exactly `bytes`.
    unsafe {
        match bytes {
            4 => word::copy_4(source, target),
            2 => word::copy_2(source, target),
            1 => word::copy_1(source, target),
            _ => lwk_copy::copy(source, target, bytes),
        }
    }
}

/// Stores one value: with one instruction if it is a word.
///
/// # Safety
/// `target` must be writable for a value of that type, which must have no padding.
#[inline(always)]
pub(crate) unsafe fn store<T: Copy>(target: *mut T, value: T) {
    let at = target.cast();
    // SAFETY: `target` is writable for a value (this function's contract). Without padding, a value has the
    // bytes of the word of its size, which is all the word is used for.
    unsafe {
        match size_of::<T>() {
            8 => word::store_8(at, transmute_copy(&value)),
            4 => word::store_4(at, transmute_copy(&value)),
            2 => word::store_2(at, transmute_copy(&value)),
            1 => word::store_1(at, transmute_copy(&value)),
            bytes => transfer((&raw const value).cast(), at, bytes),
        }
    }
}

/// Loads one value: with one instruction if it is a word.
///
/// # Safety
/// `source` must be readable for a value of that type, and hold a valid one.
#[inline(always)]
pub(crate) unsafe fn load<T: Copy>(source: *const T) -> T {
    let at = source.cast();
    // SAFETY: `source` is readable for `size_of::<T>()` bytes, which are a value of the type (this function's
    // contract).
    unsafe {
        match size_of::<T>() {
            8 => transmute_copy(&word::load_8(at)),
            4 => transmute_copy(&word::load_4(at)),
            2 => transmute_copy(&word::load_2(at)),
            1 => transmute_copy(&word::load_1(at)),
            bytes => {
                let mut value = MaybeUninit::<T>::uninit();
                transfer(at, value.as_mut_ptr().cast(), bytes);
                value.assume_init()
            }
        }
    }
}
