//! Accumulates: what they compute, and that no update of many origins is lost, whatever the type.

use super::calls::{Win, buffer, engine, place};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::AddAssign;
use lwk_mpi::{Communicator, Element};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::abi::{datatype, op};
use lwk_mpi_rt::error::Error;
use lwk_mpi_window::{Buffer, LockKind, TargetBuffer};

const ROUNDS: usize = 400;

pub fn run(world: Communicator) -> Result<()> {
    values(world)?;
    counters::<u8>(world, 1)?;
    counters::<i16>(world, 1)?;
    counters::<u32>(world, 1)?;
    counters::<i64>(world, 1)?;
    counters::<f32>(world, 1.0)?;
    counters::<f64>(world, 1.0)?;
    maxima(world)?;
    pairs_and_complex(world)?;
    tickets(world)?;
    lock_of_compare_and_swap(world)?;
    unaligned(world)?;
    exclusive(world)
}

/// Each operation on integers and on reals against its definition, on this rank's own part of the window.
fn values(world: Communicator) -> Result<()> {
    let rank = world.rank()?;
    let window = Win::allocate(64, 1)?;
    window.lock_all()?;
    let check = |operation: u64, before: i32, with: i32, after: i32| -> Result<()> {
        window.store(0, before);
        assert_eq!(window.get_accumulate(&[with], rank, 0, operation)?, [before]);
        assert_eq!(window.load::<i32>(0), after, "operation {operation:#x}");
        window.store(0, before);
        if operation != op::NO_OP {
            window.accumulate(&[with], rank, 0, operation)?;
            assert_eq!(window.load::<i32>(0), after, "operation {operation:#x}");
        }
        window.store(0, before);
        assert_eq!(window.fetch_and_op(with, rank, 0, operation)?, before);
        assert_eq!(window.load::<i32>(0), after, "operation {operation:#x}");
        Ok(())
    };
    check(op::SUM, i32::MAX, 2, i32::MIN + 1)?;
    check(op::PROD, -6, 7, -42)?;
    check(op::MIN, -6, 7, -6)?;
    check(op::MAX, -6, 7, 7)?;
    check(op::BAND, 12, 10, 8)?;
    check(op::BOR, 12, 10, 14)?;
    check(op::BXOR, 12, 10, 6)?;
    check(op::LAND, 12, 0, 0)?;
    check(op::LOR, 0, 10, 1)?;
    check(op::LXOR, 12, 10, 0)?;
    check(op::REPLACE, 12, 10, 10)?;
    check(op::NO_OP, 12, 10, 12)?;
    window.store(1, 2.5f64);
    window.accumulate(&[-4.0f64], rank, 8, op::PROD)?;
    assert_eq!(window.fetch_and_op(0.5f64, rank, 8, op::MAX)?, -10.0);
    assert_eq!(window.load::<f64>(1), 0.5);
    // Bytes beside an element stay.
    window.store(8, 0xffu8);
    window.store(9, 1u8);
    window.store(10, 0xffu8);
    window.accumulate(&[3u8], rank, 9, op::SUM)?;
    assert_eq!((8..11).map(|index| window.load::<u8>(index)).collect::<Vec<u8>>(), [0xff, 4, 0xff]);
    // Operations that mean nothing, or nothing here.
    assert_eq!(window.accumulate(&[1i32], rank, 0, op::NO_OP), Err(Error::OP));
    assert_eq!(window.accumulate(&[1i32], rank, 0, op::MINLOC), Err(Error::OP));
    assert_eq!(window.accumulate(&[1f64], rank, 0, op::BAND), Err(Error::OP));
    assert_eq!(window.accumulate(&[1i32], rank, 0, op::NULL), Err(Error::OP));
    assert_eq!(window.accumulate(&[1i32], rank, 0, 0x5000), Err(Error::OP));
    assert_eq!(window.compare_and_swap(1f64, 2.0, rank, 0), Err(Error::TYPE));
    window.unlock_all()?;
    window.free()
}

