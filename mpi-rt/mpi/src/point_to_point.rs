//! Messages between two ranks, by calls that return when their buffers are free (MPI-5.0, sections 3.2, 3.4, 3.8 and 3.10).

use super::buffer::{Buffer, BufferMut};
use super::communicator::Communicator;
use core::marker::PhantomData;
use lwk_mpi_rt::collective::BufferArgument;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Result;
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_rt::probe::Matched;
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::short;
use lwk_mpi_rt::status::Status;

#[inline]
pub(super) fn sending(part: BufferArgument, target: i32, tag: i32, communicator: Handle) -> SendArguments {
    let BufferArgument { address, count, datatype } = part;
    SendArguments { address, count, datatype, target, tag, communicator }
}

#[inline]
pub(super) fn receiving(
    part: BufferArgument,
    source: i32,
    tag: i32,
    communicator: Handle,
) -> ReceiveArguments {
    let BufferArgument { address, count, datatype } = part;
    ReceiveArguments { address, count, datatype, source, tag, communicator }
}

/// Sends what [`short::send`] has not, in a function of its own, so that only such messages pay for its frame.
///
/// # Safety
/// The part's items must be readable until this returns.
#[inline(never)]
unsafe fn send_after_all(
    part: BufferArgument,
    target: i32,
    tag: i32,
    communicator: Handle,
    mode: Mode,
) -> Result<()> {
    let arguments = sending(part, target, tag, communicator);
    // SAFETY: the part's items are readable until this returns (this function's contract).
    with(|engine| unsafe { engine.send(&arguments, mode) })
}

/// The same for what [`short::receive`] has not received.
///
/// # Safety
/// The part's items must be writable until this returns.
#[inline(never)]
unsafe fn receive_after_all(
    part: BufferArgument,
    source: i32,
    tag: i32,
    communicator: Handle,
) -> Result<Status> {
    let arguments = receiving(part, source, tag, communicator);
    // SAFETY: the part's items are writable until this returns (this function's contract).
    with(|engine| unsafe { engine.receive(&arguments) })
}

impl<'mpi> Communicator<'mpi> {
    /// Sends; returns when the buffer is free. Errors: `RANK`, `TAG`.
    #[inline]
    pub fn send<B: Buffer + ?Sized>(&self, buffer: &B, target: i32, tag: i32) -> Result<()> {
        self.send_as(Mode::Standard, buffer, target, tag)
    }

    /// Sends in a mode. Errors: as for [`Communicator::send`]; `BUFFER` if there is no room for a buffered one.
    #[inline]
    pub fn send_as<B: Buffer + ?Sized>(&self, mode: Mode, buffer: &B, target: i32, tag: i32) -> Result<()> {
        let arguments = sending(buffer.part(), target, tag, self.handle());
        // SAFETY: the buffer is borrowed until the call returns.
        if unsafe { short::send(&arguments, mode) } {
            return Ok(());
        }
        // SAFETY: the buffer is borrowed until the call returns.
        unsafe { send_after_all(buffer.part(), target, tag, self.handle(), mode) }
    }

    /// Receives. Errors: `RANK`, `TAG`; `TRUNCATE` if the message is longer than the buffer.
    #[inline]
    pub fn receive<B: BufferMut + ?Sized>(&self, buffer: &mut B, source: i32, tag: i32) -> Result<Status> {
        let arguments = receiving(buffer.part_mut(), source, tag, self.handle());
        // SAFETY: the buffer is borrowed exclusively until the call returns; any bytes may be written there.
        if let Some(bytes) = unsafe { short::receive(&arguments) } {
            return Ok(Status { source, tag, bytes, ..Status::EMPTY });
        }
        // SAFETY: the buffer is borrowed exclusively until the call returns; any bytes may be written there.
        unsafe { receive_after_all(buffer.part_mut(), source, tag, self.handle()) }
    }

