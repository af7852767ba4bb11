//! Collectives (MPI-5.0, chapter 6).

use crate::mpi;
use crate::types::{Comm, Datatype, Op};
use core::ffi::c_int;
use lwk_mpi_rt::Handle;
use lwk_mpi_rt::engine::with;

mpi! {
    fn Barrier(comm: Comm) on Comm(comm) {
        with(|engine| engine.barrier_on(Handle(comm)))
    }

    fn Bcast + Bcast_c<N>(buffer: *mut u8, count: N, datatype: Datatype, root: c_int, comm: Comm) on Comm(comm) {
        with(|engine| engine.broadcast(buffer, count.wide(), datatype, root, Handle(comm)))
    }

    fn Allreduce + Allreduce_c<N>(sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, comm: Comm)
    on Comm(comm) {
        with(|engine| engine.allreduce(sendbuf, recvbuf, count.wide(), datatype, op, Handle(comm)))
    }
}
