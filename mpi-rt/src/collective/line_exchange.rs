//! The steps of short operations in which every rank tells what others want of it, as those of `line_steps`: by its own line, once; then each takes what concerns it.

use super::alltoall_parts::PartsOfAll;
use super::equal_parts::EqualParts;
use super::line_cursor::{Cursor, Lanes, Phase, give, take_of};
use super::line_steps::Row;
use super::told::Folding;
use super::told_neighbours::PartsOfNeighbours;
use crate::error::{Error, Result};
use alloc::vec::Vec;
use lwk_mpi_area::{Given, SMALL_BYTES, copy_whole};
use lwk_path::region::Region;
use lwk_place::CommRank;

/// What every rank does.
pub(super) enum Exchange {
    /// Tells its part; takes those of all.
    Allgather(Region, Row),
    /// Tells the parts for all, one after another; takes its own of each.
    Alltoall(Region, EqualParts),
    /// The same with parts that differ.
    AlltoallParts(PartsOfAll),
    /// Tells its contribution; folds those that concern it.
    Fold(Folding),
    /// Tells its part, or the parts for its destinations one after another; takes those of its sources.
    Neighbours(Region, Vec<Edge>),
    /// The same where only neighbours know how long parts are.
    NeighbourParts(PartsOfNeighbours),
}

impl Exchange {
    /// Whether what is too long for a line is described there.
    pub fn describes_long_parts(&self) -> bool {
        matches!(self, Exchange::AlltoallParts(_) | Exchange::NeighbourParts(_))
    }

    /// Bytes of the longest part that a rank tells, as far as this one knows.
    pub fn most(&self) -> usize {
        match self {
            Exchange::Allgather(_, row) => row.most(),
            Exchange::Alltoall(send, _) => send.bytes(),
            Exchange::AlltoallParts(_) | Exchange::NeighbourParts(_) => usize::MAX,
            Exchange::Fold(folding) => folding.reduction.dense_bytes().unwrap_or(usize::MAX),
            Exchange::Neighbours(mine, edges) => {
                let theirs = edges.iter().map(|edge| edge.parts as usize * edge.mine.bytes());
                theirs.fold(mine.bytes(), usize::max)
            }
        }
    }
}

/// What comes from a source.
pub(super) struct Edge {
    pub source: CommRank,
    /// Which of the source's parts it is, and of how many; all have as many bytes as this one.
    pub place: u32,
    pub parts: u32,
    pub mine: Region,
}

/// As [`super::line_steps::step`].
///
/// # Safety
/// As there.
#[inline]
pub(super) unsafe fn step(lanes: &Lanes, exchange: &Exchange, cursor: &mut Cursor) -> bool {
    let (rank, size) = (lanes.shared.rank, lanes.shared.size());
    // SAFETY: what a rank tells is readable, what it takes is written to is writable, and what lies in lines stays until the operation is ended (this function's
    // contract).
    unsafe {
        match exchange {
            Exchange::Allgather(mine, row) => {
                tell(lanes, mine, cursor)
                    && take_of(lanes, cursor, size, CommRank, |peer, given| {
                        given.copy_to(&row.part(CommRank(peer))?)
                    })
            }
            Exchange::Alltoall(send, row) => {
                let part = |given: Given| {
                    let each = row.each();
                    let is_whole = given.bytes == each * size as usize;
                    is_whole.then(|| Region::block(given.content.add(each * rank.index()), each))
                };
                tell(lanes, send, cursor)
                    && take_of(lanes, cursor, size, CommRank, |peer, given| {
                        copy_whole(&part(given).ok_or(Error::COUNT)?, &row.part(CommRank(peer)))
                    })
            }
            Exchange::AlltoallParts(parts) => parts.step(lanes, cursor),
            Exchange::NeighbourParts(parts) => parts.step(lanes, cursor),
            Exchange::Fold(folding) => {
                let bytes = folding.reduction.dense_bytes().unwrap_or(0);
                let first = folding.sources.0.start;
                tell(lanes, &Region::block(folding.send, bytes), cursor)
                    && take_of(
                        lanes,
                        cursor,
                        folding.sources.size(),
                        |index| CommRank(first + index),
                        |_, given| {
                            if given.bytes == bytes { Ok(()) } else { Err(Error::COUNT) }
                        },
                    )
                    && fold(lanes, folding, bytes, cursor)
            }
            Exchange::Neighbours(mine, edges) => {
                tell(lanes, mine, cursor)
                    && take_of(
                        lanes,
                        cursor,
                        edges.len() as u32,
                        |index| edges[index as usize].source,
                        |index, given| take_edge(&edges[index as usize], given),
                    )
            }
        }
    }
}

/// This rank's part in its own line; true when it is there.
///
/// # Safety
/// The part is readable.
unsafe fn tell(lanes: &Lanes, part: &Region, cursor: &mut Cursor) -> bool {
    if cursor.phase == Phase::Lines {
        // SAFETY: the part is readable (this function's contract).
        if !unsafe { give(lanes, part, cursor) } {
            return false;
        }
        cursor.goes_on_with_taking();
    }
    true
}

/// Folds what is there; true.
///
/// # Safety
/// All sources have told `bytes` each, which are the reduction's items; the result is writable.
unsafe fn fold(lanes: &Lanes, folding: &Folding, bytes: usize, cursor: &mut Cursor) -> bool {
    let Folding { reduction, receive, sources, part, .. } = folding;
    if sources.size() == 0 || cursor.outcome.is_err() {
        return true;
    }
    let content = |rank: CommRank| lanes.given(rank).map(|given| given.content).ok_or(Error::INTERN);
    // SAFETY: given lines stay until the operation is ended and hold all items, and the result is writable (this function's contract).
    let folded = unsafe {
        if bytes <= SMALL_BYTES && *part == (0..reduction.count) && sources.0.start == 0 {
            reduction.fold_lines(sources.size(), bytes, content, *receive)
        } else {
            reduction.fold_told(sources.clone(), part.clone(), content, *receive)
        }
    };
    cursor.note(folded);
    true
}

/// Takes a part from what its source has told. Errors: `TRUNCATE`, `COUNT`.
///
/// # Safety
/// The source has told as many parts of this one's bytes as `place` says, or more; the part is writable.
unsafe fn take_edge(edge: &Edge, given: Given) -> Result<()> {
    let each = edge.mine.bytes();
    let start = edge.place as usize * each;
    if given.bytes != edge.parts as usize * each {
        return Err(Error::COUNT);
    }
    // SAFETY: what has been told has these bytes, and the part is writable (this function's contract).
    unsafe { copy_whole(&Region::block(given.content.add(start), each), &edge.mine) }
}
