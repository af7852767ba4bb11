//! Neighbourhood collectives (MPI-5.0, section 8.6): moves along the edges of a communicator's topology.
//!
//! Every rank posts what it has for its destinations, in their order; who receives finds its piece there (`lwk_mpi_topology::Neighbours`).

use super::arguments::{BufferArgument, Parts};
use super::plan::{Move, Piece, Plan, Users};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::topology::{Neighbours, PieceIndex};
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_area::{Kind, NO_ROOT, check};
use lwk_place::CommRank;
use lwk_schedule::{Edges, Schedule};

/// The messages of a rank: of parts for each destination, or one content for all.
pub(super) fn schedule_of(neighbours: &Neighbours, parts: bool) -> Schedule {
    let ranks =
        |of: &[i32]| -> Vec<Option<u32>> { of.iter().map(|rank| u32::try_from(*rank).ok()).collect() };
    let (sources, destinations) = (ranks(&neighbours.sources), ranks(&neighbours.destinations));
    let grid = neighbours.is_grid();
    lwk_schedule::neighbours(&Edges { sources: &sources, destinations: &destinations, grid }, parts)
}

fn users_of(neighbours: &Neighbours) -> Users {
    Users::These(neighbours.partners.iter().copied().filter(|rank| *rank != CommRank::NONE).collect())
}

impl Engine {
    /// How many parts a rank of a topology receives and sends. Errors: `COMM`; `TOPOLOGY` if there is none.
    pub fn neighbour_counts(&self, communicator: Handle) -> Result<(usize, usize)> {
        let neighbours = self.communicator(communicator)?.neighbours()?;
        Ok((neighbours.sources.len(), neighbours.destinations.len()))
    }

    pub(super) fn plan_neighbour_allgather(
        &mut self,
        communicator: &Rc<Communicator>,
        send: &BufferArgument,
        receive: &Parts,
    ) -> Result<Plan> {
        let neighbours = communicator.neighbours()?;
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
        plan.users = users_of(neighbours);
        Ok(plan)
    }

    pub(super) fn plan_neighbour_alltoall(
        &mut self,
        communicator: &Rc<Communicator>,
        send: &Parts,
        receive: &Parts,
    ) -> Result<Plan> {
        let neighbours = communicator.neighbours()?;
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
        plan.partners = neighbours.partners.clone();
        plan.users = users_of(neighbours);
        Ok(plan)
    }
}
