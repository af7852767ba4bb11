//! Neighbourhood collectives in small groups where only neighbours know how long parts are: every rank tells what it has for its destinations, with the parts behind
//! if they fit, or else where they lie. In a large group that would be too many to wait for; there only neighbours wait for each other, by a plan (`neighbourhood`).

use super::line_cursor::{Cursor, Lanes, Phase, await_leaves, give, take_of};
use super::plan::Piece;
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::topology::{Neighbours, PieceIndex};
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts;
use lwk_copy::threshold::NEIGHBOURS_TELL_UP_TO;
use lwk_mpi_area::{LONG_BYTES, Shared, copy_whole};
use lwk_path::region::Region;
use lwk_place::CommRank;

/// What a rank tells: two words; then, for each destination, its rank and its part's bytes, and the parts one after another, from a multiple of 8 on.
#[derive(Clone, Copy)]
#[repr(C)]
struct Head {
    /// 0, or leads to a list of pieces, one for each destination; then nothing follows but a word that leads to the destinations' ranks.
    pieces: u64,
    destinations: u64,
}

const HEAD_BYTES: usize = size_of::<Head>();

/// A destination's rank and bytes.
type Entry = [u32; 2];

fn content_from(destinations: usize) -> usize {
    HEAD_BYTES + destinations * size_of::<Entry>()
}

/// What a rank has for its destinations: the same, or a part for each.
pub(super) enum SendParts {
    Same(Region),
    Each(Vec<Region>),
}

/// One operation of this rank.
pub(super) struct PartsOfNeighbours {
    neighbours: Rc<Neighbours>,
    /// A part for each destination, or one for all.
    send: Vec<Region>,
    is_same_for_all: bool,
    /// A part for each source.
    receive: Vec<Region>,
    /// Where the parts lie; none if they are told themselves.
    pieces: Vec<Piece>,
}

impl PartsOfNeighbours {
    /// `receive`: a part for each source. `None` in large groups. Errors: `TOPOLOGY`, `NO_MEM`.
    pub fn new(
        communicator: &Communicator,
        send: SendParts,
        receive: Vec<Region>,
    ) -> Result<Option<PartsOfNeighbours>> {
        if communicator.size() > NEIGHBOURS_TELL_UP_TO {
            return Ok(None);
        }
        let neighbours = communicator.neighbours()?.clone();
        let (send, is_same_for_all) = match send {
            SendParts::Same(part) => (vec![part], true),
            SendParts::Each(parts) => (parts, false),
        };
        let parts = send.iter().map(Region::bytes);
        let mut pieces = Vec::new();
        if parts.fold(content_from(send.len()), usize::saturating_add) > LONG_BYTES {
            pieces.try_reserve_exact(send.len()).map_err(|_| Error::NO_MEM)?;
            pieces.extend(send.iter().map(Piece::of));
        }
        Ok(Some(PartsOfNeighbours { neighbours, send, is_same_for_all, receive, pieces }))
    }

