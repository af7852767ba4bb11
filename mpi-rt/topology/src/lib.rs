//! Virtual topologies (MPI-5.0, chapter 8): who is whose neighbour among the ranks of a communicator, as values and arithmetic. A communicator has one with it; what
//! makes it there is the engine's.
//!
//! Nothing is per rank, per thread or per communicator.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod cartesian;
pub mod dims;
pub mod distributed_graph;
pub mod graph;
mod neighbours;

pub use cartesian::Cartesian;
pub use distributed_graph::DistributedGraph;
pub use graph::Graph;
pub use neighbours::{Neighbours, PieceIndex};

use lwk_mpi_core::abi::topology;
use lwk_mpi_core::error::Result;
use lwk_place::CommRank;

/// The topology of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Topology {
    Cartesian(Cartesian),
    Graph(Graph),
    Distributed(DistributedGraph),
}

impl Topology {
    /// Its number in the binary interface.
    pub fn kind(&self) -> i32 {
        match self {
            Topology::Cartesian(_) => topology::CART,
            Topology::Graph(_) => topology::GRAPH,
            Topology::Distributed(_) => topology::DIST_GRAPH,
        }
    }

    /// The neighbours of a rank, as neighbourhood collectives count them (MPI-5.0, section 8.6): those it receives from and those it
    /// sends to, each in the order of its buffers. Beside the edges of a grid stand null processes. Errors: `RANK`.
    pub fn neighbours(&self, rank: CommRank) -> Result<Neighbours> {
        let (sources, destinations) = match self {
            Topology::Cartesian(it) => it.neighbours(rank.number()).map(|all| (all.clone(), all))?,
            Topology::Graph(it) => it.neighbours(rank.number()).map(|all| (all.to_vec(), all.to_vec()))?,
            Topology::Distributed(it) => (it.sources.clone(), it.destinations.clone()),
        };
        Ok(Neighbours::new(sources, destinations, matches!(self, Topology::Cartesian(_))))
    }
}
