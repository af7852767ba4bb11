//! Passive target synchronisation: locks, flushes (MPI-5.0, sections 12.5.3 to 12.5.5).
//!
//! A lock is taken when it is asked for, first come first served. Locking all takes every target's lock, but never holds one while
//! it waits for another, so it is in no deadlock with ranks that lock several targets one by one.
//!
//! Operations on targets within reach complete when they are called, so a flush only keeps later loads of this rank from overtaking its earlier
//! stores. What targets out of reach have been told they are asked for: the telling sees to it that the next flush looks.

use crate::Windows;
use crate::away::what;
use crate::epoch::{Access, Held};
use crate::locate::Away;
use crate::shared::Control;
use crate::{Mapped, Target, Window};
use lwk_epoch::{complete_at_targets, complete_here};
use lwk_mpi_asking::{Query, ask};
use lwk_mpi_core::abi::{PROC_NULL, mode};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_place::CommRank;
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

/// Which targets a flush is of.
#[derive(Clone, Copy)]
enum At {
    One(i32),
    All,
    None,
}

impl Windows {
    /// Begins access to one target, after those who hold its lock and may not share it. The null process is always free, and its lock an epoch
    /// like any other. Errors: `WIN`, `RANK`, `ASSERT`; `RMA_SYNC` in another epoch, or if this rank has locked it already; `RMA_CONFLICT` while the target has exposed its part by post
    /// (seen by all but those that lock without the lock, [`mode::NOCHECK`]).
    pub fn win_lock(&mut self, kind: LockKind, rank: i32, assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !mode::NOCHECK != 0 {
            return Err(Error::ASSERT);
        }
        let rank = it.target_rank(rank)?;
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
        let target = it.targets.get(rank.index()).ok_or(Error::INTERN)?;
        if target.held != Held::Not {
            return Err(Error::RMA_SYNC);
        }
        let control = target.mapped.as_ref().map(|mapped| mapped.control);
        it.epochs.leave_fence()?;
        let held = match control {
            _ if assertions & mode::NOCHECK != 0 => Held::Unchecked,
            Some(control) => self.take_lock(kind, control)?,
            None => self.lock_away(kind, rank, window)?,
        };
        let it = self.window_mut(window)?;
        it.epochs.access = Access::Locked(locks + 1);
        it.targets.get_mut(rank.index()).ok_or(Error::INTERN)?.hold(held, kind == LockKind::Exclusive);
        Ok(())
    }

    /// Ends access to one target. Errors: `WIN`, `RANK`; `RMA_SYNC` if this rank has not locked it.
    pub fn win_unlock(&mut self, rank: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        let rank = it.target_rank(rank)?;
        let Access::Locked(locks) = it.epochs.access else { return Err(Error::RMA_SYNC) };
        let asked = match rank {
            Some(rank) => it.release(window, rank)?,
            None if it.epochs.locked_nobody => {
                it.epochs.locked_nobody = false;
                None
            }
            None => return Err(Error::RMA_SYNC),
        };
        it.epochs.access = if locks == 1 { Access::Not } else { Access::Locked(locks - 1) };
        asked.map_or(Ok(()), |away| self.leave_away(&away))
    }

