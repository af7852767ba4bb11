//! Post, start, complete, wait: active target synchronisation of the ranks that concern each other (MPI-5.0, section 12.5.2).
//!
//! A post is a store into a word of each origin's memory, a complete one into a word of each target's. Start waits for the posts, wait for
//! the completes. Groups are node ranks, as [`Engine::win_members`] lists them.

use super::Window;
use super::epoch::Access;
use crate::abi::mode;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::vec::Vec;
use lwk_epoch::PairLine;

impl Engine {
    /// Exposes this rank's memory to a group of origins. Errors: `WIN`, `ASSERT`; `GROUP` for ranks that are none of the window's; `RMA_SYNC`
    /// if it is exposed already.
    pub fn win_post(&mut self, group: &[u32], assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !(mode::NOCHECK | mode::NOSTORE | mode::NOPUT) != 0 {
            return Err(Error::ASSERT);
        }
        let ranks = it.ranks_of(group)?;
        if it.epochs.exposed_to.is_some() {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.leave_fence()?;
        for rank in &ranks {
            let origin = it.targets.get_mut(*rank as usize).ok_or(Error::INTERN)?;
            origin.exposures += 1;
            origin.line.posted.announce(origin.exposures);
        }
        it.epochs.exposed_to = Some(ranks);
        Ok(())
    }

    /// Begins access to a group of targets, after all of them have posted. Errors: `WIN`, `ASSERT`; `GROUP` for ranks that are none of the
    /// window's; `RMA_SYNC` in another epoch.
    pub fn win_start(&mut self, group: &[u32], assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        if assertions & !mode::NOCHECK != 0 {
            return Err(Error::ASSERT);
        }
        let ranks = it.ranks_of(group)?;
        if it.epochs.access != Access::Not {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.leave_fence()?;
        for rank in &ranks {
            let it = self.window_mut(window)?;
            let line = it.own.line(*rank as usize)?;
            let target = it.targets.get_mut(*rank as usize).ok_or(Error::INTERN)?;
            target.accesses += 1;
            target.open = true;
            let number = target.accesses;
            // With the assertion that all posts have been made there is nothing to wait for, only to count.
            if assertions & mode::NOCHECK == 0 {
                self.wait_until(|| line.posted.has(number));
            }
        }
        self.window_mut(window)?.epochs.access = Access::Started(ranks);
        Ok(())
    }

    /// Ends the access that start began. Errors: `WIN`; `RMA_SYNC` if none did.
    pub fn win_complete(&mut self, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        let Access::Started(_) = &it.epochs.access else { return Err(Error::RMA_SYNC) };
        let Access::Started(ranks) = core::mem::replace(&mut it.epochs.access, Access::Not) else {
            return Err(Error::INTERN);
        };
        for rank in ranks {
            let target = it.targets.get_mut(rank as usize).ok_or(Error::INTERN)?;
            target.open = false;
            target.line.completed.announce(target.accesses);
        }
        Ok(())
    }

    /// Ends the exposure that post began, after all its origins have completed. Errors: `WIN`; `RMA_SYNC` if none did.
    pub fn win_wait(&mut self, window: Handle) -> Result<()> {
        for (line, number) in self.window(window)?.awaited()? {
            self.wait_until(|| line.completed.has(number));
        }
        self.window_mut(window)?.epochs.exposed_to = None;
        Ok(())
    }

    /// Ends the exposure if all its origins have completed; whether they have. Errors: as for [`Engine::win_wait`].
    pub fn win_test(&mut self, window: Handle) -> Result<bool> {
        let awaited = self.window(window)?.awaited()?;
        let done = awaited.iter().all(|(line, number)| line.completed.has(*number));
        if done {
            self.window_mut(window)?.epochs.exposed_to = None;
        } else {
            self.progress_between_polls();
        }
        Ok(done)
    }
}

impl Window {
    /// Ranks in the window of a group. Errors: `GROUP`, `NO_MEM`.
    fn ranks_of(&self, group: &[u32]) -> Result<Vec<u32>> {
        let mut ranks = Vec::new();
        ranks.try_reserve_exact(group.len()).map_err(|_| Error::NO_MEM)?;
        for node_rank in group {
            ranks.push(self.rank_of(*node_rank)? as u32);
        }
        Ok(ranks)
    }

    /// The words of the origins of this exposure, and what is awaited of them. Errors: `RMA_SYNC` if there is none.
    fn awaited(&self) -> Result<Vec<(&'static PairLine, u64)>> {
        let ranks = self.epochs.exposed_to.as_ref().ok_or(Error::RMA_SYNC)?;
        let mut awaited = Vec::new();
        awaited.try_reserve_exact(ranks.len()).map_err(|_| Error::NO_MEM)?;
        for rank in ranks {
            let origin = self.targets.get(*rank as usize).ok_or(Error::INTERN)?;
            awaited.push((self.own.line(*rank as usize)?, origin.exposures));
        }
        Ok(awaited)
    }
}
