//! Persistent requests (MPI-5.0, section 3.9): made once, started again and again.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::receive::ReceiveArguments;
use crate::request::{Keeps, Mode, Operation, Request, SendOperation, State};
use crate::send::SendArguments;
use crate::status::Status;

impl Engine {
    /// A send that is started by [`Engine::start`]. Errors: as for a send.
    ///
    /// # Safety
    /// The buffer must be readable, and nobody may write it, whenever the request is active.
    pub unsafe fn send_init(&mut self, arguments: &SendArguments, mode: Mode) -> Result<Handle> {
        let send = self.check_send(arguments, mode)?;
        let keeps = send.as_ref().map_or(Keeps::Nothing, |it| self.layout_of(arguments.datatype, &it.source));
        let operation = send.map_or(Operation::Nothing, Operation::Send);
        Ok(self.requests.insert(Request { keeps, ..Request::persistent(operation) }))
    }

    /// A receive that is started by [`Engine::start`]. Errors: as for a receive.
    ///
    /// # Safety
    /// The buffer must be writable, and nobody else may use it, whenever the request is active.
    pub unsafe fn receive_init(&mut self, arguments: &ReceiveArguments) -> Result<Handle> {
        let receive = self.check_receive(arguments)?;
        let keeps =
            receive.as_ref().map_or(Keeps::Nothing, |it| self.layout_of(arguments.datatype, &it.target));
        let operation = receive.map_or(Operation::Nothing, Operation::Receive);
        Ok(self.requests.insert(Request { keeps, ..Request::persistent(operation) }))
    }

    /// Starts a persistent request. Errors: `REQUEST` if it is not persistent, or active already; `BUFFER` if a buffered send finds no room.
    pub fn start(&mut self, request: Handle) -> Result<()> {
        let it = self.requests.get_mut(request).ok_or(Error::REQUEST)?;
        if !it.persistent || it.state != State::Inactive {
            return Err(Error::REQUEST);
        }
        match &mut it.operation {
            Operation::Send(send) => {
                let send = *send;
                if send.mode == Mode::Buffered {
                    let buffered = self.send_buffered(&send)?;
                    if let Some(it) = self.requests.get_mut(request) {
                        it.operation = Operation::Send(SendOperation { buffered, ..send });
                    }
                    self.complete(request, Status::EMPTY);
                } else {
                    self.begin_send(request, &send);
                }
            }
            Operation::Receive(receive) => {
                let receive = receive.clone();
                self.begin_receive(request, &receive);
            }
            Operation::Activity(activity) => {
                let start = activity.calls.start;
                start(self, request);
            }
            _ => {
                it.state = State::Complete;
                it.status = Status::PROC_NULL;
            }
        }
        Ok(())
    }
}
