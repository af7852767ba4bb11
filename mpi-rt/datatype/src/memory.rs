//! Memory: the one place where this crate reads and writes what addresses point at.
//!
//! Everything else computes addresses as integers, because a buffer may lie in a peer's slot, at an absolute address
//! (`MPI_BOTTOM`) or before the pointer that names it (a negative lower bound). A caller that turns a pointer into an
//! address for this crate exposes it (`pointer as usize` or `expose_provenance`).
//!
//! A runtime with better copy loops than the compiler's implements [`Memory`]; [`Plain`] is the portable one.

#![allow(unsafe_code)]

use core::ptr::{copy_nonoverlapping, with_exposed_provenance, with_exposed_provenance_mut};

/// Equal blocks at regular places: address of the first and bytes from one to the next.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// Address of the first block.
    pub address: usize,
    /// Bytes from the start of one block to the start of the next; may be negative.
    pub stride: isize,
}

/// Copies bytes between addresses.
pub trait Memory {
    /// Copies `bytes` bytes from address `from` to address `to`.
    ///
    /// # Safety
    /// The one range is valid for reading, the other for writing; they do not overlap; nobody else writes either or reads the target
    /// meanwhile.
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize);

    /// Copies `count` blocks of `block` bytes each.
    ///
    /// # Safety
    /// As [`Memory::copy`], for every block of both sides; no block of one overlaps any of the other.
    #[inline]
    unsafe fn copy_blocks(&self, to: Strided, from: Strided, block: usize, count: usize) {
        // SAFETY: blocks of `block` bytes are readable at `from`, writable at `to`, and the sides do not
        // overlap (this method's contract); each value has `block` bytes.
        unsafe {
            match block {
                1 => copy_values::<u8>(to, from, count),
                2 => copy_values::<u16>(to, from, count),
                4 => copy_values::<u32>(to, from, count),
                8 => copy_values::<u64>(to, from, count),
                16 => copy_values::<u128>(to, from, count),
                _ => {
                    for i in 0..count {
                        self.copy(place(to, i), place(from, i), block);
                    }
                }
            }
        }
    }
}

/// The compiler's own copy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Memory for Plain {
    #[inline]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        // SAFETY: `bytes` are readable at `from`, writable at `to`, and apart (this method's contract); bytes
        // have no alignment.
        unsafe {
            copy_nonoverlapping::<u8>(with_exposed_provenance(from), with_exposed_provenance_mut(to), bytes);
        }
    }
}

#[inline]
fn place(side: Strided, i: usize) -> usize {
    side.address.wrapping_add_signed(side.stride.wrapping_mul(i as isize))
}

/// Blocks of the size of a `T`, at any alignment.
///
/// # Safety
/// As [`Memory::copy_blocks`].
#[inline]
unsafe fn copy_values<T: Copy>(to: Strided, from: Strided, count: usize) {
    for i in 0..count {
        // SAFETY: block `i` of `size_of::<T>()` bytes is readable at `from`, writable at `to` (this
        // function's contract). `T` is an integer, so any bytes are a value, and no alignment is assumed.
        unsafe { store(place(to, i), load::<T>(place(from, i))) }
    }
}

/// Reads a value at any alignment.
///
/// # Safety
/// `address` is valid for reading a `T`, whose every byte pattern is a value, and nobody writes it meanwhile.
#[inline(always)]
pub(crate) unsafe fn load<T: Copy>(address: usize) -> T {
    // SAFETY: `address` is readable for a `T`, of any bytes (this function's contract); the read needs no
    // alignment.
    unsafe { with_exposed_provenance::<T>(address).read_unaligned() }
}

/// Writes a value at any alignment.
///
/// # Safety
/// `address` is valid for writing a `T`, and nobody else accesses it meanwhile.
#[inline(always)]
pub(crate) unsafe fn store<T: Copy>(address: usize, value: T) {
    // SAFETY: `address` is writable for a `T`, and nobody else's (this function's contract); the write needs
    // no alignment.
    unsafe { with_exposed_provenance_mut::<T>(address).write_unaligned(value) }
}
