//! Small operations in which every rank tells every rank up to [`TOLD_LIMIT`] bytes, by lines of each (`lwk_ring::ExchangeLines`), and takes what concerns it:
//! allgather, and reductions whose result is scattered or of the ranks below. Alltoall with parts that differ, by the same lines: `alltoall_parts`.

use super::Reduction;
use super::arguments::{BufferArgument, Call, Parts};
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::{null, null_mut};
use lwk_copy::copy;
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_mpi_area::{Kind, SMALL_BYTES, Shared, copy_whole, sort_of_all};
use lwk_path::region::Region;
use lwk_place::{CommRank, Ranks};

/// One operation of this rank, which has told.
pub(super) struct Telling {
    number: u64,
    word: u64,
    /// By the lines of one cache line.
    is_small: bool,
}

impl Telling {
    /// Tells what `fill` writes to the address that it gets, at most `most` bytes, as many in all ranks. Errors: those of [`Shared::enter`], and then nothing has
    /// begun; those of `fill`.
    ///
    /// # Safety
    /// `fill` writes at most `most` bytes, which are at most [`TOLD_LIMIT`].
    #[inline]
    pub(super) unsafe fn begin(
        shared: &Shared,
        sort: u64,
        most: usize,
        fill: impl FnOnce(*mut u8) -> Result<()>,
    ) -> Result<Telling> {
        let word = shared.enter(sort)?;
        let (mine, mut outcome) = (shared.mine(), Ok(()));
        let is_small = most <= SMALL_BYTES;
        let number = Shared::next(if is_small { &shared.smalls } else { &shared.eagers });
        // SAFETY: only this rank fills its lines, once a number; they take `most` bytes (this function's contract).
        unsafe {
            if is_small {
                mine.small.tell(number, word, |line| outcome = fill(line.cast()));
            } else {
                mine.eager.tell(number, word, |block| outcome = fill(block.cast()));
            }
        }
        outcome.map(|()| Telling { number, word, is_small })
    }

    /// What `rank` tells; waits for it. It stays until this rank's next operation. Every rank must be asked for. Errors: those of `await_rank`.
    #[inline]
    pub(super) fn content(&self, engine: &mut Engine, shared: &Shared, rank: CommRank) -> Result<*const u8> {
        let area = shared.of(rank);
        // SAFETY: the lines have this operation's word, and this rank is in it until it begins the next.
        unsafe {
            if self.is_small {
                engine.await_told(shared, rank, || area.small.word(self.number) == self.word)?;
                Ok(area.small.read(self.number, |line| line.cast()))
            } else {
                engine.await_told(shared, rank, || area.eager.word(self.number) == self.word)?;
                Ok(area.eager.read(self.number, |block| block.cast()))
            }
        }
    }
}

/// A reduction without a root: whose contributions this rank folds, and which items of the result it gets.
pub(super) struct Folding {
    pub kind: Kind,
    pub reduction: Reduction,
    pub send: *const u8,
    pub receive: *mut u8,
    pub sources: Ranks,
    pub part: Range<usize>,
}

impl Engine {
    /// Allgather of parts of at most `most` bytes, at most [`TOLD_LIMIT`]: tells this rank's part, and whether it is in place, and copies all. Errors: `TRUNCATE` or
    /// `COUNT` if it is not as long as the part for this rank; those of `part`, and of the exchange.
    ///
    /// # Safety
    /// `mine` is readable; what `part` says is writable, without overlap but of the own one if it is in place.
    pub(super) unsafe fn tell_parts(
        &mut self,
        shared: &Shared,
        kind: Kind,
        most: usize,
        (mine, in_place): (&Region, bool),
        part: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        let own = part(shared.rank)?.bytes();
        if mine.bytes() != own {
            return Err(if mine.bytes() > own { Error::TRUNCATE } else { Error::COUNT });
        }
        // SAFETY: the lines take `most` bytes, no fewer than `mine` has, which is readable (this function's contract).
        let telling = unsafe {
            Telling::begin(shared, sort_of_all(kind, most), most, |to| {
                copy_whole(mine, &Region::block(to, own))
            })?
        };
        for rank in shared.ranks() {
            let content = telling.content(self, shared, rank)?;
            if !(in_place && rank == shared.rank) {
                let part = part(rank)?;
                // SAFETY: the rank has told as many bytes as the part has, and the part is writable (this function's contract).
                unsafe { copy_whole(&Region::block(content, part.bytes()), &part)? };
            }
        }
        Ok(())
    }

