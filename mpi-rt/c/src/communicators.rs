//! Communicators (MPI-5.0, chapter 7).

use crate::types::{Comm, Errhandler, Group, Info, Request, give, text, value};
use crate::{conversions, mpi};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::abi::COMM_NULL;
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::hardware::RESOURCE_KEY;
use lwk_mpi_rt::info::{self, hints};
use lwk_mpi_rt::object::{self, Kind, Object};
use lwk_mpi_rt::{Handle, Result, communicators, duplication, error_handler};

/// Calls the engine for a new communicator and gives its handle out, `MPI_COMM_NULL` if this rank gets none.
///
/// # Safety
/// `place` must be null or writable.
unsafe fn make(place: *mut Comm, how: impl FnOnce(&mut Engine) -> Result<Option<Handle>>) -> Result<()> {
    let made = with(how)?;
    // SAFETY: `place` is null or writable (this function's contract).
    unsafe { give(place, made.map_or(COMM_NULL, |handle| handle.0)) }
}

/// As [`make`], for a communicator without a parent, which gets an error handler. Errors: `ERRHANDLER`, before anything is made.
///
/// # Safety
/// As for [`make`].
unsafe fn make_with_handler(
    place: *mut Comm,
    handler: Errhandler,
    how: impl FnOnce(&mut Engine) -> Result<Option<Handle>>,
) -> Result<()> {
    error_handler::check(Kind::Communicator, Handle(handler))?;
    let made = with(how)?;
    if let Some(made) = made {
        error_handler::set(Object::communicator(made), Handle(handler))?;
    }
    // SAFETY: `place` is null or writable (this function's contract).
    unsafe { give(place, made.map_or(COMM_NULL, |handle| handle.0)) }
}

