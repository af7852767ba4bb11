//! Strided put and get (`shmem_TYPE_iput`, `shmem_TYPE_iget`; the standard, section 9.6.1).

use super::copy::{bytes_of, transfer_elements};
use super::far;
use super::pe::near;

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
    unsafe {
        match near(dest, pe) {
            Some(dest) => {
                strided(dest, source, dst, sst, count, |to, from, count| transfer_elements(from, to, count))
            }
            None => strided(dest, source, dst, sst, count, |to, from, count| {
                far::put(to.cast(), from.cast(), bytes_of::<T>(count), pe);
            }),
        }
    }
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
    unsafe {
        match near(source, pe) {
            Some(source) => {
                strided(dest, source, dst, sst, count, |to, from, count| transfer_elements(from, to, count))
            }
            None => strided(dest, source, dst, sst, count, |to, from, count| {
                far::get(to.cast(), from.cast(), bytes_of::<T>(count), pe);
            }),
        }
    }
}

/// Calls `copy` with where elements go, where they come from, and how many lie in a row.
#[inline]
fn strided<T: Copy>(
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
    copy: impl Fn(*mut T, *const T, usize),
) {
    if dst == 1 && sst == 1 {
        return copy(dest, source, count);
    }
    let (mut to, mut from) = (dest, source);
    for _ in 0..count {
        copy(to, from, 1);
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}
