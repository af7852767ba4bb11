//! Locks of targets on other nodes: the words of `lwk_epoch::TargetLock`, by Portals' atomic operations ([`FarLock`]). The target does not help, and ranks of its
//! own node take the same lock by instructions.

use crate::far::{Far, fault};
use crate::locate::Away;
use crate::{Held, LockKind, Windows};
use lwk_epoch::{FarLock, LockWord, LockWords, Ticket};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_place::CommRank;
use lwk_remote::{Change, Place};

impl Far {
    fn word(&self, word: LockWord) -> Place {
        self.lock.after(word.offset())
    }

    /// Shares the lock if it is free. Errors: `RMA_CONFLICT`, `OTHER`.
    pub fn try_to_share(&self) -> Result<bool> {
        match self.try_shared()? {
            Some(words) => self.check_exposed(words, Held::Shared).map(|()| true),
            None => Ok(false),
        }
    }

    /// Errors: `RMA_CONFLICT` if the lock that has just been taken is of an exposed part, and then it is given back.
    fn check_exposed(&self, words: LockWords, held: Held) -> Result<()> {
        if words.exposed == 0 {
            return Ok(());
        }
        self.give_back(held)?;
        self.remote.complete().map_err(fault)?;
        Err(Error::RMA_CONFLICT)
    }

    fn give_back(&self, held: Held) -> Result<()> {
        match held {
            Held::Not | Held::Asked(_) | Held::Unchecked => Ok(()),
            Held::Shared => self.leave_shared(),
            Held::Exclusive(ticket) => self.leave_exclusive(ticket),
        }
    }
}

impl FarLock for Far {
    type Error = Error;

    fn load(&self) -> Result<LockWords> {
        let mut words = LockWords::default();
        let bytes = size_of::<LockWords>();
        // SAFETY: the words are this function's until they have come, for which it waits. The target's are stored one by one, each as a whole.
        unsafe {
            self.remote.begin_get(self.rank, (&raw mut words).cast(), self.lock, bytes).map_err(fault)?
        };
        self.remote.arrive().map_err(fault)?;
        // SAFETY: a word array that the kernel has written.
        Ok(unsafe { (&raw const words).read_volatile() })
    }

    fn increment(&self, word: LockWord) -> Result<u32> {
        // SAFETY: an aligned word, which all ranks change atomically or in their turn.
        unsafe { self.remote.fetch_at(self.rank, self.word(word), Change::Add(1u32)).map_err(fault) }
    }

    fn begin_increment(&self, word: LockWord) -> Result<()> {
        // SAFETY: the lock's word is aligned; ranks add to it atomically, or store it whose turn it is.
        unsafe { self.remote.change_at(self.rank, self.word(word), Change::Add(1u32)).map_err(fault) }
    }

    fn begin_store(&self, word: LockWord, value: u32) -> Result<()> {
        let value = (&raw const value).cast();
        // SAFETY: the value is copied by the call; an aligned word arrives as a whole.
        unsafe { self.remote.begin_put(self.rank, self.word(word), value, size_of::<u32>()).map_err(fault) }
    }

    fn compare_exchange(&self, word: LockWord, old: u32, new: u32) -> Result<u32> {
        let change = Change::CompareSwap(old, new);
        // SAFETY: the lock's word is aligned, and all ranks change it by atomic operations.
        unsafe { self.remote.fetch_at(self.rank, self.word(word), change).map_err(fault) }
    }
}

impl Windows {
    /// Takes the lock of a target out of reach. Errors: `RMA_CONFLICT`, and then it is given back; `NO_MEM`, `OTHER`.
    #[cold]
    pub(super) fn lock_away(&mut self, kind: LockKind, rank: CommRank, window: Handle) -> Result<Held> {
        let Some(far) = self.window(window)?.far(rank).cloned() else {
            return self.ask_for_lock(kind, rank, window);
        };
        let ticket: Ticket = far.queue()?;
        let mut entered = Ok(None);
        self.wait_until(|| {
            entered = match kind {
                LockKind::Exclusive => far.enter_exclusive(ticket),
                LockKind::Shared => far.enter_shared(ticket),
            };
            entered != Ok(None)
        });
        let words = entered?.ok_or(Error::INTERN)?;
        let held = if kind == LockKind::Exclusive { Held::Exclusive(ticket) } else { Held::Shared };
        // The store that lets the next sharer in.
        self.note_far();
        far.check_exposed(words, held)?;
        Ok(held)
    }

    /// Completes all on a target out of reach, and gives its lock back, if this rank has taken it itself. Errors: `NO_MEM`, `OTHER`, the target's.
    pub(super) fn leave_far(&mut self, away: &Away, held: Held) -> Result<()> {
        let heard = self.hear(away.window, away.rank);
        if let Some(far) = self.window(away.window)?.far(away.rank).cloned() {
            // Behind the puts: what one rank begins on another happens in order.
            far.give_back(held)?;
            self.note_far();
        }
        self.complete_far().and(heard)
    }
}
