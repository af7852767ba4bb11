//! Alltoall between neighbours with parts that differ, in small groups: every rank tells all what it has for its destinations, as in `told`. In a large group that
//! would be too many to wait for; there only neighbours wait for each other, by a plan (`neighbourhood`).

use super::arguments::{Parts, VaryingParts};
use super::neighbourhood::Neighbours;
use super::plan::{Piece, PieceIndex};
use super::told::Telling;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::vec::Vec;
use core::slice::from_raw_parts;
use lwk_copy::threshold::{NEIGHBOURS_TELL_UP_TO, TOLD_LIMIT};
use lwk_mpi_area::{Kind, Shared, copy_whole, sort_of_all};
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

impl Engine {
    /// Alltoall between neighbours with varying parts, in a small group. `None` in others, and nothing has happened. Errors: `TOPOLOGY`, `BUFFER`, `COUNT`, `TYPE`,
    /// `ARG`, `NO_MEM`, `TRUNCATE`, and those of the exchange.
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn neighbour_parts(
        &mut self,
        communicator: &Communicator,
        send: &Parts,
        receive: &Parts,
    ) -> Result<Option<()>> {
        let shared = &communicator.shared;
        let has_places = send.division.has_places() && receive.division.has_places();
        if shared.size() > NEIGHBOURS_TELL_UP_TO || !has_places || communicator.inter.is_some() {
            return Ok(None);
        }
        let neighbours = Neighbours::of(communicator)?;
        if send.is_in_place() {
            return Err(Error::BUFFER);
        }
        let partners = neighbours.partners();
        let send = self.varying(send, partners.len())?;
        let receive = self.varying(receive, neighbours.sources.len())?;
        let mut bytes = content_from(partners.len());
        for index in 0..partners.len() {
            bytes = bytes.saturating_add(send.part(index)?.bytes());
        }
        let mut pieces = Vec::new();
        if bytes > TOLD_LIMIT {
            pieces.try_reserve_exact(partners.len()).map_err(|_| Error::NO_MEM)?;
            for index in 0..partners.len() {
                pieces.push(Piece::of(&send.part(index)?));
            }
        }
        let sort = sort_of_all(Kind::NeighbourParts, 0);
        // SAFETY: the lines take `TOLD_LIMIT`, no fewer than what is written; the parts are readable (this function's contract).
        let telling = unsafe {
            Telling::begin(shared, sort, TOLD_LIMIT, |to| {
                if bytes > TOLD_LIMIT {
                    describe(&pieces, &partners, to)
                } else {
                    write(&send, &partners, to)
                }
            })?
        };
        let mut is_described = false;
        for rank in shared.ranks() {
            let content = telling.content(self, shared, rank)?;
            // SAFETY: the rank has told a head.
            is_described |= unsafe { content.cast::<Head>().read().pieces } != 0;
        }
        let mut outcome = Ok(());
        for index in 0..neighbours.sources.len() {
            let Some((peer, place)) = neighbours.source(index) else { continue };
            let content = telling.content(self, shared, peer)?;
            let part = receive.part(index)?;
            // SAFETY: the peer has told what `write` or `describe` say, and tells it still; what is described stays until all have told that they have ended; the part is
            // writable, and overlaps nothing that is sent (this function's contract).
            let copied =
                unsafe { told_piece(shared, peer, place, content).and_then(|told| copy_whole(&told, &part)) };
            outcome = outcome.and(copied);
        }
        if is_described {
            // All have seen it. Nobody leaves before all have what they fetch.
            // SAFETY: nothing is written.
            let ended = unsafe { Telling::begin(shared, sort, 0, |_| Ok(()))? };
            shared.ranks().try_for_each(|rank| ended.content(self, shared, rank).map(drop))?;
        }
        outcome.map(Some)
    }
}

/// # Safety
/// The parts are readable, and fit `TOLD_LIMIT` bytes at `to`, with what stands before them.
unsafe fn write(send: &VaryingParts, partners: &[CommRank], to: *mut u8) -> Result<()> {
    let mut end = content_from(partners.len());
    // SAFETY: all of it fits, and the parts are readable (this function's contract).
    unsafe {
        to.cast::<Head>().write(Head { pieces: 0, destinations: partners.len() as u64 });
        let entries = to.add(HEAD_BYTES).cast::<Entry>();
        for (index, partner) in partners.iter().enumerate() {
            let part = send.part(index)?;
            entries.add(index).write([partner.0, part.bytes() as u32]);
            copy_whole(&part, &Region::block(to.add(end), part.bytes()))?;
            end += part.bytes();
        }
    }
    Ok(())
}

/// # Safety
/// `to` is writable for a head and a word.
unsafe fn describe(pieces: &[Piece], partners: &[CommRank], to: *mut u8) -> Result<()> {
    let head =
        Head { pieces: pieces.as_ptr().expose_provenance() as u64, destinations: partners.len() as u64 };
    // SAFETY: this function's contract.
    unsafe {
        to.cast::<Head>().write(head);
        to.add(HEAD_BYTES).cast::<u64>().write(partners.as_ptr().expose_provenance() as u64);
    }
    Ok(())
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
