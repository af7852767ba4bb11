//! Accumulate and get_accumulate (MPI-5.0, sections 12.3.3 and 12.3.4), on any layouts of elements of one predefined type.
//!
//! Operations of one origin on one target happen in the order in which they are called, which is what the strictest of the ordering rules
//! asks for.

use crate::Windows;
use crate::beside::Beside;
use crate::element::{How, Run, plain, update_run, word_of};
use crate::locate::Reached;
use crate::{Buffer, TargetBuffer};
use lwk_datatype::op::Op;
use lwk_datatype::{Cursor, Datatype, LayoutView, Predefined};
use lwk_mpi_core::abi::op::NO_OP;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::buffer::is_none;
use lwk_mpi_rt::wait::DONE;
use lwk_path::region::{Region, copy_part};

/// An update's input: the origin's buffer, and where what was there goes.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    pub buffer: Buffer,
    pub result: Option<Buffer>,
}

/// Bytes of each of the two buffers in which elements are updated that have no instruction and lie apart.
const ASIDE_BYTES: usize = 1024;

/// Elements aside, aligned as any element wants to be.
#[repr(C, align(16))]
struct Aside([u8; ASIDE_BYTES]);

impl Windows {
    /// Combines the origin's elements into the target's (`MPI_ACCUMULATE`). Errors: those of [`Windows::put`]; `OP` if the operation is none
    /// of the predefined ones, is not defined for the type, or is `MPI_NO_OP`; `TYPE` if the elements are not of one predefined type, the
    /// same on all sides.
    ///
    /// # Safety
    /// The origin's buffer must be readable for its items and not overlap the target's; others' accesses to
    /// the target's must not conflict (MPI-5.0, section 12.7).
    #[inline]
    pub unsafe fn accumulate(
        &mut self,
        origin: &Buffer,
        place: &TargetBuffer,
        operation: u64,
        window: Handle,
    ) -> Result<()> {
        if origin.count == 1
            && place.count == 1
            && origin.datatype == place.datatype
            && operation != NO_OP
            // SAFETY: the origin is readable for its one item, which does not overlap the target's (this
            // function's contract).
            && unsafe { self.update_word(origin.address, None, place, operation, window) }
        {
            return Ok(());
        }
        // SAFETY: the origin is readable for its items, which do not overlap the target's (this function's contract).
        if unsafe { self.update_in_bulk(origin, None, place, operation, window) } {
            return Ok(());
        }
        let op = operation_of(operation)?;
        if op == Op::NoOp {
            return Err(Error::OP);
        }
        // SAFETY: the origin's items are readable and do not overlap the target's (this function's contract).
        unsafe { self.update(&Origin { buffer: *origin, result: None }, place, op, window) }
    }

    /// The same, and the elements that were there before into the result (`MPI_GET_ACCUMULATE`). Errors: as for [`Windows::accumulate`], but
    /// `MPI_NO_OP` is allowed, and then the origin's buffer is not looked at; `TRUNCATE` if the result has less room than the
    /// target's items.
    ///
    /// # Safety
    /// As for [`Windows::accumulate`], but with `MPI_NO_OP` the origin's buffer may be anything; the result
    /// must be writable for its items and overlap neither.
    #[inline]
    pub unsafe fn get_accumulate(
        &mut self,
        origin: &Buffer,
        result: &Buffer,
        place: &TargetBuffer,
        operation: u64,
        window: Handle,
    ) -> Result<()> {
        let is_plain = origin.count == result.count && origin.datatype == result.datatype;
        if is_plain && operation != NO_OP {
            let to = Some(result.address);
            let is_single = origin.count == 1 && place.count == 1 && place.datatype == origin.datatype;
            // SAFETY: the origin's items are readable, the result's, which are as many, writable; no two sides overlap (this function's contract).
            if unsafe {
                is_single && self.update_word(origin.address, to, place, operation, window)
                    || self.update_in_bulk(origin, to, place, operation, window)
            } {
                return Ok(());
            }
        }
        let op = operation_of(operation)?;
        // SAFETY: the origin's items, if looked at, are readable, the result's writable; no two sides overlap
        // (this function's contract).
        unsafe { self.update(&Origin { buffer: *origin, result: Some(*result) }, place, op, window) }
    }

