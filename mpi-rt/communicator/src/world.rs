//! The areas of the world: every rank publishes the address of its own when the runtime starts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_mpi_area::Area;
use lwk_mpi_core::error::{Error, Result};
use lwk_path::seen_from_here;
use lwk_place::{WorldRank, peer_of};
use lwk_ring::Published;
use lwk_user::smartmap::{self, Symmetric};
use lwk_user::wait;

/// The address of a rank's area for the collectives of all ranks.
struct WorldArea(Published<1>);

// SAFETY: atomics only; the number is a slot-0 address that readers translate.
unsafe impl smartmap::Shared for WorldArea {}

static WORLD_AREA: Symmetric<WorldArea> = Symmetric::new(WorldArea(Published::new()));

/// Every rank's area for the collectives of all. Every rank must call it; it waits for the others.
pub fn world_areas(members: &[WorldRank]) -> Result<Box<[&'static Area]>> {
    let mine = Area::renewed(None);
    WORLD_AREA.here().0.tell([core::ptr::from_ref(mine).expose_provenance() as u64]);
    let mut areas: Vec<&'static Area> = Vec::new();
    areas.try_reserve_exact(members.len()).map_err(|_| Error::NO_MEM)?;
    for member in members {
        let member = peer_of(*member).ok_or(Error::INTERN)?;
        let published = &WORLD_AREA.at(member).get().0;
        wait::spin_until(|| published.is_told());
        let [address] = published.words().map(|word| word as usize);
        // SAFETY: a rank publishes the address of an initialised area that it leaks; areas are shared through atomics.
        areas.push(unsafe { &*seen_from_here::<Area>(member, address) });
    }
    Ok(areas.into_boxed_slice())
}
