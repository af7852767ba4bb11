//! A receiver that computes between messages has its sender copy them, and when it keeps up again, no longer: rank 0 sends to rank 1 and prints whether a message
//! goes at once, before, when rank 1 has been late, and when it has not been for a while.

use crate::calls::{engine, sending};
use crate::eager::{at_once, receive};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::request::Mode;
use lwk_user::clock::{ns_to_ticks, ticks};
use lwk_user::println;

const TAG: i32 = 8;
/// A medium message, as in figure 6.6 of Chai's dissertation, whose benchmark this is.
const BYTES: usize = 16 << 10;
const WINDOW: usize = 64;
/// What the consumer computes for each message.
const COMPUTE_NS: u64 = 100_000;
/// Messages one by one: more than it takes to see that the receiver is there.
const PROMPT: usize = 100;

pub fn run(world: Communicator) -> Result<()> {
    let before = look(world)?;
    for _ in 0..2 {
        late(world)?;
    }
    // What rank 0 has not waited for fills the FIFO until rank 1 has received it.
    world.barrier()?;
    let late = look(world)?;
    let mut buffer = vec![0u8; BYTES];
    for _ in 0..PROMPT {
        match world.rank()? {
            0 => {
                world.send(&buffer, 1, TAG)?;
                world.receive(&mut [0u8], 1, TAG)?;
            }
            1 => {
                world.receive(&mut buffer, 0, TAG)?;
                world.send(&[0u8], 0, TAG)?;
            }
            _ => {}
        }
    }
    let after = look(world)?;
    if world.rank()? == 0 {
        println!("at once: {before} before, {late} when the receiver was late, {after} after");
    }
    Ok(())
}

/// Whether rank 0 need not wait for rank 1's receive.
fn look(world: Communicator) -> Result<bool> {
    match world.rank()? {
        0 => at_once(world, 1, BYTES),
        1 => receive(world, BYTES).map(|()| false),
        _ => Ok(false),
    }
}

/// A window of messages without waiting, received one by one with computing in between.
fn late(world: Communicator) -> Result<()> {
    match world.rank()? {
        0 => {
            let content = vec![7u8; BYTES];
            // SAFETY: the content lives until the requests have been waited for.
            let begin =
                |_| engine(|engine| unsafe { engine.isend(&sending(&content, 1, TAG), Mode::Standard) });
            let requests: Result<Vec<_>> = (0..WINDOW).map(begin).collect();
            requests?.into_iter().try_for_each(|request| engine(|engine| engine.wait(request)).map(drop))
        }
        1 => {
            let mut buffer = vec![0u8; BYTES];
            (0..WINDOW).try_for_each(|_| {
                world.receive(&mut buffer, 0, TAG)?;
                assert!(buffer.iter().all(|byte| *byte == 7));
                let start = ticks();
                while ticks() - start < ns_to_ticks(COMPUTE_NS) {
                    core::hint::spin_loop();
                }
                Ok(())
            })
        }
        _ => Ok(()),
    }
}
