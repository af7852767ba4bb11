//! What a home gives to Linux's calls: memory, time, console, files. [`Home`](crate::Home) is the rest of what the two homes do apart.

use lwk_files::{Files, Pages};
use lwk_mm::heap::{Span, Transfer};
use lwk_mm::layout::Layout;

use crate::{Answer, Errno};

/// An output stream of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// What time is asked for, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Since the Unix epoch.
    Real,
    /// Since some moment before the job; never set.
    Monotonic,
    /// Processor time that the rank has used.
    Processor,
}

/// Facts about a rank and its node.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Rank on the node.
    pub rank: u32,
    /// Core the rank is pinned to.
    pub core: u32,
    /// Memory node of that core.
    pub memory_node: u32,
    /// Cores of the node.
    pub cores: u32,
    /// Memory of the node in bytes, and what of it is free.
    pub memory_bytes: u64,
    pub free_bytes: u64,
    /// Ticks of the time stamp counter in a second.
    pub ticks_a_second: u64,
}

/// A home, for one rank.
pub trait Machine {
    /// Where the node's files are kept.
    type Pages: Pages;

    /// The rank's layout; every rank of the job has the same.
    fn layout(&self) -> &Layout;
    /// Facts about the rank and its node, as they are now.
    fn facts(&self) -> Facts;
    /// The program's first argument (`argv[0]`), without a NUL.
    fn program_name(&self) -> &[u8];

    /// Checks that all of this memory, own or a peer's, can be read; `EFAULT`.
    fn check_readable(&self, address: u64, bytes: u64) -> Result<(), Errno>;
    /// Checks that all of this memory, own or a peer's, can be written; `EFAULT`.
    fn check_writable(&self, address: u64, bytes: u64) -> Result<(), Errno>;
    /// Copies from memory at `address` after the check of [`Machine::check_readable`]; `EFAULT`. An aligned word of 4 or 8 bytes is read as
    /// one, whatever peers do with it meanwhile.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Errno>;
    /// Copies to memory at `address` after the check of [`Machine::check_writable`]; `EFAULT`. An aligned word of 4 or 8 bytes is written as
    /// one.
    fn write(&self, address: u64, from: &[u8]) -> Result<(), Errno>;
    /// Stores a word at an address that is a multiple of 8 after all that the rank, or the system for it, has stored before ([`lwk_words::Told::tell`]), after the
    /// check of [`Machine::check_writable`]; `EFAULT`.
    fn tell(&self, address: u64, word: u64) -> Result<(), Errno>;
    /// Copies pages within the rank's own heap.
    fn copy_pages(&self, transfer: Transfer);
    /// The heap hands out `start..end` to the program, before it is cleared or used.
    fn granted(&self, start: u64, end: u64);
    /// Sets pages of the rank's own heap to zero.
    fn clear_pages(&self, span: Span);

    /// Prints `bytes` bytes of memory that has been checked to be readable, and answers how many: fewer if the rank is about to be stopped,
    /// here and below.
    fn print(&self, stream: Stream, address: u64, bytes: u64) -> Answer;
    /// Prints bytes of the system's own, and answers how many went.
    fn print_own(&self, stream: Stream, bytes: &[u8]) -> Answer;
    /// What a clock says, in nanoseconds.
    fn clock(&self, clock: Clock) -> u64;
    /// Fills memory of the system's with random bytes; false if there is no generator.
    fn random(&self, into: &mut [u8]) -> bool;
    /// The program's thread pointer in `FS`, or if `gs` that in `GS`: an address.
    fn thread_base(&self, gs: bool) -> u64;
    /// Sets it, to a user address.
    fn set_thread_base(&self, gs: bool, address: u64);
    /// The program's stack pointer.
    fn stack_pointer(&self) -> u64;
    /// Bytes of the program's extended (floating-point and vector) state as `struct _fpstate`; 0 if it cannot be had.
    fn float_bytes(&self) -> u64;
    /// Writes that state to memory that has been checked, aligned to 64 bytes.
    fn save_float(&self, address: u64) -> Result<(), Errno>;
    /// Makes what is at `address` the program's extended state; with 0, that of a program that has not used it. `EFAULT`.
    fn load_float(&self, address: u64) -> Result<(), Errno>;
    /// Whether [`Machine::fence_ranks`] reaches all ranks that have asked this.
    fn can_fence_ranks(&self) -> bool;
    /// Every rank of the job, where it runs, makes a sequentially consistent fence between beginning and end of this.
    fn fence_ranks(&self);
    /// The rank has nothing to do for so many nanoseconds: an opportunity for others, not a promise.
    fn idle(&self, nanoseconds: u64);

    /// Works on the node's files, alone: under the node's lock, so `work` must not ask for them again. Errors: those of `work`, or `EIO`.
    fn files<R>(
        &self,
        work: impl FnOnce(&mut Files<'_, Self::Pages>) -> Result<R, Errno>,
    ) -> Result<R, Errno>;
    /// The program has made the call `number`, which there is not.
    fn count_unsupported(&self, number: u64);
}

/// Reads a little-endian word of the program's.
pub(crate) fn read_u64<M: Machine>(machine: &M, address: u64) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    machine.read(address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads a little-endian half word of the program's.
pub(crate) fn read_u32<M: Machine>(machine: &M, address: u64) -> Result<u32, Errno> {
    let mut bytes = [0; 4];
    machine.read(address, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Writes little-endian words to the program.
pub(crate) fn write_words<M: Machine, const N: usize>(
    machine: &M,
    address: u64,
    words: [u64; N],
) -> Result<(), Errno> {
    machine.check_writable(address, 8 * N as u64)?;
    for (index, word) in words.into_iter().enumerate() {
        machine.write(address + 8 * index as u64, &word.to_le_bytes())?;
    }
    Ok(())
}