    /// Allgather with varying parts, if they are small. `None` if they are not, and nothing has happened. Errors: as for [`Engine::tell_parts`].
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn allgather_parts(
        &mut self,
        communicator: &Communicator,
        send: &BufferArgument,
        receive: &Parts,
    ) -> Result<Option<()>> {
        let shared = &communicator.shared;
        let parts = self.varying(receive, shared.size() as usize)?;
        let part = |rank: CommRank| parts.part(rank.index());
        let mut most = 0;
        for rank in shared.ranks() {
            most = most.max(part(rank)?.bytes());
        }
        if most > TOLD_LIMIT {
            return Ok(None);
        }
        let in_place = send.is_in_place();
        let mine =
            if in_place { part(shared.rank)? } else { self.buffer(send.address, send.count, send.datatype)? };
        // SAFETY: `mine` is readable, the parts are writable, without overlap (this function's contract).
        unsafe { self.tell_parts(shared, Kind::AllgatherParts, most, (&mine, in_place), part).map(Some) }
    }

    /// Reductions whose result is scattered, or of the ranks below, if the contribution is small. `None` if it is not, and nothing has happened. Errors: `COUNT`,
    /// `TYPE`, `OP`, `BUFFER`, and those of the exchange.
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn told_reduction(
        &mut self,
        communicator: &Communicator,
        call: &Call,
    ) -> Result<Option<()>> {
        let Some(Folding { kind, reduction, send, receive, sources, part }) =
            self.folding_of(communicator, call)?
        else {
            return Ok(None);
        };
        let Some(bytes) = reduction.told_bytes().filter(|bytes| *bytes <= TOLD_LIMIT) else {
            return Ok(None);
        };
        let shared = &communicator.shared;
        // SAFETY: `send` is readable for all items, `receive` writable for the part (this function's contract).
        unsafe {
            self.fold_what_is_told(shared, (kind, bytes), &reduction, (send, receive), sources, part)?;
        }
        Ok(Some(()))
    }

    /// What this rank does in a reduction without a root. `None` for other calls. Errors: `COUNT`, `TYPE`, `OP`, `BUFFER`.
    #[inline(always)]
    pub(super) fn folding_of(&self, communicator: &Communicator, call: &Call) -> Result<Option<Folding>> {
        let (rank, size) = (communicator.rank, communicator.size());
        let (kind, reducing, blocks) = match *call {
            Call::Allreduce { reducing } => (Kind::Allreduce, reducing, None),
            Call::ReduceScatter { reducing, blocks } => (Kind::ReduceScatter, reducing, Some(blocks)),
            Call::ReduceScatterBlock { reducing } => (Kind::ReduceScatter, reducing, None),
            Call::Scan { reducing } => (Kind::Scan, reducing, None),
            Call::Exscan { reducing } => (Kind::Exscan, reducing, None),
            _ => return Ok(None),
        };
        let (count, part) = if kind == Kind::ReduceScatter {
            blocks_of(size, rank, |rank| blocks.map_or(Ok(reducing.count), |blocks| blocks.get(rank)))?
        } else {
            (reducing.count, 0..reducing.count.max(0) as usize)
        };
        let reduction = self.reduction(count, reducing.datatype, reducing.operation)?;
        let sources = match kind {
            Kind::Scan => Ranks(0..rank.0 + 1),
            Kind::Exscan => Ranks(0..rank.0),
            _ => Ranks::all(size),
        };
        let in_place = reducing.send.addr() == IN_PLACE;
        let send = if in_place { reducing.receive.cast_const() } else { reducing.send };
        self.check_buffer(send, count, reducing.datatype)?;
        if sources.size() > 0 {
            self.check_buffer(reducing.receive, part.len() as i64, reducing.datatype)?;
        }
        Ok(Some(Folding { kind, reduction, send, receive: reducing.receive, sources, part }))
    }

