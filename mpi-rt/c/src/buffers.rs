//! Buffers for buffered sends (MPI-5.0, section 3.6): the process's, a communicator's, a session's.

use crate::mpi;
use crate::types::{Comm, Number, Request, Session, give, give_number};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::request::Owner;
use lwk_mpi_rt::{Error, Handle, Result};

/// Gives a buffer back. Errors: those of the engine; `ARG` for null pointers, `VALUE_TOO_LARGE` if its size is, and then the buffer stays
/// attached.
///
/// # Safety
/// Both must be null or writable.
unsafe fn detach<N: Number>(owner: Owner, buffer: *mut *mut u8, size: *mut N) -> Result<()> {
    if buffer.is_null() || size.is_null() {
        return Err(Error::ARG);
    }
    let bytes = with(|engine| engine.attached_bytes(owner))?;
    // SAFETY: `size` is not null (checked above), so it is writable (this function's contract).
    unsafe { give_number(size, bytes as i64)? };
    let (address, _) = with(|engine| engine.detach(owner))?;
    // SAFETY: `buffer` is not null (checked above), so it is writable (this function's contract).
    unsafe { give(buffer, address) }
}

mpi! {
    fn Buffer_attach + Buffer_attach_c<N>(buffer: *mut u8, size: N) on Nothing {
        with(|engine| engine.attach(Owner::Process, buffer, size.wide()))
    }

    fn Buffer_detach + Buffer_detach_c<N>(buffer_addr: *mut *mut u8, size: *mut N) on Nothing {
        detach(Owner::Process, buffer_addr, size)
    }

    fn Buffer_flush() on Nothing {
        with(|engine| engine.flush(Owner::Process))
    }

    fn Buffer_iflush(request: *mut Request) on Nothing {
        give(request, with(|engine| engine.iflush(Owner::Process))?.0)
    }

    fn Comm_attach_buffer + Comm_attach_buffer_c<N>(comm: Comm, buffer: *mut u8, size: N) on Comm(comm) {
        with(|engine| engine.attach(Owner::Communicator(Handle(comm)), buffer, size.wide()))
    }

    fn Comm_detach_buffer + Comm_detach_buffer_c<N>(comm: Comm, buffer_addr: *mut *mut u8, size: *mut N) on Comm(comm) {
        detach(Owner::Communicator(Handle(comm)), buffer_addr, size)
    }

    fn Comm_flush_buffer(comm: Comm) on Comm(comm) {
        with(|engine| engine.flush(Owner::Communicator(Handle(comm))))
    }

    fn Comm_iflush_buffer(comm: Comm, request: *mut Request) on Comm(comm) {
        give(request, with(|engine| engine.iflush(Owner::Communicator(Handle(comm))))?.0)
    }

    fn Session_attach_buffer + Session_attach_buffer_c<N>(session: Session, buffer: *mut u8, size: N) on Session(session) {
        with(|engine| engine.attach(Owner::Session(Handle(session)), buffer, size.wide()))
    }

    fn Session_detach_buffer + Session_detach_buffer_c<N>(session: Session, buffer_addr: *mut *mut u8, size: *mut N) on Session(session) {
        detach(Owner::Session(Handle(session)), buffer_addr, size)
    }

    fn Session_flush_buffer(session: Session) on Session(session) {
        with(|engine| engine.flush(Owner::Session(Handle(session))))
    }

    fn Session_iflush_buffer(session: Session, request: *mut Request) on Session(session) {
        give(request, with(|engine| engine.iflush(Owner::Session(Handle(session))))?.0)
    }
}
