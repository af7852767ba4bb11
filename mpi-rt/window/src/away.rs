//! Operations on a target out of reach. What Portals can do it does (`far`); for the rest, and where it does not get, the target is asked, and does in its own memory
//! what this rank would. The target's datatype goes along as its layout's words (`lwk-datatype`), data packed.
//!
//! A put, and an update that fetches nothing, is told, so that the origin does not wait for the target's progress; only where the target alone can find
//! the range wrong it is asked. What has been told is taken in in order: by the time that the target answers a later question, or hears that access
//! is complete, it is there. A target that could not take something in answers the next such question with the error.

use crate::Windows;
use crate::locate::{Away, Items, Way};
use alloc::vec::Vec;
use lwk_datatype::op::Op;
use lwk_datatype::{Basic, Predefined};
use lwk_mpi_asking::{ARGUMENTS, Query, ask, ask_into, tell};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_path::region::{Region, copy_regions};
use lwk_place::CommRank;

/// What a window's rank is asked for, or told, by number.
pub(super) mod what {
    /// With the arguments of `Query::on_items` and a body: the words of the layout, then data.
    pub const PUT: u64 = 0;
    pub const GET: u64 = 1;
    pub const UPDATE: u64 = 2;
    pub const UPDATE_AND_FETCH: u64 = 3;
    /// With an offset and an element's handle; the body is the value compared with and the new one.
    pub const SWAP: u64 = 4;
    /// The lock; the answer comes when the rank has it.
    pub const SHARE: u64 = 5;
    pub const EXCLUDE: u64 = 6;
    /// Whether it could be shared at once; 1 if so.
    pub const TRY_SHARE: u64 = 7;
    pub const LEAVE_SHARED: u64 = 8;
    pub const LEAVE_EXCLUSIVE: u64 = 9;
    /// Numbers of epochs, as `PairLine` has them.
    pub const POSTED: u64 = 10;
    pub const COMPLETED: u64 = 11;
    /// Nothing: the answer says that all that this rank has told before has been taken in.
    pub const HEARD: u64 = 12;
}

/// Bytes that a target may have been told before it is waited for: both sides have copies of them. So many are copied in longer than an answer takes.
const UNHEARD: usize = 1 << 20;

/// What a question says of items at the target, as arguments.
#[derive(Clone, Copy)]
pub(super) struct ItemWords {
    /// Of displacement 0 of the first item.
    pub offset: u64,
    /// Items; without a layout, bytes.
    pub count: u64,
    /// Words of the layout; 0: one block.
    pub layout: usize,
    /// Bytes of data.
    pub bytes: usize,
    /// Handles of an update's operation and element.
    pub op: u64,
    pub element: u64,
}

impl ItemWords {
    fn arguments(&self) -> [u64; ARGUMENTS] {
        [self.offset, self.count, self.layout as u64, self.bytes as u64, self.op, self.element]
    }

    pub fn of(arguments: [u64; ARGUMENTS]) -> ItemWords {
        let [offset, count, layout, bytes, op, element] = arguments;
        ItemWords { offset, count, layout: layout as usize, bytes: bytes as usize, op, element }
    }
}

/// The question on items at the target, with data of this rank's. Errors: `NO_MEM`.
///
/// # Safety
/// The data is readable, its datatype lives.
unsafe fn on_items(
    what: u64,
    away: &Away,
    items: &Items,
    update: Option<(Op, Predefined)>,
    bytes: usize,
    data: Option<&Region>,
) -> Result<Query> {
    let layout = items.datatype.layout()?;
    let (op, element) =
        update.map_or((0, 0), |(op, element)| (u64::from(op.handle()), u64::from(element.handle())));
    let (offset, count, words) = match layout.contiguous(items.count as u64) {
        Some((displacement, bytes)) => (away.offset.wrapping_add_signed(displacement), bytes, &[][..]),
        None => (away.offset, items.count as u64, layout.words()),
    };
    let arguments = ItemWords { offset, count, layout: words.len(), bytes, op, element }.arguments();
    let length = data.map_or(0, Region::bytes);
    let mut body: Vec<u8> = Vec::new();
    body.try_reserve_exact(size_of_val(words) + length).map_err(|_| Error::NO_MEM)?;
    words.iter().for_each(|word| body.extend(word.to_ne_bytes()));
    if let Some(data) = data {
        let start = body.len();
        body.resize(start + length, 0);
        // SAFETY: the data is readable (this function's contract); the vector has as many bytes from `start` on.
        unsafe { copy_regions(data, &Region::block(body[start..].as_mut_ptr(), length))? };
    }
    Ok(Query { what, arguments, body })
}

impl Windows {
    /// A put or a get. Errors: `TRUNCATE`, `NO_MEM`, the target's.
    ///
    /// # Safety
    /// `here` is readable for a put, writable for a get, until this returns, and its datatype lives as long.
    pub(super) unsafe fn transfer_away(
        &mut self,
        away: &Away,
        items: &Items,
        here: &Region,
        way: Way,
    ) -> Result<()> {
        let there = usize::try_from(items.datatype.layout()?.total(items.count as u64)?);
        let there = there.map_err(|_| Error::COUNT)?;
        let (from, to) = if way == Way::ToTarget { (here.bytes(), there) } else { (there, here.bytes()) };
        if from > to {
            return Err(Error::TRUNCATE);
        }
        if from == 0 {
            return Ok(());
        }
        if let Some(part) = self.far_part(away) {
            // SAFETY: `here` is readable for a put and writable for a get until this returns, and its datatype lives (this function's contract).
            return unsafe { self.transfer_far(&part, away, items, here, way, from) };
        }
        // SAFETY: `here` is readable for a put and writable for a get until this returns, and its datatype lives (this function's contract).
        unsafe {
            match way {
                Way::ToTarget => {
                    let query = on_items(what::PUT, away, items, None, from, Some(here))?;
                    self.begin_away(away, query)?;
                }
                Way::FromTarget => {
                    let query = on_items(what::GET, away, items, None, from, None)?;
                    ask_into(self, away.at, away.object, query, here)?;
                }
            }
        }
        Ok(())
    }