/// All ranks add to elements of all ranks, in runs of several.
fn counters<T: Element + Default + PartialEq + Debug + AddAssign>(world: Communicator, one: T) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let width = 3;
    let rounds = if size_of::<T>() == 1 { 30 } else { ROUNDS };
    let window = Win::allocate(64, size_of::<T>() as i64)?;
    window.fence(0)?;
    for round in 0..rounds {
        let target = (rank + round as u32) % size;
        window.accumulate(&vec![one; width], target, 1, op::SUM)?;
    }
    window.fence(0)?;
    let mut expected = T::default();
    for origin in 0..size {
        for round in 0..rounds {
            if (origin + round as u32) % size == rank {
                expected += one;
            }
        }
    }
    for index in 0..width {
        assert_eq!(window.load::<T>(1 + index), expected);
    }
    assert_eq!((window.load::<T>(0), window.load::<T>(1 + width)), (T::default(), T::default()));
    window.free()
}

/// Maxima of reals, which go through a loop of compare and exchange.
fn maxima(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let window = Win::allocate(8, 8)?;
    window.lock_all()?;
    for round in 0..ROUNDS {
        let value = ((round * 7919 + rank as usize * 104_729) % 99_991) as f64;
        for target in 0..size {
            window.accumulate(&[value], target, 0, op::MAX)?;
        }
    }
    window.unlock_all()?;
    window.fence(0)?;
    let all = (0..size as usize)
        .flat_map(|rank| (0..ROUNDS).map(move |round| (round * 7919 + rank * 104_729) % 99_991));
    assert_eq!(Some(window.load::<f64>(0)), all.max().map(|value| value as f64));
    window.free()
}

/// Elements that no instruction updates: sums of complex numbers, and the lowest of pairs with its place.
fn pairs_and_complex(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let window = Win::allocate(64, 1)?;
    // A double and an int, with four bytes of nothing behind.
    window.store(2, f64::MAX);
    window.store(6, i32::MAX);
    window.fence(0)?;
    for round in 0..ROUNDS {
        let target = (rank as usize + round) as u32 % size;
        let number = [1.0f64, -2.0];
        let origin = Buffer {
            address: number.as_ptr().cast_mut().cast(),
            count: 1,
            datatype: datatype::C_DOUBLE_COMPLEX,
        };
        let place =
            TargetBuffer { rank: target as i32, displacement: 0, count: 1, datatype: origin.datatype };
        // SAFETY: a variable of this iteration.
        engine(|engine| unsafe { engine.accumulate(&origin, &place, op::SUM, window.handle) })?;
        let mut pair = [0u64; 2];
        pair[0] = ((ROUNDS - round) as f64).to_bits();
        pair[1] = rank as u64;
        let origin = Buffer { address: pair.as_mut_ptr().cast(), count: 1, datatype: datatype::DOUBLE_INT };
        let place =
            TargetBuffer { rank: target as i32, displacement: 16, count: 1, datatype: origin.datatype };
        // SAFETY: as above.
        engine(|engine| unsafe { engine.accumulate(&origin, &place, op::MINLOC, window.handle) })?;
    }
    window.fence(0)?;
    let updates: Vec<(usize, usize)> = (0..size as usize)
        .flat_map(|origin| (0..ROUNDS).map(move |round| (origin, round)))
        .filter(|(origin, round)| (origin + round) % size as usize == rank as usize)
        .collect();
    let count = updates.len() as f64;
    assert_eq!((window.load::<f64>(0), window.load::<f64>(1)), (count, -2.0 * count));
    let lowest = updates.iter().map(|(origin, round)| (ROUNDS - round, *origin)).min();
    let found = (window.load::<f64>(2) as usize, window.load::<i32>(6) as usize);
    assert_eq!(Some(found), lowest);
    window.free()
}

