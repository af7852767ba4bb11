//! Epochs: what this rank may do with a window at the moment (MPI-5.0, sections 12.5 and 12.7).
//!
//! All of it is local state. A fence opens an epoch that may stay unused, after which any other synchronisation may follow; so the first
//! operation after a fence is the one that makes it an epoch, and the only one that comes here.

use crate::{LockKind, Target, Window};
use alloc::vec::Vec;
use lwk_epoch::Ticket;
use lwk_mpi_core::error::{Error, Result};
use lwk_place::CommRank;

/// What this rank has begun and not ended.
pub(super) struct Epochs {
    pub fence: Fence,
    pub access: Access,
    /// One of the locks is the null process's.
    pub locked_nobody: bool,
    /// Ranks that this rank has started access to; the list is kept for the next time.
    pub started: Vec<CommRank>,
    /// This rank has posted.
    pub exposed: bool,
    /// To these ranks; the list is kept for the next time.
    pub exposed_to: Vec<CommRank>,
    /// Every target may be accessed: fences allow it. For the fast path.
    pub everyone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fence {
    /// None, or one after which nothing was to follow.
    Not,
    /// A fence, and no operation since.
    Fenced,
    /// Operations since a fence.
    Used,
}

/// How this rank has access to targets, other than by fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Not,
    /// Start.
    Started,
    /// Locks, of so many targets, the null process included.
    Locked(u32),
    /// Lock of all.
    LockedAll,
}

/// The lock that this rank has of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    Not,
    Shared,
    Exclusive(Ticket),
    /// The lock of a target that is asked for it, which holds the ticket.
    Asked(LockKind),
    /// Without the lock, since the program says that nobody else wants it.
    Unchecked,
}

impl Epochs {
    pub fn new() -> Epochs {
        Epochs {
            fence: Fence::Not,
            access: Access::Not,
            locked_nobody: false,
            started: Vec::new(),
            exposed: false,
            exposed_to: Vec::new(),
            everyone: false,
        }
    }

    /// Whether the window can be freed.
    pub fn is_idle(&self) -> bool {
        self.access == Access::Not && !self.exposed && self.fence != Fence::Used
    }

    /// Whether access other than by fences can begin, and if so ends a fence's epoch that was not used. Errors: `RMA_SYNC`.
    pub fn leave_fence(&mut self) -> Result<()> {
        if self.fence == Fence::Used {
            return Err(Error::RMA_SYNC);
        }
        self.fence = Fence::Not;
        Ok(())
    }

    /// Whether this is passive access. Errors: `RMA_SYNC` if not.
    pub fn check_passive(&self) -> Result<()> {
        match self.access {
            Access::Locked(_) | Access::LockedAll => Ok(()),
            _ => Err(Error::RMA_SYNC),
        }
    }
}

impl Window {
    /// Whether this rank may access the target now. Errors: `RMA_SYNC` if not.
    #[cold]
    pub(super) fn admit(&mut self, rank: CommRank) -> Result<()> {
        let open = self.targets.get(rank.index()).is_some_and(|target| target.open);
        if self.epochs.everyone || open {
            return Ok(());
        }
        if self.epochs.access == Access::Not && self.epochs.fence == Fence::Fenced {
            self.epochs.fence = Fence::Used;
            self.epochs.everyone = true;
            return Ok(());
        }
        Err(Error::RMA_SYNC)
    }
}

impl Target {
    /// Whether this rank may access it without others, and what lock it has for that.
    pub(super) fn hold(&mut self, held: Held, alone: bool) {
        if let Some(mapped) = &self.mapped {
            if alone { mapped.beside.end_singly() } else { mapped.beside.hear() }
        }
        self.held = held;
        self.alone = alone;
        self.open = held != Held::Not;
    }
}
