//! The board: memory that a node's process shares with its ranks, for what each says about itself.
//!
//! Ranks write their own entry, the node reads it when the rank is gone (or, for the first failure, decides by it). Nothing
//! here is on a path of the program except the count of its system calls.

use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use lwk_abi::address::MAX_RANKS;
use lwk_limic::Queues;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use nix::unistd::ftruncate;
use spin::mutex::SpinMutex;

use crate::engine::Engine;

/// Different unsupported system calls that are told apart for each rank.
const UNSUPPORTED_MAX: usize = 32;

/// What one rank says about itself. All counters are the rank's alone while it lives; relaxed therefore, since the node reads them when it has
/// waited for the rank's process.
#[derive(Debug)]
pub struct RankEntry {
    /// Number of the rank's process; 0 before it runs.
    pub process: AtomicU32,
    /// `CLOCK_MONOTONIC` at the first instruction, in nanoseconds; 0 before.
    pub entered_ns: AtomicU64,
    /// System calls made and answered.
    pub syscalls: AtomicU64,
    /// Bytes of the segment that the rank has had put on huge pages.
    pub huge_bytes: AtomicU64,
    /// Set when the rank's end is its own doing: it exited, aborted, or reported its fault.
    pub said_why: AtomicU32,
    /// 1 once the rank has answered where it is, by release: its answer is then in the pipe.
    pub located: AtomicU32,
    /// Number plus one (0: free) and count of each unsupported system call.
    unsupported: [(AtomicU64, AtomicU64); UNSUPPORTED_MAX],
}

/// The whole board, in zeroed shared memory.
#[derive(Debug)]
pub struct Board {
    /// The rank that was the first to end the job, by a failure or because it asked for it, plus one; 0 before. Its status is the job's, and only its
    /// failure is reported.
    ender: AtomicU32,
    ranks: [RankEntry; MAX_RANKS],
    /// The queues of messages between the ranks: zeros are empty ones, and an open lock.
    limic: SpinMutex<[u64; Queues::words_for(MAX_RANKS as u32)]>,
    /// What ranks have ordered from the job's workers.
    pub engine: Engine,
}

impl Board {
    /// A new board, shared with processes forked from now on, and its memory object, for those that cannot inherit a mapping.
    /// The mapping lives as long as the process.
    ///
    /// # Errors
    /// Linux refuses the memory object or its mapping.
    pub fn new() -> nix::Result<(&'static Board, OwnedFd)> {
        let object = memfd_create(c"margay-board", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&object, size_of::<Board>() as libc::off_t)?;
        Ok((Board::of(&object)?, object))
    }

    /// The board in this memory object of [`Board::new`], mapped for the life of this process.
    ///
    /// # Errors
    /// Linux refuses the mapping.
    pub fn of(object: &OwnedFd) -> nix::Result<&'static Board> {
        let bytes = NonZeroUsize::MIN.saturating_add(size_of::<Board>() - 1);
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping wherever the system likes harms nothing.
        let memory = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, object, 0)? };
        // SAFETY: page-aligned memory of the right size, never unmapped; it began as zeros, and a zeroed board is a valid one;
        // it is all atomics, and locks with what is behind them, so other processes may write to it.
        Ok(unsafe { memory.cast::<Board>().as_ref() })
    }

    /// Works on the queues of messages between the node's `ranks` ranks, alone. None if there are more than [`MAX_RANKS`].
    pub fn limic<R>(&self, ranks: u32, work: impl FnOnce(&mut Queues<'_>) -> R) -> Option<R> {
        let mut words = self.limic.lock();
        let words = words.get_mut(..Queues::words_for(ranks))?;
        Queues::of(words, ranks).map(|mut queues| work(&mut queues))
    }

    /// The entry of node rank `rank`, below [`MAX_RANKS`].
    pub fn rank(&self, rank: u32) -> &RankEntry {
        &self.ranks[rank as usize]
    }

    /// Takes note that `rank` ends the job, by a failure or because it asks for it; whether it is the first to.
    pub fn first_to_end(&self, rank: u32) -> bool {
        // AcqRel, and Acquire for who comes late: pairs with itself in other ranks and in the node, of which exactly one finds 0. The report
        // goes through a pipe, which orders the rest.
        self.ender.compare_exchange(0, rank + 1, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether `rank` was the first to end the job.
    pub fn ended_first(&self, rank: u32) -> bool {
        // Acquire pairs with the exchange above, in whichever process made it.
        self.ender.load(Ordering::Acquire) == rank + 1
    }

    /// Unsupported system calls of all ranks: number and count, by number.
    pub fn unsupported(&self) -> Vec<(u64, u64)> {
        let mut sums = std::collections::BTreeMap::new();
        for (number, count) in self.ranks.iter().flat_map(|rank| &rank.unsupported) {
            // Relaxed: read after the writer has been waited for.
            match number.load(Ordering::Relaxed) {
                0 => {}
                number => *sums.entry(number - 1).or_insert(0) += count.load(Ordering::Relaxed),
            }
        }
        sums.into_iter().collect()
    }
}

impl RankEntry {
    /// Counts a call that was answered `-ENOSYS`. A program that tries more different ones than there is room for is probing;
    /// they are not remembered.
    pub fn count_unsupported(&self, number: u64) {
        let tag = number.wrapping_add(1).max(1);
        for (slot, count) in &self.unsupported {
            // Relaxed: only this rank writes, and it is one thread.
            let found = slot.load(Ordering::Relaxed);
            if found == 0 {
                slot.store(tag, Ordering::Relaxed);
            }
            if found == 0 || found == tag {
                count.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}
