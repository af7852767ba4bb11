//! Messages that go on while the rank computes (MPI-5.0, section 3.7): begun in a [`Scope`], which borrows their buffers.

use super::buffer::{Buffer, BufferMut};
use super::collective::Both;
use super::persistent::Persistent;
use super::point_to_point::{Message, receiving, sending};
use super::request::{Lent, Request};
use super::scope::Scope;
use lwk_mpi_rt::error::Result;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::short;
use lwk_mpi_rt::wait::DONE;

impl<'scope> Scope<'scope, '_> {
    /// Begins a send. Errors: as for [`Communicator::send`](super::Communicator::send).
    #[inline]
    pub fn isend<B: Buffer + ?Sized>(
        &self,
        buffer: &'scope B,
        target: i32,
        tag: i32,
    ) -> Result<Request<'scope, &'scope B>> {
        self.isend_as(Mode::Standard, buffer, target, tag)
    }

    /// Begins a send in a mode. Errors: as for [`Communicator::send_as`](super::Communicator::send_as).
    #[inline]
    pub fn isend_as<B: Buffer + ?Sized>(
        &self,
        mode: Mode,
        buffer: &'scope B,
        target: i32,
        tag: i32,
    ) -> Result<Request<'scope, &'scope B>> {
        let arguments = sending(buffer.part(), target, tag, self.communicator);
        // SAFETY: the buffer is borrowed until the scope ends, and the scope waits for the request.
        let sent = unsafe { short::send(&arguments, mode) };
        let handle = if sent {
            DONE
        } else {
            // SAFETY: the buffer is borrowed until the scope ends, and the scope waits for the request.
            self.begin(|engine| unsafe { engine.isend(&arguments, mode) })?
        };
        Ok(Request::new(handle, self.pending, Lent::new(buffer)))
    }

    /// Begins a receive. Errors: `RANK`, `TAG`; those of the message are the request's.
    #[inline]
    pub fn irecv<B: BufferMut + ?Sized>(
        &self,
        buffer: &'scope mut B,
        source: i32,
        tag: i32,
    ) -> Result<Request<'scope, &'scope mut B>> {
        let mut lent = Lent::new(buffer);
        let arguments = receiving(lent.get().part_mut(), source, tag, self.communicator);
        // SAFETY: the buffer is borrowed exclusively until the scope ends, which waits for the request; any
        // bytes may be written there.
        let handle = self.begin(|engine| unsafe { engine.irecv(&arguments) })?;
        Ok(Request::new(handle, self.pending, lent))
    }

    /// Begins the receive of a message that a probe has taken out. Errors: the request's.
    pub fn imrecv<B: BufferMut + ?Sized>(
        &self,
        mut message: Message,
        buffer: &'scope mut B,
    ) -> Result<Request<'scope, &'scope mut B>> {
        let mut lent = Lent::new(buffer);
        let part = lent.get().part_mut();
        let handle = match message.take() {
            None => DONE,
            Some(message) => self.begin(|engine| {
                // SAFETY: the buffer is borrowed exclusively until the scope ends, which waits for the
                // request; any bytes may be written there.
                unsafe { engine.imrecv(part.address, part.count, part.datatype, message) }
            })?,
        };
        Ok(Request::new(handle, self.pending, lent))
    }

    /// Begins a send and a receive, each with its rank and tag, that are one request, with the receive's status. Errors: those of both.
    pub fn isendrecv<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        send: (&'scope S, i32, i32),
        receive: (&'scope mut R, i32, i32),
    ) -> Result<Both<'scope, S, R>> {
        let mut lent = Lent::new((send.0, receive.0));
        let sends = sending(send.0.part(), send.1, send.2, self.communicator);
        let receives = receiving(lent.get().1.part_mut(), receive.1, receive.2, self.communicator);
        // SAFETY: one buffer is borrowed, the other exclusively, until the scope ends, which waits for the
        // request; any bytes may be written to the latter.
        let handle = self.begin(|engine| unsafe { engine.isendrecv(&sends, &receives) })?;
        Ok(Request::new(handle, self.pending, lent))
    }

    /// The same with one buffer, whose content is sent and replaced. Errors: also `NO_MEM`.
    pub fn isendrecv_replace<B: BufferMut + ?Sized>(
        &self,
        buffer: &'scope mut B,
        (target, send_tag): (i32, i32),
        (source, receive_tag): (i32, i32),
    ) -> Result<Request<'scope, &'scope mut B>> {
        let mut lent = Lent::new(buffer);
        let part = lent.get().part_mut();
        let sends = sending(part, target, send_tag, self.communicator);
        let receives = receiving(part, source, receive_tag, self.communicator);
        // SAFETY: the buffer is borrowed exclusively until the scope ends, which waits for the request; any
        // bytes may be written there.
        let handle = self.begin(|engine| unsafe { engine.isendrecv_replace(&sends, &receives) })?;
        Ok(Request::new(handle, self.pending, lent))
    }

    /// A send that is started again and again; its buffer can be filled in between. Errors: as for [`Scope::isend_as`].
    pub fn send_init<B: BufferMut + ?Sized>(
        &self,
        mode: Mode,
        buffer: &'scope mut B,
        target: i32,
        tag: i32,
    ) -> Result<Persistent<'scope, &'scope mut B>> {
        let mut lent = Lent::new(buffer);
        let arguments = sending(lent.get().part_mut(), target, tag, self.communicator);
        // SAFETY: the request lends the buffer out only while it is not active, and the scope waits for it.
        let handle = self.begin(|engine| unsafe { engine.send_init(&arguments, mode) })?;
        Ok(Persistent::new(handle, lent))
    }

    /// A receive that is started again and again. Errors: as for [`Scope::irecv`].
    pub fn receive_init<B: BufferMut + ?Sized>(
        &self,
        buffer: &'scope mut B,
        source: i32,
        tag: i32,
    ) -> Result<Persistent<'scope, &'scope mut B>> {
        let mut lent = Lent::new(buffer);
        let arguments = receiving(lent.get().part_mut(), source, tag, self.communicator);
        // SAFETY: the request lends the buffer out only while it is not active, and the scope waits for it;
        // any bytes may be written there.
        let handle = self.begin(|engine| unsafe { engine.receive_init(&arguments) })?;
        Ok(Persistent::new(handle, lent))
    }
}
