//! Put with signal (the standard, section 9.8): data, then a flag, in one call.

use super::atomic::{atomic_add, atomic_fetch, atomic_set};
use super::copy::bytes_of;
use super::fatal::stop;
use super::pe::my_pe;
use super::rma::putmem;
use super::wait::wait_until;

/// The signal is set (`SHMEM_SIGNAL_SET`).
pub const SIGNAL_SET: i32 = 0;
/// The signal is added to (`SHMEM_SIGNAL_ADD`).
pub const SIGNAL_ADD: i32 = 1;

/// Copies bytes to PE `pe` and then updates the signal there (`shmem_putmem_signal`, and its non-blocking form). An `operation` that is
/// neither [`SIGNAL_SET`] nor [`SIGNAL_ADD`] ends the job with a line.
///
/// # Safety
/// As for [`putmem`] with the bytes, and for [`atomic_set`] with `signal_address`.
#[inline]
pub unsafe fn putmem_signal(
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    signal_address: *mut u64,
    signal: u64,
    operation: i32,
    pe: i32,
) {
    // SAFETY: `dest` and `source` hold `bytes` bytes, and `signal_address` is symmetric, aligned and used by
    // atomics only (this function's contract). The update is a release, so whoever sees it sees the bytes.
    unsafe {
        putmem(dest, source, bytes, pe);
        match operation {
            SIGNAL_SET => atomic_set(signal_address, signal, pe),
            SIGNAL_ADD => atomic_add(signal_address, signal, pe),
            _ => stop(format_args!("put_signal: there is no signal operation {operation}")),
        }
    }
}

/// As [`putmem_signal`], for `count` elements (`shmem_TYPE_put_signal`, and its non-blocking form).
///
/// # Safety
/// As for [`putmem_signal`], for `count` elements.
#[inline]
pub unsafe fn put_signal<T: Copy>(
    dest: *mut T,
    source: *const T,
    count: usize,
    signal_address: *mut u64,
    signal: u64,
    operation: i32,
    pe: i32,
) {
    let bytes = bytes_of::<T>(count);
    // SAFETY: `dest` and `source` hold `count` elements, and `signal_address` is symmetric, aligned and used
    // by atomics only (this function's contract).
    unsafe {
        putmem_signal(dest.cast(), source.cast(), bytes, signal_address, signal, operation, pe);
    }
}

/// This PE's signal now (`shmem_signal_fetch`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn signal_fetch(signal_address: *const u64) -> u64 {
    // SAFETY: `signal_address` is symmetric, aligned and used at once by atomics only (this function's
    // contract).
    unsafe { atomic_fetch(signal_address, my_pe()) }
}

/// Waits until this PE's signal compares so; returns it (`shmem_signal_wait_until`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn signal_wait_until(signal_address: *mut u64, comparison: i32, value: u64) -> u64 {
    // SAFETY: `signal_address` is this PE's, aligned, and changed by atomics only (this function's contract).
    unsafe { wait_until(signal_address, comparison, value) }
}
