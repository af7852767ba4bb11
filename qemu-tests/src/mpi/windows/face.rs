//! The face for Rust programs: windows of elements, epochs that end where they are dropped.

use alloc::vec;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::mpi::{Communicator, Operation};
use lwk_mpi_rt::window::LockKind;
use lwk_mpi_rt::window::face::Window;

pub fn run(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let window = Window::<f64>::allocate(&world, 4)?;
    assert_eq!((window.len(), window.load(3), window.load(4)), (4, Some(0.0), None));
    assert_eq!(window.put(&[1.0], next as i32, 0), Err(Error::RMA_SYNC));
    window.fence()?;
    window.put(&[rank as f64, 2.5], next as i32, 1)?;
    window.fence()?;
    assert_eq!((window.load(1), window.load(2)), (Some(previous as f64), Some(2.5)));
    assert_eq!(window.store(4, 0.0), Err(Error::RMA_RANGE));
    {
        let _exposure = window.expose(&[previous])?;
        let _access = window.access(&[next])?;
        window.accumulate(&[0.5], next as i32, 2, Operation::Sum)?;
        // Access ends first, since it began last; then the wait for the previous rank's.
    }
    assert_eq!(window.load(2), Some(3.0));
    assert_eq!(window.expose(&[size]).err(), Some(Error::GROUP));
    world.barrier()?;
    {
        let lock = window.lock(LockKind::Exclusive, next as i32)?;
        let mut values = vec![0.0; 2];
        window.get(&mut values, next as i32, 1)?;
        assert_eq!(values, [rank as f64, 3.0]);
        window.put(&[9.0], next as i32, 3)?;
        lock.flush()?;
        assert_eq!(window.fence(), Err(Error::RMA_SYNC));
    }
    world.barrier()?;
    assert_eq!(window.load(3), Some(9.0));
    window.free()?;
    let counters = Window::<u64>::allocate(&world, 2)?;
    {
        let all = counters.lock_all()?;
        for _ in 0..100 {
            counters.fetch_and_op(1, 0, 0, Operation::Sum)?;
        }
        counters.compare_and_swap(rank as u64 + 1, 0, 0, 1)?;
        all.flush()?;
        assert_eq!(counters.put(&[1], 0, 2), Err(Error::RMA_RANGE));
    }
    world.barrier()?;
    if rank == 0 {
        assert_eq!(counters.load(0), Some(100 * size as u64));
        assert!(counters.load(1).is_some_and(|winner| (1..=size as u64).contains(&winner)));
    }
    counters.free()
}
