//! Communicators with a topology (MPI-5.0, chapter 8). Ranks keep their order whatever `reorder` says: on one node every rank is as near as any other, but
//! for caches that the kernel has dealt out in order.

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::topology::{Cartesian, DistributedGraph, Graph, Topology, distributed_graph};
use alloc::rc::Rc;

impl Engine {
    /// A communicator of the first `count` ranks of the parent with a topology; `None` for the others. All ranks of the parent must call it.
    fn make_with_topology(
        &mut self,
        parent: Handle,
        it: &Communicator,
        count: usize,
        topology: Topology,
    ) -> Result<Option<Handle>> {
        let members = it.members.get(..count).ok_or(Error::INTERN)?;
        let within = it.rank.index() < count;
        let Some(mut made) = self.make_intra(it, within.then(|| members.into()))? else { return Ok(None) };
        made.topology = Some(Rc::new(topology));
        Ok(Some(self.insert_child(parent, made)))
    }

    /// A communicator of the first ranks of the parent as a grid; `None` for ranks that are left over. All ranks of the parent must call it. Errors:
    /// `COMM`, also for an intercommunicator; `DIMS` if a dimension is not positive or the grid is larger than the parent; `NO_MEM`.
    pub fn cart_create(&mut self, parent: Handle, dims: &[i32], periods: &[bool]) -> Result<Option<Handle>> {
        let it = self.communicators.intracommunicator(parent)?.clone();
        let grid = Cartesian::new(dims, periods)?;
        if grid.size() > it.size() as i64 {
            return Err(Error::DIMS);
        }
        let count = grid.size() as usize;
        self.make_with_topology(parent, &it, count, Topology::Cartesian(grid))
    }

    /// Divides a grid into grids of fewer dimensions, of which this rank gets its own: those dimensions stay for which `remain` is true. All
    /// ranks must call it. Errors: `COMM`, `TOPOLOGY`, `NO_MEM`; `ARG` if `remain` is too short.
    pub fn cart_sub(&mut self, communicator: Handle, remain: &[bool]) -> Result<Handle> {
        let it = self.communicator(communicator)?.clone();
        let grid = self.communicators.cartesian(communicator)?.clone();
        let (part, ranks) = grid.part(it.rank.number(), remain)?;
        let members = ranks.iter().map(|rank| it.members[*rank as usize]).collect();
        let mut made = self.make_intra(&it, Some(members))?.ok_or(Error::INTERN)?;
        made.topology = Some(Rc::new(Topology::Cartesian(part)));
        Ok(self.insert_child(communicator, made))
    }

    /// A communicator of the first ranks of the parent as a graph; `None` for ranks that are left over. All ranks of the parent must call it, with the
    /// same arguments. Errors: `COMM`, also for an intercommunicator; `ARG` for a wrong graph or one larger than the parent; `NO_MEM`.
    pub fn graph_create(&mut self, parent: Handle, index: &[i32], edges: &[i32]) -> Result<Option<Handle>> {
        let it = self.communicators.intracommunicator(parent)?.clone();
        let graph = Graph::new(index, edges)?;
        if graph.nodes() > it.size() as usize {
            return Err(Error::ARG);
        }
        let count = graph.nodes();
        self.make_with_topology(parent, &it, count, Topology::Graph(graph))
    }

    /// A communicator of the same ranks, of which each names its own neighbours. All ranks must call it. Errors: `COMM`, also for an
    /// intercommunicator; `RANK` for a neighbour that does not exist; `ARG` for weights of another number or below 0; `NO_MEM`.
    pub fn dist_graph_create_adjacent(&mut self, parent: Handle, own: DistributedGraph) -> Result<Handle> {
        let it = self.communicators.intracommunicator(parent)?.clone();
        own.check(it.size())?;
        let count = it.size() as usize;
        self.make_with_topology(parent, &it, count, Topology::Distributed(own))?.ok_or(Error::INTERN)
    }

    /// A communicator of the same ranks, of which each names any edges. All ranks must call it. Errors: as for
    /// [`Engine::dist_graph_create_adjacent`].
    pub fn dist_graph_create(
        &mut self,
        parent: Handle,
        edges: &[distributed_graph::Edge],
        weighted: bool,
    ) -> Result<Handle> {
        let it = self.communicators.intracommunicator(parent)?.clone();
        distributed_graph::check_edges(edges, it.size())?;
        let words = distributed_graph::to_words(edges, weighted);
        let mut own = DistributedGraph::none();
        self.share_all(&it, &words, |_, words| own.add(it.rank, words))?;
        let count = it.size() as usize;
        self.make_with_topology(parent, &it, count, Topology::Distributed(own))?.ok_or(Error::INTERN)
    }
}
