//! Memory: the one place where this crate reads and writes what addresses point at.
//!
//! Everything else computes addresses as integers, because a buffer may lie in a peer's slot, at an absolute address
//! (`MPI_BOTTOM`) or before the pointer that names it (a negative lower bound). A caller that turns a pointer into an
//! address for this crate exposes it (`pointer as usize` or `expose_provenance`).
//!
//! A runtime with better copy loops than the compiler's implements [`Memory`]; [`Plain`] is the portable one.

#![allow(unsafe_code)]

mod blocks;

use core::ptr::{copy_nonoverlapping, with_exposed_provenance, with_exposed_provenance_mut};

/// A loop over copies: how often, and how far either side goes from one round to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Rounds.
    pub times: usize,
    /// Bytes from one target to the next; may be negative.
    pub to: isize,
    /// Bytes from one source to the next; may be negative.
    pub from: isize,
}

impl Round {
    /// No loop.
    pub const ONCE: Round = Round { times: 1, to: 0, from: 0 };
}

/// Equal blocks in loops within loops, the outermost first.
#[derive(Clone, Copy, Debug)]
pub struct Nest {
    /// Address of the first target.
    pub to: usize,
    /// Address of the first source.
    pub from: usize,
    /// Bytes of a block.
    pub block: usize,
    /// The loops.
    pub rounds: [Round; 3],
}

/// Blocks at irregular places on one side, next to each other on the other.
#[derive(Clone, Copy, Debug)]
pub struct Scattered<'a> {
    /// Words of a layout's list ([`Shape`]).
    pub entries: &'a [u64],
    /// What the displacements count from.
    pub base: usize,
    /// Address of the first byte of those that lie next to each other.
    pub place: usize,
    /// Bytes of a block.
    pub block: usize,
    /// What an entry stands for.
    pub shape: Shape,
}

/// What an entry of a list stands for. Its first word is a displacement, its second how many bytes come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One block. Entries of two words.
    Blocks,
    /// So many blocks, so many bytes apart. Entries of three words.
    Rows(usize, isize),
}

/// Copies bytes between addresses.
pub trait Memory {
    /// Whether all addresses are this rank's, to be used as they are: then the loops of this crate copy small blocks, and messages
    /// between layouts may go by way of a buffer of its own.
    const LOCAL: bool;

    /// Copies `bytes` bytes from address `from` to address `to`.
    ///
    /// # Safety
    /// The one range is valid for reading, the other for writing; they do not overlap; nobody else writes either or reads the target
    /// meanwhile.
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize);

    /// Copies one block, likely a small one.
    ///
    /// # Safety
    /// As [`Memory::copy`].
    #[inline]
    unsafe fn copy_block(&self, to: usize, from: usize, block: usize) {
        // SAFETY: `block` bytes are readable at `from`, writable at `to`, and apart (this method's contract).
        unsafe {
            if Self::LOCAL && block <= blocks::FEW {
                blocks::copy_few(to, from, block);
            } else {
                self.copy(to, from, block);
            }
        }
    }

    /// Copies the blocks of one loop, of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// As [`Memory::copy_nest`]; `block` is one of these.
    #[inline]
    unsafe fn copy_row(&self, block: usize, to: usize, from: usize, round: Round) {
        // SAFETY: every block is readable at its source, writable at its target, and apart (this method's contract).
        blocks::in_row((to, from), round, |to, from| unsafe { self.copy_block(to, from, block) });
    }

    /// Copies all blocks of a nest.
    ///
    /// # Safety
    /// As [`Memory::copy`], for every block of both sides; no block of one overlaps any of the other.
    #[inline]
    unsafe fn copy_nest(&self, nest: &Nest) {
        // SAFETY: every block is readable at its source, writable at its target, and apart (this method's contract).
        unsafe {
            if Self::LOCAL {
                blocks::copy_nest(self, nest);
            } else {
                blocks::copy_any(self, nest);
            }
        }
    }

    /// Copies scattered blocks to where they are next to each other.
    ///
    /// # Safety
    /// As [`Memory::copy_nest`].
    #[inline]
    unsafe fn gather(&self, list: &Scattered<'_>) {
        // SAFETY: every block is readable where it is scattered, writable in its place, and apart (this method's contract).
        unsafe { blocks::copy_list::<_, true>(self, list) }
    }

    /// Copies blocks that are next to each other to where they are scattered.
    ///
    /// # Safety
    /// As [`Memory::copy_nest`].
    #[inline]
    unsafe fn scatter(&self, list: &Scattered<'_>) {
        // SAFETY: every block is readable in its place, writable where it is scattered, and apart (this method's contract).
        unsafe { blocks::copy_list::<_, false>(self, list) }
    }
}

/// The compiler's own copy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Memory for Plain {
    const LOCAL: bool = true;

    #[inline]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        // SAFETY: `bytes` are readable at `from`, writable at `to`, and apart (this method's contract); bytes
        // have no alignment.
        unsafe {
            copy_nonoverlapping::<u8>(with_exposed_provenance(from), with_exposed_provenance_mut(to), bytes);
        }
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
