//! Topologies (MPI-5.0, chapter 8): grids, graphs, and graphs of which each rank knows its own neighbours.

use super::communicator::Communicator;
use alloc::vec::Vec;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::topology::{Cartesian, DistributedGraph};

impl<'mpi> Communicator<'mpi> {
    /// A grid of the first ranks, periodic in some dimensions; `None` for ranks that are left over. All ranks must call it. Errors: `DIMS` if it is
    /// larger than the communicator or a dimension is not positive, `NO_MEM`.
    pub fn grid(&self, dims: &[i32], periodic: &[bool]) -> Result<Option<Communicator<'mpi>>> {
        if dims.len() != periodic.len() {
            return Err(Error::DIMS);
        }
        Ok(with(|engine| engine.cart_create(self.handle(), dims, periodic))?.map(Self::of))
    }

    /// Divides a grid into grids of the dimensions that remain, of which this rank gets its own. All ranks must call it. Errors: `TOPOLOGY`,
    /// `ARG` if `remain` is too short, `NO_MEM`.
    pub fn part_of_grid(&self, remain: &[bool]) -> Result<Communicator<'mpi>> {
        with(|engine| engine.cart_sub(self.handle(), remain)).map(Self::of)
    }

    /// A grid's dimensions and whether they are periodic. Errors: `TOPOLOGY`.
    pub fn dimensions(&self) -> Result<Cartesian> {
        with(|engine| engine.communicators.cartesian(self.handle()).cloned())
    }

    /// A rank's place in a grid. Errors: `TOPOLOGY`, `RANK`.
    pub fn coordinates(&self, rank: i32) -> Result<Vec<i32>> {
        with(|engine| engine.communicators.cartesian(self.handle())?.coords(rank))
    }

    /// The rank at a place in a grid; coordinates in periodic dimensions wrap around. Errors: `TOPOLOGY`, `ARG`.
    pub fn rank_at(&self, coordinates: &[i32]) -> Result<i32> {
        with(|engine| {
            let grid = engine.communicators.cartesian(self.handle())?;
            if coordinates.len() == grid.dims().len() { grid.rank(coordinates) } else { Err(Error::ARG) }
        })
    }

    /// The ranks that are so many steps before and after this one in a dimension of a grid, or `PROC_NULL`: whom it receives from and whom it sends
    /// to in a shift. Errors: `TOPOLOGY`, `ARG`.
    pub fn shift(&self, dimension: i32, steps: i32) -> Result<(i32, i32)> {
        with(|engine| {
            let rank = engine.communicators.rank(self.handle())? as i32;
            engine.communicators.cartesian(self.handle())?.shift(rank, dimension, steps)
        })
    }

    /// A graph of the first ranks, the same in all ranks: where each rank's neighbours end in `edges`, and the edges. `None` for ranks that are left
    /// over. All ranks must call it. Errors: `ARG`, `NO_MEM`.
    pub fn graph(&self, index: &[i32], edges: &[i32]) -> Result<Option<Communicator<'mpi>>> {
        Ok(with(|engine| engine.graph_create(self.handle(), index, edges))?.map(Self::of))
    }

    /// A graph of which each rank names whom it receives from and whom it sends to. All ranks must call it. Errors: `RANK`, `NO_MEM`.
    pub fn adjacent_graph(&self, sources: &[i32], destinations: &[i32]) -> Result<Communicator<'mpi>> {
        let own =
            DistributedGraph { sources: sources.into(), destinations: destinations.into(), weights: None };
        with(|engine| engine.dist_graph_create_adjacent(self.handle(), own)).map(Self::of)
    }

    /// A graph of which each rank names any edges, from one rank to another. All ranks must call it. Errors: `RANK`, `NO_MEM`.
    pub fn distributed_graph(&self, edges: &[(i32, i32)]) -> Result<Communicator<'mpi>> {
        let edges: Vec<_> = edges.iter().map(|(from, to)| [*from, *to, 1]).collect();
        with(|engine| engine.dist_graph_create(self.handle(), &edges, false)).map(Self::of)
    }

    /// Whom this rank receives from and whom it sends to, in any topology. Errors: `TOPOLOGY` if there is none.
    pub fn neighbours(&self) -> Result<(Vec<i32>, Vec<i32>)> {
        with(|engine| {
            let rank = engine.communicator(self.handle())?.rank;
            let all = engine.communicators.topology(self.handle())?.neighbours(rank)?;
            Ok((all.sources, all.destinations))
        })
    }
}
