//! Windows of elements: every kind, every epoch as a guard, every access, and what is refused.

use crate::ring;
use alloc::vec;
use lwk_mpi::{Communicator, Error, LockKind, Operation, Result, Window};

pub fn run(world: Communicator) -> Result<()> {
    fences(world)?;
    exposures(world)?;
    locks(world)?;
    updates(world)?;
    shared(world)?;
    created(world)
}

fn fences(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let window = Window::<f64>::allocate(&world, 4)?;
    assert_eq!(
        (window.len(), window.is_empty(), window.load(3), window.load(4)),
        (4, false, Some(0.0), None)
    );
    assert_eq!(window.put(&[1.0], next, 0).err(), Some(Error::RMA_SYNC));
    window.fence()?;
    window.put(&[rank as f64, 2.5], next, 1)?;
    window.fence()?;
    assert_eq!((window.load(1), window.load(2)), (Some(previous as f64), Some(2.5)));
    {
        let _epoch = window.fenced()?;
        window.put(&[4.5], next, 3)?;
    }
    assert_eq!(window.load(3), Some(4.5));
    assert_eq!(window.put(&[1.0], next, 0).err(), Some(Error::RMA_SYNC), "the epoch has ended");
    assert_eq!(window.store(4, 0.0).err(), Some(Error::RMA_RANGE));
    window.free().map(|values| assert!(values.is_empty()))
}

fn exposures(world: Communicator) -> Result<()> {
    let (rank, size, next, previous) = ring(world)?;
    let window = Window::<i32>::allocate(&world, 1)?;
    {
        let _exposure = window.expose(&[previous as u32])?;
        let _access = window.access(&[next as u32])?;
        window.put(&[rank], next, 0)?;
        // Access ends first, since it began last; then the wait for the previous rank's.
    }
    assert_eq!(window.load(0), Some(previous));
    {
        let exposure = window.expose(&[previous as u32])?;
        drop(window.access(&[next as u32])?);
        while !exposure.test()? {}
        assert_eq!(exposure.test().err(), Some(Error::RMA_SYNC), "it has ended");
    }
    assert_eq!(window.expose(&[size as u32]).err().map(|_| ()), Some(()));
    assert!(window.access(&[size as u32]).is_err());
    world.barrier()?;
    window.free().map(drop)
}

fn locks(world: Communicator) -> Result<()> {
    let (rank, size, next, previous) = ring(world)?;
    let window = Window::<u32>::allocate(&world, 2)?;
    {
        let lock = window.lock(LockKind::Exclusive, next)?;
        window.put(&[rank as u32 + 1], next, 0)?;
        lock.flush_local()?;
        lock.flush()?;
        window.sync()?;
        let mut back = [0];
        window.get(&mut back, next, 0)?;
        assert_eq!(back, [rank as u32 + 1]);
        assert_eq!(
            (window.fence().err(), window.get(&mut back, next, 2).err()),
            (Some(Error::RMA_SYNC), Some(Error::RMA_RANGE))
        );
    }
    world.barrier()?;
    assert_eq!(window.load(0), Some(previous as u32 + 1));
    {
        let all = window.lock_all()?;
        window.put(&[7], next, 1)?;
        all.flush_rank(next)?;
        all.flush_local()?;
        all.flush()?;
        assert_eq!(window.put(&[1], size, 0).err(), Some(Error::RANK));
    }
    assert_eq!(window.lock(LockKind::Shared, size).err().map(|_| ()), Some(()));
    drop(window.lock(LockKind::Shared, next)?);
    world.barrier()?;
    window.store(0, 5)?;
    assert_eq!((window.load(0), window.load(1)), (Some(5), Some(7)));
    window.free().map(drop)
}

fn updates(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let window = Window::<u64>::allocate(&world, 4)?;
    {
        let _all = window.lock_all()?;
        for _ in 0..100 {
            window.fetch_and_op(1, 0, 0, Operation::Sum)?;
            window.accumulate(&[1], 0, 0, Operation::Sum)?;
        }
        let winner = window.compare_and_swap(rank as u64 + 1, 0, 0, 1)?;
        assert!(winner <= size as u64);
        let mut before = [9u64; 2];
        window.get_accumulate(&[1, 2], &mut before, 0, 2, Operation::Sum)?;
        assert!(before[1] == 2 * before[0] && before[0] < size as u64);
        assert_eq!(window.get_accumulate(&[1], &mut before, 0, 2, Operation::Sum).err(), Some(Error::COUNT));
        assert_eq!(window.accumulate(&[1], 0, 4, Operation::Sum).err(), Some(Error::RMA_RANGE));
    }
    world.barrier()?;
    if rank == 0 {
        assert_eq!(
            (window.load(0), window.load(2), window.load(3)),
            (Some(200 * size as u64), Some(size as u64), Some(2 * size as u64))
        );
        assert!(window.load(1).is_some_and(|winner| (1..=size as u64).contains(&winner)));
    }
    world.barrier()?;
    {
        let _lock = window.lock(LockKind::Exclusive, rank)?;
        assert_eq!(
            window.fetch_and_op(3, rank, 3, Operation::Replace)?,
            window.fetch_and_op(0, rank, 2, Operation::NoOp)? * 2
        );
        assert_eq!(window.fetch_and_op(0, rank, 3, Operation::NoOp)?, 3);
    }
    window.free()?;
    let reals = Window::<f32>::allocate(&world, 1)?;
    {
        let _all = reals.lock_all()?;
        assert_eq!(reals.compare_and_swap(1.0, 0.0, 0, 0).err(), Some(Error::TYPE));
        assert_eq!(reals.accumulate(&[1.0], 0, 0, Operation::BitAnd).err(), Some(Error::OP));
    }
    reals.free().map(drop)
}

fn shared(world: Communicator) -> Result<()> {
    let (rank, size, next, previous) = ring(world)?;
    if size > 1 {
        // Elements of different sizes: the next rank's would not be aligned.
        let mixed = match rank {
            0 => Window::<u8>::allocate_shared(&world, 3).map(drop),
            _ => Window::<f64>::allocate_shared(&world, 1).map(drop),
        };
        assert_eq!(mixed, Err(Error::NOT_SAME));
    }
    let window = Window::<i64>::allocate_shared(&world, 1 + rank as usize)?;
    {
        let all = window.lock_all()?;
        window.store_of(next, 0, rank as i64 - 5)?;
        window.sync()?;
        all.flush()?;
        world.barrier()?;
        window.sync()?;
        assert_eq!(window.load(0), Some(previous as i64 - 5));
        assert_eq!(window.load_of(next, 0)?, Some(rank as i64 - 5));
        assert_eq!(window.load_of(next, 1 + next as usize)?, None);
        assert_eq!(window.store_of(next, 1 + next as usize, 0).err(), Some(Error::RMA_RANGE));
        assert_eq!(
            (window.load_of(size, 0).err(), window.load_of(-1, 0).err()),
            (Some(Error::RANK), Some(Error::RANK))
        );
    }
    world.barrier()?;
    window.free().map(drop)
}

/// A window of a vector, which comes back.
fn created(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let window = Window::create(&world, vec![rank, -1])?;
    {
        let _epoch = window.fenced()?;
        window.put(&[rank], next, 1)?;
    }
    let empty = Window::<u8>::create(&world, vec![])?;
    assert_eq!((empty.len(), empty.load(0)), (0, None));
    empty.free()?;
    assert_eq!(window.free()?, [rank, previous]);
    Ok(())
}
