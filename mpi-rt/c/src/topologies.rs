//! Virtual topologies (MPI-5.0, chapter 8).

use crate::mpi;
use crate::types::{Comm, Info, array, array_mut, give, output};
use alloc::vec::Vec;
use core::ffi::c_int;
use lwk_mpi_rt::abi::{COMM_NULL, UNWEIGHTED, WEIGHTS_EMPTY};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::info::hints;
use lwk_mpi_rt::topology::dims::dims_create;
use lwk_mpi_rt::topology::{DistributedGraph, Topology};
use lwk_mpi_rt::{Error, Handle, Result};

/// Truth values of the caller's.
///
/// # Safety
/// `start` must be null or readable for `count` numbers.
unsafe fn flags(start: *const c_int, count: c_int) -> Result<Vec<bool>> {
    // SAFETY: `start` is null or readable for `count` numbers (this function's contract).
    Ok(unsafe { array(start, count)? }.iter().map(|flag| *flag != 0).collect())
}

/// The number of dimensions. Errors: `DIMS` for a negative one.
fn dimensions(count: c_int) -> Result<c_int> {
    if count < 0 { Err(Error::DIMS) } else { Ok(count) }
}

/// Writes the first of some numbers, as many as there is room for. Errors: `ARG` for negative room or a null pointer.
///
/// # Safety
/// `place` must be null or writable for `room` numbers.
unsafe fn give_list(place: *mut c_int, room: c_int, numbers: impl IntoIterator<Item = c_int>) -> Result<()> {
    // SAFETY: `place` is null or writable for `room` numbers (this function's contract).
    let places = unsafe { output(place, room) }.map_err(|_| Error::ARG)?;
    places.iter_mut().zip(numbers).for_each(|(place, number)| {
        place.write(number);
    });
    Ok(())
}

/// Weights of the caller's, unless there are none: `MPI_UNWEIGHTED`. Errors: `ARG` for `MPI_WEIGHTS_EMPTY`, which is an address that is not read, where
/// there are edges.
///
/// # Safety
/// `start` must be `MPI_UNWEIGHTED`, `MPI_WEIGHTS_EMPTY`, null, or readable for `count` numbers, as long as `'a`.
unsafe fn weights<'a>(start: *const c_int, count: c_int) -> Result<Option<&'a [c_int]>> {
    if start.addr() == UNWEIGHTED {
        return Ok(None);
    }
    if start.addr() == WEIGHTS_EMPTY && count > 0 {
        return Err(Error::ARG);
    }
    // SAFETY: `start` is readable for `count` numbers (this function's contract), or `MPI_WEIGHTS_EMPTY`, where `count` is 0 or below (checked
    // above) and nothing is read.
    unsafe { array(start, count) }.map(Some)
}

