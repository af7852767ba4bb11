//! Grids and graphs, and collectives between neighbours.

use super::collectives::forms;
use crate::ring;
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{Buffer, BufferMut, Communicator, Error, PROC_NULL, Result, dims_create};

pub fn run(world: Communicator) -> Result<()> {
    grids(world)?;
    graphs(world)?;
    assert_eq!(world.neighbours().err(), Some(Error::TOPOLOGY));
    assert_eq!(world.neighbour_allgather(&[0u8], &mut [0u8; 2]).err(), Some(Error::TOPOLOGY));
    Ok(())
}

fn grids(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let mut dims = [0, 0];
    dims_create(size, &mut dims)?;
    assert_eq!(dims[0] * dims[1], size);
    let grid = world.grid(&dims, &[true, false])?.expect("as many ranks as places");
    assert_eq!((grid.dimensions()?.dims(), grid.dimensions()?.periods()), (&dims[..], &[true, false][..]));
    let place = grid.coordinates(rank)?;
    assert_eq!(grid.rank_at(&place)?, rank);
    assert_eq!(
        (grid.rank_at(&[0]).err(), grid.rank_at(&[0, -1]).err()),
        (Some(Error::ARG), Some(Error::ARG))
    );
    assert_eq!(grid.coordinates(size).err(), Some(Error::RANK));
    let (from, to) = grid.shift(0, 1)?;
    let mut got = [0i32];
    grid.sendrecv((&[rank], to, 1), (&mut got, from, 1))?;
    assert_eq!(got, [from]);
    let (left, right) = grid.shift(1, 1)?;
    assert_eq!((left == PROC_NULL, right == PROC_NULL), (place[1] == 0, place[1] == dims[1] - 1));
    let row = grid.part_of_grid(&[false, true])?;
    assert_eq!((row.size()? as i32, row.rank()? as i32), (dims[1], place[1]));
    row.free()?;
    grid.free()?;
    let some = world.grid(&[1], &[false])?;
    assert_eq!(some.is_some(), rank == 0);
    some.map_or(Ok(()), Communicator::free)?;
    assert_eq!(world.grid(&[size + 1], &[false]).err(), Some(Error::DIMS));
    assert_eq!(world.grid(&[1], &[]).err(), Some(Error::DIMS));
    // A ring: both neighbours.
    let (_, _, next, previous) = ring(world)?;
    let circle = world.grid(&[size], &[true])?.expect("all ranks");
    assert_eq!(circle.neighbours()?, (vec![previous, next], vec![previous, next]));
    neighbours(circle, rank, &[previous, next])?;
    assert_eq!(circle.neighbour_alltoall(&[rank; 2], &mut [0i32; 3]).err(), Some(Error::COUNT));
    circle.free()
}

/// Every neighbourhood collective on a communicator of which each rank receives from those to whom it sends.
fn neighbours(world: Communicator, rank: i32, around: &[i32]) -> Result<()> {
    let number = around.len();
    forms!(world, neighbour_allgather ineighbour_allgather neighbour_allgather_init, [rank], vec![-1; number], (),
        |got: &[i32], form| assert_eq!(got, around, "{form}"));
    let (counts, places): (Vec<usize>, Vec<usize>) = (0..number).map(|it| (1, 2 * it)).unzip();
    let spread: Vec<i32> = around.iter().flat_map(|it| [*it, -1]).collect();
    forms!(world, neighbour_allgather_varying ineighbour_allgather_varying neighbour_allgather_varying_init,
        [rank], vec![-1; 2 * number], (&counts, &places), |got: &[i32], form| assert_eq!(got, spread, "{form}"));
    forms!(world, neighbour_alltoall ineighbour_alltoall neighbour_alltoall_init, vec![rank; number], vec![-1; number], (),
        |got: &[i32], form| assert_eq!(got, around, "{form}"));
    forms!(world, neighbour_alltoall_varying ineighbour_alltoall_varying neighbour_alltoall_varying_init,
        vec![rank; 2 * number], vec![-1; 2 * number], ((&counts, &places), (&counts, &places)),
        |got: &[i32], form| assert_eq!(got, spread, "{form}"));
    let (own, mut got) = ([rank], vec![[-1i32]; number]);
    let sends: Vec<&dyn Buffer> = around.iter().map(|_| &own as &dyn Buffer).collect();
    let mut receives: Vec<&mut dyn BufferMut> = got.iter_mut().map(|it| it as &mut dyn BufferMut).collect();
    world.neighbour_alltoall_each(&sends, &mut receives)?;
    assert!(got.iter().zip(around).all(|(got, from)| got[0] == *from));
    assert_eq!(world.neighbour_alltoall_each(&[], &mut []).err(), Some(Error::ARG));
    Ok(())
}

fn graphs(world: Communicator) -> Result<()> {
    let (rank, size, next, previous) = ring(world)?;
    // A ring of edges one way, named by the ranks for themselves, and all by rank 0.
    let own = world.adjacent_graph(&[previous], &[next])?;
    let edges: Vec<(i32, i32)> = (0..size).map(|from| (from, (from + 1) % size)).collect();
    let all = world.distributed_graph(if rank == 0 { &edges } else { &[] })?;
    for graph in [own, all] {
        assert_eq!(graph.neighbours()?, (vec![previous], vec![next]));
        let mut got = [-1];
        graph.neighbour_allgather(&[rank], &mut got)?;
        assert_eq!(got, [previous]);
        graph.free()?;
    }
    assert_eq!(world.adjacent_graph(&[size], &[]).err(), Some(Error::RANK));
    // The same graph in all ranks: everybody beside rank 0, which is beside all.
    let index: Vec<i32> = (0..size).map(|rank| size - 1 + rank).collect();
    let ends: Vec<i32> = (1..size).chain((1..size).map(|_| 0)).collect();
    let star = world.graph(&index, &ends)?.expect("all ranks");
    let around: Vec<i32> = if rank == 0 { (1..size).collect() } else { vec![0] };
    assert_eq!(star.neighbours()?.0, around);
    if size > 1 {
        neighbours(star, rank, &around)?;
    }
    assert_eq!(star.shift(0, 1).err(), Some(Error::TOPOLOGY));
    assert_eq!(world.graph(&[2], &[0]).err(), Some(Error::ARG));
    star.free()
}
