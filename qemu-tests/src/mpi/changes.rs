//! The path to a peer changes while messages are under way: none is lost, and each pair's stay in order. Started with paths to choose from
//! (`--transport by-size`).

use crate::calls::{content, engine, neighbours, receiving, sending};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::path::{PathId, WorldRank};
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::{Handle, Result};

const ROUNDS: i32 = 300;
/// Messages that are under way at once.
const WINDOW: i32 = 16;
/// On both sides of every limit of both paths.
const SIZES: [usize; 8] = [0, 8, 40, 41, 300, 1023, 1024, 70_000];

/// Every rank sends to the next; all messages have one tag, so only their order tells them apart.
pub fn run(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let mut chance = 1u64;
    let mut random = move |below: usize| {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (chance >> 33) as usize % below
    };
    for round in 0..ROUNDS {
        // All ranks draw the same, so the receiver knows each message's size.
        let sizes: Vec<usize> = (0..WINDOW).map(|_| SIZES[random(SIZES.len())]).collect();
        let number = |index: usize| round * WINDOW + index as i32;
        let mut received: Vec<Vec<u8>> = sizes.iter().map(|bytes| vec![0u8; *bytes]).collect();
        let sent: Vec<Vec<u8>> =
            (0..sizes.len()).map(|index| content(rank, number(index), sizes[index])).collect();
        let mut requests: Vec<Handle> = Vec::new();
        for buffer in &mut received {
            let arguments = receiving(buffer, previous, 0);
            // SAFETY: the buffers live until all requests have been waited for, and nobody uses them until then.
            requests.push(engine(|engine| unsafe { engine.irecv(&arguments) })?);
        }
        for buffer in &sent {
            let by = [PathId::Smartmap, PathId::ShmBasic][random(2)];
            let class = random(2);
            engine(|engine| engine.change_path(WorldRank(next as u32), class, by))?;
            let arguments = sending(buffer, next, 0);
            // SAFETY: as above.
            requests.push(engine(|engine| unsafe { engine.isend(&arguments, Mode::Standard) })?);
        }
        for request in requests {
            engine(|engine| engine.wait(request))?;
        }
        for (index, buffer) in received.iter().enumerate() {
            assert!(*buffer == content(previous, number(index), sizes[index]), "message {}", number(index));
        }
    }
    Ok(())
}
