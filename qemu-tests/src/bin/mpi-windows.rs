//! One-sided communication: windows, epochs, accumulates, layouts, misuse, and random epochs against a model, on any number of ranks
//!
//! The argument names the part to run; a second one is the seed of a random part. A failed check is a panic, which ends the job; a hang is
//! ended by the job's time limit.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "../mpi/types.rs"]
mod types;
#[path = "../mpi/windows/mod.rs"]
mod windows;

use lwk_mpi::Mpi;
use lwk_user::{Env, job, println};

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32, lwk_mpi_rt::Error> {
    let part = env.args().nth(1).unwrap_or("");
    let seed = env.args().nth(2).and_then(|seed| seed.parse().ok());
    {
        let mpi = Mpi::init()?;
        let world = mpi.world();
        match part {
            "kinds" => windows::kinds::run(world)?,
            "epochs" => windows::epochs::run(world)?,
            "updates" => windows::updates::run(world)?,
            "layouts" => windows::layouts::run(world, seed)?,
            "misuse" => windows::misuse::run(world)?,
            "random" => windows::random::run(world, seed)?,
            _ => return Ok(2),
        }
    }
    if job().rank().0 == 0 {
        println!("{part}: passed on {} ranks", job().size());
    }
    Ok(0)
}
