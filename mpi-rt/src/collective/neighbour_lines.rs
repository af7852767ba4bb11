//! Neighbourhood collectives by lines: what a rank tells its destinations and takes from its sources (`line_exchange`, `told_neighbours`).

use super::arguments::{Call, Parts};
use super::equal_parts::equal;
use super::line_exchange::{Edge, Exchange};
use super::line_steps::{Described, Job};
use super::told_neighbours::{PartsOfNeighbours, SendParts};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::topology::PieceIndex;
use alloc::vec::Vec;
use lwk_datatype::Datatype;
use lwk_mpi_area::Kind;
use lwk_place::CommRank;

impl Engine {
    /// One of neighbours. `None` of other calls, in place, and in large groups where only neighbours know how long parts are. Errors: `TOPOLOGY`, and those of
    /// [`Engine::parts`].
    pub(super) fn neighbour_job(
        &self,
        call: &Call,
        communicator: &Communicator,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Described>> {
        let (exchange, kind) = match call {
            Call::NeighbourAllgather { send, receive } => {
                if send.is_in_place() {
                    return Ok(None);
                }
                let mine = self.part(send, kept)?;
                match self.grid_edges(communicator, receive, kept)? {
                    Some(edges) => {
                        let edges = edges.into_iter().map(|edge| Edge { place: 0, parts: 1, ..edge });
                        (Exchange::Neighbours(mine, edges.collect()), Kind::NeighbourAllgather)
                    }
                    None => return self.neighbour_parts(communicator, SendParts::Same(mine), receive, kept),
                }
            }
            Call::NeighbourAlltoall { send, receive } => {
                if send.is_in_place() {
                    return Ok(None);
                }
                let destinations = communicator.neighbours()?.destinations.len();
                let edges = self.grid_edges(communicator, receive, kept)?;
                let (Some(edges), Some(each)) = (edges, equal(&send.division)) else {
                    let parts = self.parts(send, destinations, kept)?;
                    return self.neighbour_parts(communicator, SendParts::Each(parts), receive, kept);
                };
                let mine = self.all_parts(send, each, destinations, kept)?;
                (Exchange::Neighbours(mine, edges), Kind::NeighbourAlltoall)
            }
            _ => return Ok(None),
        };
        Ok(Some((Job::Exchange(exchange), kind, CommRank::FIRST, true)))
    }

    /// Parts for neighbours, of which they alone know how long they are. `None` in large groups. Errors: `TOPOLOGY`, and
    /// those of [`Engine::parts`].
    fn neighbour_parts(
        &self,
        communicator: &Communicator,
        send: SendParts,
        receive: &Parts,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Described>> {
        let receive = self.parts(receive, communicator.neighbours()?.sources.len(), kept)?;
        let parts = PartsOfNeighbours::new(communicator, send, receive)?;
        let job = |parts| Job::Exchange(Exchange::NeighbourParts(parts));
        Ok(parts.map(|parts| (job(parts), Kind::NeighbourParts, CommRank::FIRST, true)))
    }

    /// What comes to this rank along the edges of a grid, in equal parts. `None` of other topologies: there neighbours alone know how long parts are, and where.
    /// Errors: `TOPOLOGY`, and those of [`Engine::row`].
    fn grid_edges(
        &self,
        communicator: &Communicator,
        parts: &Parts,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Vec<Edge>>> {
        let neighbours = communicator.neighbours()?;
        let Some(count) = equal(&parts.division).filter(|_| neighbours.is_grid()) else { return Ok(None) };
        let row = self.row(parts, count)?;
        self.keep(parts.datatype, kept);
        let sources = &neighbours.sources;
        let edges = (0..sources.len()).filter_map(|index| {
            let (source, PieceIndex::At(place)) = neighbours.source(index)? else { return None };
            Some(Edge { source, place, parts: sources.len() as u32, mine: row.part(CommRank::at(index)) })
        });
        Ok(Some(edges.collect()))
    }
}