/// Every number is drawn once.
fn tickets(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let window = Win::allocate(8 * (1 + ROUNDS * size as usize), 8)?;
    window.lock_all()?;
    for _ in 0..ROUNDS {
        let ticket = window.fetch_and_op(1u64, 0, 0, op::SUM)?;
        // The winner notes itself; a second winner would find the note.
        let before = window.compare_and_swap(rank as u64 + 1, 0u64, 0, 1 + ticket as i64)?;
        assert_eq!(before, 0, "ticket {ticket} was drawn twice");
    }
    window.unlock_all()?;
    window.fence(0)?;
    if rank == 0 {
        assert_eq!(window.load::<u64>(0), ROUNDS as u64 * size as u64);
    }
    window.free()
}

/// A lock made of compare-and-swap, around a counter that is read and written apart.
fn lock_of_compare_and_swap(world: Communicator) -> Result<()> {
    let size = world.size()?;
    let rounds = 100u32;
    let window = Win::allocate(16, 4)?;
    window.lock_all()?;
    for _ in 0..rounds {
        while window.compare_and_swap(1u32, 0, 0, 0)? != 0 {
            window.flush(0)?;
        }
        let seen = window.get::<u32>(1, 0, 2)?;
        window.put(&[seen[0] + 1], 0, 2)?;
        window.flush(0)?;
        assert_eq!(window.fetch_and_op(0u32, 0, 0, op::REPLACE)?, 1);
    }
    window.unlock_all()?;
    window.fence(0)?;
    if world.rank()? == 0 {
        assert_eq!(window.load::<u32>(2), rounds * size);
    }
    window.free()
}

/// Elements at odd addresses, of which some cross a cache line.
fn unaligned(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let window = Win::allocate(256, 1)?;
    window.lock_all()?;
    for round in 0..ROUNDS {
        let target = (rank as usize + round) as u32 % size;
        window.accumulate(&[1u64; 9], target, 3, op::SUM)?;
        let seen = window.fetch_and_op(0u64, target, 3, op::NO_OP)?;
        assert!(seen >= 1 && seen <= ROUNDS as u64 * size as u64);
    }
    window.unlock_all()?;
    window.fence(0)?;
    let mine: Vec<u64> = window.get(9, rank, 3)?;
    window.fence(0)?;
    let count = (0..size as usize)
        .flat_map(|origin| (0..ROUNDS).map(move |round| (origin + round) % size as usize))
        .filter(|target| *target == rank as usize)
        .count();
    assert!(mine.iter().all(|value| *value == count as u64), "{mine:?}");
    window.free()
}

/// Under an exclusive lock, where nothing has to be atomic; many elements, and results.
fn exclusive(world: Communicator) -> Result<()> {
    let size = world.size()?;
    let window = Win::allocate(8 * 1000, 8)?;
    world.barrier()?;
    for target in 0..size {
        window.lock(LockKind::Exclusive, target)?;
        window.accumulate(&vec![1.5f64; 1000], target, 0, op::SUM)?;
        let seen = window.get_accumulate(&vec![0f64; 1000], target, 0, op::NO_OP)?;
        assert!(seen.iter().all(|value| *value == seen[0]) && seen[0] >= 1.5);
        let before = window.compare_and_swap(9u64, 0, target, 5)?;
        assert_eq!(f64::from_bits(before), seen[5]);
        window.unlock(target)?;
    }
    world.barrier()?;
    assert!((0..1000).all(|index| window.load::<f64>(index) == 1.5 * size as f64));
    // Lengths that differ between origin and target, and a result that is too short.
    let values = [1u32; 8];
    let short = [0u32; 4];
    window.lock_all()?;
    // SAFETY: variables of this function.
    engine(|engine| unsafe {
        let (from, into) = (buffer(&values), buffer(&short));
        let outcome = engine.accumulate(&from, &place::<u32>(0, 0, 4), op::SUM, window.handle);
        assert_eq!(outcome, Err(Error::TRUNCATE));
        let outcome = engine.get_accumulate(&from, &into, &place::<u32>(0, 0, 8), op::SUM, window.handle);
        assert_eq!(outcome, Err(Error::TRUNCATE));
        let outcome = engine.accumulate(&from, &place::<u64>(0, 0, 8), op::SUM, window.handle);
        assert_eq!(outcome, Err(Error::TYPE));
        Ok(())
    })?;
    window.unlock_all()?;
    window.free()
}