    /// Begins shared access to all targets. Errors: `WIN`, `ASSERT`; `RMA_SYNC` in another epoch; `RMA_CONFLICT` as for [`Windows::win_lock`].
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
            self.lock_every(window)?;
            Held::Shared
        };
        let it = self.window_mut(window)?;
        it.epochs.access = Access::LockedAll;
        it.targets.iter_mut().for_each(|target| target.hold(target.as_shared(held), false));
        Ok(())
    }

    /// Ends access to all targets. Errors: `WIN`; `RMA_SYNC` if this rank has not locked all.
    pub fn win_unlock_all(&mut self, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if it.epochs.access != Access::LockedAll {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.access = Access::Not;
        let mut outcome = Ok(());
        for rank in it.ranks() {
            let it = self.window_mut(window)?;
            if let Some(away) = it.release(window, rank)? {
                outcome = outcome.and(self.leave_away(&away));
            }
        }
        outcome
    }

    /// Completes all operations on one target there. Errors: `WIN`, `RANK`; `RMA_SYNC` if this rank has not locked it.
    #[inline]
    pub fn win_flush(&mut self, rank: i32, window: Handle) -> Result<()> {
        self.check_locked(rank, window)?;
        self.complete_at_targets(window, At::One(rank))
    }

    /// Completes all operations at all targets. Errors: `WIN`; `RMA_SYNC` if this rank has no lock.
    #[inline]
    pub fn win_flush_all(&mut self, window: Handle) -> Result<()> {
        self.window(window)?.epochs.check_passive()?;
        self.complete_at_targets(window, At::All)
    }

    /// Completes all operations on one target here: they are. Errors: as for [`Windows::win_flush`].
    #[inline]
    pub fn win_flush_local(&mut self, rank: i32, window: Handle) -> Result<()> {
        self.check_locked(rank, window)?;
        complete_here();
        Ok(())
    }

    /// Completes all operations here: they are. Errors: as for [`Windows::win_flush_all`].
    #[inline]
    pub fn win_flush_local_all(&mut self, window: Handle) -> Result<()> {
        self.window(window)?.epochs.check_passive()?;
        complete_here();
        Ok(())
    }

    /// Orders this rank's loads and stores of the window's memory with those of others. Errors: `WIN`.
    #[inline]
    pub fn win_sync(&mut self, window: Handle) -> Result<()> {
        self.window(window)?;
        self.complete_at_targets(window, At::None)
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
    fn complete_at_targets(&mut self, window: Handle, at: At) -> Result<()> {
        complete_at_targets();
        self.known().flushes = self.known().flushes.wrapping_add(1);
        if self.known().flushes.is_multiple_of(FLUSHES_PER_PROGRESS) {
            self.look_around(window, at)
        } else {
            Ok(())
        }
    }

    /// Waits for targets out of reach that have been told something, if there are any, and makes progress in any case.
    #[cold]
    fn look_around(&mut self, window: Handle, at: At) -> Result<()> {
        let heard = match at {
            _ if self.known().unheard == 0 => Ok(()),
            At::One(rank) => CommRank::of_number(rank).map_or(Ok(()), |rank| self.hear(window, rank)),
            At::All => self.hear_all(window),
            At::None => Ok(()),
        };
        let heard = self.complete_far().and(heard);
        self.window(window)?.hear_of_bulk();
        self.progress_between_polls();
        if self.known().unheard > 0 {
            self.known().flushes = u32::MAX;
        }
        heard
    }

    /// For calls by which a program polls: what it waits for may need this rank's messages, or this very core.
    #[cold]
    pub(super) fn progress_between_polls(&mut self) {
        self.progress();
        if job().is_oversubscribed() {
            sched_yield();
        }
    }

    /// Takes a target's lock. Errors: `RMA_CONFLICT`, and then it is given back.
    #[inline]
    fn take_lock(&mut self, kind: LockKind, control: &'static Control) -> Result<Held> {
        let ticket = control.lock.queue();
        let held = match kind {
            LockKind::Exclusive => {
                self.wait_until(|| control.lock.enter_exclusive(ticket));
                Held::Exclusive(ticket)
            }
            LockKind::Shared => {
                self.wait_until(|| control.lock.enter_shared(ticket));
                Held::Shared
            }
        };
        if control.lock.is_exposed() {
            control.give_back(held);
            return Err(Error::RMA_CONFLICT);
        }
        Ok(held)
    }

    /// The same of a target that is asked.
    #[cold]
    pub(super) fn ask_for_lock(&mut self, kind: LockKind, rank: CommRank, window: Handle) -> Result<Held> {
        let away = self.window(window)?.away(window, rank).ok_or(Error::INTERN)?;
        let what = if kind == LockKind::Exclusive { what::EXCLUDE } else { what::SHARE };
        ask(self, away.at, away.object, Query::new(what, 0))?;
        Ok(Held::Asked(kind))
    }

    /// Gives back the lock of a target out of reach, if there is one. Errors: `NO_MEM`, the target's.
    #[cold]
    fn leave_away(&mut self, (away, held): &(Away, Held)) -> Result<()> {
        let what = match held {
            Held::Asked(LockKind::Exclusive) => what::LEAVE_EXCLUSIVE,
            Held::Asked(LockKind::Shared) => what::LEAVE_SHARED,
            held => return self.leave_far(away, *held),
        };
        self.ask_last(away, Query::new(what, 0))
    }

    /// Shares the locks of all targets. Errors: `RMA_CONFLICT`, and then none.
    fn lock_every(&mut self, window: Handle) -> Result<()> {
        // The target whose lock has been waited for and is held.
        let mut first = None;
        while let Some(refused) = self.try_to_share_all(window, first)? {
            match self
                .window(window)?
                .targets
                .get(refused.index())
                .ok_or(Error::INTERN)?
                .mapped
                .as_ref()
                .map(|it| it.control)
            {
                Some(control) => drop(self.take_lock(LockKind::Shared, control)?),
                None => drop(self.lock_away(LockKind::Shared, refused, window)?),
            }
            first = Some(refused);
        }
        Ok(())
    }

    /// Shares the locks of all targets but `held`, which this rank shares already; if that is not possible now, shares none, and says
    /// which is not free. Errors: `RMA_CONFLICT`, and then it shares none.
    fn try_to_share_all(&mut self, window: Handle, held: Option<CommRank>) -> Result<Option<CommRank>> {
        let all = self.window(window)?.ranks();
        let others = || all.clone().filter(|rank| Some(*rank) != held);
        for rank in others() {
            let outcome = self.try_to_share(window, rank);
            if outcome != Ok(true) {
                for taken in others().take_while(|taken| *taken != rank).chain(held) {
                    self.leave_shared(window, taken)?;
                }
                return outcome.map(|_| Some(rank));
            }
        }
        Ok(None)
    }

    /// Shares the lock of a target if it is free. Errors: `RMA_CONFLICT`.
    fn try_to_share(&mut self, window: Handle, rank: CommRank) -> Result<bool> {
        let it = self.window(window)?;
        if let Some(Away { at, object, .. }) = it.away(window, rank) {
            return match it.far(rank) {
                Some(far) => far.try_to_share(),
                None => Ok(ask(self, at, object, Query::new(what::TRY_SHARE, 0))? != 0),
            };
        }
        let Some(Mapped { control, .. }) =
            it.targets.get(rank.index()).and_then(|target| target.mapped.as_ref())
        else {
            return Err(Error::INTERN);
        };
        if control.lock.try_shared().is_none() {
            return Ok(false);
        }
        if control.lock.is_exposed() {
            control.give_back(Held::Shared);
            return Err(Error::RMA_CONFLICT);
        }
        Ok(true)
    }

    fn leave_shared(&mut self, window: Handle, rank: CommRank) -> Result<()> {
        match (self.window(window)?.away(window, rank), self.window(window)?.targets.get(rank.index())) {
            (Some(away), Some(target)) => {
                let held = target.as_shared(Held::Shared);
                self.leave_away(&(away, held))?;
            }
            (None, Some(Target { mapped: Some(Mapped { control, .. }), .. })) => {
                control.give_back(Held::Shared)
            }
            _ => return Err(Error::INTERN),
        }
        Ok(())
    }
}

impl Target {
    /// A lock that all are held by, as this one is.
    fn as_shared(&self, held: Held) -> Held {
        let is_asked = held == Held::Shared && self.mapped.is_none() && self.far.is_none();
        if is_asked { Held::Asked(LockKind::Shared) } else { held }
    }
}

impl Window {
    /// Gives the lock of a target back, unless that has to be asked: then how. Errors: `RMA_SYNC` if this rank has none.
    fn release(&mut self, window: Handle, rank: CommRank) -> Result<Option<(Away, Held)>> {
        let target = self.targets.get_mut(rank.index()).ok_or(Error::INTERN)?;
        let held = target.held;
        if held == Held::Not {
            return Err(Error::RMA_SYNC);
        }
        target.hold(Held::Not, false);
        if let Some(Mapped { control, .. }) = &target.mapped {
            control.give_back(held);
            return Ok(None);
        }
        Ok(self.away(window, rank).map(|away| (away, held)))
    }
}

impl Control {
    /// Gives a lock back, which completes the operations under it.
    #[inline(always)]
    fn give_back(&self, held: Held) {
        match held {
            Held::Not | Held::Asked(_) => {}
            Held::Shared => self.lock.leave_shared(),
            Held::Exclusive(ticket) => self.lock.leave_exclusive(ticket),
            // As in a flush.
            Held::Unchecked => complete_at_targets(),
        }
    }
}
