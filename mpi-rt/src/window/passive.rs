//! Passive target synchronisation: locks, flushes (MPI-5.0, sections 12.5.3 to 12.5.5).
//!
//! A lock is taken when it is asked for, first come first served. Locking all takes every target's lock, but never holds one while
//! it waits for another, so it is in no deadlock with ranks that lock several targets one by one.
//!
//! Operations complete when they are called, so a flush only keeps later loads of this rank from overtaking its earlier stores.

use super::Window;
use super::epoch::{Access, Held};
use super::shared::Control;
use crate::abi::{PROC_NULL, mode};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use core::sync::atomic::{Ordering, compiler_fence, fence};
use lwk_user::job;
use lwk_user::syscall::sched_yield;

/// Kinds of locks; the numbers are the binary interface's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum LockKind {
    Exclusive = 301,
    Shared = 302,
}

impl LockKind {
    /// The kind with that number. Errors: `LOCKTYPE`.
    pub fn from_number(number: i32) -> Result<LockKind> {
        match number {
            301 => Ok(LockKind::Exclusive),
            302 => Ok(LockKind::Shared),
            _ => Err(Error::LOCKTYPE),
        }
    }
}

/// A loop of flushes that waits for a peer makes progress on messages this often.
const FLUSHES_PER_PROGRESS: u32 = 16;

impl Engine {
    /// Begins access to one target, after those who hold its lock and may not share it. The null process is always free, and its lock an epoch
    /// like any other. Errors: `WIN`, `RANK`, `ASSERT`; `RMA_SYNC` in another epoch, or if this rank has locked it already; `RMA_CONFLICT` while the target has exposed its part by post
    /// (seen by all but those that lock without the lock, [`mode::NOCHECK`]).
    pub fn win_lock(&mut self, kind: LockKind, rank: i32, assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !mode::NOCHECK != 0 {
            return Err(Error::ASSERT);
        }
        let rank = it.passive_target(rank)?;
        let locks = match it.epochs.access {
            Access::Not => 0,
            Access::Locked(locks) => locks,
            _ => return Err(Error::RMA_SYNC),
        };
        let Some(rank) = rank else {
            if it.epochs.locked_nobody {
                return Err(Error::RMA_SYNC);
            }
            it.epochs.leave_fence()?;
            it.epochs.access = Access::Locked(locks + 1);
            it.epochs.locked_nobody = true;
            return Ok(());
        };
        let target = it.targets.get(rank).ok_or(Error::INTERN)?;
        if target.held != Held::Not {
            return Err(Error::RMA_SYNC);
        }
        let control = target.control;
        it.epochs.leave_fence()?;
        let held = match kind {
            _ if assertions & mode::NOCHECK != 0 => Held::Unchecked,
            LockKind::Exclusive => {
                let ticket = control.lock.queue();
                self.wait_until(|| control.lock.enter_exclusive(ticket));
                Held::Exclusive(ticket)
            }
            LockKind::Shared => {
                self.wait_to_share(control);
                Held::Shared
            }
        };
        if held != Held::Unchecked && control.lock.is_exposed() {
            control.give_back(held);
            return Err(Error::RMA_CONFLICT);
        }
        let it = self.window_mut(window)?;
        it.epochs.access = Access::Locked(locks + 1);
        it.targets.get_mut(rank).ok_or(Error::INTERN)?.hold(held, kind == LockKind::Exclusive);
        Ok(())
    }

    /// Ends access to one target. Errors: `WIN`, `RANK`; `RMA_SYNC` if this rank has not locked it.
    pub fn win_unlock(&mut self, rank: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        let rank = it.passive_target(rank)?;
        let Access::Locked(locks) = it.epochs.access else { return Err(Error::RMA_SYNC) };
        match rank {
            Some(rank) => it.release(rank)?,
            None if it.epochs.locked_nobody => it.epochs.locked_nobody = false,
            None => return Err(Error::RMA_SYNC),
        }
        it.epochs.access = if locks == 1 { Access::Not } else { Access::Locked(locks - 1) };
        Ok(())
    }

