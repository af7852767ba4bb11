//! Targets on other nodes, as Portals gets to them: puts and gets of blocks, which the target's kernel does, whatever its rank does meanwhile.
//!
//! When a window of several nodes is made, each rank opens its data, heap and stack (`lwk-remote`, once for all windows) and tells the others where they, its part of
//! the window and its control words are. If one of them has no such end, the window is one of questions only (`away`).
//!
//! What Portals does not do: parts of dynamic windows, whose ranges the target alone knows, and of windows on memory that was not opened (constants, a peer's
//! memory); and some updates (`far_update`). What is begun is complete at the next flush, unlock, fence or complete ([`Windows::complete_far`]); what reads
//! the origin's buffer later than the call waits.

use crate::accumulate::Walk;
use crate::locate::{Away, Items, Way};
use crate::shared::Control;
use crate::{KNOWN, Window, Windows};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::mem::offset_of;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_rt::communicator::Communicator;
use lwk_path::region::Region;
use lwk_place::{CommRank, WorldRank, peer_of};
use lwk_remote::{COPIED, Opened, Place, Remote};

/// Words that a rank tells of its end.
const END_WORDS: usize = 5;

/// A target, as Portals gets to it.
#[derive(Clone)]
pub(super) struct Far {
    pub remote: Rc<Remote>,
    pub rank: WorldRank,
    /// Its control words' lock.
    pub lock: Place,
    /// Its part, if that has been opened.
    part: Option<Place>,
    /// Where its part starts, in its addresses.
    base: u64,
}

/// A target's part.
pub(super) struct FarPart {
    pub remote: Rc<Remote>,
    pub rank: WorldRank,
    pub start: Place,
    pub base: u64,
}

/// What a failure of Portals is to a caller. A node that is gone ends the job in any case.
pub(super) fn fault(_: lwk_remote::Fault) -> Error {
    Error::OTHER
}

impl Windows {
    /// What this rank has opened to others; nothing if the communicator's members are all of this node, or there is no network.
    pub(super) fn open_far(&mut self, communicator: &Communicator) -> Opened {
        if communicator.members.iter().all(|member| peer_of(*member).is_some()) {
            return Opened::default();
        }
        if self.known().remote.is_none() {
            // SAFETY: what others do with this rank's memory are their calls on windows, within the parts that this rank has given those.
            self.known().remote = unsafe { Remote::open_all() }.ok().map(Rc::new);
        }
        self.known().remote.as_ref().map_or(Opened::default(), |remote| remote.opened())
    }

    /// The ranks of a window, as Portals gets to them: from what each has told (bytes, unit, start of its part, its end), and where its control words are. Empty
    /// if it does not get to all.
    pub(super) fn far_targets(
        &self,
        members: &[WorldRank],
        told: &[Vec<u64>],
        controls: &[u64],
    ) -> Vec<Option<Far>> {
        let Some(remote) = &KNOWN.of(self).remote else { return Vec::new() };
        let far = |((told, control), rank): ((&Vec<u64>, &u64), &WorldRank)| {
            let [bytes, _, base, end @ ..] = told.as_slice() else { return None };
            let opened = Opened::of_words(<[u64; END_WORDS]>::try_from(end).ok()?);
            let lock = control.checked_add(offset_of!(Control, lock) as u64)?;
            Some(Some(Far {
                remote: remote.clone(),
                rank: *rank,
                lock: opened.place(lock, size_of::<lwk_epoch::LockWords>() as u64)?,
                part: opened.place(*base, *bytes),
                base: *base,
            }))
        };
        told.iter().zip(controls).zip(members).map(far).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// A target's part, if Portals gets there.
    pub(super) fn far_part(&self, away: &Away) -> Option<FarPart> {
        let far = self.window(away.window).ok()?.far(away.rank).filter(|_| away.is_checked)?;
        Some(FarPart { remote: far.remote.clone(), rank: far.rank, start: far.part?, base: far.base })
    }

    /// Something has been begun that the next synchronisation completes.
    pub(super) fn note_far(&mut self) {
        self.known().is_far_begun = true;
        // The next flush looks.
        self.known().flushes = u32::MAX;
    }

    /// Waits until all that this rank has begun is done at its targets. Errors: `OTHER`.
    pub(super) fn complete_far(&mut self) -> Result<()> {
        let known = self.known();
        match &known.remote {
            Some(remote) if known.is_far_begun => {
                known.is_far_begun = false;
                remote.complete().map_err(fault)
            }
            _ => Ok(()),
        }
    }

    /// A put or a get of `bytes` bytes, block by block. Errors: `OTHER`.
    ///
    /// # Safety
    /// `here` is readable for a put, writable for a get, until this returns, and its datatype lives as long; both sides have as many bytes.
    pub(super) unsafe fn transfer_far(
        &mut self,
        part: &FarPart,
        away: &Away,
        items: &Items,
        here: &Region,
        way: Way,
        bytes: usize,
    ) -> Result<()> {
        let mut there = Walk::new(away.offset as usize, items.datatype.layout()?, items.count as u64)?;
        // SAFETY: the datatype lives until this returns (this function's contract).
        let mut here = unsafe { Walk::of(here)? };
        let (mut left, mut is_read_later) = (bytes, false);
        self.note_far();
        while left > 0 {
            let ((offset, room), (address, has)) = (there.next()?, here.next()?);
            let bytes = room.min(has).min(left);
            let place = part.start.after(offset);
            let own = core::ptr::with_exposed_provenance_mut::<u8>(address);
            // SAFETY: the block is part of `here`, which is readable for a put and writable for a get until this returns (this function's contract), which
            // is after the get, and after a put that is not copied. The other lies in the target's part (`locate`), whose accesses the program orders.
            unsafe {
                match way {
                    Way::ToTarget => part.remote.begin_put(part.rank, place, own, bytes),
                    Way::FromTarget => part.remote.begin_get(part.rank, own, place, bytes),
                }
                .map_err(fault)?;
            }
            is_read_later |= bytes > COPIED;
            there.advance(bytes);
            here.advance(bytes);
            left -= bytes;
        }
        match way {
            Way::ToTarget if is_read_later => self.complete_far(),
            Way::ToTarget => Ok(()),
            Way::FromTarget => part.remote.arrive().map_err(fault),
        }
    }
}

impl Window {
    /// How Portals gets to a target, if it is used.
    pub(super) fn far(&self, rank: CommRank) -> Option<&Far> {
        self.targets.get(rank.index())?.far.as_ref()
    }
}

impl Walk<'static> {
    /// Of a region of this rank's.
    ///
    /// # Safety
    /// Its datatype lives as long as this.
    pub unsafe fn of(region: &Region) -> Result<Walk<'static>> {
        // SAFETY: this function's contract.
        let items = unsafe { region.walk()? };
        Walk::new(items.base, items.layout, items.count)
    }
}
