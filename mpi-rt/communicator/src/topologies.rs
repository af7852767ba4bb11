//! Topologies of communicators (MPI-5.0, chapter 8), by handle.

use crate::Communicators;
use lwk_mpi_core::abi::UNDEFINED;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_topology::{Cartesian, DistributedGraph, Graph, Topology};

impl Communicators {
    /// Which kind of topology a communicator has, or `UNDEFINED`. Errors: `COMM`.
    pub fn topology_kind(&self, communicator: Handle) -> Result<i32> {
        Ok(self.get(communicator)?.topology.as_ref().map_or(UNDEFINED, |it| it.kind()))
    }

    /// The topology of a communicator. Errors: `COMM`; `TOPOLOGY` if it has none.
    pub fn topology(&self, communicator: Handle) -> Result<&Topology> {
        self.get(communicator)?.topology.as_deref().ok_or(Error::TOPOLOGY)
    }

    /// Errors: `COMM`; `TOPOLOGY` if it is not a grid.
    pub fn cartesian(&self, communicator: Handle) -> Result<&Cartesian> {
        match self.topology(communicator)? {
            Topology::Cartesian(it) => Ok(it),
            _ => Err(Error::TOPOLOGY),
        }
    }

    /// Errors: `COMM`; `TOPOLOGY` if it is not a graph.
    pub fn graph(&self, communicator: Handle) -> Result<&Graph> {
        match self.topology(communicator)? {
            Topology::Graph(it) => Ok(it),
            _ => Err(Error::TOPOLOGY),
        }
    }

    /// Errors: `COMM`; `TOPOLOGY` if it is not a distributed graph.
    pub fn distributed_graph(&self, communicator: Handle) -> Result<&DistributedGraph> {
        match self.topology(communicator)? {
            Topology::Distributed(it) => Ok(it),
            _ => Err(Error::TOPOLOGY),
        }
    }

    /// The rank that this one would have in such a grid, or `UNDEFINED`. Errors: `COMM`, also for an intercommunicator; `DIMS` if a dimension is not positive or the grid is larger than the communicator.
    pub fn cart_map(&self, communicator: Handle, dims: &[i32], periods: &[bool]) -> Result<i32> {
        let it = self.intracommunicator(communicator)?;
        let size = Cartesian::new(dims, periods)?.size();
        if size > it.size() as i64 {
            return Err(Error::DIMS);
        }
        Ok(if i64::from(it.rank.0) < size { it.rank.number() } else { UNDEFINED })
    }

    /// The rank that this one would have in such a graph, or `UNDEFINED`. Errors: `COMM`, also for an intercommunicator; `ARG` for a wrong graph or one larger than the communicator.
    pub fn graph_map(&self, communicator: Handle, index: &[i32], edges: &[i32]) -> Result<i32> {
        let it = self.intracommunicator(communicator)?;
        let nodes = Graph::new(index, edges)?.nodes();
        if nodes > it.size() as usize {
            return Err(Error::ARG);
        }
        Ok(if it.rank.index() < nodes { it.rank.number() } else { UNDEFINED })
    }
}