mpi! {
    fn Comm_size(comm: Comm, size: *mut c_int) on Comm(comm) {
        give(size, with(|engine| engine.communicators.size(Handle(comm)))? as c_int)
    }

    fn Comm_rank(comm: Comm, rank: *mut c_int) on Comm(comm) {
        give(rank, with(|engine| engine.communicators.rank(Handle(comm)))? as c_int)
    }

    fn Comm_compare(comm1: Comm, comm2: Comm, result: *mut c_int) on Comm(comm1) {
        give(result, with(|engine| engine.communicators.compare(Handle(comm1), Handle(comm2)))? as c_int)
    }

    fn Comm_dup(comm: Comm, newcomm: *mut Comm) on Comm(comm) {
        give(newcomm, communicators::duplicate(Handle(comm))?.0)
    }

    fn Comm_dup_with_info(comm: Comm, info: Info, newcomm: *mut Comm) on Comm(comm) {
        let hints = hints(Handle(info))?;
        let made = communicators::duplicate(Handle(comm))?;
        Object::communicator(made).set_hints(&hints)?;
        give(newcomm, made.0)
    }

    fn Comm_idup(comm: Comm, newcomm: *mut Comm, request: *mut Request) on Comm(comm) {
        let (made, begun) = duplication::begin(Handle(comm))?;
        give(newcomm, made.0)?;
        give(request, begun.0)
    }

    fn Comm_idup_with_info(comm: Comm, info: Info, newcomm: *mut Comm, request: *mut Request) on Comm(comm) {
        let hints = hints(Handle(info))?;
        let (made, begun) = duplication::begin(Handle(comm))?;
        Object::communicator(made).set_hints(&hints)?;
        give(newcomm, made.0)?;
        give(request, begun.0)
    }

    fn Comm_create(comm: Comm, group: Group, newcomm: *mut Comm) on Comm(comm) {
        make(newcomm, |engine| engine.create(Handle(comm), Handle(group)))
    }

    fn Comm_create_group(comm: Comm, group: Group, tag: c_int, newcomm: *mut Comm) on Comm(comm) {
        make(newcomm, |engine| engine.create_group(Handle(comm), Handle(group), tag))
    }

    fn Comm_create_from_group(
        group: Group, stringtag: *const c_char, info: Info, errhandler: Errhandler, newcomm: *mut Comm,
    ) on NewComm(errhandler) {
        hints(Handle(info))?;
        let tag = text(stringtag)?;
        make_with_handler(newcomm, errhandler, |engine| engine.create_from_group(Handle(group), tag))
    }

    fn Comm_split(comm: Comm, color: c_int, key: c_int, newcomm: *mut Comm) on Comm(comm) {
        make(newcomm, |engine| engine.split(Handle(comm), color, key))
    }

    /// An unguided split tells in `info` what it has divided by.
    fn Comm_split_type(comm: Comm, split_type: c_int, key: c_int, info: Info, newcomm: *mut Comm) on Comm(comm) {
        let hints = hints(Handle(info))?;
        let (made, level) = with(|engine| engine.split_type(Handle(comm), split_type, key, &hints))?;
        if let Some(level) = level && info != lwk_mpi_rt::abi::INFO_NULL {
            info::change(Handle(info), |it| it.set(RESOURCE_KEY, level.name().as_bytes()))?;
        }
        give(newcomm, made.map_or(COMM_NULL, |handle| handle.0))
    }

    fn Comm_free(comm: *mut Comm) on Comm({
        // SAFETY: null, or readable as the standard asks.
        unsafe { comm.as_ref() }.copied().unwrap_or(COMM_NULL)
    }) {
        let handle = value(comm)?;
        communicators::free(Handle(handle))?;
        conversions::forget(handle);
        give(comm, COMM_NULL)
    }

    /// Nobody has connected to this job, so all there is to end is the communicator, when what was begun on it is complete.
    fn Comm_disconnect(comm: *mut Comm) on Comm({
        // SAFETY: null, or readable as the standard asks.
        unsafe { comm.as_ref() }.copied().unwrap_or(COMM_NULL)
    }) {
        let handle = value(comm)?;
        communicators::free(Handle(handle))?;
        conversions::forget(handle);
        give(comm, COMM_NULL)
    }

    fn Comm_test_inter(comm: Comm, flag: *mut c_int) on Comm(comm) {
        give(flag, with(|engine| engine.communicators.is_inter(Handle(comm)))? as c_int)
    }

    fn Comm_remote_size(comm: Comm, size: *mut c_int) on Comm(comm) {
        give(size, with(|engine| engine.communicators.remote_size(Handle(comm)))? as c_int)
    }

    fn Comm_remote_group(comm: Comm, group: *mut Group) on Comm(comm) {
        give(group, with(|engine| engine.remote_group_of(Handle(comm)))?.0)
    }

    fn Comm_group(comm: Comm, group: *mut Group) on Comm(comm) {
        give(group, with(|engine| engine.group_of(Handle(comm)))?.0)
    }

    fn Intercomm_create(
        local_comm: Comm, local_leader: c_int, peer_comm: Comm, remote_leader: c_int, tag: c_int, newintercomm: *mut Comm,
    ) on Comm(local_comm) {
        make(newintercomm, |engine| {
            engine.create_inter(Handle(local_comm), local_leader, Handle(peer_comm), remote_leader, tag).map(Some)
        })
    }

    fn Intercomm_create_from_groups(
        local_group: Group, local_leader: c_int, remote_group: Group, remote_leader: c_int, stringtag: *const c_char,
        info: Info, errhandler: Errhandler, newintercomm: *mut Comm,
    ) on NewComm(errhandler) {
        hints(Handle(info))?;
        let tag = text(stringtag)?;
        let (local, remote) = (Handle(local_group), Handle(remote_group));
        make_with_handler(newintercomm, errhandler, |engine| {
            engine.create_inter_from_groups(local, local_leader, remote, remote_leader, tag)
        })
    }

    fn Intercomm_merge(intercomm: Comm, high: c_int, newintracomm: *mut Comm) on Comm(intercomm) {
        make(newintracomm, |engine| engine.merge(Handle(intercomm), high != 0).map(Some))
    }

    fn Comm_set_info(comm: Comm, info: Info) on Comm(comm) {
        object::exists(Object::communicator(Handle(comm)))?;
        Object::communicator(Handle(comm)).set_hints(&info::content(Handle(info))?)
    }

    fn Comm_get_info(comm: Comm, info_used: *mut Info) on Comm(comm) {
        object::exists(Object::communicator(Handle(comm)))?;
        give(info_used, info::insert(Object::communicator(Handle(comm)).hints()?)?.0)
    }
}
