//! The neighbours of a rank, as neighbourhood collectives need them (MPI-5.0, section 8.6).
//!
//! Of several edges from one rank to another the first in the sender's list is the first in the receiver's; in a grid what goes in one direction of a dimension
//! comes from the other (it matters where a dimension has one or two ranks).

use alloc::vec::Vec;
use lwk_place::CommRank;

/// Which of a rank's pieces is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceIndex {
    At(u32),
    /// Of the pieces for the rank that takes, so many come before.
    Occurrence(u32),
}

/// Ranks are `MPI_PROC_NULL` beside the edges of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbours {
    pub sources: Vec<i32>,
    pub destinations: Vec<i32>,
    /// Of each source its rank, and its piece for this edge.
    edges: Vec<Option<(CommRank, PieceIndex)>>,
    /// The destinations' ranks, [`CommRank::NONE`] for null processes.
    pub partners: Vec<CommRank>,
    is_grid: bool,
}

impl Neighbours {
    /// `is_grid`: a grid's, which has as many sources as destinations at every rank.
    pub(crate) fn new(sources: Vec<i32>, destinations: Vec<i32>, is_grid: bool) -> Neighbours {
        let edge = |(index, rank): (usize, &i32)| {
            let peer = CommRank::of_number(*rank)?;
            if is_grid {
                // The two directions of a dimension stand next to each other.
                return Some((peer, PieceIndex::At(index as u32 ^ 1)));
            }
            let before = sources[..index].iter().filter(|source| *source == rank).count();
            Some((peer, PieceIndex::Occurrence(before as u32)))
        };
        let edges = sources.iter().enumerate().map(edge).collect();
        let partners = destinations.iter().map(|rank| CommRank::of_number(*rank).unwrap_or(CommRank::NONE));
        Neighbours { partners: partners.collect(), edges, sources, destinations, is_grid }
    }

    pub fn is_grid(&self) -> bool {
        self.is_grid
    }

    /// The rank of source `index`, and its piece for this edge. `None` for a null process.
    pub fn source(&self, index: usize) -> Option<(CommRank, PieceIndex)> {
        self.edges[index]
    }
}
