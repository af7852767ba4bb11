//! Neighbourhood collectives on a grid and on a graph with double edges, in all forms; and calls that do not match, which are told.

use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::abi::{COMM_WORLD, datatype, op};
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts, Reducing};
use lwk_mpi_rt::communicators;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::topology::DistributedGraph;
use lwk_mpi_rt::{Handle, Result};

const WORLD: Handle = Handle(COMM_WORLD);

fn part(buffer: &mut [i32]) -> BufferArgument {
    BufferArgument {
        address: buffer.as_mut_ptr().cast(),
        count: buffer.len() as i64,
        datatype: datatype::INT32,
    }
}

fn parts<'a>(buffer: &mut [i32], division: Division<'a>) -> Parts<'a> {
    Parts { address: buffer.as_mut_ptr().cast(), division, datatype: datatype::INT32 }
}

/// Carries out a call in every form; `buffer` holds the result after each, and is made new before.
fn in_every_form(call: &Call, on: Handle, buffer: &mut [i32], expected: &[i32]) -> Result<()> {
    // SAFETY, of all below: the caller's buffers live until the requests are complete, which they are here.
    for form in 0..3 {
        buffer.fill(-9);
        match form {
            // SAFETY: above.
            0 => with(|engine| unsafe { engine.collective(call, on) })?,
            1 => {
                // SAFETY: above.
                let request = with(|engine| unsafe { engine.begin_collective(call, on) })?;
                with(|engine| engine.wait(request))?;
            }
            _ => {
                // SAFETY: above.
                let request = with(|engine| unsafe { engine.collective_init(call, on) })?;
                for _ in 0..2 {
                    with(|engine| engine.start(request))?;
                    with(|engine| engine.wait(request))?;
                }
                with(|engine| engine.free_request(request))?;
            }
        }
        assert_eq!(buffer, expected, "{call:?} in form {form}");
    }
    Ok(())
}

pub fn run(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()? as i32, world.size()? as i32);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    for each in [1usize, 700] {
        ring(rank, size, next, previous, each)?;
        line(rank, size, each)?;
        double_edges(rank, next, previous, each)?;
        star(rank, size, each)?;
    }
    assert_eq!(
        // SAFETY: refused before any buffer is touched.
        with(|engine| unsafe {
            let none = part(&mut []);
            engine.collective(
                &Call::NeighbourAllgather { send: none, receive: parts(&mut [], Division::Equal(0)) },
                WORLD,
            )
        }),
        Err(Error::TOPOLOGY)
    );
    mismatches(rank, size)
}

/// What `from` sends in direction `to` (0 down, 1 up).
fn item(from: i32, to: i32, index: usize) -> i32 {
    from * 100_000 + to * 10_000 + index as i32
}

fn sequence(from: i32, to: i32, each: usize) -> impl Iterator<Item = i32> {
    (0..each).map(move |index| item(from, to, index))
}

/// A closed grid of one dimension: what is sent down arrives from above, also where both neighbours are one rank, or this one.
fn ring(rank: i32, size: i32, next: i32, previous: i32, each: usize) -> Result<()> {
    let Some(grid) = with(|engine| engine.cart_create(WORLD, &[size], &[true]))? else { return Ok(()) };
    let mut send: Vec<i32> = sequence(rank, 0, each).chain(sequence(rank, 1, each)).collect();
    let mut receive = vec![0; 2 * each];
    let expected: Vec<i32> = sequence(previous, 1, each).chain(sequence(next, 0, each)).collect();
    let equal = Division::Equal(each as i64);
    let call = Call::NeighbourAlltoall { send: parts(&mut send, equal), receive: parts(&mut receive, equal) };
    in_every_form(&call, grid, &mut receive, &expected)?;
    // The parts in the other order, by counts and places, and with their own types.
    let counts = [each as i32; 2];
    let (places, bytes) = ([each as i32, 0], [4 * each as i64, 0]);
    let swapped = Division::Varying(Numbers::Int(&counts), Numbers::Int(&places));
    let types = [datatype::INT32; 2];
    let typed = Division::Typed(Numbers::Int(&counts), Numbers::Wide(&bytes), &types);
    let other: Vec<i32> = sequence(next, 0, each).chain(sequence(previous, 1, each)).collect();
    for division in [swapped, typed] {
        let call =
            Call::NeighbourAlltoall { send: parts(&mut send, equal), receive: parts(&mut receive, division) };
        in_every_form(&call, grid, &mut receive, &other)?;
    }
    let mut own: Vec<i32> = sequence(rank, 0, each).collect();
    let expected: Vec<i32> = sequence(previous, 0, each).chain(sequence(next, 0, each)).collect();
    let call = Call::NeighbourAllgather { send: part(&mut own), receive: parts(&mut receive, equal) };
    in_every_form(&call, grid, &mut receive, &expected)?;
    communicators::free(grid)
}

/// An open grid: beside its ends stand null processes, whose parts stay as they are.
fn line(rank: i32, size: i32, each: usize) -> Result<()> {
    let Some(grid) = with(|engine| engine.cart_create(WORLD, &[size], &[false]))? else { return Ok(()) };
    let mut send: Vec<i32> = sequence(rank, 0, each).chain(sequence(rank, 1, each)).collect();
    let mut receive = vec![0; 2 * each];
    let mut expected = vec![-9; 2 * each];
    if rank > 0 {
        expected[..each].copy_from_slice(&sequence(rank - 1, 1, each).collect::<Vec<_>>());
    }
    if rank + 1 < size {
        expected[each..].copy_from_slice(&sequence(rank + 1, 0, each).collect::<Vec<_>>());
    }
    let equal = Division::Equal(each as i64);
    let call = Call::NeighbourAlltoall { send: parts(&mut send, equal), receive: parts(&mut receive, equal) };
    in_every_form(&call, grid, &mut receive, &expected)?;
    communicators::free(grid)
}

