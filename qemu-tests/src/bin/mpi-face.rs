//! The Rust face of MPI: every public function of it, on any number of ranks, with what must be refused
//!
//! A failed check is a panic, which ends the job; a hang is ended by the job's time limit.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "../mpi/face/collectives.rs"]
mod collectives;
#[path = "../mpi/face/communicators.rs"]
mod communicators;
#[path = "../mpi/face/layouts.rs"]
mod layouts;
#[path = "../mpi/face/messages.rs"]
mod messages;
#[path = "../mpi/face/scopes.rs"]
mod scopes;
#[path = "../mpi/face/topologies.rs"]
mod topologies;
#[path = "../mpi/face/windows.rs"]
mod windows;

use lwk_mpi::{Communicator, Error, Mpi, Result};
use lwk_user::{Env, job, println};

lwk_user::entry!(main);

fn main(_env: &Env) -> Result<()> {
    {
        let mpi = Mpi::init()?;
        assert_eq!(Mpi::init().err(), Some(Error::ORDER), "started twice");
        let (world, alone) = (mpi.world(), mpi.alone());
        assert_eq!((world.rank()?, world.size()?), (job().rank().0, job().size()));
        assert_eq!((alone.rank()?, alone.size()?), (0, 1));
        assert!(mpi.transport_memory()?.1.per_peer > 0 && mpi.bytes_per_communicator() > 0);
        messages::run(&mpi, world)?;
        scopes::run(world)?;
        layouts::run(world)?;
        collectives::run(world)?;
        communicators::run(world)?;
        topologies::run(world)?;
        windows::run(world)?;
        world.barrier()?;
    }
    assert_eq!(Mpi::init().err(), Some(Error::ORDER), "started again");
    if job().rank().0 == 0 {
        println!("the face: passed on {} ranks", job().size());
    }
    Ok(())
}

/// This rank, the number of ranks, and the neighbours around the ring: the rank after this one and the one before.
pub fn ring(world: Communicator) -> Result<(i32, i32, i32, i32)> {
    let (rank, size) = (world.rank()? as i32, world.size()? as i32);
    Ok((rank, size, (rank + 1) % size, (rank + size - 1) % size))
}
