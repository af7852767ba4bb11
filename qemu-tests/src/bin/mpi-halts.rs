//! Two ranks of two nodes, whose cores halt while they wait (`--wait halt`): messages end the sleep, and who waits for long sleeps most of the time
#![no_std]
#![no_main]

use core::time::Duration;

use lwk_abi::syscall::JOB_HALT_NS;
use lwk_mpi::{Communicator, Mpi};
use lwk_mpi_rt::Error;
use lwk_user::clock::Instant;
use lwk_user::{Env, println, syscall};

const ROUNDS: usize = 101;
/// What rank 1 computes while rank 0 waits: many of the longest sleeps.
const LONG: Duration = Duration::from_nanos(JOB_HALT_NS * 100);

lwk_user::entry!(main);

fn main(_: &Env) -> Result<i32, Error> {
    let mpi = Mpi::init()?;
    let world = mpi.world();
    let first = world.rank()? == 0;
    let mut times = [Duration::ZERO; ROUNDS];
    for time in &mut times {
        let began = Instant::now();
        round_trip(&world, first)?;
        *time = began.elapsed();
    }
    times.sort_unstable();
    world.barrier()?;
    if !first {
        let began = Instant::now();
        while began.elapsed() < LONG {}
        world.send(&[1u64], 0, 0)?;
        return Ok(0);
    }
    println!(
        "a round trip is {} than a sleep's limit",
        if times[ROUNDS / 4].as_nanos() < JOB_HALT_NS.into() { "shorter" } else { "longer" }
    );
    let (before, began) = (sleeps(), Instant::now());
    world.receive(&mut [0u64], 1, 0)?;
    let (sleeps, most) = (sleeps() - before, began.elapsed().as_nanos() as u64 / JOB_HALT_NS);
    // The network's own timers end some, and on a busy machine an emulated timer is late; who polls makes a call in half a second.
    let verb = if sleeps < most / 16 {
        "does not sleep"
    } else if sleeps > most * 4 {
        "hardly sleeps"
    } else {
        "sleeps"
    };
    println!("while rank 0 waits, it {verb}");
    Ok(0)
}

fn round_trip(world: &Communicator<'_>, first: bool) -> Result<(), Error> {
    let peer = i32::from(first);
    if first {
        world.send(&[1u64], peer, 0)?;
    }
    world.receive(&mut [0u64], peer, 0)?;
    if !first {
        world.send(&[1u64], peer, 0)?;
    }
    Ok(())
}

/// System calls of this core: a sleep is one.
fn sleeps() -> u64 {
    syscall::core_counters().map_or(0, |counters| counters.syscalls)
}