    /// Sends and receives at once, each with its rank and tag. Errors: those of both.
    pub fn sendrecv<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        send: (&S, i32, i32),
        receive: (&mut R, i32, i32),
    ) -> Result<Status> {
        let send = sending(send.0.part(), send.1, send.2, self.handle());
        let receive = receiving(receive.0.part_mut(), receive.1, receive.2, self.handle());
        // SAFETY: one buffer is borrowed, the other exclusively, so they are apart, until the call returns;
        // any bytes may be written to the latter.
        with(|engine| unsafe { engine.sendrecv(&send, &receive) })
    }

    /// Sends what is in the buffer, with a rank and a tag, and replaces it by what comes. Errors: those of both; `NO_MEM`.
    pub fn sendrecv_replace<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        (target, send_tag): (i32, i32),
        (source, receive_tag): (i32, i32),
    ) -> Result<Status> {
        let part = buffer.part_mut();
        let send = sending(part, target, send_tag, self.handle());
        let receive = receiving(part, source, receive_tag, self.handle());
        // SAFETY: the buffer is borrowed exclusively until the call returns; any bytes may be written there.
        with(|engine| unsafe { engine.sendrecv_replace(&send, &receive) })
    }

    /// Waits for a message and says what it is. Errors: `RANK`, `TAG`.
    pub fn probe(&self, source: i32, tag: i32) -> Result<Status> {
        with(|engine| engine.probe(source, tag, self.handle()))
    }

    /// What the oldest matching message is, if one has arrived. Errors: as for [`Communicator::probe`].
    pub fn iprobe(&self, source: i32, tag: i32) -> Result<Option<Status>> {
        with(|engine| engine.iprobe(source, tag, self.handle()))
    }

    /// Waits for a message and takes it out, so that no other receive matches it. Errors: as for [`Communicator::probe`].
    pub fn mprobe(&self, source: i32, tag: i32) -> Result<Message<'mpi>> {
        with(|engine| engine.mprobe(source, tag, self.handle())).map(Message::new)
    }

    /// Takes the oldest matching message out, if one has arrived. Errors: as for [`Communicator::probe`].
    pub fn improbe(&self, source: i32, tag: i32) -> Result<Option<Message<'mpi>>> {
        let matched = with(|engine| engine.improbe(source, tag, self.handle()))?;
        Ok(matched.map(Message::new))
    }
}

/// A message that a matched probe has taken out. One that is dropped is received nowhere, and its sender goes on.
pub struct Message<'mpi> {
    /// `None` if the source was the null process, or when it has been received.
    handle: Option<Handle>,
    status: Status,
    mpi: PhantomData<&'mpi super::Mpi>,
}

impl Message<'_> {
    fn new(matched: Matched) -> Self {
        let (handle, status) = match matched {
            Matched::NoProcess => (None, Status::PROC_NULL),
            Matched::Message(handle, status) => (Some(handle), status),
        };
        Message { handle, status, mpi: PhantomData }
    }

    /// What it says.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Receives it. Errors: `TRUNCATE` if it is longer than the buffer.
    pub fn receive<B: BufferMut + ?Sized>(mut self, buffer: &mut B) -> Result<Status> {
        match self.take() {
            Some(message) => receive(message, buffer.part_mut()),
            None => Ok(self.status),
        }
    }

    /// Its handle, for one receive.
    pub(super) fn take(&mut self) -> Option<Handle> {
        self.handle.take()
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        if let Some(message) = self.take() {
            // Into no bytes: that it is truncated is what is meant.
            let _ = receive(message, <[u8] as Buffer>::part(&[]));
        }
    }
}

fn receive(message: Handle, part: BufferArgument) -> Result<Status> {
    let BufferArgument { address, count, datatype } = part;
    with(|engine| {
        // SAFETY: the buffer is borrowed exclusively until this returns, which is after the receive.
        let request = unsafe { engine.imrecv(address, count, datatype, message)? };
        engine.wait(request)
    })
}
