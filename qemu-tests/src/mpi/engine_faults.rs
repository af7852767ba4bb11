//! The copy engine fails under messages, in each of its ways and again and again (`--transport mci` or `sci`): none is lost or another, the processor copies what the engine has not, which is
//! counted, and after each fault the engine copies again.

use crate::calls::{content, engine, neighbours, receiving, sending};
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::Random;
use lwk_mpi::Communicator;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::{Handle, Result};
use lwk_user::engine::{Counts, counts, fail};

/// Faults, of each kind as many.
const FAULTS: u64 = 32;
const KINDS: u64 = 4;
/// Messages that a rank has under way at once, and their bytes.
const WINDOW: i32 = 8;
const BYTES: usize = 5000;
/// The fault is at one of so many descriptors; all ranks together need more for a round.
const SOON: u64 = 6;

pub fn run(world: Communicator) -> Result<()> {
    let is_first = world.rank()? == 0;
    let mut random = Random::new(1);
    let mut round = 0;
    let mut exchange = || {
        round += 1;
        ring(world, round)
    };
    for fault in 0..FAULTS {
        if is_first {
            assert_eq!(fail(random.below(SOON), 1 + fault % KINDS), Ok(()));
        }
        world.barrier()?;
        exchange()?;
        world.barrier()?;
    }
    // One that has not struck yet does now.
    exchange()?;
    world.barrier()?;
    let before = counts();
    world.barrier()?;
    exchange()?;
    world.barrier()?;
    if is_first {
        let after = counts();
        let Counts { halts, rescued, lost, .. } = before;
        assert!(halts >= KINDS && rescued > 0 && lost == 0, "{before:?}");
        assert!(
            after.copied > before.copied && after.halts == halts && after.lost == 0,
            "{before:?}, {after:?}"
        );
    }
    Ok(())
}

/// Every rank sends a window to the next.
fn ring(world: Communicator, round: i32) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let number = |index: i32| round * WINDOW + index;
    let sent: Vec<Vec<u8>> = (0..WINDOW).map(|index| content(rank, number(index), BYTES)).collect();
    let mut received = vec![vec![0u8; BYTES]; WINDOW as usize];
    let mut requests: Vec<Handle> = Vec::new();
    for buffer in &mut received {
        let arguments = receiving(buffer, previous, 0);
        // SAFETY: the buffers live until all requests have been waited for, and nobody uses them until then.
        requests.push(engine(|engine| unsafe { engine.irecv(&arguments) })?);
    }
    for buffer in &sent {
        let arguments = sending(buffer, next, 0);
        // SAFETY: as above.
        requests.push(engine(|engine| unsafe { engine.isend(&arguments, Mode::Standard) })?);
    }
    for request in requests {
        engine(|engine| engine.wait(request))?;
    }
    for (index, buffer) in (0..WINDOW).zip(&received) {
        assert!(*buffer == content(previous, number(index), BYTES), "round {round}, message {index}");
    }
    Ok(())
}