    /// [`Windows::accumulate`] with a request, which is complete at once. Errors: `RMA_SYNC` also in an active target epoch.
    ///
    /// # Safety
    /// As for [`Windows::accumulate`].
    pub unsafe fn raccumulate(
        &mut self,
        origin: &Buffer,
        place: &TargetBuffer,
        operation: u64,
        window: Handle,
    ) -> Result<Handle> {
        self.window(window)?.epochs.check_passive()?;
        // SAFETY: the origin's items are readable and do not overlap the target's (this function's contract).
        unsafe { self.accumulate(origin, place, operation, window) }.map(|()| DONE)
    }

    /// [`Windows::get_accumulate`] with a request, which is complete at once. Errors: `RMA_SYNC` also in an active target epoch.
    ///
    /// # Safety
    /// As for [`Windows::get_accumulate`].
    pub unsafe fn rget_accumulate(
        &mut self,
        origin: &Buffer,
        result: &Buffer,
        place: &TargetBuffer,
        operation: u64,
        window: Handle,
    ) -> Result<Handle> {
        self.window(window)?.epochs.check_passive()?;
        // SAFETY: the origin's items, if looked at, are readable, the result's writable; no two sides overlap
        // (this function's contract).
        unsafe { self.get_accumulate(origin, result, place, operation, window) }.map(|()| DONE)
    }

    /// # Safety
    /// As for [`Windows::get_accumulate`].
    #[inline(always)]
    unsafe fn update(&mut self, origin: &Origin, place: &TargetBuffer, op: Op, window: Handle) -> Result<()> {
        let like = origin.result.unwrap_or(origin.buffer);
        let same =
            op == Op::NoOp || (origin.buffer.datatype == like.datatype && origin.buffer.count == like.count);
        let nowhere = (op != Op::NoOp && is_none(origin.buffer.address))
            || origin.result.is_some_and(|result| is_none(result.address));
        if same
            && !nowhere
            && let Some(block) = self.direct(like.count, like.datatype, place, window)
            && let Some(element) = Predefined::from_handle(like.datatype as usize)
            && op.allows(element)
        {
            let run = Run {
                origin: origin.buffer.address.expose_provenance(),
                target: block.address.expose_provenance(),
                result: origin.result.map(|result| result.address.expose_provenance()),
                count: block.bytes / element.extent(),
            };
            // SAFETY: origin and result hold the run's elements (this function's contract); the block lies in
            // the target's part of the window (`direct`). It is plain only if no other rank has access
            // (`Target::alone`).
            return unsafe { update_run(block.how(), op, element, run) };
        }
        // SAFETY: the origin's items, if looked at, are readable, the result's writable; no two sides overlap
        // (this function's contract).
        unsafe { self.update_items(origin, place, op, window) }
    }

