//! Windows of every kind: where their memory is, what they tell of themselves, and thousands of them one after another.

use super::calls::{WORLD, Win, buffer, engine};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{Communicator, Operation};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::abi::{PROC_NULL, datatype};
use lwk_mpi_rt::error::Error;
use lwk_mpi_window::{Flavor, LockKind, TargetBuffer};
use lwk_user::Rank;
use lwk_user::heap::GROWTH_BYTES;

/// Bytes of a rank's part: different for each, and nothing for every fifth.
fn bytes_of(rank: u32) -> usize {
    if rank % 5 == 4 { 0 } else { 8 * (rank as usize + 3) }
}

pub fn run(world: Communicator) -> Result<()> {
    created(world)?;
    allocated(world)?;
    shared(world, false)?;
    shared(world, true)?;
    dynamic(world)?;
    of_part_of_the_ranks(world)?;
    many(world)
}

/// Every rank writes its number into its own element of every rank that has it, and reads all back.
fn every_pair(world: Communicator, window: Win, lengths: &[usize]) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    window.fence(0)?;
    for target in 0..size {
        if (rank as usize) < lengths[target as usize] {
            window.put(&[1000 * target as u64 + rank as u64], target, rank as i64)?;
        }
    }
    window.fence(0)?;
    for target in 0..size {
        for index in 0..lengths[target as usize].min(size as usize) {
            assert_eq!(window.get::<u64>(1, target, index as i64)?, [1000 * target as u64 + index as u64]);
        }
    }
    window.fence(0)
}

fn created(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let mut memory = vec![0u64; 2 * size as usize];
    let (base, bytes) = (memory.as_mut_ptr().cast::<u8>(), 8 * memory.len());
    // SAFETY: the memory outlives the window.
    let handle = engine(|engine| unsafe { engine.win_create(base, bytes as i64, 8, WORLD) })?;
    let window = Win { handle, base };
    let told = engine(|engine| engine.win_attributes(handle).copied())?;
    assert_eq!((told.base, told.size, told.unit), (base, bytes as isize, 8));
    assert_eq!((told.flavor, told.model), (Flavor::Create as i32, 321));
    let members = engine(|engine| engine.win_members(handle).map(<[Rank]>::to_vec))?;
    assert_eq!(members, (0..size).map(Rank).collect::<Vec<_>>());
    every_pair(world, window, &vec![2 * size as usize; size as usize])?;
    window.free()?;
    assert!((0..size).all(|index| memory[index as usize] == 1000 * rank as u64 + index as u64));
    Ok(())
}

fn allocated(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let window = Win::allocate(bytes_of(rank), 8)?;
    assert!((0..bytes_of(rank) / 8).all(|index| window.load::<u64>(index) == 0));
    let told = engine(|engine| engine.win_attributes(window.handle).copied())?;
    assert_eq!((told.flavor, told.size), (Flavor::Allocate as i32, bytes_of(rank) as isize));
    let lengths: Vec<usize> = (0..size).map(|rank| bytes_of(rank) / 8).collect();
    every_pair(world, window, &lengths)?;
    window.free()
}

/// Shared memory: peers' parts by plain loads and stores, one behind the other unless asked otherwise.
fn shared(world: Communicator, noncontiguous: bool) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let bytes = bytes_of(rank);
    let made = engine(|engine| engine.win_allocate_shared(bytes as i64, 8, noncontiguous, WORLD));
    if some_are_out_of_reach(size)? {
        assert_eq!(made.err(), Some(Error::RMA_SHARED));
        return Ok(());
    }
    let (handle, base) = made?;
    let window = Win { handle, base };
    let shapes: Vec<_> = (0..size)
        .map(|rank| engine(|engine| engine.win_shared_query(handle, rank as i32)))
        .collect::<Result<_>>()?;
    for (peer, shape) in shapes.iter().enumerate() {
        assert_eq!((shape.size as usize, shape.unit), (bytes_of(peer as u32), 8));
        assert_eq!(shape.base.is_null(), shape.size == 0);
    }
    let first = engine(|engine| engine.win_shared_query(handle, PROC_NULL))?;
    assert_eq!(first, shapes[0]);
    let with_memory: Vec<_> = shapes.iter().filter(|shape| shape.size > 0).collect();
    let joined =
        with_memory.windows(2).all(|pair| pair[0].base.addr() + pair[0].size as usize == pair[1].base.addr());
    assert!(joined != noncontiguous || with_memory.len() < 2);
    window.fence(0)?;
    // Everybody stores into the next rank's memory.
    let next = (rank + 1) % size;
    if bytes_of(next) > 0 {
        // SAFETY: the next rank's memory, which nobody else touches before the fence.
        unsafe { shapes[next as usize].base.cast::<u64>().write_volatile(7000 + rank as u64) };
    }
    engine(|engine| engine.win_sync(handle))?;
    window.fence(0)?;
    if bytes > 0 {
        assert_eq!(window.load::<u64>(0), 7000 + ((rank + size - 1) % size) as u64);
    }
    let lengths: Vec<usize> = (0..size).map(|rank| bytes_of(rank) / 8).collect();
    every_pair(world, window, &lengths)?;
    window.free()
}

/// Whether there are ranks whose memory cannot be loaded and stored here: of their parts a window shows none.
pub fn some_are_out_of_reach(size: u32) -> Result<bool> {
    let window = Win::allocate(8, 8)?;
    let shapes: Vec<_> = (0..size)
        .map(|rank| engine(|engine| engine.win_shared_query(window.handle, rank as i32)))
        .collect::<Result<_>>()?;
    window.free()?;
    assert!(shapes.iter().all(|shape| shape.base.is_null() == (shape.size == 0)));
    Ok(shapes.iter().any(|shape| shape.size == 0))
}

