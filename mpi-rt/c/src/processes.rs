//! Making other processes and meeting other jobs (MPI-5.0, chapter 11). A job has the ranks that it starts with: there is nobody to
//! spawn, connect to or publish for, so these answer `MPI_ERR_UNSUPPORTED_OPERATION`; the codes of the processes that were to be spawned are
//! `MPI_ERR_SPAWN` (section 11.8.2), in the root, which alone knows how many. A port that shall be closed has never been opened, a
//! name that shall be found or withdrawn never been published: that is what the calls for them say.

use crate::mpi;
use crate::types::{Comm, Info, array, give, output};
use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::{Error, Handle, Result, abi};

/// Errors: `COMM` for a communicator that is none, else `UNSUPPORTED_OPERATION`.
fn unsupported(comm: Comm) -> Result<()> {
    with(|engine| engine.communicators.size(Handle(comm)))?;
    Err(Error::UNSUPPORTED_OPERATION)
}

/// Says that none of the processes has been spawned. `processes` are the numbers that the root asks for, of which the other ranks know
/// nothing. Errors: `COMM`, `ROOT`; in the root `ARG` for a negative number and those of `processes`; else `UNSUPPORTED_OPERATION`.
///
/// # Safety
/// `codes` must be null or writable for as many codes as `processes` sum up to.
unsafe fn none_spawned<'a>(
    comm: Comm,
    root: c_int,
    processes: impl FnOnce() -> Result<&'a [c_int]>,
    codes: *mut c_int,
) -> Result<()> {
    let (is_inter, rank, size) = with(|engine| {
        Ok((
            engine.communicators.is_inter(Handle(comm))?,
            engine.communicators.rank(Handle(comm))?,
            engine.communicators.size(Handle(comm))?,
        ))
    })?;
    if is_inter {
        return Err(Error::COMM);
    }
    let root = u32::try_from(root).ok().filter(|root| *root < size).ok_or(Error::ROOT)?;
    if rank == root {
        let processes = processes()?;
        if processes.iter().any(|number| *number < 0) {
            return Err(Error::ARG);
        }
        let all =
            processes.iter().try_fold(0, |sum: c_int, number| sum.checked_add(*number)).ok_or(Error::ARG)?;
        if !codes.is_null() {
            // SAFETY: `codes` is not null (checked above), so it is writable for `all` codes (this function's
            // contract).
            unsafe { output(codes, all)? }.fill(MaybeUninit::new(Error::SPAWN.code()));
        }
    }
    Err(Error::UNSUPPORTED_OPERATION)
}

mpi! {
    fn Comm_spawn(
        _command: *const c_char, _argv: *mut *mut c_char, maxprocs: c_int, _info: Info, root: c_int, comm: Comm,
        _intercomm: *mut Comm, errcodes: *mut c_int,
    ) on Comm(comm) {
        let processes = [maxprocs];
        none_spawned(comm, root, || Ok(&processes), errcodes)
    }

    fn Comm_spawn_multiple(
        count: c_int, _commands: *mut *mut c_char, _argv: *mut *mut *mut c_char, maxprocs: *const c_int, _info: *const Info,
        root: c_int, comm: Comm, _intercomm: *mut Comm, errcodes: *mut c_int,
    ) on Comm(comm) {
        none_spawned(comm, root, || array(maxprocs, count), errcodes)
    }

    /// Nobody has spawned this job.
    fn Comm_get_parent(parent: *mut Comm) on Nothing {
        give(parent, abi::COMM_NULL)
    }

    fn Open_port(_info: Info, _port_name: *mut c_char) on Nothing {
        Err(Error::UNSUPPORTED_OPERATION)
    }

    fn Close_port(_port_name: *const c_char) on Nothing {
        Err(Error::PORT)
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
        Err(Error::SERVICE)
    }

    fn Lookup_name(_service_name: *const c_char, _info: Info, _port_name: *mut c_char) on Nothing {
        Err(Error::NAME)
    }
}
