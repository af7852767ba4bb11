//! Where an operation goes: from window, rank, displacement, count and datatype to an address in this rank's view of the target, or to
//! the error that the standard names.
//!
//! Almost every operation is on a predefined datatype without holes, the same on both sides, inside the target's memory, in an epoch that is
//! open: [`Windows::direct`] finds that out with few instructions, or finds out nothing, and then [`Windows::locate`] tells what is the case.

use crate::beside::Beside;
use crate::dynamic::Attached;
use crate::element::How;
use crate::{Flavor, Mapped, Target};
use crate::{KNOWN, Windows};
use alloc::rc::Rc;
use lwk_datatype::Datatype;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::datatypes::dense_bytes;
use lwk_place::{CommRank, WorldRank};

/// A buffer in a target's part of a window, as the standard lists it.
#[derive(Clone, Copy, Debug)]
pub struct TargetBuffer {
    pub rank: i32,
    /// In the target's units; of a dynamic window, an address of the target's.
    pub displacement: i64,
    pub count: i64,
    /// A datatype of the origin's.
    pub datatype: u64,
}

/// A block in a target's memory.
pub(super) struct Block<'w> {
    pub address: *mut u8,
    pub bytes: usize,
    pub target: &'w Target,
}

/// Items in a target's memory.
pub(super) struct Items {
    /// Of displacement 0 of the first item, in this rank's addresses.
    pub address: *mut u8,
    pub count: i64,
    pub datatype: Datatype,
    pub reached: Reached,
}

/// How items are reached.
pub(super) enum Reached {
    /// By loads and stores.
    Mapped { beside: Rc<Beside>, alone: bool },
    /// By asking.
    Away(Away),
}

/// Where an operation out of reach goes.
#[derive(Clone, Copy)]
pub(super) struct Away {
    pub window: Handle,
    pub rank: CommRank,
    pub at: WorldRank,
    /// The window, as its ranks ask for it.
    pub object: u32,
    /// Bytes, as a displacement is.
    pub offset: u64,
    /// This rank knows that the target's items are in its part.
    pub is_checked: bool,
}

/// The way of the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    ToTarget,
    FromTarget,
}

impl Windows {
    /// The block that `count` items of `datatype` of the origin's have as their counterpart at the target; `None` if it takes a closer
    /// look.
    #[inline(always)]
    pub(super) fn direct(
        &self,
        count: i64,
        datatype: u64,
        place: &TargetBuffer,
        window: Handle,
    ) -> Option<Block<'_>> {
        let it = KNOWN.of(self).windows.get(window)?;
        let target = it.targets.get(place.rank as usize)?;
        if !(it.epochs.everyone | target.open) || place.datatype != datatype || place.count != count {
            return None;
        }
        // Negative numbers are large ones here. A datatype that takes a closer look has 0 bytes.
        let bytes = (count as u64).checked_mul(dense_bytes(datatype) as u64)?;
        let offset = (place.displacement as u64).checked_mul(target.unit)?;
        if bytes == 0 || offset > target.size || bytes > target.size - offset {
            return None;
        }
        let address = core::ptr::with_exposed_provenance_mut(target.base + offset as usize);
        Some(Block { address, bytes: bytes as usize, target })
    }

    /// The items at the target; `None` if it is the null process. Errors: `WIN`, `RANK`, `COUNT`, `TYPE`, `DISP`; `RMA_SYNC` outside an
    /// epoch; `RMA_RANGE` if they are not all in the target's memory.
    #[inline(never)]
    pub(super) fn locate(&mut self, place: &TargetBuffer, window: Handle) -> Result<Option<Items>> {
        let it = self.window(window)?;
        let Some(rank) = it.target_rank(place.rank)? else { return Ok(None) };
        if place.count < 0 {
            return Err(Error::COUNT);
        }
        let datatype = self.datatype_of(place.count, place.datatype)?.clone();
        // Only committed types communicate.
        datatype.layout()?.total(place.count as u64)?;
        let it = self.window_mut(window)?;
        it.admit(rank)?;
        let (flavor, target) = (it.flavor, it.targets.get(rank.index()).ok_or(Error::INTERN)?);
        let offset = target.displaced(place.displacement, flavor)?;
        let reached = match &target.mapped {
            Some(Mapped { beside, .. }) => Reached::Mapped { beside: beside.clone(), alone: target.alone },
            None => {
                let (at, object, is_checked) =
                    (target.world_rank, it.communicator.context, flavor != Flavor::Dynamic);
                Reached::Away(Away { window, rank, at, object, offset, is_checked })
            }
        };
        if let Some((low, high)) = span(&datatype, place.count)? {
            let (low, high) = (offset as i128 + low, offset as i128 + high);
            let inside = match (flavor, &target.mapped) {
                // Only the target knows.
                (Flavor::Dynamic, None) => true,
                (Flavor::Dynamic, Some(Mapped { control, .. })) => {
                    let from = u64::try_from(low).map_err(|_| Error::RMA_RANGE)?;
                    let to = u64::try_from(high).map_err(|_| Error::RMA_RANGE)?;
                    let attached = Attached { owner: target.world_rank, control };
                    attached.has(datatype.layout()?, place.count as u64, offset, (from, to))?
                }
                _ => low >= 0 && high <= target.told as i128,
            };
            if !inside {
                return Err(Error::RMA_RANGE);
            }
        }
        let address = target.base.wrapping_add(offset as usize);
        Ok(Some(Items {
            address: core::ptr::with_exposed_provenance_mut(address),
            count: place.count,
            datatype,
            reached,
        }))
    }
}

impl Target {
    /// A displacement in bytes. Errors: `DISP` if negative, `RMA_RANGE` if no memory has it.
    fn displaced(&self, displacement: i64, flavor: Flavor) -> Result<u64> {
        let displacement = u64::try_from(displacement).map_err(|_| Error::DISP)?;
        if flavor == Flavor::Dynamic {
            return Ok(displacement);
        }
        displacement.checked_mul(self.unit).ok_or(Error::RMA_RANGE)
    }
}

impl Block<'_> {
    /// How elements of the target may be updated.
    #[inline(always)]
    pub fn how(&self) -> How<'_> {
        match &self.target.mapped {
            _ if self.target.alone => How::Plain,
            Some(Mapped { beside, .. }) => How::Beside(beside),
            None => unreachable!("a block in memory that cannot be loaded and stored"),
        }
    }

    /// The target, if elements of such a block are updated at once and under its lock.
    #[inline(always)]
    pub fn in_bulk(&self) -> Option<&Beside> {
        let beside = &self.target.mapped.as_ref()?.beside;
        beside.is_bulk(self.bytes).then_some(beside)
    }

    /// Whether words of the target may be updated by instructions.
    #[inline(always)]
    pub fn is_single(&self) -> bool {
        self.target.mapped.as_ref().is_some_and(|mapped| mapped.beside.is_single())
    }
}

/// First byte of data and first byte behind, from displacement 0 of the first item on; `None` if there is no data. Errors: `COUNT`.
fn span(datatype: &Datatype, count: i64) -> Result<Option<(i128, i128)>> {
    if count == 0 || datatype.size() == 0 {
        return Ok(None);
    }
    let last = (count as i128 - 1) * datatype.extent() as i128;
    let low = datatype.true_lb() as i128;
    let high = low + datatype.true_extent() as i128;
    Ok(Some((low + last.min(0), high + last.max(0))))
}