/// Two edges from each rank to the next: the first sent is the first received.
fn double_edges(rank: i32, next: i32, previous: i32, each: usize) -> Result<()> {
    let graph = DistributedGraph {
        sources: vec![previous, previous],
        destinations: vec![next, next],
        ..DistributedGraph::none()
    };
    let graph = with(|engine| engine.dist_graph_create_adjacent(WORLD, graph))?;
    let mut send: Vec<i32> = sequence(rank, 0, each).chain(sequence(rank, 1, each)).collect();
    let mut receive = vec![0; 2 * each];
    let expected: Vec<i32> = sequence(previous, 0, each).chain(sequence(previous, 1, each)).collect();
    let equal = Division::Equal(each as i64);
    let call = Call::NeighbourAlltoall { send: parts(&mut send, equal), receive: parts(&mut receive, equal) };
    in_every_form(&call, graph, &mut receive, &expected)?;
    // The same for both destinations, which is this rank's only part.
    let mut own: Vec<i32> = sequence(rank, 0, each).collect();
    let expected: Vec<i32> = sequence(previous, 0, each).chain(sequence(previous, 0, each)).collect();
    let call = Call::NeighbourAllgather { send: part(&mut own), receive: parts(&mut receive, equal) };
    in_every_form(&call, graph, &mut receive, &expected)?;
    communicators::free(graph)
}

/// The first rank alone has destinations, which are all ranks, itself among them; each gets more than the one before, and what is long enough is fetched.
fn star(rank: i32, size: i32, each: usize) -> Result<()> {
    let destinations: Vec<i32> = if rank == 0 { (0..size).collect() } else { Vec::new() };
    let graph = DistributedGraph { sources: vec![0], destinations, ..DistributedGraph::none() };
    let graph = with(|engine| engine.dist_graph_create_adjacent(WORLD, graph))?;
    let part_of = |to: i32| (to as usize + 1) * each;
    let mut send: Vec<i32> =
        if rank == 0 { (0..size).flat_map(|to| sequence(0, to, part_of(to))).collect() } else { Vec::new() };
    let counts: Vec<i32> = (0..size).map(|to| part_of(to) as i32).collect();
    let places: Vec<i32> = (0..size).map(|to| (0..to).map(|before| part_of(before) as i32).sum()).collect();
    let mut receive = vec![0; part_of(rank)];
    let expected: Vec<i32> = sequence(0, rank, part_of(rank)).collect();
    let (mine, here) = ([part_of(rank) as i32], [0]);
    let call = Call::NeighbourAlltoall {
        send: parts(&mut send, Division::Varying(Numbers::Int(&counts), Numbers::Int(&places))),
        receive: parts(&mut receive, Division::Varying(Numbers::Int(&mine), Numbers::Int(&here))),
    };
    in_every_form(&call, graph, &mut receive, &expected)?;
    communicators::free(graph)
}

/// Calls that do not match are told where it is seen, and the communicator stays usable.
fn mismatches(rank: i32, size: i32) -> Result<()> {
    if size == 1 {
        return Ok(());
    }
    let (mut send, mut receive) = (vec![1i32; 1000], vec![0i32; 1000]);
    let mut outcome = |count: i64, root: Option<i32>| {
        let reducing = Reducing {
            send: send.as_ptr().cast(),
            receive: receive.as_mut_ptr().cast(),
            count,
            datatype: datatype::INT32,
            operation: op::SUM,
        };
        let call = match root {
            None => Call::Allreduce { reducing },
            Some(root) => Call::Reduce { reducing, root },
        };
        // SAFETY: the buffers hold 1000 items and live until this returns.
        with(|engine| unsafe { engine.collective(&call, WORLD) })
    };
    assert_eq!(outcome(if rank == 0 { 900 } else { 1000 }, None), Err(Error::COUNT));
    assert_eq!(outcome(1000, Some(if rank == 0 { 0 } else { 1 })), Err(Error::ROOT));
    assert_eq!(outcome(1000, if rank == 0 { None } else { Some(0) }), Err(Error::NOT_SAME));
    assert_eq!(outcome(1000, None), Ok(()));
    // The root has more than the others take.
    let buffer = BufferArgument { count: if rank == 0 { 1000 } else { 500 }, ..part(&mut send) };
    // SAFETY: as above.
    let told = with(|engine| unsafe {
        let request = engine.begin_collective(&Call::Broadcast { buffer, root: 0 }, WORLD)?;
        engine.wait(request)
    });
    assert_eq!(told.err(), (rank != 0).then_some(Error::TRUNCATE));
    let mut gathered = vec![0i32; size as usize * 500];
    let mut other_call = |count: usize, communicator| {
        let call = Call::Allgather {
            send: part(&mut send[..count]),
            receive: parts(&mut gathered, Division::Equal(count as i64)),
        };
        // SAFETY: as above.
        with(|engine| unsafe {
            let call = if rank == 0 { &call } else { &Call::Barrier };
            let request = engine.begin_collective(call, communicator)?;
            engine.wait(request)
        })
    };
    // What has posted its buffer is told by the posts of the others.
    assert_eq!(other_call(500, WORLD).err(), (rank == 0).then_some(Error::NOT_SAME));
    // What goes by lines looks what the others are in, and tells them.
    let spoilt = communicators::duplicate(WORLD)?;
    assert_eq!(other_call(10, spoilt).err(), Some(Error::NOT_SAME));
    Ok(())
}
