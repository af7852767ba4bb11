//! Every way to synchronise: fences, post and start in rings and stars, locks that exclude, locks of all, flushes that order.

use super::calls::{Win, engine};
use alloc::vec::Vec;
use lwk_mpi::{Communicator, Operation};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::abi::{PROC_NULL, mode, op};
use lwk_mpi_window::LockKind;
use lwk_user::Rank;
use lwk_user::wait::Poll;

const ROUNDS: u64 = 300;

pub fn run(world: Communicator) -> Result<()> {
    let size = world.size()? as usize;
    let window = Win::allocate(8 * (size + 4), 8)?;
    fences(world, window)?;
    ring(world, window)?;
    star(world, window)?;
    exclusive_locks(world, window)?;
    locks_of_all_beside_single_ones(world, window)?;
    locks_of_several(world, window)?;
    flushes(world, window)?;
    polling(world, window)?;
    nobody(window)?;
    window.free()
}

/// Alternating puts and gets around the ring; the target's own stores count as well.
fn fences(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    window.fence(mode::NOPRECEDE)?;
    for round in 0..ROUNDS {
        window.put(&[round * 100 + rank as u64], next, 0)?;
        window.fence(mode::NOPUT)?;
        assert_eq!(window.load::<u64>(0), round * 100 + previous as u64);
        window.store(1, round * 7 + rank as u64);
        window.fence(0)?;
        assert_eq!(window.get::<u64>(1, next, 1)?, [round * 7 + next as u64]);
        window.fence(0)?;
    }
    window.fence(mode::NOSUCCEED)
}

/// Each rank exposes itself to the previous and accesses the next.
fn ring(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    for round in 0..ROUNDS {
        window.store(0, u64::MAX);
        engine(|engine| engine.win_post(&[Rank(previous)], 0, window.handle))?;
        engine(|engine| engine.win_start(&[Rank(next)], 0, window.handle))?;
        window.put(&[round * 100 + rank as u64], next, 0)?;
        engine(|engine| engine.win_complete(window.handle))?;
        if round % 2 == 0 {
            engine(|engine| engine.win_wait(window.handle))?;
        } else {
            while !engine(|engine| engine.win_test(window.handle))? {}
        }
        assert_eq!(window.load::<u64>(0), round * 100 + previous as u64);
    }
    Ok(())
}

/// One target for all others, each round another; with the assertion that posts have been made, after a barrier that makes it true.
fn star(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    for round in 0..ROUNDS {
        let target = (round % size as u64) as u32;
        let checked = round % 3 == 0;
        let assertion = if checked { mode::NOCHECK } else { 0 };
        if rank == target {
            let origins: Vec<Rank> = (0..size).filter(|origin| *origin != target).map(Rank).collect();
            engine(|engine| engine.win_post(&origins, assertion, window.handle))?;
        }
        if checked {
            world.barrier()?;
        }
        if rank == target {
            engine(|engine| engine.win_wait(window.handle))?;
            let values = (0..size).filter(|origin| *origin != target);
            for origin in values {
                assert_eq!(window.load::<u64>(origin as usize), round * 31 + origin as u64);
            }
        } else {
            engine(|engine| engine.win_start(&[Rank(target)], assertion, window.handle))?;
            window.put(&[round * 31 + rank as u64], target, rank as i64)?;
            engine(|engine| engine.win_complete(window.handle))?;
        }
    }
    world.barrier()
}

/// A counter that is read and written apart: exclusion is what keeps it right. Sharers see it stand still.
fn exclusive_locks(world: Communicator, window: Win) -> Result<()> {
    let size = world.size()?;
    window.store(0, 0u64);
    window.store(1, 0u64);
    world.barrier()?;
    for round in 0..ROUNDS {
        let target = (round % size as u64) as u32;
        window.lock(LockKind::Exclusive, target)?;
        let seen = window.get::<u64>(2, target, 0)?;
        window.put(&[seen[0] + 1], target, 0)?;
        window.put(&[seen[1] + 1], target, 1)?;
        window.unlock(target)?;
        window.lock(LockKind::Shared, target)?;
        let seen = window.get::<u64>(2, target, 0)?;
        assert_eq!(seen[0], seen[1], "a sharer saw an excluder at work");
        window.unlock(target)?;
    }
    world.barrier()?;
    let mut total = [0u64];
    world.allreduce(&[window.load::<u64>(0)], &mut total, Operation::Sum)?;
    assert_eq!(total[0], ROUNDS * size as u64);
    world.barrier()
}

