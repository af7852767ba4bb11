//! Moving bytes between PEs: one load and store for a word, a loop for more.
//!
//! The loop is chosen by size and processor, with the thresholds below. In emulation vectors and string instructions are slow,
//! and addresses that are equal modulo the slot size collide, so there [`lwk_user::copy`] does it.

use crate::arch::features::{Level, level};
use crate::arch::{blocks, word};
use core::mem::{MaybeUninit, transmute_copy};
use lwk_user::job;

/// From this many bytes on the string instruction does it. Measured with `shmem-bench put_bw` on a server processor of 2.7 GHz:
/// 16 KiB move at 219 GB/s by vectors of 64 bytes and at 214 by the string instruction, 32 KiB at 45 and 49.
const STRING_FROM: usize = 32 << 10;

/// Copies `bytes` bytes.
///
/// Eight bytes, the size of most flags and counters, are one load and one store where the caller is; everything else is a call.
///
/// # Safety
/// `source` must be readable and `target` writable for `bytes` bytes; the ranges must not overlap.
#[inline(always)]
pub(crate) unsafe fn transfer(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise, for exactly `bytes` bytes.
    unsafe {
        if bytes == 8 {
            word::copy_8(source, target);
        } else {
            any(source, target, bytes);
        }
    }
}

/// # Safety
/// As for [`transfer`].
#[inline(never)]
unsafe fn any(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise, in each arm for exactly `bytes` bytes.
    unsafe {
        match bytes {
            4 => word::copy_4(source, target),
            2 => word::copy_2(source, target),
            1 => word::copy_1(source, target),
            0..=blocks::FEW_BYTES => blocks::copy_few(source, target, bytes),
            _ => block(source, target, bytes),
        }
    }
}

/// # Safety
/// As for [`transfer`].
#[inline]
unsafe fn block(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; the processor has what its level says, and more than the bytes of one vector are left for each loop.
    unsafe {
        if job().is_emulated() {
            return lwk_user::copy::copy(source, target, bytes);
        }
        if bytes >= STRING_FROM {
            return blocks::copy_string(source, target, bytes);
        }
        match level() {
            Level::Avx512 => blocks::copy_64(source, target, bytes),
            Level::Avx2 => blocks::copy_32(source, target, bytes),
            Level::Sse2 => blocks::copy_16(source, target, bytes),
        }
    }
}

/// Stores one value: with one instruction if it is a word.
///
/// # Safety
/// `target` must be writable for a value of that type.
#[inline(always)]
pub(crate) unsafe fn store<T: Copy>(target: *mut T, value: T) {
    let at = target.cast();
    // SAFETY: the caller's promise; a value has the bytes of the word of its size, which is all the word is used for.
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
/// At `source` must be a value of that type.
#[inline(always)]
pub(crate) unsafe fn load<T: Copy>(source: *const T) -> T {
    let at = source.cast();
    // SAFETY: the caller's promise: the bytes at `source` are a value of the type.
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
