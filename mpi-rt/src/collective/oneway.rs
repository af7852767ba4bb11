//! Small operations with one direction: from the root to all (broadcast), or from all to the root (reduce).
//!
//! A rank that only gives does not wait. Its lines are used in turn, [`ONEWAY`] of them; before it fills one again all ranks must be
//! done with the operation that was in it, which it looks up only when what it knows of them no longer suffices. Each rank counts
//! the operations that it is done with in one word of its own.

use super::area::{SMALL_BYTES, Shared};
use crate::engine::Engine;
use core::cell::Cell;
use core::sync::atomic::Ordering;

/// Lines of a rank.
pub const ONEWAY: usize = 8;

/// This rank's part.
pub(crate) struct Oneway {
    called: Cell<u64>,
    /// The last operation that all ranks are known to be done with.
    known: Cell<u64>,
}

impl Oneway {
    pub const fn new() -> Oneway {
        Oneway { called: Cell::new(0), known: Cell::new(0) }
    }
}

impl Shared {
    /// The number of the one-way operation that is called now.
    #[inline(always)]
    pub(super) fn call_oneway(&self) -> u64 {
        Shared::next(&self.oneway.called)
    }

    /// Whether what `rank` gives in operation `number` is there.
    #[inline(always)]
    pub(super) fn is_given(&self, rank: u32, number: u64) -> bool {
        self.of(rank).oneway[number as usize % ONEWAY].has(number)
    }

    /// What it gives, when it is there.
    #[inline(always)]
    pub(super) fn given(&self, rank: u32, number: u64) -> *const u8 {
        self.of(rank).oneway[number as usize % ONEWAY].content()
    }

    /// This rank is done with operation `number`.
    #[inline(always)]
    pub(super) fn take(&self, number: u64) {
        // Release: pairs with the acquire load in `taken_by`; ends this rank's use of the givers' lines.
        self.mine().taken.store(number, Ordering::Release);
    }

    #[inline(always)]
    fn taken_by(&self, rank: u32) -> u64 {
        // Acquire: pairs with the release store in `take`.
        self.of(rank).taken.load(Ordering::Acquire)
    }
}

impl Engine {
    /// Gives up to [`SMALL_BYTES`] bytes in operation `number`.
    ///
    /// # Safety
    /// `content` must be readable; once a number.
    #[inline(always)]
    pub(super) unsafe fn give(&mut self, shared: &Shared, number: u64, content: *const u8, bytes: usize) {
        debug_assert!(bytes <= SMALL_BYTES);
        if number > shared.oneway.known.get() + ONEWAY as u64 {
            self.wait_for_lines(shared, number - ONEWAY as u64);
        }
        // SAFETY: all ranks are done with what was in the line; the caller vouches for the content.
        unsafe { shared.mine().oneway[number as usize % ONEWAY].publish(number, content, bytes) };
    }

    /// Waits until all other ranks are done with operation `number`.
    #[cold]
    fn wait_for_lines(&mut self, shared: &Shared, number: u64) {
        let mut known = u64::MAX;
        for rank in (0..shared.size()).filter(|rank| *rank != shared.rank) {
            self.wait_until(|| shared.taken_by(rank) >= number);
            known = known.min(shared.taken_by(rank));
        }
        shared.oneway.known.set(known.min(number + ONEWAY as u64));
    }
}
