//! Memory that the runtime takes for other ranks: rank 0 prints what its heap has left at the start, and when it has talked to every other rank
//!
//! Two jobs of different sizes tell together what a rank costs that nobody has talked to.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use lwk_mpi::Mpi;
use lwk_user::{Env, println};

lwk_user::entry!(main);

/// Blocks of the heap that are taken at a time, in bytes: 2 to these, greatest first.
const POWERS: core::ops::RangeInclusive<u32> = 6..=20;
/// More blocks than there are of the greatest, and a few of each other.
const BLOCKS: usize = 512;

fn main(_env: &Env) -> Result<i32, lwk_mpi_rt::Error> {
    let mpi = Mpi::init()?;
    let world = mpi.world();
    let (me, size) = (world.rank()?, world.size()? as i32);
    if me == 0 {
        println!("at the start {}", free());
        let mut word = [0u8; 8];
        for peer in 1..size {
            world.send(&word, peer, 0)?;
            world.receive(&mut word, peer, 0)?;
        }
        println!("at the end {}", free());
    } else {
        // Nobody talks to rank 0 before it has looked.
        let mut word = [0u8; 8];
        world.receive(&mut word, 0, 0)?;
        world.send(&word, 0, 0)?;
    }
    Ok(0)
}

/// Bytes that the heap can still give, all blocks together.
fn free() -> usize {
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(BLOCKS);
    for bytes in POWERS.rev().map(|power| 1 << power) {
        loop {
            let mut block = Vec::new();
            if blocks.len() == BLOCKS || block.try_reserve_exact(bytes).is_err() {
                break;
            }
            blocks.push(block);
        }
    }
    blocks.iter().map(Vec::capacity).sum()
}
