//! The least that a job of any size does together: a barrier, a sum of all ranks' numbers, a barrier
#![no_std]
#![no_main]

use lwk_mpi::{Mpi, Operation};
use lwk_user::{Env, println};

lwk_user::entry!(main);

fn main(_env: &Env) -> Result<i32, lwk_mpi_rt::Error> {
    let mpi = Mpi::init()?;
    let world = mpi.world();
    let (me, size) = (u64::from(world.rank()?), u64::from(world.size()?));
    world.barrier()?;
    let mut sum = [0u64];
    world.allreduce(&[me], &mut sum, Operation::Sum)?;
    world.barrier()?;
    if sum[0] != size * (size - 1) / 2 {
        println!("rank {me}: the sum of {size} ranks is {}", sum[0]);
        return Ok(1);
    }
    if me == 0 {
        println!("{size} ranks add up to {}", sum[0]);
    }
    Ok(0)
}
