//! Alltoall with parts that differ, or have datatypes of their own: only a pair knows how long a part is, so every rank tells the bytes of all its parts, with the
//! parts behind if they fit, or else where they lie. The blocking form tells by the lines of `told`, the one that is begun by those of `line_steps`.

use super::arguments::{Parts, VaryingParts};
use super::line_cursor::{Cursor, Lanes, Phase, await_leaves, give, take_of};
use super::plan::Piece;
use super::told::Telling;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_mpi_area::{Kind, LONG_BYTES, Shared, copy_whole, sort_of_all};
use lwk_path::region::Region;
use lwk_place::CommRank;

/// What a rank tells: a word, which is 0 or leads to a list of pieces, one for each rank; if it is 0, the bytes of each part, 4 bytes each, and the parts one after
/// another, from here on, a multiple of 8.
fn parts_from(size: u32) -> usize {
    (8 + 4 * size as usize).next_multiple_of(8)
}

/// What this rank has for the others.
struct Told {
    /// Bytes of what it tells.
    bytes: usize,
    /// What it tells of, one for each rank; none if it tells the parts themselves.
    pieces: Vec<Piece>,
}

impl Told {
    /// In at most `limit` bytes. Errors: `NO_MEM`, and those of `part`.
    fn new(shared: &Shared, limit: usize, part: impl Fn(CommRank) -> Result<Region>) -> Result<Told> {
        let (mut bytes, mut pieces) = (parts_from(shared.size()), Vec::new());
        for peer in shared.ranks().filter(|peer| *peer != shared.rank) {
            bytes = bytes.saturating_add(part(peer)?.bytes());
        }
        if bytes > limit {
            bytes = size_of::<u64>();
            pieces.try_reserve_exact(shared.size() as usize).map_err(|_| Error::NO_MEM)?;
            for peer in shared.ranks() {
                pieces.push(Piece::of(&part(peer)?));
            }
        }
        Ok(Told { bytes, pieces })
    }

    /// Writes it.
    ///
    /// # Safety
    /// The parts, which are those that it has been made of, are readable; `to` is writable for its bytes, and aligned for words.
    unsafe fn write(
        &self,
        shared: &Shared,
        part: impl Fn(CommRank) -> Result<Region>,
        to: *mut u8,
    ) -> Result<()> {
        // SAFETY: all of it fits, and the parts are readable (this function's contract).
        unsafe {
            if !self.pieces.is_empty() {
                to.cast::<u64>().write(self.pieces.as_ptr().expose_provenance() as u64);
                return Ok(());
            }
            to.cast::<u64>().write(0);
            let mut end = parts_from(shared.size());
            for peer in shared.ranks() {
                let part = part(peer)?;
                let bytes = if peer == shared.rank { 0 } else { part.bytes() };
                to.add(8).cast::<u32>().add(peer.index()).write(bytes as u32);
                if bytes > 0 {
                    copy_whole(&part, &Region::block(to.add(end), bytes))?;
                    end += bytes;
                }
            }
        }
        Ok(())
    }
}

/// Copies what `peer` has for this rank, and says whether that rank has told where its parts lie, instead of them. Errors: `TRUNCATE`, `INTERN`.
///
/// # Safety
/// `content` is what that rank has told, and tells still; `own` is readable, and `to`, which overlaps nothing that is sent, writable.
unsafe fn take(
    shared: &Shared,
    peer: CommRank,
    content: *const u8,
    own: &Region,
    to: &Region,
) -> (bool, Result<()>) {
    // SAFETY: the peer has told a word at least, and the parts are readable and writable (this function's contract).
    unsafe {
        let is_described = content.cast::<u64>().read() != 0;
        let copied = if peer == shared.rank {
            copy_whole(own, to)
        } else {
            told_part(shared, peer, content).and_then(|told| copy_whole(&told, to))
        };
        (is_described, copied)
    }
}

/// The part for this rank of what `peer`, another one, tells. Errors: `INTERN`.
///
/// # Safety
/// `content` is what that rank has told, and tells still.
unsafe fn told_part(shared: &Shared, peer: CommRank, content: *const u8) -> Result<Region> {
    let rank = shared.rank.index();
    // SAFETY: the peer has told a list of pieces, one for each rank, or sizes and parts (this function's contract).
    unsafe {
        let list = content.cast::<u64>().read();
        if list != 0 {
            let piece = shared.seen(peer, list).cast::<Piece>().add(rank).read();
            let owner = shared.peer(peer).ok_or(Error::INTERN)?;
            return Ok(Region::of_peer(owner, piece.words, piece.bytes as usize));
        }
        let sizes = core::slice::from_raw_parts(content.add(8).cast::<u32>(), rank + 1);
        let before: usize = sizes[..rank].iter().map(|bytes| *bytes as usize).sum();
        let start = content.add(parts_from(shared.size()) + before);
        Ok(Region::block(start, sizes[rank] as usize))
    }
}

