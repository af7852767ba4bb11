//! Windows whose memory the runtime allocates (MPI-5.0, sections 12.2.2 and 12.2.3).
//!
//! Shared memory is all the same here: every rank's memory is to load and store for all that reach it. What a shared window adds is that all ranks
//! must, and that, unless it is asked not to be, the memory of all ranks is one piece; it then lies in rank 0.

use crate::Flavor;
use crate::Windows;
use crate::create::check;
use crate::shared::{Memory, OwnMemory};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_path::seen_from_here;
use lwk_place::{CommRank, peer_of};

impl Windows {
    /// A window with `size` bytes of new, zeroed memory in this rank. All ranks of the communicator must call it. Also answers where the
    /// memory is. Errors: `COMM`, `SIZE`, `DISP`, `NO_MEM`; if any rank has one, all have.
    pub fn win_allocate(&mut self, size: i64, unit: i64, communicator: Handle) -> Result<(Handle, *mut u8)> {
        self.allocate(size, unit, communicator, Flavor::Allocate)
    }

    /// A window of memory that all ranks may load from and store to ([`Windows::win_shared_query`] says where): `size` bytes of each
    /// rank, one rank's behind the other's unless all say `noncontiguous`. Errors: as for [`Windows::win_allocate`]; `RMA_SHARED` if some of the ranks cannot
    /// load and store each other's memory.
    pub fn win_allocate_shared(
        &mut self,
        size: i64,
        unit: i64,
        noncontiguous: bool,
        communicator: Handle,
    ) -> Result<(Handle, *mut u8)> {
        if self.communicators.intracommunicator(communicator)?.is_out_of_reach() {
            return Err(Error::RMA_SHARED);
        }
        if noncontiguous {
            return self.allocate(size, unit, communicator, Flavor::Shared);
        }
        let part = check(size, unit).map(|(size, unit)| OwnMemory { base: 0, size, unit });
        let mut draft = self.draft(communicator, part)?;
        let total =
            draft.parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.size)).ok_or(Error::NO_MEM)?;
        // Rank 0's is the memory of all.
        let memory = if draft.parent.rank == CommRank::FIRST { Memory::new(total) } else { Ok(None) };
        let here = memory.as_ref().map(|memory| memory.as_ref().map_or(0, Memory::address) as u64);
        let words = self.exchange_outcomes(&draft.parent, here.map_err(|error| *error))?;
        let root = *draft.parent.members.first().ok_or(Error::INTERN)?;
        let start = words.first().copied().unwrap_or(0) as usize;
        // Through rank 0's slot, in rank 0 as well: an address in a slot means the same in every rank, so `finish` leaves it alone.
        let root = peer_of(root).ok_or(Error::INTERN)?;
        let start = if total > 0 { seen_from_here::<u8>(root, start).expose_provenance() } else { 0 };
        let mut end = start;
        for part in &mut draft.parts {
            part.base = end;
            end = end.wrapping_add(part.size as usize);
        }
        let base = draft.parts.get(draft.parent.rank.index()).ok_or(Error::INTERN)?.base;
        let window = self.finish(draft, Flavor::Shared, memory?)?;
        Ok((window, core::ptr::with_exposed_provenance_mut(base)))
    }

    fn allocate(
        &mut self,
        size: i64,
        unit: i64,
        communicator: Handle,
        flavor: Flavor,
    ) -> Result<(Handle, *mut u8)> {
        let memory = check(size, unit).and_then(|(size, unit)| Ok((Memory::new(size)?, size, unit)));
        let base = |memory: &Option<Memory>| memory.as_ref().map_or(0, Memory::address);
        let part = memory.as_ref().map(|(memory, size, unit)| OwnMemory {
            base: base(memory),
            size: *size,
            unit: *unit,
        });
        let draft = self.draft(communicator, part.map_err(|error| *error))?;
        let memory = memory?.0;
        let address = base(&memory);
        let window = self.finish(draft, flavor, memory)?;
        Ok((window, core::ptr::with_exposed_provenance_mut(address)))
    }
}
