//! Everything that is wrong has its error class, and leaves the window as it was.

use super::calls::{WORLD, Win, buffer, engine, place};
use super::kinds::some_are_out_of_reach;
use alloc::vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::abi::{datatype, mode, op};
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::{Form, Handle, Result};
use lwk_mpi_window::{Buffer, LockKind, TargetBuffer};
use lwk_user::Rank;

pub fn run(world: Communicator) -> Result<()> {
    creation(world)?;
    let window = Win::allocate(64, 4)?;
    outside_epochs(world, window)?;
    epochs_of_other_sorts(world, window)?;
    arguments(world, window)?;
    handles()?;
    window.free()
}

/// One rank's mistake is every rank's error, and nobody waits.
fn creation(world: Communicator) -> Result<()> {
    let rank = world.rank()?;
    let last = rank == world.size()? - 1;
    let with = |size: i64, unit: i64| engine(|engine| engine.win_allocate(size, unit, WORLD)).map(drop);
    assert_eq!(with(if last { -1 } else { 8 }, 1), Err(Error::SIZE));
    assert_eq!(with(8, if last { 0 } else { 1 }), Err(Error::DISP));
    assert_eq!(with(8, if last { -8 } else { 1 }), Err(Error::DISP));
    assert_eq!(with(if last { 1 << 50 } else { 8 }, 1), Err(Error::NO_MEM));
    let shared = |size: i64| engine(|engine| engine.win_allocate_shared(size, 1, false, WORLD)).map(drop);
    let apart = some_are_out_of_reach(world.size()?)?;
    let error = |of_one_node| Err(if apart { Error::RMA_SHARED } else { of_one_node });
    assert_eq!(shared(if last { 1 << 50 } else { 8 }), error(Error::NO_MEM));
    assert_eq!(shared(if last { -3 } else { 8 }), error(Error::SIZE));
    // SAFETY: refused, or of no bytes.
    let created =
        |base: *mut u8, size: i64| engine(|engine| unsafe { engine.win_create(base, size, 1, WORLD) });
    assert_eq!(created(core::ptr::null_mut(), if last { 8 } else { 0 }).err(), Some(Error::ARG));
    let empty = created(core::ptr::null_mut(), 0)?;
    let window = Win { handle: empty, base: core::ptr::null_mut() };
    window.fence(0)?;
    assert_eq!(window.put(&[1u8], 0, 0), Err(Error::RMA_RANGE));
    assert_eq!(window.put::<u8>(&[], 0, 0), Ok(()));
    window.fence(0)?;
    assert_eq!(engine(|engine| engine.win_attach(empty, core::ptr::null_mut(), 8)), Err(Error::RMA_FLAVOR));
    window.free()?;
    let unknown = engine(|engine| engine.win_allocate(8, 1, Handle(0x7777)));
    assert_eq!(unknown.err(), Some(Error::COMM));
    Ok(())
}

fn outside_epochs(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let all_refused = |target: u32| {
        assert_eq!(window.put(&[1u32], target, 0), Err(Error::RMA_SYNC));
        assert_eq!(window.get::<u32>(1, target, 0).err(), Some(Error::RMA_SYNC));
        assert_eq!(window.accumulate(&[1u32], target, 0, op::SUM), Err(Error::RMA_SYNC));
        assert_eq!(window.fetch_and_op(1u32, target, 0, op::SUM), Err(Error::RMA_SYNC));
        assert_eq!(window.compare_and_swap(1u32, 0, target, 0), Err(Error::RMA_SYNC));
    };
    all_refused(rank);
    // After a fence that says that nothing follows.
    window.fence(0)?;
    window.fence(mode::NOSUCCEED)?;
    all_refused(rank);
    assert_eq!(window.flush(rank), Err(Error::RMA_SYNC));
    assert_eq!(window.unlock(rank), Err(Error::RMA_SYNC));
    assert_eq!(window.unlock_all(), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_complete(window.handle)), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_wait(window.handle)), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_test(window.handle)), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_flush_all(window.handle)), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_flush_local(0, window.handle)), Err(Error::RMA_SYNC));
    // With one target locked, others are closed.
    window.lock(LockKind::Shared, rank)?;
    if size > 1 {
        all_refused((rank + 1) % size);
        assert_eq!(window.flush((rank + 1) % size), Err(Error::RMA_SYNC));
        assert_eq!(window.unlock((rank + 1) % size), Err(Error::RMA_SYNC));
    }
    assert_eq!(window.put(&[1u32], rank, 0), Ok(()));
    window.unlock(rank)?;
    all_refused(rank);
    world.barrier()
}