impl Engine {
    /// The blocking form. Errors: `COUNT`, `TYPE`, `BUFFER`, `ARG`, `NO_MEM`, and `TRUNCATE`; those of the exchange.
    ///
    /// # Safety
    /// As for [`Engine::collective`]; not in place.
    pub(super) unsafe fn alltoall_parts(
        &mut self,
        communicator: &Communicator,
        send: &Parts,
        receive: &Parts,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let (rank, size) = (shared.rank, shared.size());
        let parts = size as usize;
        let (send, receive) = (self.varying(send, parts)?, self.varying(receive, parts)?);
        let part_of = |parts: &VaryingParts, peer: CommRank| parts.part(peer.index());
        let told = Told::new(shared, TOLD_LIMIT, |peer| part_of(&send, peer))?;
        let sort = sort_of_all(Kind::AlltoallParts, 0);
        // SAFETY: the lines take `TOLD_LIMIT`, no fewer than what is written; the parts are readable (this function's contract).
        let telling = unsafe {
            Telling::begin(shared, sort, TOLD_LIMIT, |to| {
                told.write(shared, |peer| part_of(&send, peer), to)
            })?
        };
        let (own, mut outcome, mut is_described) = (part_of(&send, rank)?, Ok(()), false);
        for peer in rank.and_on(size) {
            let content = telling.content(self, shared, peer)?;
            let part = part_of(&receive, peer)?;
            // SAFETY: what has been told stays until this rank's next operation, and what is described until all have told that they have ended; the parts are readable
            // and writable, and do not overlap (this function's contract).
            let (described, copied) = unsafe { take(shared, peer, content, &own, &part) };
            is_described |= described;
            outcome = outcome.and(copied);
        }
        if is_described {
            // All have seen it. Nobody leaves before all have what they fetch.
            // SAFETY: nothing is written.
            let ended = unsafe { Telling::begin(shared, sort, 0, |_| Ok(()))? };
            shared.ranks().try_for_each(|peer| ended.content(self, shared, peer).map(drop))?;
        }
        outcome
    }
}

/// One that is begun.
pub(super) struct PartsOfAll {
    send: Vec<Region>,
    receive: Vec<Region>,
    told: Told,
}

impl PartsOfAll {
    /// With a part for each rank in either. Errors: `NO_MEM`.
    pub fn new(shared: &Shared, send: Vec<Region>, receive: Vec<Region>) -> Result<PartsOfAll> {
        let told = Told::new(shared, LONG_BYTES, |peer| part_of(&send, peer))?;
        Ok(PartsOfAll { send, receive, told })
    }

    /// As [`super::line_steps::step`]: tells, takes what all tell, and stays until all have what they fetch from here.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn step(&self, lanes: &Lanes, cursor: &mut Cursor) -> bool {
        let (shared, it) = (lanes.shared, lanes.it);
        if cursor.phase == Phase::Lines {
            // SAFETY: the parts are readable (this function's contract).
            if !unsafe { self.tell(lanes, cursor) } {
                return false;
            }
            cursor.goes_on_with_taking();
        }
        if cursor.phase == Phase::Taking {
            let (rank, mut is_described) = (shared.rank, false);
            // SAFETY: what has been told stays until this rank ends the operation, and what is described until it has ended its part; the parts are readable and writable, and
            // do not overlap (this function's contract).
            let is_over = unsafe {
                take_of(lanes, cursor, shared.size(), CommRank, |peer, given| {
                    let (own, part) = (part_of(&self.send, rank)?, part_of(&self.receive, CommRank(peer))?);
                    let (described, copied) = take(shared, CommRank(peer), given.content, &own, &part);
                    is_described |= described;
                    copied
                })
            };
            cursor.has_long |= is_described;
            if !is_over {
                return false;
            }
            if !cursor.has_long {
                return true;
            }
            cursor.note(shared.reply(rank, it).map(|reply| reply.end(it.number)));
            cursor.goes_on_with_long_parts();
        }
        self.told.pieces.is_empty() || await_leaves(lanes, |_| true, cursor)
    }

    /// # Safety
    /// The parts are readable.
    unsafe fn tell(&self, lanes: &Lanes, cursor: &mut Cursor) -> bool {
        let mut room = MaybeUninit::<[u64; LONG_BYTES / 8]>::uninit();
        let room = room.as_mut_ptr().cast::<u8>();
        // SAFETY: what is told takes at most `LONG_BYTES`, for which there is room, and is readable when it has been written; the parts are readable (this function's
        // contract).
        unsafe {
            cursor.note(self.told.write(lanes.shared, |peer| part_of(&self.send, peer), room));
            give(lanes, &Region::block(room, self.told.bytes), cursor)
        }
    }
}

fn part_of(parts: &[Region], rank: CommRank) -> Result<Region> {
    parts.get(rank.index()).copied().ok_or(Error::INTERN)
}