mpi! {
    fn Dims_create(nnodes: c_int, ndims: c_int, dims: *mut c_int) on Nothing {
        dims_create(nnodes, array_mut(dims, dimensions(ndims)?)?)
    }

    fn Topo_test(comm: Comm, status: *mut c_int) on Comm(comm) {
        give(status, with(|engine| engine.communicators.topology_kind(Handle(comm)))?)
    }

    fn Cart_create(
        comm_old: Comm, ndims: c_int, dims: *const c_int, periods: *const c_int, _reorder: c_int, comm_cart: *mut Comm,
    ) on Comm(comm_old) {
        let (dims, periods) = (array(dims, dimensions(ndims)?)?, flags(periods, ndims)?);
        let made = with(|engine| engine.cart_create(Handle(comm_old), dims, &periods))?;
        give(comm_cart, made.map_or(COMM_NULL, |handle| handle.0))
    }

    fn Cart_sub(comm: Comm, remain_dims: *const c_int, newcomm: *mut Comm) on Comm(comm) {
        let count = with(|engine| Ok(engine.communicators.cartesian(Handle(comm))?.dims().len()))?;
        let remain = flags(remain_dims, count as c_int)?;
        give(newcomm, with(|engine| engine.cart_sub(Handle(comm), &remain))?.0)
    }

    fn Cartdim_get(comm: Comm, ndims: *mut c_int) on Comm(comm) {
        give(ndims, with(|engine| Ok(engine.communicators.cartesian(Handle(comm))?.dims().len()))? as c_int)
    }

    fn Cart_get(comm: Comm, maxdims: c_int, dims: *mut c_int, periods: *mut c_int, coords: *mut c_int) on Comm(comm) {
        with(|engine| {
            let grid = engine.communicators.cartesian(Handle(comm))?;
            let mine = grid.coords(engine.communicators.rank(Handle(comm))? as c_int)?;
            give_list(dims, maxdims, grid.dims().iter().copied())?;
            give_list(periods, maxdims, grid.periods().iter().map(|ring| *ring as c_int))?;
            give_list(coords, maxdims, mine)
        })
    }

    fn Cart_rank(comm: Comm, coords: *const c_int, rank: *mut c_int) on Comm(comm) {
        let found = with(|engine| {
            let grid = engine.communicators.cartesian(Handle(comm))?;
            grid.rank(array(coords, grid.dims().len() as c_int)?)
        })?;
        give(rank, found)
    }

    fn Cart_coords(comm: Comm, rank: c_int, maxdims: c_int, coords: *mut c_int) on Comm(comm) {
        let found = with(|engine| engine.communicators.cartesian(Handle(comm))?.coords(rank))?;
        give_list(coords, maxdims, found)
    }

    fn Cart_shift(comm: Comm, direction: c_int, disp: c_int, rank_source: *mut c_int, rank_dest: *mut c_int) on Comm(comm) {
        let (source, target) = with(|engine| {
            let rank = engine.communicators.rank(Handle(comm))? as c_int;
            engine.communicators.cartesian(Handle(comm))?.shift(rank, direction, disp)
        })?;
        give(rank_source, source)?;
        give(rank_dest, target)
    }

    fn Cart_map(comm: Comm, ndims: c_int, dims: *const c_int, periods: *const c_int, newrank: *mut c_int) on Comm(comm) {
        let (dims, periods) = (array(dims, dimensions(ndims)?)?, flags(periods, ndims)?);
        give(newrank, with(|engine| engine.communicators.cart_map(Handle(comm), dims, &periods))?)
    }

    fn Graph_create(
        comm_old: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, _reorder: c_int, comm_graph: *mut Comm,
    ) on Comm(comm_old) {
        let (index, edges) = graph(nnodes, index, edges)?;
        let made = with(|engine| engine.graph_create(Handle(comm_old), index, edges))?;
        give(comm_graph, made.map_or(COMM_NULL, |handle| handle.0))
    }

    fn Graph_map(comm: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, newrank: *mut c_int) on Comm(comm) {
        let (index, edges) = graph(nnodes, index, edges)?;
        give(newrank, with(|engine| engine.communicators.graph_map(Handle(comm), index, edges))?)
    }

    fn Graphdims_get(comm: Comm, nnodes: *mut c_int, nedges: *mut c_int) on Comm(comm) {
        let (nodes, edges) = with(|engine| {
            let graph = engine.communicators.graph(Handle(comm))?;
            Ok((graph.nodes() as c_int, graph.edges().len() as c_int))
        })?;
        give(nnodes, nodes)?;
        give(nedges, edges)
    }

    fn Graph_get(comm: Comm, maxindex: c_int, maxedges: c_int, index: *mut c_int, edges: *mut c_int) on Comm(comm) {
        with(|engine| {
            let graph = engine.communicators.graph(Handle(comm))?;
            give_list(index, maxindex, graph.index().iter().copied())?;
            give_list(edges, maxedges, graph.edges().iter().copied())
        })
    }

    fn Graph_neighbors_count(comm: Comm, rank: c_int, nneighbors: *mut c_int) on Comm(comm) {
        give(nneighbors, with(|engine| Ok(engine.communicators.graph(Handle(comm))?.neighbours(rank)?.len()))? as c_int)
    }

    fn Graph_neighbors(comm: Comm, rank: c_int, maxneighbors: c_int, neighbors: *mut c_int) on Comm(comm) {
        with(|engine| {
            give_list(neighbors, maxneighbors, engine.communicators.graph(Handle(comm))?.neighbours(rank)?.iter().copied())
        })
    }

    fn Dist_graph_create_adjacent(
        comm_old: Comm, indegree: c_int, sources: *const c_int, sourceweights: *const c_int, outdegree: c_int,
        destinations: *const c_int, destweights: *const c_int, info: Info, _reorder: c_int, comm_dist_graph: *mut Comm,
    ) on Comm(comm_old) {
        hints(Handle(info))?;
        let (weights_in, weights_out) = (weights(sourceweights, indegree)?, weights(destweights, outdegree)?);
        let weights = match (weights_in, weights_out) {
            (None, None) => None,
            (Some(from), Some(to)) => Some((from.to_vec(), to.to_vec())),
            _ => return Err(Error::ARG),
        };
        let own = DistributedGraph {
            sources: array(sources, indegree)?.to_vec(),
            destinations: array(destinations, outdegree)?.to_vec(),
            weights,
        };
        give(comm_dist_graph, with(|engine| engine.dist_graph_create_adjacent(Handle(comm_old), own))?.0)
    }

    fn Dist_graph_create(
        comm_old: Comm, n: c_int, sources: *const c_int, degrees: *const c_int, destinations: *const c_int,
        weights: *const c_int, info: Info, _reorder: c_int, comm_dist_graph: *mut Comm,
    ) on Comm(comm_old) {
        hints(Handle(info))?;
        let (sources, degrees) = (array(sources, n)?, array(degrees, n)?);
        if degrees.iter().any(|degree| *degree < 0) {
            return Err(Error::ARG);
        }
        let count = degrees.iter().try_fold(0, |sum: c_int, degree| sum.checked_add(*degree)).ok_or(Error::ARG)?;
        let destinations = array(destinations, count)?;
        let weights = super::weights(weights, count)?;
        let from = sources.iter().zip(degrees).flat_map(|(source, degree)| (0..*degree).map(|_| *source));
        let edges: Vec<_> = from
            .zip(destinations)
            .enumerate()
            .map(|(index, (from, to))| [from, *to, weights.map_or(0, |weights| weights[index])])
            .collect();
        let made = with(|engine| engine.dist_graph_create(Handle(comm_old), &edges, weights.is_some()))?;
        give(comm_dist_graph, made.0)
    }

    fn Dist_graph_neighbors_count(comm: Comm, indegree: *mut c_int, outdegree: *mut c_int, weighted: *mut c_int) on Comm(comm) {
        let (from, to, weights) = with(|engine| {
            let own = engine.communicators.distributed_graph(Handle(comm))?;
            Ok((own.sources.len(), own.destinations.len(), own.weights.is_some()))
        })?;
        give(indegree, from as c_int)?;
        give(outdegree, to as c_int)?;
        give(weighted, weights as c_int)
    }

    fn Dist_graph_neighbors(
        comm: Comm, maxindegree: c_int, sources: *mut c_int, sourceweights: *mut c_int, maxoutdegree: c_int,
        destinations: *mut c_int, destweights: *mut c_int,
    ) on Comm(comm) {
        let own = with(|engine| match engine.communicators.topology(Handle(comm))? {
            Topology::Distributed(own) => Ok(own.clone()),
            _ => Err(Error::TOPOLOGY),
        })?;
        give_list(sources, maxindegree, own.sources)?;
        give_list(destinations, maxoutdegree, own.destinations)?;
        if let Some((from, to)) = own.weights {
            if sourceweights.addr() != UNWEIGHTED {
                give_list(sourceweights, maxindegree, from)?;
            }
            if destweights.addr() != UNWEIGHTED {
                give_list(destweights, maxoutdegree, to)?;
            }
        }
        Ok(())
    }
}

/// The arrays of a graph. Errors: `ARG` for a negative count or a null pointer.
///
/// # Safety
/// `index` must be null or readable for `nodes` numbers, `edges` null or readable for as many as the last of
/// them says, as long as `'a`.
unsafe fn graph<'a>(
    nodes: c_int,
    index: *const c_int,
    edges: *const c_int,
) -> Result<(&'a [c_int], &'a [c_int])> {
    // SAFETY: `index` is null or readable for `nodes` numbers, `edges` for as many as the last says (this
    // function's contract).
    unsafe {
        let index = array(index, nodes).map_err(|_| Error::ARG)?;
        let edges = array(edges, index.last().copied().unwrap_or(0)).map_err(|_| Error::ARG)?;
        Ok((index, edges))
    }
}