/// Some lock all, others one after the other in any order, and exclude.
fn locks_of_all_beside_single_ones(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    window.store(0, 0u64);
    world.barrier()?;
    for round in 0..ROUNDS {
        if (round + rank as u64).is_multiple_of(2) {
            window.lock_all()?;
            for target in 0..size {
                window.accumulate(&[1u64], target, 0, op::SUM)?;
            }
            window.unlock_all()?;
        } else {
            for target in 0..size {
                window.lock(LockKind::Exclusive, target)?;
                let seen = window.get::<u64>(1, target, 0)?;
                window.put(&[seen[0] + 1], target, 0)?;
                window.unlock(target)?;
            }
        }
    }
    world.barrier()?;
    assert_eq!(window.load::<u64>(0), ROUNDS * size as u64);
    world.barrier()
}

/// Two locks at a time, downwards, while others lock all: nobody may hold what it has while it waits for what it wants to have as well.
fn locks_of_several(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    if size < 2 {
        return Ok(());
    }
    for _ in 0..ROUNDS {
        if rank == 0 {
            window.lock(LockKind::Exclusive, size - 1)?;
            window.lock(LockKind::Exclusive, 0)?;
            window.unlock(size - 1)?;
            window.unlock(0)?;
        } else {
            window.lock_all()?;
            window.unlock_all()?;
        }
    }
    world.barrier()
}

/// Of two ranks that put and then get what the other puts, at least one sees it: a flush is in between.
fn flushes(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let partner = rank ^ 1;
    window.store(4, 0u64);
    let mut neither = 0u64;
    for round in 1..=6 * ROUNDS {
        world.barrier()?;
        if partner >= size {
            continue;
        }
        window.lock_all()?;
        // Each in the other's memory, so that both store far away and load what is near.
        window.put(&[round], partner, 2)?;
        window.flush(partner)?;
        let seen = window.get::<u64>(1, rank, 2)?[0] == round;
        window.unlock_all()?;
        window.lock_all()?;
        window.put(&[seen as u64], partner, 3)?;
        window.unlock_all()?;
        world_pair_barrier(window, partner, round)?;
        let theirs = window.load::<u64>(3) == 1;
        neither += (!seen && !theirs) as u64;
    }
    assert_eq!(neither, 0, "a get overtook the put before the flush");
    world.barrier()
}

/// Two ranks meet through the window.
fn world_pair_barrier(window: Win, partner: u32, round: u64) -> Result<()> {
    window.lock_all()?;
    window.accumulate(&[round], partner, 4, op::REPLACE)?;
    // The partner may need this very core, or its turn on the host's.
    let mut poll = Poll::new();
    while window.fetch_and_op(0u64, me(window)?, 4, op::NO_OP)? < round {
        window.flush(partner)?;
        poll.pause();
    }
    window.unlock_all()
}

fn me(window: Win) -> Result<u32> {
    let members = engine(|engine| engine.win_members(window.handle).map(<[Rank]>::to_vec))?;
    let mine = lwk_user::job().rank();
    Ok(members.iter().position(|member| *member == mine).unwrap_or(0) as u32)
}

/// A rank that only looks at its memory between flushes still takes part in messages.
fn polling(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    window.store(0, 0u64);
    world.barrier()?;
    window.lock_all()?;
    if rank == 0 {
        let mut buffers: Vec<[u64; 1]> = (1..size).map(|_| [0]).collect();
        world.scope(|s| {
            buffers
                .iter_mut()
                .zip(1..)
                .try_for_each(|(buffer, source)| s.irecv(buffer, source, 3).map(drop))?;
            // The others count up only after their synchronous sends have been received.
            while window.get::<u64>(1, 0, 0)?[0] < size as u64 - 1 {
                window.flush(0)?;
            }
            Ok(())
        })?;
    } else {
        world.send_as(lwk_mpi_rt::request::Mode::Synchronous, &[rank as u64], 0, 3)?;
        window.accumulate(&[1u64], 0, 0, op::SUM)?;
    }
    window.unlock_all()?;
    world.barrier()
}

/// The null process takes everything, and nothing happens.
fn nobody(window: Win) -> Result<()> {
    let nowhere = PROC_NULL as u32;
    window.lock(LockKind::Shared, nowhere)?;
    window.put(&[1u64], nowhere, 0)?;
    assert_eq!(window.get::<u64>(1, nowhere, 0)?, [0]);
    window.accumulate(&[1u64], nowhere, 0, op::SUM)?;
    assert_eq!(window.fetch_and_op(1u64, nowhere, 0, op::SUM)?, 0);
    window.flush(nowhere)?;
    window.unlock(nowhere)
}