fn epochs_of_other_sorts(world: Communicator, window: Win) -> Result<()> {
    let rank = world.rank()?;
    let group = [Rank(rank)];
    window.lock(LockKind::Exclusive, rank)?;
    assert_eq!(window.lock(LockKind::Exclusive, rank), Err(Error::RMA_SYNC));
    assert_eq!(window.lock_all(), Err(Error::RMA_SYNC));
    assert_eq!(window.fence(0), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_start(&group, 0, window.handle)), Err(Error::RMA_SYNC));
    assert_eq!(window.free(), Err(Error::RMA_SYNC));
    window.unlock(rank)?;
    world.barrier()?;
    window.lock_all()?;
    assert_eq!(window.lock(LockKind::Shared, rank), Err(Error::RMA_SYNC));
    assert_eq!(window.unlock(rank), Err(Error::RMA_SYNC));
    window.unlock_all()?;
    // A part that another rank still has locked must not be exposed.
    world.barrier()?;
    // General active target, with itself.
    engine(|engine| engine.win_post(&group, 0, window.handle))?;
    assert_eq!(engine(|engine| engine.win_post(&group, 0, window.handle)), Err(Error::RMA_SYNC));
    // All have posted: those that try to lock all hold locks for a moment.
    world.barrier()?;
    assert_eq!(window.lock(LockKind::Shared, rank), Err(Error::RMA_CONFLICT));
    assert_eq!(window.lock_all(), Err(Error::RMA_CONFLICT));
    assert_eq!(window.free(), Err(Error::RMA_SYNC));
    engine(|engine| engine.win_start(&group, 0, window.handle))?;
    assert_eq!(window.lock(LockKind::Shared, rank), Err(Error::RMA_SYNC));
    assert_eq!(engine(|engine| engine.win_test(window.handle)), Ok(false));
    assert_eq!(window.put(&[3u32], rank, 1), Ok(()));
    engine(|engine| engine.win_complete(window.handle))?;
    engine(|engine| engine.win_wait(window.handle))?;
    assert_eq!(window.load::<u32>(1), 3);
    assert_eq!(window.put(&[3u32], rank, 1), Err(Error::RMA_SYNC));
    // Requests are for passive epochs only.
    window.fence(0)?;
    let (value, at) = ([1u32], place::<u32>(rank, 0, 1));
    // SAFETY: a variable of this function.
    let outcome = engine(|engine| unsafe { engine.rput(&buffer(&value), &at, window.handle) });
    assert_eq!(outcome.err(), Some(Error::RMA_SYNC));
    window.put(&value, rank, 0)?;
    // The fence's epoch is in use now.
    assert_eq!(window.lock(LockKind::Shared, rank), Err(Error::RMA_SYNC));
    assert_eq!(window.free(), Err(Error::RMA_SYNC));
    window.fence(0)?;
    window.lock(LockKind::Shared, rank)?;
    // SAFETY: as above.
    let request = engine(|engine| unsafe { engine.rput(&buffer(&value), &at, window.handle) })?;
    engine(|engine| engine.wait(request))?;
    window.unlock(rank)?;
    world.barrier()
}

