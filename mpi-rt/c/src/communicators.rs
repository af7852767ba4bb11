//! Groups, communicators, attributes (MPI-5.0, chapter 7).

use crate::mpi;
use crate::types::{Comm, give};
use core::ffi::c_int;
use lwk_mpi_rt::Handle;
use lwk_mpi_rt::engine::with;

mpi! {
    fn Comm_size(comm: Comm, size: *mut c_int) on Comm(comm) {
        give(size, with(|engine| engine.size(Handle(comm)))? as c_int)
    }

    fn Comm_rank(comm: Comm, rank: *mut c_int) on Comm(comm) {
        give(rank, with(|engine| engine.rank(Handle(comm)))? as c_int)
    }
}
