//! Short forms of the engine's calls, on bytes and the world communicator.

use alloc::vec::Vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::abi::{COMM_WORLD, datatype};
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::{Handle, Result};

pub const WORLD: Handle = Handle(COMM_WORLD);

pub fn sending(buffer: &[u8], target: i32, tag: i32) -> SendArguments {
    let count = buffer.len() as i64;
    let address = buffer.as_ptr();
    SendArguments { address, count, datatype: datatype::BYTE, target, tag, communicator: WORLD }
}

pub fn receiving(buffer: &mut [u8], source: i32, tag: i32) -> ReceiveArguments {
    let count = buffer.len() as i64;
    let address = buffer.as_mut_ptr();
    ReceiveArguments { address, count, datatype: datatype::BYTE, source, tag, communicator: WORLD }
}

/// Lets `call` use the engine.
pub fn engine<R>(call: impl FnOnce(&mut Engine) -> Result<R>) -> Result<R> {
    with(call)
}

/// The neighbours around the ring: the rank after this one and the one before.
pub fn neighbours(world: Communicator) -> Result<(i32, i32)> {
    let (rank, size) = (world.rank()? as i32, world.size()? as i32);
    Ok(((rank + 1) % size, (rank + size - 1) % size))
}

/// Content that differs by sender, tag and place.
pub fn content(sender: i32, tag: i32, bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|index| (sender as usize * 97 + tag as usize * 31 + index * 7 + (index >> 8)) as u8)
        .collect()
}
