//! Point to point: messages (MPI-5.0, chapter 3).

use crate::mpi;
use crate::types::{Comm, Datatype, Message, Number, Request, Status, give};
use core::ffi::c_int;
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::probe::Matched;
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::short;
use lwk_mpi_rt::status::Status as Outcome;
use lwk_mpi_rt::wait::DONE;
use lwk_mpi_rt::{Error, Handle, Result};

/// `MPI_MESSAGE_NULL` and `MPI_MESSAGE_NO_PROC`.
const MESSAGE_NULL: Message = 0x128;
const MESSAGE_NO_PROC: Message = 0x129;

/// Where a message goes or comes from: rank, tag, communicator.
type Address = (c_int, c_int, Comm);

/// The engine's arguments of a send of `count` items.
#[inline(always)]
pub(crate) fn sending<N: Number>(
    address: *const u8,
    count: N,
    datatype: Datatype,
    to: Address,
) -> SendArguments {
    let (target, tag, comm) = to;
    SendArguments { address, count: count.wide(), datatype, target, tag, communicator: Handle(comm) }
}

/// The engine's arguments of a receive of at most `count` items.
#[inline(always)]
pub(crate) fn receiving<N: Number>(
    address: *mut u8,
    count: N,
    datatype: Datatype,
    from: Address,
) -> ReceiveArguments {
    let (source, tag, comm) = from;
    ReceiveArguments { address, count: count.wide(), datatype, source, tag, communicator: Handle(comm) }
}

/// A send of one of the modes, blocking, non-blocking and persistent: three functions, each with its large-count form.
macro_rules! sends {
    ($($mode:ident: $send:ident $send_c:ident $isend:ident $isend_c:ident $init:ident $init_c:ident,)*) => {
        mpi! {
            $(
                fn $send + $send_c<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) on Comm(comm)
                quick {
                    short::send(&sending(buf, count, datatype, (dest, tag, comm)), Mode::$mode)
                } {
                    let arguments = sending(buf, count, datatype, (dest, tag, comm));
                    with(|engine| engine.send(&arguments, Mode::$mode))
                }

                fn $isend + $isend_c<N>(
                    buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request,
                ) on Comm(comm) quick {
                    let arguments = sending(buf, count, datatype, (dest, tag, comm));
                    !request.is_null() && short::send(&arguments, Mode::$mode) && give(request, DONE.0).is_ok()
                } {
                    let arguments = sending(buf, count, datatype, (dest, tag, comm));
                    give(request, with(|engine| engine.isend(&arguments, Mode::$mode))?.0)
                }

                fn $init + $init_c<N>(
                    buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request,
                ) on Comm(comm) {
                    let arguments = sending(buf, count, datatype, (dest, tag, comm));
                    give(request, with(|engine| engine.send_init(&arguments, Mode::$mode))?.0)
                }
            )*
        }
    };
}

sends! {
    Standard: Send Send_c Isend Isend_c Send_init Send_init_c,
    Synchronous: Ssend Ssend_c Issend Issend_c Ssend_init Ssend_init_c,
    Ready: Rsend Rsend_c Irsend Irsend_c Rsend_init Rsend_init_c,
    Buffered: Bsend Bsend_c Ibsend Ibsend_c Bsend_init Bsend_init_c,
}

