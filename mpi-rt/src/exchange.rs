//! Combined send and receive (MPI-5.0, section 3.10), matched receive, and receives into messages' own requests.

use crate::abi::datatype;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::receive::ReceiveArguments;
use crate::request::{Keeps, Mode, Operation, ReceiveOperation, Request, SendOperation, State};
use crate::send::SendArguments;
use crate::status::Status;
use crate::wait::DONE;
use lwk_matching::Pattern;
use lwk_path::region::{Region, content};

impl Engine {
    /// Sends and receives at the same time. Errors: those of both.
    ///
    /// # Safety
    /// As for [`Engine::send`] and [`Engine::receive`]; the buffers must not overlap.
    pub unsafe fn sendrecv(&mut self, send: &SendArguments, receive: &ReceiveArguments) -> Result<Status> {
        // Everything is checked before anything begins, so that an error leaves nothing under way.
        self.check_send(send, Mode::Standard)?;
        // SAFETY: the buffers are readable and writable until this returns, and apart (this function's
        // contract); both requests are completed here.
        unsafe {
            let receive = self.irecv(receive)?;
            let send = self.isend(send, Mode::Standard)?;
            let outcome = self.wait(receive);
            self.wait(send)?;
            outcome
        }
    }

    /// Sends the buffer's content and receives into it. Errors: as for [`Engine::sendrecv`], and `NO_MEM`.
    ///
    /// # Safety
    /// The buffer must be readable and writable.
    pub unsafe fn sendrecv_replace(
        &mut self,
        send: &SendArguments,
        receive: &ReceiveArguments,
    ) -> Result<Status> {
        let source = self.buffer(send.address, send.count, send.datatype)?;
        // SAFETY: the buffer is readable and writable until this returns (this function's contract);
        // `content` lives until then.
        unsafe {
            let content = content(&source)?;
            let (address, count) = (content.as_ptr(), content.len() as i64);
            self.sendrecv(&SendArguments { address, count, datatype: datatype::PACKED, ..*send }, receive)
        }
    }

    /// Begins a send and a receive that complete together, with the receive's status (`MPI_ISENDRECV`). Errors: those of both.
    ///
    /// # Safety
    /// As for [`Engine::isend`] and [`Engine::irecv`]; the buffers must not overlap.
    pub unsafe fn isendrecv(&mut self, send: &SendArguments, receive: &ReceiveArguments) -> Result<Handle> {
        // As for `sendrecv`.
        self.check_send(send, Mode::Standard)?;
        // SAFETY: the buffers are readable and writable until both requests are complete, and apart (this
        // function's contract).
        let (receive, send) = unsafe { (self.irecv(receive)?, self.isend(send, Mode::Standard)?) };
        Ok(self.together(send, receive))
    }

    /// The same with one buffer, whose content is sent and replaced (`MPI_ISENDRECV_REPLACE`). Errors: also `NO_MEM`.
    ///
    /// # Safety
    /// The buffer must be readable, and writable until the request is complete, when nobody else may use it.
    pub unsafe fn isendrecv_replace(
        &mut self,
        send: &SendArguments,
        receive: &ReceiveArguments,
    ) -> Result<Handle> {
        let checked = self.check_send(send, Mode::Standard)?;
        self.check_receive(receive)?;
        let send = match checked {
            None => DONE,
            // SAFETY: the buffer is readable now (this function's contract), and the request keeps the copy.
            Some(send) => unsafe { self.send_copy(&send)? },
        };
        // SAFETY: the buffer is writable, and nobody else uses it, until the request is complete (this
        // function's contract).
        let receive = unsafe { self.irecv(receive)? };
        Ok(self.together(send, receive))
    }

    /// Begins the send of a copy, which the request keeps. Errors: `NO_MEM`, `INTERN`.
    ///
    /// # Safety
    /// The content must be readable.
    pub unsafe fn send_copy(&mut self, send: &SendOperation) -> Result<Handle> {
        // SAFETY: the content is readable (this function's contract).
        let content = unsafe { content(&send.source)? };
        let source = Region::block(content.as_ptr(), content.len());
        let copied = SendOperation { source, mode: Mode::Standard, ..*send };
        // SAFETY: the request keeps the copy, which is a block.
        Ok(unsafe { self.send_checked(copied, Keeps::Content(content)) })
    }

    /// A receive from nobody, which is complete (`MPI_MESSAGE_NO_PROC`). Errors: `COUNT`, `TYPE`.
    pub fn receive_from_nobody(&mut self, address: *mut u8, count: i64, datatype: u64) -> Result<Handle> {
        self.buffer(address, count, datatype)?;
        Ok(self.insert_complete(Status::PROC_NULL))
    }

    fn together(&mut self, send: Handle, receive: Handle) -> Handle {
        let operation = Operation::Both { send, receive };
        self.requests.insert(Request { state: State::Compound, ..Request::new(operation) })
    }

    /// Begins the receive of a message that a matched probe has taken out. Errors: `REQUEST` if there is no such message,
    /// `COUNT`, `TYPE`.
    ///
    /// # Safety
    /// The buffer must be writable, and nobody else may use it, until the request is complete.
    pub unsafe fn imrecv(
        &mut self,
        address: *mut u8,
        count: i64,
        datatype: u64,
        message: Handle,
    ) -> Result<Handle> {
        let target = self.buffer(address, count, datatype)?;
        let taken = self.taken.remove(message).ok_or(Error::REQUEST)?;
        let pattern =
            Pattern { context: taken.key.context, source: Some(taken.key.source), tag: Some(taken.key.tag) };
        let receive = ReceiveOperation { pattern, target, communicator: taken.communicator };
        let keeps = self.layout_of(datatype, &receive.target);
        let request = Request { keeps, ..Request::new(Operation::Receive(receive.clone())) };
        let request = self.requests.insert(request);
        // A message that a probe has matched is not cancelled.
        let is_delivered = self.deliver_held(request, &receive, &taken.key, taken.message);
        debug_assert!(is_delivered);
        Ok(request)
    }
}
