//! Strided put and get (`shmem_TYPE_iput`, `shmem_TYPE_iget`; the standard, section 9.6.1).

use super::copy::{transfer, transfer_elements};
use super::pe::at;

/// Copies `count` elements that lie `sst` elements apart in this PE's `source` to places `dst` elements apart in PE `pe`'s
/// `dest`. The distances are from start to start, 1 for elements side by side.
///
/// # Safety
/// `dest` must be symmetric, its named elements writable, those of `source` readable, and none in both.
/// Nobody else may write them, or read those of `dest`, meanwhile.
#[inline]
pub unsafe fn iput<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize, pe: i32) {
    // SAFETY: the named elements are writable in the peer's `dest`, readable in `source`, and disjoint (this
    // function's contract).
    unsafe { strided(at(dest, pe), source, dst, sst, count) }
}

/// Copies `count` elements that lie `sst` elements apart in PE `pe`'s `source` to places `dst` elements apart in this PE's
/// `dest`; the distances as for [`iput`].
///
/// # Safety
/// `source` must be symmetric, its named elements readable, those of `dest` writable, and none in both.
/// Nobody else may write them, or read those of `dest`, meanwhile.
#[inline]
pub unsafe fn iget<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize, pe: i32) {
    // SAFETY: the named elements are readable in the peer's `source`, writable in `dest`, and disjoint (this
    // function's contract).
    unsafe { strided(dest, at(source, pe), dst, sst, count) }
}

/// # Safety
/// The named elements must be readable in `source`, writable in `dest`, and none in both. Nobody else may
/// write them, or read those in `dest`, meanwhile.
#[inline]
pub(crate) unsafe fn strided<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize) {
    if dst == 1 && sst == 1 {
        // SAFETY: `source` is readable and `dest` writable for `count` elements in a row, disjoint (this
        // function's contract).
        return unsafe { transfer_elements(source, dest, count) };
    }
    let (mut to, mut from) = (dest, source);
    for _ in 0..count {
        // SAFETY: `from` and `to` are named elements: readable, writable and disjoint (this function's
        // contract).
        unsafe { transfer(from.cast(), to.cast(), size_of::<T>()) };
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}