    /// Anything that is not blocks of one type, or is wrong.
    ///
    /// # Safety
    /// As for [`Windows::get_accumulate`].
    #[inline(never)]
    unsafe fn update_items(
        &mut self,
        origin: &Origin,
        place: &TargetBuffer,
        op: Op,
        window: Handle,
    ) -> Result<()> {
        let Some(items) = self.locate(place, window)? else { return Ok(()) };
        let element = items.datatype.element_for(op)?;
        let to = Side::new(items.datatype.layout()?, items.address, items.count)?;
        let side = |buffer: &Buffer| -> Result<Side> {
            let datatype = self.datatype_of(buffer.count, buffer.datatype)?;
            if buffer.count > 0 && datatype.size() > 0 && datatype.element_for(op)? != element {
                return Err(Error::TYPE);
            }
            self.check_buffer(buffer.address, buffer.count, buffer.datatype)?;
            Side::new(datatype.layout()?, buffer.address, buffer.count)
        };
        let from = if op == Op::NoOp { None } else { Some(side(&origin.buffer)?) };
        let result = origin.result.as_ref().map(side).transpose()?;
        let bytes = from.as_ref().map_or(to.bytes(), Side::bytes);
        if bytes > to.bytes() || result.as_ref().is_some_and(|result| result.bytes() < bytes) {
            return Err(Error::TRUNCATE);
        }
        let (beside, alone) = match &items.reached {
            Reached::Mapped { beside, alone, .. } => (beside, *alone),
            Reached::Away(away) => {
                let from = from.map(|from| from.region);
                let result = result.map(|result| result.region);
                let _kept = (
                    from.is_some().then(|| self.kept(origin.buffer.datatype)),
                    origin.result.map(|result| self.kept(result.datatype)),
                );
                // SAFETY: the origin's items are readable and the result's writable until this returns (this function's contract); their
                // datatypes are kept.
                return unsafe { self.update_away(away, &items, (op, element), from, result, bytes) };
            }
        };
        let work = Work { op, element, from, to, result, bytes, beside };
        // SAFETY: the sides borrow their datatypes. The origin's items are readable, the result's writable
        // (this function's contract); the target's lie in its part of the window (`locate`).
        unsafe { if alone { work.aside() } else { work.beside_others() } }
    }
}

/// The predefined operation with that handle. Errors: `OP`.
#[inline(always)]
pub(super) fn operation_of(handle: u64) -> Result<Op> {
    Op::from_handle(handle as usize).ok_or(Error::OP)
}

/// One side of an update.
pub(super) struct Side<'a> {
    region: Region,
    layout: LayoutView<'a>,
    address: usize,
    count: u64,
}

impl<'a> Side<'a> {
    pub fn new(layout: LayoutView<'a>, address: *mut u8, count: i64) -> Result<Side<'a>> {
        let count = u64::try_from(count).map_err(|_| Error::COUNT)?;
        let region = Region::items(address, count, layout)?;
        Ok(Side { region, layout, address: address.expose_provenance(), count })
    }

    pub fn bytes(&self) -> usize {
        self.region.bytes()
    }

    fn cursor(&self) -> Result<Walk<'a>> {
        Walk::new(self.address, self.layout, self.count)
    }
}

/// The blocks of a side, one after another.
pub(super) struct Walk<'a> {
    cursor: Cursor<'a>,
    base: usize,
}

impl<'a> Walk<'a> {
    /// Of items of which displacement 0 of the first lies at `base`.
    pub fn new(base: usize, layout: LayoutView<'a>, count: u64) -> Result<Walk<'a>> {
        Ok(Walk { cursor: Cursor::new(layout, count, 0)?, base })
    }

    /// Moves on by at most the bytes of what is next.
    pub fn advance(&mut self, bytes: usize) {
        self.cursor.advance(bytes as u64);
    }

    /// Address and bytes of what is next. Errors: `INTERN` at the end.
    pub fn next(&mut self) -> Result<(usize, usize)> {
        let piece = self.cursor.peek()?.ok_or(Error::INTERN)?;
        Ok((self.base.wrapping_add_signed(piece.disp as isize), piece.block as usize))
    }
}

/// An update of layouts.
pub(super) struct Work<'a> {
    pub op: Op,
    pub element: Predefined,
    pub from: Option<Side<'a>>,
    pub to: Side<'a>,
    pub result: Option<Side<'a>>,
    pub bytes: usize,
    /// The target.
    pub beside: &'a Beside,
}