mpi! {
    fn Recv + Recv_c<N>(buf: *mut u8, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, status: *mut Status)
    on Comm(comm) quick {
        let received = short::receive(&receiving(buf, count, datatype, (source, tag, comm)));
        if let Some(bytes) = received {
            Status::store(status, &Outcome { source, tag, bytes, ..Outcome::EMPTY });
        }
        received.is_some()
    } {
        let arguments = receiving(buf, count, datatype, (source, tag, comm));
        let outcome = with(|engine| engine.receive(&arguments))?;
        Status::store(status, &outcome);
        Ok(())
    }

    fn Irecv + Irecv_c<N>(
        buf: *mut u8, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: *mut Request,
    ) on Comm(comm) {
        let arguments = receiving(buf, count, datatype, (source, tag, comm));
        give(request, with(|engine| engine.irecv(&arguments))?.0)
    }

    fn Recv_init + Recv_init_c<N>(
        buf: *mut u8, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: *mut Request,
    ) on Comm(comm) {
        let arguments = receiving(buf, count, datatype, (source, tag, comm));
        give(request, with(|engine| engine.receive_init(&arguments))?.0)
    }

    fn Sendrecv + Sendrecv_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int, comm: Comm, status: *mut Status,
    ) on Comm(comm) {
        let send = sending(sendbuf, sendcount, sendtype, (dest, sendtag, comm));
        let receive = receiving(recvbuf, recvcount, recvtype, (source, recvtag, comm));
        let outcome = with(|engine| engine.sendrecv(&send, &receive))?;
        Status::store(status, &outcome);
        Ok(())
    }

    fn Sendrecv_replace + Sendrecv_replace_c<N>(
        buf: *mut u8, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm,
        status: *mut Status,
    ) on Comm(comm) {
        let send = sending(buf, count, datatype, (dest, sendtag, comm));
        let receive = receiving(buf, count, datatype, (source, recvtag, comm));
        let outcome = with(|engine| engine.sendrecv_replace(&send, &receive))?;
        Status::store(status, &outcome);
        Ok(())
    }

    fn Probe(source: c_int, tag: c_int, comm: Comm, status: *mut Status) on Comm(comm) {
        let outcome = with(|engine| engine.probe(source, tag, Handle(comm)))?;
        Status::store(status, &outcome);
        Ok(())
    }

    fn Iprobe(source: c_int, tag: c_int, comm: Comm, flag: *mut c_int, status: *mut Status) on Comm(comm) {
        let outcome = with(|engine| engine.iprobe(source, tag, Handle(comm)))?;
        if let Some(outcome) = &outcome {
            Status::store(status, outcome);
        }
        give(flag, outcome.is_some() as c_int)
    }

    /// Matched probe (MPI-5.0, section 3.8.2).
    fn Mprobe(source: c_int, tag: c_int, comm: Comm, message: *mut Message, status: *mut Status) on Comm(comm) {
        let matched = with(|engine| engine.mprobe(source, tag, Handle(comm)))?;
        give_matched(&matched, message, status)
    }

    fn Improbe(source: c_int, tag: c_int, comm: Comm, flag: *mut c_int, message: *mut Message, status: *mut Status)
    on Comm(comm) {
        let matched = with(|engine| engine.improbe(source, tag, Handle(comm)))?;
        if let Some(matched) = &matched {
            give_matched(matched, message, status)?;
        }
        give(flag, matched.is_some() as c_int)
    }

    fn Mrecv + Mrecv_c<N>(buf: *mut u8, count: N, datatype: Datatype, message: *mut Message, status: *mut Status) on Nothing {
        let outcome = with(|engine| {
            let request = begin_matched(engine, buf, count.wide(), datatype, message)?;
            engine.wait(request)
        })?;
        Status::store(status, &outcome);
        Ok(())
    }

    fn Imrecv + Imrecv_c<N>(buf: *mut u8, count: N, datatype: Datatype, message: *mut Message, request: *mut Request) on Nothing {
        give(request, with(|engine| begin_matched(engine, buf, count.wide(), datatype, message))?.0)
    }

    fn Isendrecv + Isendrecv_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int, comm: Comm, request: *mut Request,
    ) on Comm(comm) {
        let send = sending(sendbuf, sendcount, sendtype, (dest, sendtag, comm));
        let receive = receiving(recvbuf, recvcount, recvtype, (source, recvtag, comm));
        give(request, with(|engine| engine.isendrecv(&send, &receive))?.0)
    }

    fn Isendrecv_replace + Isendrecv_replace_c<N>(
        buf: *mut u8, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm,
        request: *mut Request,
    ) on Comm(comm) {
        let send = sending(buf, count, datatype, (dest, sendtag, comm));
        let receive = receiving(buf, count, datatype, (source, recvtag, comm));
        give(request, with(|engine| engine.isendrecv_replace(&send, &receive))?.0)
    }
}

/// Begins the receive of a message that a matched probe has found, and makes its handle null. Errors: those of the receive; `ARG` for a
/// null pointer.
///
/// # Safety
/// `message` must be null or writable, and the buffer writable until the request is complete.
unsafe fn begin_matched(
    engine: &mut Engine,
    buffer: *mut u8,
    count: i64,
    datatype: Datatype,
    message: *mut Message,
) -> Result<Handle> {
    if message.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `message` is not null (checked above), so it is writable; the buffer is so until the request
    // completes (this function's contract).
    unsafe {
        let request = match message.read() {
            MESSAGE_NO_PROC => engine.receive_from_nobody(buffer, count, datatype)?,
            taken => engine.imrecv(buffer, count, datatype, Handle(taken))?,
        };
        message.write(MESSAGE_NULL);
        Ok(request)
    }
}

/// Tells what a matched probe has found.
///
/// # Safety
/// Both must be null or writable.
unsafe fn give_matched(matched: &Matched, message: *mut Message, status: *mut Status) -> Result<()> {
    // SAFETY: `message` and `status` are null or writable (this function's contract).
    unsafe {
        match matched {
            Matched::NoProcess => {
                Status::store(status, &Outcome::PROC_NULL);
                give(message, MESSAGE_NO_PROC)
            }
            Matched::Message(handle, outcome) => {
                Status::store(status, outcome);
                give(message, handle.0)
            }
        }
    }
}