    /// An update of `bytes` bytes of elements by the origin's, if the operation has any; what was there goes to `result`. Errors: `NO_MEM`, the target's.
    ///
    /// # Safety
    /// `from` is readable and `result` writable until this returns; their datatypes live as long.
    pub(super) unsafe fn update_away(
        &mut self,
        away: &Away,
        items: &Items,
        update: (Op, Predefined),
        from: Option<Region>,
        result: Option<Region>,
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `from` is readable and `result` writable until this returns, and their datatypes live (this function's contract).
        if unsafe { self.update_far(away, items, update, from.as_ref(), result.as_ref(), bytes)? } {
            return Ok(());
        }
        // Updates of one origin happen in the order of its calls, whichever way they go.
        self.complete_far()?;
        let what = if result.is_some() { what::UPDATE_AND_FETCH } else { what::UPDATE };
        // SAFETY: `from` is readable and `result` writable until this returns (this function's contract).
        unsafe {
            let query = on_items(what, away, items, Some(update), bytes, from.as_ref())?;
            match result {
                Some(result) => drop(ask_into(self, away.at, away.object, query, &result)?),
                None => self.begin_away(away, query)?,
            }
        }
        Ok(())
    }

    /// A compare-and-swap. Errors: `NO_MEM`, the target's.
    ///
    /// # Safety
    /// Origin and `compare` must be readable, the result writable, each for one element, until this returns.
    pub(super) unsafe fn swap_away(
        &mut self,
        away: &Away,
        basic: Basic,
        origin: *const u8,
        compare: *const u8,
        result: *mut u8,
    ) -> Result<()> {
        // SAFETY: the buffers hold an element (this function's contract).
        if unsafe { self.swap_far(away, basic, origin, compare, result)? } {
            return Ok(());
        }
        self.complete_far()?;
        let bytes = basic.size();
        let mut query = Query::new(what::SWAP, away.offset);
        query.arguments[1] = u64::from(basic.handle());
        for value in [compare, origin] {
            // SAFETY: both are readable for an element (this function's contract).
            query.body.extend_from_slice(unsafe { core::slice::from_raw_parts(value, bytes) });
        }
        // SAFETY: the result is writable for an element until this returns (this function's contract).
        unsafe { ask_into(self, away.at, away.object, query, &Region::block(result, bytes))? };
        Ok(())
    }

    /// An operation that fetches nothing. Errors: `NO_MEM`; those of the target, which may be of an earlier one.
    fn begin_away(&mut self, away: &Away, query: Query) -> Result<()> {
        if !away.is_checked {
            return ask(self, away.at, away.object, query).map(drop);
        }
        self.tell_target(away, query)?;
        if self
            .window(away.window)?
            .targets
            .get(away.rank.index())
            .is_some_and(|target| target.unheard > UNHEARD)
        {
            self.hear(away.window, away.rank)?;
        }
        Ok(())
    }

    /// Tells a target, and takes note of that. Errors: `NO_MEM`.
    pub(super) fn tell_target(&mut self, away: &Away, query: Query) -> Result<()> {
        let bytes = query.bytes();
        tell(self, away.at, away.object, query)?;
        let target = self.window_mut(away.window)?.targets.get_mut(away.rank.index()).ok_or(Error::INTERN)?;
        let is_first = target.unheard == 0;
        target.unheard += bytes;
        self.known().unheard += u32::from(is_first);
        // The next flush looks.
        self.known().flushes = u32::MAX;
        Ok(())
    }

    /// Waits until a target has taken in what this rank has told it. Errors: `WIN`, `NO_MEM`, the target's.
    pub(super) fn hear(&mut self, window: Handle, rank: CommRank) -> Result<()> {
        let it = self.window(window)?;
        match it.away(window, rank) {
            Some(away) if it.targets.get(rank.index()).is_some_and(|target| target.unheard > 0) => {
                self.ask_last(&away, Query::new(what::HEARD, 0))
            }
            _ => Ok(()),
        }
    }

    /// Asks a target whose answer says that it has taken in all before. Errors: `WIN`, `NO_MEM`, the target's.
    pub(super) fn ask_last(&mut self, away: &Away, query: Query) -> Result<()> {
        let outcome = ask(self, away.at, away.object, query);
        let target = self.window_mut(away.window)?.targets.get_mut(away.rank.index()).ok_or(Error::INTERN)?;
        let was_unheard = target.unheard > 0;
        target.unheard = 0;
        self.known().unheard -= u32::from(was_unheard);
        outcome.map(drop)
    }

    /// As [`Windows::hear`], of all targets.
    #[cold]
    pub(super) fn hear_all(&mut self, window: Handle) -> Result<()> {
        let mut outcome = Ok(());
        for rank in self.window(window)?.ranks() {
            outcome = outcome.and(self.hear(window, rank));
        }
        outcome
    }
}

impl super::Window {
    /// How a target is asked; `None` if its memory can be loaded and stored.
    pub(super) fn away(&self, window: Handle, rank: CommRank) -> Option<Away> {
        let target = self.targets.get(rank.index()).filter(|target| target.mapped.is_none())?;
        let (at, object) = (target.world_rank, self.communicator.context);
        Some(Away { window, rank, at, object, offset: 0, is_checked: true })
    }
}
