//! Strided put and get (`shmem_TYPE_iput`, `shmem_TYPE_iget`; the standard, section 9.6.1).

use super::copy::{transfer, transfer_elements};
use super::pe::at;

/// Copies `count` elements that lie `sst` elements apart in this PE's `source` to places `dst` elements apart in PE `pe`'s
/// `dest`. The distances are from start to start, 1 for elements side by side.
///
/// # Safety
/// `dest` must be symmetric, and all named elements of both must exist; nobody may use them against the standard's rules.
#[inline]
pub unsafe fn iput<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize, pe: i32) {
    // SAFETY: the caller's promise.
    unsafe { strided(at(dest, pe), source, dst, sst, count) }
}

/// Copies `count` elements that lie `sst` elements apart in PE `pe`'s `source` to places `dst` elements apart in this PE's
/// `dest`; the distances as for [`iput`].
///
/// # Safety
/// `source` must be symmetric, and all named elements of both must exist; nobody may use them against the standard's rules.
#[inline]
pub unsafe fn iget<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize, pe: i32) {
    // SAFETY: the caller's promise.
    unsafe { strided(dest, at(source, pe), dst, sst, count) }
}

/// # Safety
/// All named elements must exist.
#[inline]
pub(crate) unsafe fn strided<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize) {
    if dst == 1 && sst == 1 {
        // SAFETY: the caller's promise: `count` elements in a row at both ends.
        return unsafe { transfer_elements(source, dest, count) };
    }
    let (mut to, mut from) = (dest, source);
    for _ in 0..count {
        // SAFETY: the caller's promise: this is one of the named elements at both ends.
        unsafe { transfer(from.cast(), to.cast(), size_of::<T>()) };
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}
