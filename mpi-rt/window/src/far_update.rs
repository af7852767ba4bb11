//! Updates of elements on other nodes by Portals' atomic operations, which the target's kernel does without its rank.
//!
//! The rule that keeps updates of one element atomic, whoever makes them and by whatever operation: how an element is updated depends on its type and address alone.
//! In a window of several nodes,
//!
//! * an aligned element of 1, 2, 4 or 8 bytes is updated by one locked instruction: by ranks of the target's node, by the target for those who ask, and
//!   by its kernel. Nobody updates many by plain loads and stores under the lock ([`crate::beside`]), of which the kernel would know nothing.
//! * any other element is updated under the target's element lock: by ranks of its node, and by the target for those who ask.
//!
//! Portals takes integers of 1 to 8 bytes and reals of 4 and 8 for all operations that MPI has on them, and any element of 1, 2, 4 or 8 bytes where it is replaced,
//! fetched or compared. All else is asked for: elements of 16 and more bytes, half-precision reals, pairs, sums of complex numbers and logical operations on Fortran's
//! logicals, elements that are not aligned, and all of dynamic windows.

use crate::Windows;
use crate::accumulate::Walk;
use crate::far::{FarPart, fault};
use crate::locate::{Away, Items};
use lwk_datatype::op::Op;
use lwk_datatype::{Basic, Cursor, LayoutView, Predefined};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_rt::portals_atomic::{atomic_of, datatype_of};
use lwk_path::region::Region;
use lwk_remote::{COPIED, Update};
use lwk_user::portals::abi::{atomic, datatype, operation};

/// What is fetched without being changed is or-ed with these.
static ZEROES: [u8; COPIED] = [0; COPIED];

/// Portals' type of words of so many bytes.
fn bits_of(bytes: usize) -> Option<u32> {
    match bytes {
        1 => Some(datatype::UINT8),
        2 => Some(datatype::UINT16),
        4 => Some(datatype::UINT32),
        8 => Some(datatype::UINT64),
        _ => None,
    }
}

/// How Portals updates elements of a type, if it does.
fn update_of(op: Op, element: Predefined, fetches: bool) -> Option<(Update, Basic)> {
    let Predefined::Basic(basic) = element else { return None };
    let bits = bits_of(basic.size())?;
    let (atomic, datatype) = match op {
        Op::Replace => (atomic::SWAP, bits),
        Op::NoOp => (atomic::BOR, bits),
        op => (atomic_of(op)?, datatype_of(basic.scalar())?),
    };
    let kind = match op {
        // A swap always fetches.
        Op::Replace => operation::SWAP,
        _ if fetches => operation::FETCH_ATOMIC,
        _ => operation::ATOMIC,
    };
    Some((Update { kind, atomic, datatype, operand: 0 }, basic))
}

/// Whether all elements of `size` bytes are aligned.
fn is_aligned(first: u64, layout: LayoutView, count: u64, size: usize) -> Result<bool> {
    let mut cursor = Cursor::new(layout, count, 0)?;
    let size = size as u64;
    while let Some(piece) = cursor.peek()? {
        let steps = piece.count == 1 || piece.stride.unsigned_abs().is_multiple_of(size);
        if !steps || !first.wrapping_add_signed(piece.disp).is_multiple_of(size) {
            return Ok(false);
        }
        cursor.advance(piece.block * piece.count);
    }
    Ok(true)
}