/// Attached pieces, more than one part of the list holds; accesses across their ends are refused.
fn dynamic(world: Communicator) -> Result<()> {
    const PIECES: usize = 70;
    let (rank, size) = (world.rank()?, world.size()?);
    let handle = engine(|engine| engine.win_create_dynamic(WORLD))?;
    let window = Win { handle, base: core::ptr::null_mut() };
    let mut memory = vec![0u64; 4 * PIECES];
    let start = memory.as_mut_ptr();
    let piece = |index: usize| start.wrapping_add(4 * index).cast::<u8>();
    // Two of four words of each are attached.
    (0..PIECES).try_for_each(|index| engine(|engine| engine.win_attach(handle, piece(index), 16)))?;
    assert_eq!(
        engine(|engine| engine.win_attach(handle, piece(3).wrapping_add(8), 16)),
        Err(Error::RMA_ATTACH)
    );
    let mut starts = vec![0u64; size as usize];
    starts[rank as usize] = start.expose_provenance() as u64;
    let mut all = vec![0u64; size as usize];
    world.allreduce(&starts, &mut all, Operation::Sum)?;
    window.lock_all()?;
    let target = (rank + 1) % size;
    let address = |index: usize, word: usize| all[target as usize] as i64 + (32 * index + 8 * word) as i64;
    for index in 0..PIECES {
        window.put(&[index as u64 + 1, 500 + rank as u64], target, address(index, 0))?;
    }
    assert_eq!(window.put(&[1u64], target, address(9, 2)), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u64, 2], target, address(9, 1)), Err(Error::RMA_RANGE));
    assert_eq!(window.get::<u64>(1, target, 8), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u64], target, -8), Err(Error::DISP));
    // A gap between attached pieces inside the datatype's span is no gap in the datatype, but the whole span must be attached.
    let counted = window.fetch_and_op(5u64, target, address(PIECES - 1, 0), lwk_mpi_rt::abi::op::SUM)?;
    assert_eq!(counted, PIECES as u64);
    window.flush(target)?;
    world.barrier()?;
    assert!((0..PIECES - 1).all(|index| memory[4 * index] == index as u64 + 1));
    assert_eq!(memory[4 * (PIECES - 1)], PIECES as u64 + 5);
    assert!(memory.chunks(4).all(|words| words[2..] == [0, 0]));
    engine(|engine| engine.win_detach(handle, piece(5)))?;
    assert_eq!(engine(|engine| engine.win_detach(handle, piece(5))), Err(Error::RMA_ATTACH));
    world.barrier()?;
    assert_eq!(window.put(&[1u64], target, address(5, 0)), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u64], target, address(6, 0)), Ok(()));
    window.unlock_all()?;
    assert_eq!(engine(|engine| engine.win_shared_query(handle, 0)).err(), Some(Error::RMA_FLAVOR));
    assert_eq!(engine(|engine| engine.win_attributes(handle).map(|it| it.base.is_null())), Ok(true));
    window.free()
}

/// Ranks of a window are those of its communicator, here the odd or even ones backwards.
fn of_part_of_the_ranks(world: Communicator) -> Result<()> {
    let rank = world.rank()?;
    let half = engine(|engine| engine.split(WORLD, (rank % 2) as i32, -(rank as i32)))?;
    let Some(half) = half else { panic!("no communicator") };
    let (mine, size) =
        engine(|engine| Ok((engine.communicators.rank(half)?, engine.communicators.size(half)?)))?;
    let (handle, base) = engine(|engine| engine.win_allocate(64, 8, half))?;
    // The window does not need the communicator any more.
    lwk_mpi_rt::communicators::free(half)?;
    let window = Win { handle, base };
    let next = (mine + 1) % size;
    window.lock(LockKind::Exclusive, next)?;
    window.put(&[rank as u64 + 1], next, 3)?;
    window.unlock(next)?;
    window.fence(0)?;
    // The rank before in the window is two above in the world, or the last round the corner.
    let expected = (0..world.size()?).rev().filter(|it| it % 2 == rank % 2).collect::<Vec<u32>>();
    let before = expected[((mine + size - 1) % size) as usize];
    assert_eq!(window.load::<u64>(3), before as u64 + 1);
    window.free()
}

/// Windows made and freed: contexts and memory are used again.
fn many(world: Communicator) -> Result<()> {
    let mut top = 0;
    for round in 0..600 {
        let window = Win::allocate(256, 1)?;
        window.fence(0)?;
        window.put(&[round as u64], (world.rank()? + 1) % world.size()?, 16)?;
        window.fence(0)?;
        assert_eq!(window.load::<u64>(2), round as u64);
        window.free()?;
        if round == 50 {
            top = heap_top();
        }
    }
    // A rank that lags behind may keep one more for a while than ever before, for which the heap may have to grow once.
    assert!(heap_top() <= top + GROWTH_BYTES as u64, "windows that were freed still take memory");
    // Freed handles stay void.
    let window = Win::allocate(8, 1)?;
    window.free()?;
    assert_eq!(window.fence(0), Err(Error::WIN));
    let nowhere = TargetBuffer { rank: 0, displacement: 0, count: 1, datatype: datatype::UINT64 };
    // SAFETY: the buffer is a variable of this expression.
    let outcome = engine(|engine| unsafe { engine.put(&buffer(&[1u64]), &nowhere, window.handle) });
    assert_eq!(outcome, Err(Error::WIN));
    Ok(())
}

fn heap_top() -> u64 {
    // SAFETY: only asks.
    unsafe { lwk_user::syscall::brk(0) }
}
