//! Put and get (MPI-5.0, sections 12.3.1, 12.3.2 and 12.3.5): a copy between the origin's memory and the target's, straight from layout to
//! layout.

use crate::Windows;
use crate::locate::{Reached, Way};
use crate::{Buffer, TargetBuffer};
use lwk_copy::copy;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::buffer::is_none;
use lwk_mpi_rt::wait::DONE;
use lwk_path::region::{Region, copy_regions};

impl Windows {
    /// Stores the origin's buffer at the target. Errors: `WIN`, `RANK`, `COUNT`, `TYPE`, `BUFFER`, `DISP`; `RMA_SYNC` outside an epoch; `RMA_RANGE` beyond
    /// the target's memory; `TRUNCATE` if the target's items have less room.
    ///
    /// # Safety
    /// The origin's buffer must be readable for its items and not overlap the target's; others' accesses to
    /// the target's must not conflict (MPI-5.0, section 12.7).
    #[inline(always)]
    pub unsafe fn put(&mut self, origin: &Buffer, place: &TargetBuffer, window: Handle) -> Result<()> {
        if !is_none(origin.address)
            && let Some(block) = self.direct(origin.count, origin.datatype, place, window)
        {
            // SAFETY: the origin is readable for `block.bytes`, apart from the target's (this function's
            // contract); the block lies in the target's part of the window (`direct`).
            unsafe { copy(origin.address, block.address, block.bytes) };
            return Ok(());
        }
        // SAFETY: the origin's items are readable and do not overlap the target's (this function's contract).
        unsafe { self.transfer(origin, place, window, Way::ToTarget) }
    }

    /// Loads the target's memory into the origin's buffer. Errors: as for [`Windows::put`]; `TRUNCATE` if the origin's items have less
    /// room.
    ///
    /// # Safety
    /// The origin's buffer must be writable for its items and not overlap the target's; others' accesses to
    /// the target's must not conflict (MPI-5.0, section 12.7).
    #[inline(always)]
    pub unsafe fn get(&mut self, origin: &Buffer, place: &TargetBuffer, window: Handle) -> Result<()> {
        if !is_none(origin.address)
            && let Some(block) = self.direct(origin.count, origin.datatype, place, window)
        {
            // SAFETY: the origin is writable for `block.bytes`, apart from the target's (this function's
            // contract); the block lies in the target's part of the window (`direct`).
            unsafe { copy(block.address, origin.address, block.bytes) };
            return Ok(());
        }
        // SAFETY: the origin's items are writable and do not overlap the target's (this function's contract).
        unsafe { self.transfer(origin, place, window, Way::FromTarget) }
    }

    /// A put with a request, which is complete at once. Errors: as for [`Windows::put`]; `RMA_SYNC` also in an active target epoch.
    ///
    /// # Safety
    /// As for [`Windows::put`].
    pub unsafe fn rput(&mut self, origin: &Buffer, place: &TargetBuffer, window: Handle) -> Result<Handle> {
        self.window(window)?.epochs.check_passive()?;
        // SAFETY: the origin's items are readable and do not overlap the target's (this function's contract).
        unsafe { self.put(origin, place, window) }.map(|()| DONE)
    }

    /// A get with a request, which is complete at once. Errors: as for [`Windows::rput`].
    ///
    /// # Safety
    /// As for [`Windows::get`].
    pub unsafe fn rget(&mut self, origin: &Buffer, place: &TargetBuffer, window: Handle) -> Result<Handle> {
        self.window(window)?.epochs.check_passive()?;
        // SAFETY: the origin's items are writable and do not overlap the target's (this function's contract).
        unsafe { self.get(origin, place, window) }.map(|()| DONE)
    }

    /// Anything that is not a block on both sides, or is wrong.
    ///
    /// # Safety
    /// As for [`Windows::put`] and [`Windows::get`].
    #[inline(never)]
    unsafe fn transfer(
        &mut self,
        origin: &Buffer,
        place: &TargetBuffer,
        window: Handle,
        way: Way,
    ) -> Result<()> {
        let Some(items) = self.locate(place, window)? else { return Ok(()) };
        let here = self.buffer(origin.address, origin.count, origin.datatype)?;
        if let Reached::Away(away) = &items.reached {
            let _kept = self.kept(origin.datatype);
            // SAFETY: the origin's items are valid for this way until this returns (this function's contract), and their datatype is kept.
            return unsafe { self.transfer_away(away, &items, &here, way) };
        }
        let there = Region::items(items.address, items.count as u64, items.datatype.layout()?)?;
        let (from, to) = if way == Way::ToTarget { (here, there) } else { (there, here) };
        if from.bytes() > to.bytes() {
            return Err(Error::TRUNCATE);
        }
        // SAFETY: both datatypes live. The origin's items are valid for this way, apart from the target's
        // (this function's contract); those lie in its part of the window (`locate`).
        unsafe { copy_regions(&from, &to) }?;
        Ok(())
    }
}
