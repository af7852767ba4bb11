//! The largest message that is sent to each peer at once, without its receive, by powers of two: where the path switches to a way that waits.

use crate::calls::{engine, sending};
use alloc::vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::request::Mode;
use lwk_user::println;

const TAG: i32 = 6;
/// The peer receives the message when it has received one of this tag, which says whether it went at once.
const AFTER: i32 = 7;
/// The largest that is tried: it fits every buffer, and so does the next message.
const LARGEST: usize = 256 << 10;

pub fn run(world: Communicator) -> Result<()> {
    let rank = world.rank()? as i32;
    for peer in 1..world.size()? as i32 {
        let mut largest = 0;
        let mut bytes = 1;
        while bytes <= LARGEST {
            if rank == 0 && at_once(world, peer, bytes)? {
                largest = bytes;
            }
            if rank == peer {
                receive(world, bytes)?;
            }
            bytes *= 2;
        }
        if rank == 0 {
            println!("to rank {peer}: up to {largest} bytes at once");
        }
    }
    Ok(())
}

/// Sends a message, which the peer must [`receive`]: whether that is complete as soon as it has begun.
pub fn at_once(world: Communicator, peer: i32, bytes: usize) -> Result<bool> {
    let buffer = vec![1u8; bytes];
    // SAFETY: the buffer lives until the request has been waited for.
    let request = engine(|engine| unsafe { engine.isend(&sending(&buffer, peer, TAG), Mode::Standard) })?;
    let is_done = engine(|engine| engine.request_status(request))?.is_some();
    world.send(&[u8::from(is_done)], peer, AFTER)?;
    engine(|engine| engine.wait(request))?;
    Ok(is_done)
}

/// Receives rank 0's message.
pub fn receive(world: Communicator, bytes: usize) -> Result<()> {
    world.receive(&mut [0u8], 0, AFTER)?;
    world.receive(&mut vec![0u8; bytes], 0, TAG).map(drop)
}
