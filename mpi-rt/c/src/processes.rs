//! Making other processes and meeting other jobs (MPI-5.0, chapter 11). A job has the ranks that it starts with: there is nobody to
//! spawn, connect to or publish for, so all of these answer `MPI_ERR_UNSUPPORTED_OPERATION`.

use crate::mpi;
use crate::types::{Comm, Info, give};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::{Error, Handle, Result, abi};

/// Errors: `COMM` for a communicator that is none, else `UNSUPPORTED_OPERATION`.
fn unsupported(comm: Comm) -> Result<()> {
    with(|engine| engine.size(Handle(comm)))?;
    Err(Error::UNSUPPORTED_OPERATION)
}

mpi! {
    fn Comm_spawn(
        _command: *const c_char, _argv: *mut *mut c_char, _maxprocs: c_int, _info: Info, _root: c_int, comm: Comm,
        _intercomm: *mut Comm, _errcodes: *mut c_int,
    ) on Comm(comm) {
        unsupported(comm)
    }

    fn Comm_spawn_multiple(
        _count: c_int, _commands: *mut *mut c_char, _argv: *mut *mut *mut c_char, _maxprocs: *const c_int, _info: *const Info,
        _root: c_int, comm: Comm, _intercomm: *mut Comm, _errcodes: *mut c_int,
    ) on Comm(comm) {
        unsupported(comm)
    }

    /// Nobody has spawned this job.
    fn Comm_get_parent(parent: *mut Comm) on Nothing {
        give(parent, abi::COMM_NULL)
    }

    fn Open_port(_info: Info, _port_name: *mut c_char) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }

    fn Close_port(_port_name: *const c_char) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }

    fn Comm_accept(_port_name: *const c_char, _info: Info, _root: c_int, comm: Comm, _newcomm: *mut Comm) on Comm(comm) {
        unsupported(comm)
    }

    fn Comm_connect(_port_name: *const c_char, _info: Info, _root: c_int, comm: Comm, _newcomm: *mut Comm) on Comm(comm) {
        unsupported(comm)
    }

    fn Comm_join(_fd: c_int, _intercomm: *mut Comm) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }

    fn Publish_name(_service_name: *const c_char, _info: Info, _port_name: *const c_char) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }

    fn Unpublish_name(_service_name: *const c_char, _info: Info, _port_name: *const c_char) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }

    fn Lookup_name(_service_name: *const c_char, _info: Info, _port_name: *mut c_char) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }
}
