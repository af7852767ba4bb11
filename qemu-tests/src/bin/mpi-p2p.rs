//! Point-to-point messages: every mode, wildcards, order, probes, persistent requests, floods and errors, on any number of ranks
//!
//! The argument names the part to run. A failed check is a panic, which ends the job; a hang is ended by the job's time limit.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "../mpi/calls.rs"]
mod calls;
#[path = "../mpi/changes.rs"]
mod changes;
#[path = "../mpi/eager.rs"]
mod eager;
#[path = "../mpi/engine_faults.rs"]
mod engine_faults;
#[path = "../mpi/errors.rs"]
mod errors;
#[path = "../mpi/flood.rs"]
mod flood;
#[path = "../mpi/layouts.rs"]
mod layouts;
#[path = "../mpi/memory.rs"]
mod memory;
#[path = "../mpi/messages.rs"]
mod messages;
#[path = "../mpi/operations.rs"]
mod operations;
#[path = "../mpi/partitioned.rs"]
mod partitioned;
#[path = "../mpi/posted.rs"]
mod posted;
#[path = "../mpi/races.rs"]
mod races;
#[path = "../mpi/skew.rs"]
mod skew;
#[path = "../mpi/stress.rs"]
mod stress;
#[path = "../mpi/types.rs"]
mod types;

use lwk_mpi::Mpi;
use lwk_user::{Env, job, println};

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32, lwk_mpi_rt::Error> {
    let part = env.args().nth(1).unwrap_or("");
    if part == "errors" {
        errors::before_init();
    }
    {
        let before = memory::heap_top();
        let mpi = Mpi::init()?;
        let world = mpi.world();
        match part {
            "memory" => memory::run(world, before)?,
            "sizes" => messages::sizes(world)?,
            "modes" => messages::modes(world)?,
            "operations" => operations::run(world)?,
            "partitioned" => partitioned::run(world)?,
            "changes" => changes::run(world)?,
            "posted" => posted::run(world)?,
            "requests" => messages::requests(world)?,
            "probes" => messages::probes(world)?,
            "errors" => errors::arguments(world)?,
            "layouts" => layouts::run(world, env.args().nth(2).and_then(|seed| seed.parse().ok()))?,
            "eager" => eager::run(world)?,
            "engine-faults" => engine_faults::run(world)?,
            "races" => races::run(world, env.args().nth(2).and_then(|seed| seed.parse().ok()))?,
            "flood" => flood::run(world)?,
            "skew" => skew::run(world)?,
            "stress" => stress::run(world, env.args().nth(2).and_then(|seed| seed.parse().ok()))?,
            _ => return Ok(2),
        }
        world.barrier()?;
    }
    if part == "errors" {
        errors::after_finalize();
    }
    if job().rank().0 == 0 {
        println!("{part}: passed on {} ranks", job().size());
    }
    Ok(0)
}
