//! Remote memory access: put, get, p, g (the standard, section 9.6; SMARTMAP paper, section IV.A).
//!
//! A put is a store or a copy into the peer's memory, or an operation of Portals' where none gets there. Its source is free when the call returns; other
//! PEs are promised to see it only after `quiet`, and in order only across `fence`. So the non-blocking forms are the blocking ones.

use super::copy::{bytes_of, load, store, transfer, transfer_elements};
use super::far;
use super::pe::near;

/// Copies `bytes` bytes from this PE's `source` to PE `pe`'s `dest` (`shmem_putmem`).
///
/// # Safety
/// `dest` must be symmetric and writable, `source` readable, both for `bytes` bytes and disjoint. Unless
/// `bytes` is 1, 2, 4 or 8, nobody else may write either or read `dest` meanwhile.
#[inline]
pub unsafe fn putmem(dest: *mut u8, source: *const u8, bytes: usize, pe: i32) {
    // SAFETY: `source` is readable and the peer's `dest` writable for `bytes` bytes, disjoint (this
    // function's contract).
    unsafe {
        match near(dest, pe) {
            Some(target) => transfer(source, target, bytes),
            None => far::apart(|| far::put(dest, source, bytes, pe)),
        }
    }
}

/// Copies `bytes` bytes from PE `pe`'s `source` to this PE's `dest` (`shmem_getmem`).
///
/// # Safety
/// `source` must be symmetric and readable, `dest` writable, both for `bytes` bytes and disjoint. Unless
/// `bytes` is 1, 2, 4 or 8, nobody else may write either or read `dest` meanwhile.
#[inline]
pub unsafe fn getmem(dest: *mut u8, source: *const u8, bytes: usize, pe: i32) {
    // SAFETY: the peer's `source` is readable and `dest` writable for `bytes` bytes, disjoint (this
    // function's contract).
    unsafe {
        match near(source, pe) {
            Some(source) => transfer(source, dest, bytes),
            None => far::apart(|| far::get(dest, source, bytes, pe)),
        }
    }
}

/// Copies `count` elements to PE `pe` (`shmem_TYPE_put`, `shmem_putSIZE`). More than an address can count end the job.
///
/// # Safety
/// As for [`putmem`], for `count` elements.
#[inline]
pub unsafe fn put<T: Copy>(dest: *mut T, source: *const T, count: usize, pe: i32) {
    // SAFETY: `source` is readable and the peer's `dest` writable for `count` elements, disjoint (this
    // function's contract).
    unsafe {
        match near(dest, pe) {
            Some(target) => transfer_elements(source, target, count),
            None => far::apart(|| far::put(dest.cast(), source.cast(), bytes_of::<T>(count), pe)),
        }
    }
}

/// Copies `count` elements from PE `pe` (`shmem_TYPE_get`, `shmem_getSIZE`). More than an address can count end the job.
///
/// # Safety
/// As for [`getmem`], for `count` elements.
#[inline]
pub unsafe fn get<T: Copy>(dest: *mut T, source: *const T, count: usize, pe: i32) {
    // SAFETY: the peer's `source` is readable and `dest` writable for `count` elements, disjoint (this
    // function's contract).
    unsafe {
        match near(source, pe) {
            Some(source) => transfer_elements(source, dest, count),
            None => far::apart(|| far::get(dest.cast(), source.cast(), bytes_of::<T>(count), pe)),
        }
    }
}

/// Stores one value at PE `pe`'s `dest` (`shmem_TYPE_p`).
///
/// # Safety
/// As for [`put`] of one element, of a type without padding.
#[inline]
pub unsafe fn p<T: Copy>(dest: *mut T, value: T, pe: i32) {
    // SAFETY: the peer's `dest` is writable for one element, and `T` has no padding (this function's
    // contract).
    unsafe {
        match near(dest, pe) {
            Some(target) => store(target, value),
            None => far::apart(|| far::store(dest, value, pe)),
        }
    }
}

/// Loads one value from PE `pe`'s `source` (`shmem_TYPE_g`).
///
/// # Safety
/// As for [`get`] of one element, which must be a valid value.
#[inline]
pub unsafe fn g<T: Copy>(source: *const T, pe: i32) -> T {
    // SAFETY: the peer's `source` is readable for one element, a valid value (this function's contract).
    unsafe {
        match near(source, pe) {
            Some(source) => load(source),
            None => far::apart(|| far::load(source, pe)),
        }
    }
}

macro_rules! non_blocking {
    ($($name:ident is $of:ident ($dest:ident, $source:ident) <$($t:ident)?>;)*) => {
        $(
            /// The non-blocking form: complete at once, so it is the blocking one.
            ///
            /// # Safety
            /// As for the blocking form.
            #[inline]
            pub unsafe fn $name$(<$t: Copy>)?(
                dest: *mut non_blocking!(@type $($t)?),
                source: *const non_blocking!(@type $($t)?),
                count: usize,
                pe: i32,
            ) {
                // SAFETY: one end is symmetric, both hold `count` elements or bytes and are disjoint, as the
                // blocking form's contract demands (this function's contract).
                unsafe { $of(dest, source, count, pe) }
            }
        )*
    };
    (@type $t:ident) => { $t };
    (@type) => { u8 };
}

non_blocking! {
    putmem_nbi is putmem (dest, source) <>;
    getmem_nbi is getmem (dest, source) <>;
    put_nbi is put (dest, source) <T>;
    get_nbi is get (dest, source) <T>;
}