impl Windows {
    /// An update as [`Windows::update_away`] makes it; false if Portals does not make it, and then nothing has happened. Errors: `OTHER`, `NO_MEM`, the target's.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn update_far(
        &mut self,
        away: &Away,
        items: &Items,
        (op, element): (Op, Predefined),
        from: Option<&Region>,
        result: Option<&Region>,
        bytes: usize,
    ) -> Result<bool> {
        let Some(part) = self.far_part(away) else { return Ok(false) };
        let Some((update, basic)) = update_of(op, element, result.is_some()) else { return Ok(false) };
        let (layout, count) = (items.datatype.layout()?, items.count as u64);
        if !is_aligned(part.base.wrapping_add(away.offset), layout, count, basic.size())? {
            return Ok(false);
        }
        // Updates of one origin happen in the order of its calls, whichever way they go.
        self.hear(away.window, away.rank)?;
        self.note_far();
        let mut there = Walk::new(away.offset as usize, layout, count)?;
        // SAFETY: the datatypes live until this returns (this function's contract).
        let (mut from, mut result) =
            unsafe { (from.map(|it| Walk::of(it)).transpose()?, result.map(|it| Walk::of(it)).transpose()?) };
        let mut left = bytes;
        while left > 0 {
            let (offset, room) = there.next()?;
            let input = from.as_mut().map(Walk::next).transpose()?;
            let output = result.as_mut().map(Walk::next).transpose()?;
            let rooms = [input, output].into_iter().flatten().map(|(_, room)| room);
            let bytes = rooms.fold(room.min(left).min(COPIED), usize::min) / basic.size() * basic.size();
            if bytes == 0 {
                return Err(Error::INTERN);
            }
            let input =
                input.map_or(ZEROES.as_ptr(), |(address, _)| core::ptr::with_exposed_provenance(address));
            let output = output.map(|(address, _)| core::ptr::with_exposed_provenance_mut(address));
            // SAFETY: `bytes` is at most what is left of the block at hand of each side, and they are readable and writable (this function's contract). The
            // elements are aligned and lie in the target's part (`locate`), where all update them by instructions.
            unsafe { part.update(offset, &update, input, output, bytes)? };
            for walk in [Some(&mut there), from.as_mut(), result.as_mut()].into_iter().flatten() {
                walk.advance(bytes);
            }
            left -= bytes;
        }
        Ok(true)
    }

    /// A compare-and-swap as [`Windows::swap_away`] makes it; false if Portals does not make it, and then nothing has happened. Errors: `OTHER`, `NO_MEM`,
    /// the target's.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn swap_far(
        &mut self,
        away: &Away,
        basic: Basic,
        origin: *const u8,
        compare: *const u8,
        result: *mut u8,
    ) -> Result<bool> {
        let Some(part) = self.far_part(away) else { return Ok(false) };
        let Some(datatype) = bits_of(basic.size()) else { return Ok(false) };
        if !part.base.wrapping_add(away.offset).is_multiple_of(basic.size() as u64) {
            return Ok(false);
        }
        self.hear(away.window, away.rank)?;
        let mut operand = [0; size_of::<u64>()];
        let bytes = basic.size().min(operand.len());
        // SAFETY: `compare` is readable for an element (this function's contract), for which the operand has room.
        unsafe { lwk_copy::copy(compare, operand.as_mut_ptr(), bytes) };
        let operand = u64::from_ne_bytes(operand);
        let update = Update { kind: operation::SWAP, atomic: atomic::CSWAP, datatype, operand };
        // SAFETY: origin and result hold an element (this function's contract); the target's is aligned and lies in its part (`locate`).
        unsafe { part.update(away.offset as usize, &update, origin, Some(result), bytes)? };
        Ok(true)
    }
}

impl FarPart {
    /// # Safety
    /// As for [`lwk_remote::Remote::fetch_update`].
    unsafe fn update(
        &self,
        offset: usize,
        update: &Update,
        input: *const u8,
        output: Option<*mut u8>,
        bytes: usize,
    ) -> Result<()> {
        let place = self.start.after(offset);
        let (remote, rank) = (&self.remote, self.rank);
        let mut unwanted = [0u8; COPIED];
        // SAFETY: this function's contract; what nobody wants has room for as much as one operation updates.
        unsafe {
            match output {
                Some(output) => remote.fetch_update(rank, place, update, input, output, bytes),
                // One aligned word is stored as a whole.
                None if update.kind == operation::SWAP && bits_of(bytes) == Some(update.datatype) => {
                    remote.begin_put(rank, place, input, bytes)
                }
                None if update.kind == operation::SWAP => {
                    remote.fetch_update(rank, place, update, input, unwanted.as_mut_ptr(), bytes)
                }
                None => remote.update(rank, place, update, input, bytes),
            }
            .map_err(fault)
        }
    }
}
