//! Neighbourhood collectives (MPI-5.0, section 8.6): moves along the edges of a communicator's topology.
//!
//! Every rank posts what it has for its destinations, in their order; who receives finds its piece there. Of several edges from one rank to
//! another the first in the sender's list is the first in the receiver's; in a grid what goes in one direction of a dimension
//! comes from the other (it matters where a dimension has one or two ranks).

use super::arguments::{BufferArgument, Parts};
use super::plan::{Move, Piece, PieceIndex, Plan, Users};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::topology::Topology;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_area::{Kind, NO_ROOT, check};
use lwk_place::CommRank;
use lwk_schedule::{Edges, Schedule};

/// The neighbours of a rank. Ranks are `MPI_PROC_NULL` beside the edges of a grid.
pub(super) struct Neighbours {
    pub sources: Vec<i32>,
    pub destinations: Vec<i32>,
    grid: bool,
}

impl Neighbours {
    /// Errors: `TOPOLOGY` if there is none.
    pub fn of(communicator: &Communicator) -> Result<Neighbours> {
        let topology = communicator.topology.as_deref().ok_or(Error::TOPOLOGY)?;
        let (sources, destinations) = topology.neighbours(communicator.rank)?;
        Ok(Neighbours { sources, destinations, grid: matches!(topology, Topology::Cartesian(_)) })
    }

    /// Whether they are those of a grid, which has as many sources as destinations at every rank.
    pub fn is_grid(&self) -> bool {
        self.grid
    }

    /// The rank of source `index`, and its piece for this edge. `None` for a null process.
    pub fn source(&self, index: usize) -> Option<(CommRank, PieceIndex)> {
        let rank = self.sources[index];
        let peer = CommRank::of_number(rank)?;
        if self.grid {
            // The two directions of a dimension stand next to each other.
            return Some((peer, PieceIndex::At(index as u32 ^ 1)));
        }
        let before = self.sources[..index].iter().filter(|source| **source == rank).count();
        Some((peer, PieceIndex::Occurrence(before as u32)))
    }

    /// The destinations' ranks.
    pub fn partners(&self) -> Vec<CommRank> {
        self.destinations.iter().map(|rank| CommRank::of_number(*rank).unwrap_or(CommRank::NONE)).collect()
    }

    /// The messages of a rank: of parts for each destination, or one content for all.
    pub fn schedule(&self, parts: bool) -> Schedule {
        let ranks =
            |of: &[i32]| -> Vec<Option<u32>> { of.iter().map(|rank| u32::try_from(*rank).ok()).collect() };
        let (sources, destinations) = (ranks(&self.sources), ranks(&self.destinations));
        lwk_schedule::neighbours(
            &Edges { sources: &sources, destinations: &destinations, grid: self.grid },
            parts,
        )
    }

    fn users(&self) -> Users {
        Users::These(self.destinations.iter().filter_map(|rank| CommRank::of_number(*rank)).collect())
    }
}

impl Engine {
    /// How many parts a rank of a topology receives and sends. Errors: `COMM`; `TOPOLOGY` if there is none.
    pub fn neighbour_counts(&self, communicator: Handle) -> Result<(usize, usize)> {
        let neighbours = Neighbours::of(self.communicator(communicator)?)?;
        Ok((neighbours.sources.len(), neighbours.destinations.len()))
    }

    pub(super) fn plan_neighbour_allgather(
        &mut self,
        communicator: &Rc<Communicator>,
        send: &BufferArgument,
        receive: &Parts,
    ) -> Result<Plan> {
        let neighbours = Neighbours::of(communicator)?;
        if send.is_in_place() {
            return Err(Error::BUFFER);
        }
        let mut plan = Plan::new(communicator, check(Kind::NeighbourAllgather, NO_ROOT, 0));
        let own = self.part(send, &mut plan.kept)?;
        let regions = self.parts(receive, neighbours.sources.len(), &mut plan.kept)?;
        plan.sends.push(Piece::of(&own));
        for (index, mine) in regions.into_iter().enumerate() {
            if let Some((peer, _)) = neighbours.source(index) {
                plan.moves.push(Move { peer, place: PieceIndex::At(0), mine, push: false });
            }
        }
        plan.users = neighbours.users();
        Ok(plan)
    }

    pub(super) fn plan_neighbour_alltoall(
        &mut self,
        communicator: &Rc<Communicator>,
        send: &Parts,
        receive: &Parts,
    ) -> Result<Plan> {
        let neighbours = Neighbours::of(communicator)?;
        if send.is_in_place() {
            return Err(Error::BUFFER);
        }
        let mut plan = Plan::new(communicator, check(Kind::NeighbourAlltoall, NO_ROOT, 0));
        let own = self.parts(send, neighbours.destinations.len(), &mut plan.kept)?;
        let regions = self.parts(receive, neighbours.sources.len(), &mut plan.kept)?;
        plan.sends = own.iter().map(Piece::of).collect();
        for (index, mine) in regions.into_iter().enumerate() {
            if let Some((peer, place)) = neighbours.source(index) {
                plan.moves.push(Move { peer, place, mine, push: false });
            }
        }
        plan.partners = neighbours.partners();
        plan.users = neighbours.users();
        Ok(plan)
    }
}