    /// As [`super::line_steps::step`]: tells, takes what the sources tell, and stays until the destinations have what they fetch from here.
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
            let mut is_described = false;
            // Instead of a null process this rank, which has told by now.
            let edge = |index: u32| self.neighbours.source(index as usize);
            let source = |index: u32| edge(index).map_or(shared.rank, |(source, _)| source);
            // SAFETY: what has been told stays until this rank ends the operation, and what is described until it has ended its part; the parts are readable and writable, and
            // do not overlap (this function's contract).
            let is_over = unsafe {
                take_of(lanes, cursor, self.receive.len() as u32, source, |index, given| {
                    let Some((source, place)) = edge(index) else { return Ok(()) };
                    is_described |= given.content.cast::<Head>().read().pieces != 0;
                    let place = if self.is_same_for_all { PieceIndex::At(0) } else { place };
                    told_piece(shared, source, place, given.content)
                        .and_then(|told| copy_whole(&told, &self.receive[index as usize]))
                })
            };
            cursor.has_long |= is_described;
            if !is_over {
                return false;
            }
            if cursor.has_long {
                cursor.note(shared.reply(shared.rank, it).map(|reply| reply.end(it.number)));
            }
            cursor.goes_on_with_long_parts();
        }
        self.pieces.is_empty() || await_leaves(lanes, |rank| self.neighbours.partners.contains(&rank), cursor)
    }

    /// # Safety
    /// The parts are readable.
    unsafe fn tell(&self, lanes: &Lanes, cursor: &mut Cursor) -> bool {
        let mut room = MaybeUninit::<[u64; LONG_BYTES / 8]>::uninit();
        let room = room.as_mut_ptr().cast::<u8>();
        // SAFETY: what is told takes at most `LONG_BYTES`, for which there is room, and is readable when it has been written; the parts are readable (this function's
        // contract).
        unsafe {
            let bytes = if self.pieces.is_empty() { self.write(cursor, room) } else { self.describe(room) };
            give(lanes, &Region::block(room, bytes), cursor)
        }
    }

    /// Writes the parts, with what stands before them; the bytes that they take.
    ///
    /// # Safety
    /// The parts are readable, and fit at `to`.
    unsafe fn write(&self, cursor: &mut Cursor, to: *mut u8) -> usize {
        let mut end = content_from(self.send.len());
        // SAFETY: all of it fits, and the parts are readable (this function's contract).
        unsafe {
            to.cast::<Head>().write(Head { pieces: 0, destinations: self.send.len() as u64 });
            let entries = to.add(HEAD_BYTES).cast::<Entry>();
            for (index, part) in self.send.iter().enumerate() {
                let destination = self.neighbours.partners.get(index).copied().unwrap_or(CommRank::NONE);
                entries.add(index).write([destination.0, part.bytes() as u32]);
                cursor.note(copy_whole(part, &Region::block(to.add(end), part.bytes())));
                end += part.bytes();
            }
        }
        end
    }

    /// Writes where the parts lie; the bytes that this takes.
    ///
    /// # Safety
    /// `to` is writable for a head and a word.
    unsafe fn describe(&self, to: *mut u8) -> usize {
        let pieces = self.pieces.as_ptr().expose_provenance() as u64;
        // SAFETY: this function's contract.
        unsafe {
            to.cast::<Head>().write(Head { pieces, destinations: self.send.len() as u64 });
            let partners = self.neighbours.partners.as_ptr();
            to.add(HEAD_BYTES).cast::<u64>().write(partners.expose_provenance() as u64);
        }
        HEAD_BYTES + size_of::<u64>()
    }
}

/// The piece at that place of what `peer` tells. Errors: `TOPOLOGY` if it has none for this rank, `ARG` if it has not as many.
///
/// # Safety
/// `content` is what that rank has told, and tells still.
unsafe fn told_piece(
    shared: &Shared,
    peer: CommRank,
    place: PieceIndex,
    content: *const u8,
) -> Result<Region> {
    // SAFETY: the peer has told a head and what it says (this function's contract).
    unsafe {
        let head = content.cast::<Head>().read();
        let count = head.destinations as usize;
        let behind = content.add(HEAD_BYTES);
        if head.pieces != 0 {
            let partners = shared.seen(peer, behind.cast::<u64>().read()).cast::<CommRank>();
            let index = index_of(place, count, shared.rank, |index| partners.add(index).read())?;
            let piece = shared.seen(peer, head.pieces).cast::<Piece>().add(index).read();
            if peer == shared.rank {
                return Ok(Region::of_words(piece.words, piece.bytes as usize));
            }
            let owner = shared.peer(peer).ok_or(Error::INTERN)?;
            return Ok(Region::of_peer(owner, piece.words, piece.bytes as usize));
        }
        let entries = from_raw_parts(behind.cast::<Entry>(), count);
        let index = index_of(place, count, shared.rank, |index| CommRank(entries[index][0]))?;
        let before: usize = entries[..index].iter().map(|[_, bytes]| *bytes as usize).sum();
        let start = content.add(content_from(count) + before);
        Ok(Region::block(start, entries[index][1] as usize))
    }
}

/// Which of `count` pieces is meant. Errors: as for [`told_piece`].
fn index_of(
    place: PieceIndex,
    count: usize,
    rank: CommRank,
    partner: impl Fn(usize) -> CommRank,
) -> Result<usize> {
    match place {
        PieceIndex::At(index) if (index as usize) < count => Ok(index as usize),
        PieceIndex::At(_) => Err(Error::ARG),
        PieceIndex::Occurrence(before) => {
            let mut places = (0..count).filter(|index| partner(*index) == rank);
            places.nth(before as usize).ok_or(Error::TOPOLOGY)
        }
    }
}