    /// Tells the contribution at `send`, of `bytes`, and folds items `part` of these ranks' into `receive`.
    ///
    /// # Safety
    /// The contribution is dense, has that many bytes, at most [`TOLD_LIMIT`], and is readable; `receive` is writable for the part.
    unsafe fn fold_what_is_told(
        &mut self,
        shared: &Shared,
        (kind, bytes): (Kind, usize),
        reduction: &Reduction,
        (send, receive): (*const u8, *mut u8),
        sources: Ranks,
        part: Range<usize>,
    ) -> Result<()> {
        // SAFETY: the lines take `bytes`, for which `send` is readable (this function's contract).
        let telling = unsafe {
            Telling::begin(shared, sort_of_all(kind, bytes), bytes, |to| {
                copy(send, to, bytes);
                Ok(())
            })?
        };
        for rank in Ranks(sources.0.end..shared.size()) {
            telling.content(self, shared, rank)?;
        }
        if sources.size() == 0 {
            return Ok(());
        }
        // SAFETY: lines stay until this rank's next operation and hold all items; `receive` is writable for the part and is none of them (this function's contract).
        unsafe { reduction.fold_told(sources, part, |rank| telling.content(self, shared, rank), receive) }
    }
}

impl Reduction {
    /// Folds items `part` of what these ranks have told, at most [`TOLD_LIMIT`] bytes, into `receive`, which is where item `part.start` goes. `content` says where a
    /// rank's items begin; it is asked once for each, from the last to the first. Errors: those of `content`.
    ///
    /// # Safety
    /// What `content` says must be readable for all items until this returns; `receive` must be writable for the part, and is a contribution's same items or
    /// overlaps none. There is one rank at least, and the contribution is dense.
    pub(super) unsafe fn fold_told(
        &self,
        ranks: Ranks,
        part: Range<usize>,
        mut content: impl FnMut(CommRank) -> Result<*const u8>,
        receive: *mut u8,
    ) -> Result<()> {
        let mut folded = MaybeUninit::<[u128; TOLD_LIMIT.div_ceil(16)]>::uninit();
        let folded = folded.as_mut_ptr().cast::<u8>();
        let (items, count) = (&self.items, part.len());
        let mut right: *const u8 = null();
        for rank in ranks.clone().rev() {
            let left = items.at(content(rank)?, part.start);
            if right.is_null() {
                right = left;
                continue;
            }
            // The result may be what an earlier rank contributes, until that has been read.
            let out = if rank == ranks.first() { receive } else { folded };
            // SAFETY: the contributions hold the part, at most `TOLD_LIMIT` bytes, for which `folded` has room; `receive` is writable for it (this function's contract).
            unsafe { self.operation.combine(left, right, out, null_mut(), count) };
            right = out;
        }
        if right != receive.cast_const() && ranks.len() == 1 {
            // SAFETY: the only contribution holds the part, and `receive` is writable for it; they do not overlap, being distinct (this function's contract).
            unsafe { copy(right, receive, count * items.extent as usize) };
        }
        Ok(())
    }
}

/// Items of all blocks together, and those of the block of `rank`. Errors: `COUNT`, `VALUE_TOO_LARGE`.
fn blocks_of(size: u32, rank: CommRank, block: impl Fn(usize) -> Result<i64>) -> Result<(i64, Range<usize>)> {
    let (mut count, mut part) = (0i64, 0..0);
    for index in 0..size as usize {
        let block = block(index)?;
        if block < 0 {
            return Err(Error::COUNT);
        }
        let end = count.checked_add(block).ok_or(Error::VALUE_TOO_LARGE)?;
        if index == rank.index() {
            part = count as usize..end as usize;
        }
        count = end;
    }
    Ok((count, part))
}
