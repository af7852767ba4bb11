//! Post, start, complete, wait: active target synchronisation of the ranks that concern each other (MPI-5.0, section 12.5.2).
//!
//! A post is a store into a word of each origin's memory, a complete one into a word of each target's; ranks out of reach are told. Start waits for the posts, wait for
//! the completes. Groups are world ranks, as [`Windows::win_members`] lists them.

use crate::Windows;
use crate::away::what;
use crate::epoch::Access;
use crate::{Mapped, Window};
use lwk_epoch::{PairLine, TargetLock};
use lwk_mpi_asking::Query;
use lwk_mpi_core::abi::mode;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_place::{CommRank, WorldRank};

impl Windows {
    /// Exposes this rank's memory to a group of origins. Errors: `WIN`, `ASSERT`; `GROUP` for ranks that are none of the window's; `RMA_SYNC`
    /// if it is exposed already; `RMA_CONFLICT` while a rank has locked it.
    pub fn win_post(&mut self, group: &[WorldRank], assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !(mode::NOCHECK | mode::NOSTORE | mode::NOPUT) != 0 {
            return Err(Error::ASSERT);
        }
        it.check_group(group)?;
        if it.epochs.exposed {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.leave_fence()?;
        it.epochs.exposed_to.clear();
        it.epochs.exposed_to.try_reserve(group.len()).map_err(|_| Error::NO_MEM)?;
        if !it.own_lock()?.expose() {
            return Err(Error::RMA_CONFLICT);
        }
        it.epochs.exposed = true;
        for world_rank in group {
            let it = self.window_mut(window)?;
            let rank = it.rank_of(*world_rank)?;
            it.epochs.exposed_to.push(rank);
            let origin = it.targets.get_mut(rank.index()).ok_or(Error::INTERN)?;
            origin.exposures += 1;
            let number = origin.exposures;
            match &origin.mapped {
                Some(Mapped { line, .. }) => line.posted.announce(number),
                None => self.tell_number(window, rank, what::POSTED, number)?,
            }
        }
        Ok(())
    }

    /// Begins access to a group of targets, after all of them have posted. Errors: `WIN`, `ASSERT`; `GROUP` for ranks that are none of the
    /// window's; `RMA_SYNC` in another epoch.
    pub fn win_start(&mut self, group: &[WorldRank], assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !mode::NOCHECK != 0 {
            return Err(Error::ASSERT);
        }
        it.check_group(group)?;
        if it.epochs.access != Access::Not {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.leave_fence()?;
        it.epochs.started.clear();
        it.epochs.started.try_reserve(group.len()).map_err(|_| Error::NO_MEM)?;
        for world_rank in group {
            let it = self.window_mut(window)?;
            let rank = it.rank_of(*world_rank)?;
            it.epochs.started.push(rank);
            let line = it.own.line(rank)?;
            let target = it.targets.get_mut(rank.index()).ok_or(Error::INTERN)?;
            target.accesses += 1;
            target.open = true;
            let number = target.accesses;
            // With the assertion that all posts have been made there is nothing to wait for, only to count.
            if assertions & mode::NOCHECK == 0 {
                self.wait_until(|| line.posted.has(number));
            }
        }
        self.window_mut(window)?.epochs.access = Access::Started;
        Ok(())
    }

    /// Ends the access that start began. Errors: `WIN`; `RMA_SYNC` if none did.
    pub fn win_complete(&mut self, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if it.epochs.access != Access::Started {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.access = Access::Not;
        let mut is_one_away = false;
        for rank in &it.epochs.started {
            let target = it.targets.get_mut(rank.index()).ok_or(Error::INTERN)?;
            target.open = false;
            match &target.mapped {
                Some(Mapped { line, .. }) => line.completed.announce(target.accesses),
                None => is_one_away = true,
            }
        }
        if is_one_away { self.complete_away(window) } else { Ok(()) }
    }

    /// Tells the started targets that are out of reach.
    #[cold]
    fn complete_away(&mut self, window: Handle) -> Result<()> {
        self.complete_far()?;
        for index in 0.. {
            let it = self.window(window)?;
            let Some(rank) = it.epochs.started.get(index).copied() else { break };
            let target = it.targets.get(rank.index()).ok_or(Error::INTERN)?;
            if target.mapped.is_none() {
                let number = target.accesses;
                self.tell_number(window, rank, what::COMPLETED, number)?;
            }
        }
        Ok(())
    }

    /// Tells a rank out of reach a number of this one's epochs.
    #[cold]
    fn tell_number(&mut self, window: Handle, rank: CommRank, what: u64, number: u64) -> Result<()> {
        let away = self.window(window)?.away(window, rank).ok_or(Error::INTERN)?;
        self.tell_target(&away, Query::new(what, number))
    }

    /// Ends the exposure that post began, after all its origins have completed. Errors: `WIN`; `RMA_SYNC` if none did.
    pub fn win_wait(&mut self, window: Handle) -> Result<()> {
        let mut origin = 0;
        while let Some((line, number)) = self.window(window)?.awaited(origin)? {
            self.wait_until(|| line.completed.has(number));
            origin += 1;
        }
        self.window_mut(window)?.end_exposure()
    }

    /// Ends the exposure if all its origins have completed; whether they have. Errors: as for [`Windows::win_wait`].
    pub fn win_test(&mut self, window: Handle) -> Result<bool> {
        let mut origin = 0;
        while let Some((line, number)) = self.window(window)?.awaited(origin)? {
            if !line.completed.has(number) {
                self.progress_between_polls();
                return Ok(false);
            }
            origin += 1;
        }
        self.window_mut(window)?.end_exposure()?;
        Ok(true)
    }
}

impl Window {
    fn end_exposure(&mut self) -> Result<()> {
        self.own_lock()?.conceal();
        self.epochs.exposed = false;
        Ok(())
    }

    /// The lock of this rank's part.
    fn own_lock(&self) -> Result<&'static TargetLock> {
        let own = self.targets.get(self.communicator.rank.index());
        own.and_then(|target| target.mapped.as_ref()).map(|mapped| &mapped.control.lock).ok_or(Error::INTERN)
    }

    /// Errors: `GROUP` if a world rank is none of the window's.
    fn check_group(&self, group: &[WorldRank]) -> Result<()> {
        group.iter().try_for_each(|world_rank| self.rank_of(*world_rank).map(drop))
    }

    /// The word of one of the origins of this exposure, and what is awaited of it; `None` after the last. Errors: `RMA_SYNC` if there is no
    /// exposure.
    fn awaited(&self, origin: usize) -> Result<Option<(&'static PairLine, u64)>> {
        if !self.epochs.exposed {
            return Err(Error::RMA_SYNC);
        }
        let Some(rank) = self.epochs.exposed_to.get(origin) else { return Ok(None) };
        let origin = self.targets.get(rank.index()).ok_or(Error::INTERN)?;
        Ok(Some((self.own.line(*rank)?, origin.exposures)))
    }
}
