//! Collectives and communicators against their definitions, on any number of ranks
//!
//! A failed check is a panic, which ends the job; a hang is ended by the job's time limit.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "../mpi/mismatches.rs"]
mod mismatches;
#[path = "../mpi/neighbours.rs"]
mod neighbours;
#[path = "../mpi/parts.rs"]
mod parts;
#[path = "../mpi/sequences.rs"]
mod sequences;

use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, ANY_TAG, Communicator, Mpi, Operation};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::error::Error;
use lwk_user::heap::GROWTH_BYTES;
use lwk_user::{Env, job, println};

/// Elements: around the limits of pairs, lines, blocks and shares.
const COUNTS: [usize; 12] = [0, 1, 2, 3, 7, 8, 9, 100, 511, 513, 5000, 100_003];

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32> {
    let part = env.args().nth(1).unwrap_or("");
    {
        let mpi = Mpi::init()?;
        let world = mpi.world();
        match part {
            "reductions" => reductions(world)?,
            "broadcast" => broadcast(world)?,
            "parts" => parts::run(world)?,
            "split" => split(world)?,
            "neighbours" => neighbours::run(world)?,
            "many" => many(world)?,
            "mismatches" => mismatches::run(world)?,
            "sequences" => sequences::run(world, env.args().nth(2).and_then(|seed| seed.parse().ok()))?,
            _ => return Ok(2),
        }
    }
    if job().rank().0 == 0 {
        println!("{part}: passed on {} ranks", job().size());
    }
    Ok(0)
}

fn value(rank: u32, index: usize) -> i64 {
    (rank as i64 + 3) * (index as i64 % 17 - 8)
}

/// Sums, products, minima of every length, to all and to every root; several in a row, so that areas are used again at once.
fn reductions(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    for count in COUNTS {
        let send: Vec<i64> = (0..count).map(|index| value(rank, index)).collect();
        let mut receive = vec![0i64; count];
        for operation in [Operation::Sum, Operation::Product, Operation::Min] {
            let expected: Vec<i64> = (0..count)
                .map(|index| {
                    let values = (0..size).map(|rank| value(rank, index));
                    match operation {
                        Operation::Sum => values.sum(),
                        Operation::Product => values.fold(1, i64::wrapping_mul),
                        _ => values.min().unwrap_or(0),
                    }
                })
                .collect();
            for _ in 0..5 {
                receive.fill(-1);
                world.allreduce(&send, &mut receive, operation)?;
                assert!(receive == expected, "allreduce of {count}");
            }
            for root in 0..size {
                receive.fill(-1);
                world.reduce(&send, &mut receive, operation, root as i32)?;
                assert!(rank != root || receive == expected, "reduce of {count} to {root}");
                assert!(rank == root || receive.iter().all(|value| *value == -1), "written beside the root");
            }
        }
    }
    Ok(())
}

fn broadcast(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    for count in COUNTS {
        for root in 0..size {
            let mut buffer: Vec<i64> = (0..count).map(|index| value(rank, index)).collect();
            world.broadcast(&mut buffer, root as i32)?;
            assert!(
                buffer.iter().enumerate().all(|(index, it)| *it == value(root, index)),
                "{count} from {root}"
            );
        }
    }
    Ok(())
}

/// Halves in reverse order: ranks, collectives and messages are the halves' own.
fn split(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    assert_eq!(world.free(), Err(Error::COMM));
    let Some(half) = world.split(Some(rank % 2), -(rank as i32))? else { panic!("no communicator") };
    let members: Vec<u32> = (0..size).rev().filter(|member| member % 2 == rank % 2).collect();
    assert_eq!(half.size()?, members.len() as u32);
    assert_eq!(members[half.rank()? as usize], rank);
    let mut sum = [0u32];
    half.allreduce(&[rank], &mut sum, Operation::Sum)?;
    assert_eq!(sum[0], members.iter().sum());
    let mut root = [rank];
    half.broadcast(&mut root, 0)?;
    assert_eq!(root[0], members[0]);
    // The same tag in two communicators: the wildcard receive of one does not see the other's message.
    let twin = half.duplicate()?;
    let (next, previous) =
        ((half.rank()? + 1) % half.size()?, (half.rank()? + half.size()? - 1) % half.size()?);
    let (first, second) = ([1u32, rank], [2u32, rank]);
    half.scope(|s| {
        s.isend(&first, next as i32, 5)?;
        s.on(&twin).isend(&second, next as i32, 5)?;
        let mut got = [0u32; 2];
        let status = twin.receive(&mut got, ANY_SOURCE, ANY_TAG)?;
        assert_eq!((status.source, got), (previous as i32, [2, members[previous as usize]]));
        half.receive(&mut got, ANY_SOURCE, ANY_TAG)?;
        assert_eq!(got, [1, members[previous as usize]]);
        Ok(())
    })?;
    twin.free()?;
    assert_eq!(twin.barrier(), Err(Error::COMM));
    half.free()?;
    // One rank without a color.
    let rest = world.split((rank != 0).then_some(7), 0)?;
    assert_eq!(rest.is_none(), rank == 0);
    rest.map_or(Ok(()), |rest| rest.barrier().and_then(|()| rest.free()))
}

/// Thousands of communicators, made and freed: contexts and memory are used again. Fewer where ranks take turns on the cores.
fn many(world: Communicator) -> Result<()> {
    let rank = world.rank()?;
    let mut top = 0;
    for round in 0..6000 / world.size()?.max(2) {
        let Some(part) = world.split(Some((rank + round) % 2), 0)? else { panic!("no communicator") };
        let copy = part.duplicate()?;
        let mut sum = [0u32];
        copy.allreduce(&[1u32], &mut sum, Operation::Sum)?;
        assert_eq!(sum[0], part.size()?);
        part.free()?;
        copy.barrier()?;
        copy.free()?;
        if round == 100 {
            top = heap_top();
        }
    }
    // A rank that lags behind may keep one more for a while than ever before, for which the heap may have to grow once.
    assert!(heap_top() <= top + GROWTH_BYTES as u64, "communicators that were freed still take memory");
    Ok(())
}

/// End of the heap.
fn heap_top() -> u64 {
    // SAFETY: 0 only asks.
    unsafe { lwk_user::syscall::brk(0) }
}
