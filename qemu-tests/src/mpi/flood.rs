//! A rank that does not receive: its senders are held back, its memory does not grow, and nothing is lost.

use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{Communicator, Operation};
use lwk_mpi_rt::Result;
use lwk_user::clock::Instant;

/// Messages of all senders together: far more than rings and queues hold.
const MESSAGES: u32 = 3000;
const BYTES: usize = 200;

/// All ranks but 0 send to 0, which first takes no message, then messages of another tag that come last, then all.
pub fn run(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let each = MESSAGES / (size - 1).max(1);
    if rank != 0 {
        // The first burst: blocking sends that must come to a stop while rank 0 does not receive.
        for number in 0..each {
            world.send(&message(rank, number), 0, 1)?;
        }
        // The second: sends that do not block, and behind them the one that is received first.
        let messages: Vec<_> = (0..each).map(|number| message(rank, number)).collect();
        world.scope(|s| {
            messages.iter().try_for_each(|message| s.isend(message, 0, 2).map(drop))?;
            world.send(&[rank as u8], 0, 3)
        })?;
    } else {
        // Time passes, and messages are looked for, but none is wanted: the queue must not take them all.
        let before = heap_top();
        let start = Instant::now();
        let mut last = [0u8];
        world.scope(|s| {
            let mut never = s.irecv(&mut last, 0, 77)?;
            while start.elapsed().as_millis() < 20 {
                assert_eq!(never.test()?, None);
            }
            assert!(heap_top() - before <= 512 << 10, "the queue grew by {} bytes", heap_top() - before);
            world.send(&[5u8], 0, 77)
        })?;
        receive_all(world, size, each, 1)?;
        for source in 1..size as i32 {
            world.receive(&mut last, source, 3)?;
            assert_eq!(last, [source as u8]);
        }
        receive_all(world, size, each, 2)?;
    }
    let mut sum = [0u32];
    world.allreduce(&[1u32], &mut sum, Operation::Sum)?;
    assert_eq!(sum, [size]);
    Ok(())
}

fn receive_all(world: Communicator, size: u32, each: u32, tag: i32) -> Result<()> {
    let mut buffer = vec![0u8; BYTES];
    for number in 0..each {
        for source in 1..size {
            let status = world.receive(&mut buffer, source as i32, tag)?;
            assert_eq!(status.bytes, BYTES as u64);
            assert!(buffer == message(source, number), "message {number} of rank {source}");
        }
    }
    Ok(())
}

fn message(rank: u32, number: u32) -> Vec<u8> {
    let mut bytes = vec![rank as u8; BYTES];
    bytes[..4].copy_from_slice(&number.to_ne_bytes());
    bytes
}

/// End of the heap.
fn heap_top() -> u64 {
    // SAFETY: 0 only asks.
    unsafe { lwk_user::syscall::brk(0) }
}