impl Work<'_> {
    /// Bytes of data of an element.
    fn size(&self) -> usize {
        match self.element {
            Predefined::Basic(basic) => basic.size(),
            Predefined::Pair(pair) => pair.value().size() + pair.index().size(),
        }
    }

    /// Whether the elements are words wherever they lie. A layout may put some of them at odd addresses; then all are treated one by one.
    fn word(&self) -> bool {
        word_of(self.element, 0).is_some()
    }

    /// Updates elements to which others have access, too.
    ///
    /// # Safety
    /// As for [`Work::words`].
    pub unsafe fn beside_others(&self) -> Result<()> {
        // SAFETY: the sides are as they must be (this function's contract); under the lock nobody else updates elements that are no words.
        unsafe { if self.word() { self.words() } else { self.beside.locked(|| self.aside()) } }
    }

    /// Walks all sides and updates what they have in common, run by run.
    ///
    /// # Safety
    /// The origin's side must be readable, the result's writable and the target's in its part of the window,
    /// each for the work's bytes; no two overlap.
    unsafe fn words(&self) -> Result<()> {
        let size = self.size();
        let mut to = self.to.cursor()?;
        let mut from = self.from.as_ref().map(Side::cursor).transpose()?;
        let mut result = self.result.as_ref().map(Side::cursor).transpose()?;
        let mut left = self.bytes;
        while left > 0 {
            let (target, room) = to.next()?;
            let input = from.as_mut().map(Walk::next).transpose()?;
            let output = result.as_mut().map(Walk::next).transpose()?;
            let rooms = [input, output].into_iter().flatten().map(|(_, room)| room);
            let bytes = rooms.fold(room.min(left), usize::min) / size * size;
            if bytes == 0 {
                return Err(Error::INTERN);
            }
            let run = Run {
                origin: input.map_or(0, |(address, _)| address),
                target,
                result: output.map(|(address, _)| address),
                count: bytes / size,
            };
            // SAFETY: `bytes` is at most what is left of the block at hand of each side, and the sides are
            // valid for them (this function's contract).
            unsafe { update_run(How::Beside(self.beside), self.op, self.element, run)? };
            for walk in [Some(&mut to), from.as_mut(), result.as_mut()].into_iter().flatten() {
                walk.advance(bytes);
            }
            left -= bytes;
        }
        Ok(())
    }

    /// Takes elements out of the layouts, updates them aside and puts them back, some at a time.
    ///
    /// # Safety
    /// As for [`Work::words`]; nobody else updates such elements meanwhile.
    unsafe fn aside(&self) -> Result<()> {
        let aligned = Datatype::predefined(self.element);
        let (mut input, mut here) = (Aside([0; ASIDE_BYTES]), Aside([0; ASIDE_BYTES]));
        let chunk = ASIDE_BYTES / self.element.extent();
        let (size, total) = (self.size(), self.bytes / self.size());
        for first in (0..total).step_by(chunk) {
            let count = chunk.min(total - first);
            let (position, bytes) = (first * size, count * size);
            let items =
                |aside: &mut Aside| Region::items(aside.0.as_mut_ptr(), count as u64, aligned.layout()?);
            let (inputs, heres) = (items(&mut input)?, items(&mut here)?);
            // SAFETY: the buffers aside hold `count` elements. The sides have these elements, and nobody else
            // updates the target's (this function's contract).
            unsafe {
                copy_part(&self.to.region, position, &heres, 0, bytes)?;
                if let Some(result) = &self.result {
                    copy_part(&heres, 0, &result.region, position, bytes)?;
                }
                if let Some(from) = &self.from {
                    copy_part(&from.region, position, &inputs, 0, bytes)?;
                    let run = Run {
                        origin: input.0.as_mut_ptr().expose_provenance(),
                        target: here.0.as_mut_ptr().expose_provenance(),
                        result: None,
                        count,
                    };
                    plain(self.op, self.element, run)?;
                    copy_part(&heres, 0, &self.to.region, position, bytes)?;
                }
            }
        }
        Ok(())
    }
}