    /// Begins shared access to all targets. Errors: `WIN`, `ASSERT`; `RMA_SYNC` in another epoch; `RMA_CONFLICT` as for [`Engine::win_lock`].
    pub fn win_lock_all(&mut self, assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !mode::NOCHECK != 0 {
            return Err(Error::ASSERT);
        }
        if it.epochs.access != Access::Not {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.leave_fence()?;
        let held = if assertions & mode::NOCHECK != 0 {
            Held::Unchecked
        } else {
            // From where on to try, and the target whose lock has been waited for and is held.
            let mut first = None;
            while let Some(refused) = self.window_mut(window)?.try_to_share_all(first) {
                let control = self.window(window)?.targets.get(refused).ok_or(Error::INTERN)?.control;
                self.wait_to_share(control);
                first = Some(refused);
            }
            let targets = &self.window(window)?.targets;
            if targets.iter().any(|target| target.control.lock.is_exposed()) {
                targets.iter().for_each(|target| target.control.give_back(Held::Shared));
                return Err(Error::RMA_CONFLICT);
            }
            Held::Shared
        };
        let it = self.window_mut(window)?;
        it.epochs.access = Access::LockedAll;
        it.targets.iter_mut().for_each(|target| target.hold(held, false));
        Ok(())
    }

    /// Ends access to all targets. Errors: `WIN`; `RMA_SYNC` if this rank has not locked all.
    pub fn win_unlock_all(&mut self, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if it.epochs.access != Access::LockedAll {
            return Err(Error::RMA_SYNC);
        }
        for rank in 0..it.targets.len() {
            it.release(rank)?;
        }
        it.epochs.access = Access::Not;
        Ok(())
    }

    /// Completes all operations on one target there. Errors: `WIN`, `RANK`; `RMA_SYNC` if this rank has not locked it.
    #[inline]
    pub fn win_flush(&mut self, rank: i32, window: Handle) -> Result<()> {
        self.check_locked(rank, window)?;
        self.complete_at_targets();
        Ok(())
    }

    /// Completes all operations at all targets. Errors: `WIN`; `RMA_SYNC` if this rank has no lock.
    #[inline]
    pub fn win_flush_all(&mut self, window: Handle) -> Result<()> {
        self.window(window)?.epochs.check_passive()?;
        self.complete_at_targets();
        Ok(())
    }

    /// Completes all operations on one target here: they are. Errors: as for [`Engine::win_flush`].
    #[inline]
    pub fn win_flush_local(&mut self, rank: i32, window: Handle) -> Result<()> {
        self.check_locked(rank, window)?;
        // Operations copy when they are called for: only the compiler could move the next use of a buffer ahead of that.
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }

    /// Completes all operations here: they are. Errors: as for [`Engine::win_flush_all`].
    #[inline]
    pub fn win_flush_local_all(&mut self, window: Handle) -> Result<()> {
        self.window(window)?.epochs.check_passive()?;
        // As above.
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }

    /// Orders this rank's loads and stores of the window's memory with those of others. Errors: `WIN`.
    #[inline]
    pub fn win_sync(&mut self, window: Handle) -> Result<()> {
        self.window(window)?;
        self.complete_at_targets();
        Ok(())
    }

    #[inline(always)]
    fn check_locked(&self, rank: i32, window: Handle) -> Result<()> {
        let it = self.window(window)?;
        match it.targets.get(rank as usize) {
            Some(target) if target.held != Held::Not => Ok(()),
            Some(_) => Err(Error::RMA_SYNC),
            None if rank == PROC_NULL => Ok(()),
            None => Err(Error::RANK),
        }
    }

    #[inline(always)]
    fn complete_at_targets(&mut self) {
        // Pairs with the fences of other ranks: of two ranks that put and then get what the other has put, at least one sees the other's.
        fence(Ordering::SeqCst);
        self.flushes = self.flushes.wrapping_add(1);
        if self.flushes.is_multiple_of(FLUSHES_PER_PROGRESS) {
            self.progress_between_polls();
        }
    }

    /// For calls by which a program polls: what it waits for may need this rank's messages, or this very core.
    #[cold]
    pub(super) fn progress_between_polls(&mut self) {
        self.progress();
        if job().is_oversubscribed() {
            sched_yield();
        }
    }

    fn wait_to_share(&mut self, control: &'static Control) {
        let ticket = control.lock.queue();
        self.wait_until(|| control.lock.enter_shared(ticket));
    }
}

impl Window {
    /// The target's index; `None` for the null process. Errors: `RANK`.
    fn passive_target(&self, rank: i32) -> Result<Option<usize>> {
        match usize::try_from(rank) {
            Ok(index) if index < self.targets.len() => Ok(Some(index)),
            _ if rank == PROC_NULL => Ok(None),
            _ => Err(Error::RANK),
        }
    }

    /// Shares the locks of all targets but `held`, which this rank shares already; if that is not possible now, shares none, and says
    /// which is not free.
    fn try_to_share_all(&mut self, held: Option<usize>) -> Option<usize> {
        let refused = (0..self.targets.len())
            .filter(|rank| Some(*rank) != held)
            .find(|rank| self.targets[*rank].control.lock.try_shared().is_none())?;
        let taken = (0..refused).filter(|rank| Some(*rank) != held).chain(held);
        taken.for_each(|rank| self.targets[rank].control.lock.leave_shared());
        Some(refused)
    }

    /// Gives the lock of a target back. Errors: `RMA_SYNC` if this rank has none.
    fn release(&mut self, rank: usize) -> Result<()> {
        let target = self.targets.get_mut(rank).ok_or(Error::INTERN)?;
        if target.held == Held::Not {
            return Err(Error::RMA_SYNC);
        }
        target.control.give_back(target.held);
        target.hold(Held::Not, false);
        Ok(())
    }
}

impl Control {
    /// Gives a lock back, which completes the operations under it.
    #[inline(always)]
    fn give_back(&self, held: Held) {
        match held {
            Held::Not => {}
            Held::Shared => self.lock.leave_shared(),
            Held::Exclusive(ticket) => self.lock.leave_exclusive(ticket),
            // As in a flush.
            Held::Unchecked => fence(Ordering::SeqCst),
        }
    }
}