fn arguments(world: Communicator, window: Win) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    assert_eq!(engine(|engine| engine.win_fence(mode::NOCHECK, window.handle)), Err(Error::ASSERT));
    assert_eq!(engine(|engine| engine.win_post(&[], 1, window.handle)), Err(Error::ASSERT));
    assert_eq!(engine(|engine| engine.win_start(&[], mode::NOPUT, window.handle)), Err(Error::ASSERT));
    assert_eq!(engine(|engine| engine.win_lock_all(-1, window.handle)), Err(Error::ASSERT));
    assert_eq!(engine(|engine| engine.win_post(&[Rank(size)], 0, window.handle)), Err(Error::GROUP));
    assert_eq!(engine(|engine| engine.win_start(&[Rank(900)], 0, window.handle)), Err(Error::GROUP));
    assert_eq!(LockKind::from_number(0), Err(Error::LOCKTYPE));
    assert_eq!(window.lock(LockKind::Shared, size), Err(Error::RANK));
    assert_eq!(window.lock(LockKind::Shared, -9i32 as u32), Err(Error::RANK));
    assert_eq!(engine(|engine| engine.win_shared_query(window.handle, -9)).err(), Some(Error::RANK));
    window.lock_all()?;
    assert_eq!(window.put(&[1u32], size, 0), Err(Error::RANK));
    assert_eq!(window.put(&[1u32], -9i32 as u32, 0), Err(Error::RANK));
    assert_eq!(window.flush(size), Err(Error::RANK));
    // The window has 16 units of four bytes.
    assert_eq!(window.put(&[1u32], rank, 15), Ok(()));
    assert_eq!(window.put(&[1u32], rank, 16), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u64], rank, 15), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u32; 17], rank, 0), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u32], rank, i64::MAX), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u32], rank, i64::MAX / 4 + 1), Err(Error::RMA_RANGE));
    assert_eq!(window.put(&[1u32], rank, -1), Err(Error::DISP));
    assert_eq!(window.get::<u32>(1, rank, 16).err(), Some(Error::RMA_RANGE));
    assert_eq!(window.accumulate(&[1u32], rank, 16, op::SUM), Err(Error::RMA_RANGE));
    assert_eq!(window.fetch_and_op(1u32, rank, 16, op::SUM), Err(Error::RMA_RANGE));
    assert_eq!(window.compare_and_swap(1u32, 1, rank, 16), Err(Error::RMA_RANGE));
    let values = vec![0u32; 4];
    let raw = |origin: Buffer, place: TargetBuffer| {
        // SAFETY: refused, or of at most four elements.
        engine(|engine| unsafe { engine.put(&origin, &place, window.handle) })
    };
    let (origin, there) = (buffer(&values), place::<u32>(rank, 0, 4));
    assert_eq!(raw(Buffer { count: -1, ..origin }, there), Err(Error::COUNT));
    assert_eq!(raw(origin, TargetBuffer { count: -1, ..there }), Err(Error::COUNT));
    assert_eq!(raw(Buffer { count: -1, ..origin }, TargetBuffer { count: -1, ..there }), Err(Error::COUNT));
    assert_eq!(raw(Buffer { datatype: datatype::NULL, ..origin }, there), Err(Error::TYPE));
    assert_eq!(raw(origin, TargetBuffer { datatype: 0x5678, ..there }), Err(Error::TYPE));
    assert_eq!(raw(origin, TargetBuffer { count: 3, ..there }), Err(Error::TRUNCATE));
    assert_eq!(raw(origin, TargetBuffer { count: 16, ..there }), Ok(()));
    assert_eq!(raw(origin, TargetBuffer { count: 16, displacement: 1, ..there }), Err(Error::RMA_RANGE));
    let uncommitted = engine(|engine| engine.type_contiguous(Form::Int, 2, datatype::UINT32))?;
    assert_eq!(raw(origin, TargetBuffer { datatype: uncommitted.0, count: 2, ..there }), Err(Error::TYPE));
    engine(|engine| engine.type_free(uncommitted.0))?;
    window.unlock_all()?;
    assert!((1..15).all(|index| window.load::<u32>(index) == 0));
    world.barrier()
}

fn handles() -> Result<()> {
    // A window that has been freed, although another has its place now.
    let freed = engine(|engine| engine.win_allocate(8, 1, WORLD))?.0;
    lwk_mpi_window::free(freed)?;
    let other = engine(|engine| engine.win_allocate(8, 1, WORLD))?.0;
    for number in [0, 0x110, 0x101, 0x1000 + 77, u64::MAX, freed.0] {
        let window = Win { handle: Handle(number), base: core::ptr::null_mut() };
        assert_eq!(window.fence(0), Err(Error::WIN));
        assert_eq!(window.put(&[1u8], 0, 0), Err(Error::WIN));
        assert_eq!(window.accumulate(&[1i32], 0, 0, op::SUM), Err(Error::WIN));
        assert_eq!(window.lock(LockKind::Shared, 0), Err(Error::WIN));
        assert_eq!(window.flush(0), Err(Error::WIN));
        assert_eq!(window.free(), Err(Error::WIN));
        assert_eq!(engine(|engine| engine.win_attributes(window.handle).copied()).err(), Some(Error::WIN));
    }
    lwk_mpi_window::free(other)
}
