//! Dynamic windows: memory is attached and detached while the window lives (MPI-5.0, section 12.2.4). Displacements are addresses of
//! the target's.
//!
//! The range of every access is looked up in the target's list, which takes time in proportion to how much is attached there. An access may span
//! regions that were attached one by one, side by side or with a gap that its datatype skips.

use crate::Flavor;
use crate::Windows;
use crate::shared::{Control, OwnMemory};
use lwk_datatype::{Cursor, LayoutView};
use lwk_epoch::Attachments;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_path::seen_from_here;
use lwk_place::{WorldRank, peer_of};
use lwk_user::job;

impl Windows {
    /// A window without memory. All ranks of the communicator must call it. Errors: `COMM`, `NO_MEM`.
    pub fn win_create_dynamic(&mut self, communicator: Handle) -> Result<Handle> {
        let draft = self.draft(communicator, Ok(OwnMemory { base: 0, size: 0, unit: 1 }))?;
        self.finish(draft, Flavor::Dynamic, None)
    }

    /// Lets peers access `size` bytes of this rank at `base`. Errors: `WIN`, `SIZE`, `RMA_FLAVOR`; `RMA_ATTACH` if part of it is attached
    /// already or out of the peers' reach, or there is no memory to remember it.
    pub fn win_attach(&mut self, window: Handle, base: *mut u8, size: i64) -> Result<()> {
        let window = self.dynamic_window(window)?;
        let size = u64::try_from(size).map_err(|_| Error::SIZE)?;
        let from = base.expose_provenance() as u64;
        let to = from.checked_add(size).ok_or(Error::SIZE)?;
        if size == 0 {
            return Ok(());
        }
        if !job().segments_contain(from, size)
            || window.own.attachments().any(|piece| piece.overlaps(from, to))
        {
            return Err(Error::RMA_ATTACH);
        }
        if window.own.attachments().any(|piece| piece.attach(from, to).is_ok()) {
            return Ok(());
        }
        window.own.add_attachments()?;
        let last = window.own.attachments().last().ok_or(Error::INTERN)?;
        last.attach(from, to).map_err(|_| Error::INTERN)
    }

    /// Ends the peers' access to what was attached at `base`. Errors: `WIN`, `RMA_FLAVOR`; `RMA_ATTACH` if nothing was.
    pub fn win_detach(&mut self, window: Handle, base: *const u8) -> Result<()> {
        let window = self.dynamic_window(window)?;
        let from = base.expose_provenance() as u64;
        if window.own.attachments().any(|piece| piece.detach(from)) { Ok(()) } else { Err(Error::RMA_ATTACH) }
    }

    fn dynamic_window(&mut self, window: Handle) -> Result<&mut super::Window> {
        let window = self.window_mut(window)?;
        if window.flavor == Flavor::Dynamic { Ok(window) } else { Err(Error::RMA_FLAVOR) }
    }
}

/// What a rank has attached: its list, which this rank can load.
#[derive(Clone, Copy)]
pub(super) struct Attached {
    pub owner: WorldRank,
    pub control: &'static Control,
}

impl Attached {
    /// Whether it has attached what `count` items at `offset`, in its own addresses, have as data: all from `from` to `to`, which takes
    /// one walk, or, where a datatype leaves something out, each of its blocks. What lies side by side may have been attached in pieces.
    pub fn has(&self, layout: LayoutView, count: u64, offset: u64, (from, to): (u64, u64)) -> Result<bool> {
        if self.covers(from, to) {
            return Ok(true);
        }
        let mut cursor = Cursor::new(layout, count, 0)?;
        while let Some(piece) = cursor.peek()? {
            for block in 0..piece.count {
                let displacement = piece.disp.wrapping_add(piece.stride.wrapping_mul(block as i64));
                let start = offset.wrapping_add_signed(displacement);
                if !self.covers(start, start.wrapping_add(piece.block)) {
                    return Ok(false);
                }
            }
            cursor.advance(piece.block * piece.count);
        }
        Ok(true)
    }

    /// Whether every byte from `from` on before `to` is attached.
    fn covers(&self, from: u64, to: u64) -> bool {
        let mut next = from;
        while next < to {
            match self.attached_until(next) {
                Some(end) => next = end,
                None => return false,
            }
        }
        from <= to
    }

    /// Where the region ends that has the byte at `address`.
    fn attached_until(&self, address: u64) -> Option<u64> {
        let peer = peer_of(self.owner)?;
        let mut piece = &self.control.attachments;
        loop {
            if let Some(end) = piece.end_after(address) {
                return Some(end);
            }
            let next = piece.next();
            if next == 0 {
                return None;
            }
            // SAFETY: the target has hung on an initialised piece, which stays as long as the window.
            piece = unsafe { &*seen_from_here::<Attachments>(peer, next as usize) };
        }
    }
}
