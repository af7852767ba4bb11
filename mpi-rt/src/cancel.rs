//! Cancelling (MPI-5.0, section 3.8.4): either the operation is taken back, and nobody sees anything of it, or it completes; and waiting for it
//! depends on nobody any more.
//!
//! A receive is withdrawn if no message has been matched with it. A send is taken back if no receive and no matched probe has its message: while
//! it waits for room that is this rank's own business; when the peer has its envelope, `lwk-rendezvous`'s descriptor decides. A send
//! that comes too late completes from a copy of its content, or, while the receiver is copying, by itself.

use crate::ahead::Limit;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Operation, Request, SendOperation, State};
use crate::status::Status;
use crate::wait::DONE;
use lwk_path::Ticket;

impl Engine {
    /// Takes an operation back if it has not been matched; it then completes as cancelled. The request must still be completed. Messages whose
    /// sends are complete are not taken back, but for those of a buffered send that wait in its buffer. Errors: `REQUEST`.
    pub fn cancel(&mut self, request: Handle) -> Result<()> {
        if request == DONE || self.cancel_receive(request) {
            return Ok(());
        }
        if let Some(compact) = self.compact.get(request) {
            if let Some(ticket) = compact.send_ticket() {
                self.cancel_under_way(request, ticket);
            }
            return Ok(());
        }
        let Some(it) = self.requests.get(request) else { return Err(Error::REQUEST) };
        match (&it.operation, it.state) {
            (Operation::Send(_), State::Underway(ticket)) => self.cancel_under_way(request, ticket),
            (Operation::Send(send), State::Deferred) => {
                let peer = send.peer;
                self.deferred.remove(peer, request);
                self.set_cancelled(request);
            }
            // A buffered send is complete, but its message may be in the buffer still.
            (Operation::Send(SendOperation { buffered: Some(message), .. }), State::Complete) => {
                let message = *message;
                if self.cancel(message).is_ok()
                    && self.requests.get(message).is_some_and(|it| it.status.cancelled)
                {
                    self.set_cancelled(request);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Withdraws a receive that no message has been matched with; false if the request is anything else.
    pub fn cancel_receive(&mut self, request: Handle) -> bool {
        if !self.handed.is_empty() {
            self.recall_request(request);
        }
        let token = match (self.compact.get(request), self.requests.get(request)) {
            (Some(compact), _) => compact.token(),
            (None, Some(Request { state: State::Posted(token), .. })) => Some(*token),
            _ => None,
        };
        let Some(source) = token.and_then(|token| self.waiting.withdraw(token)) else { return false };
        self.waiting.count(source, false);
        self.set_cancelled(request);
        true
    }

    /// The operation has been taken back.
    fn set_cancelled(&mut self, request: Handle) {
        if self.compact.get(request).is_some() {
            self.set_light_cancelled(request);
        } else {
            self.complete(request, Status { cancelled: true, ..Status::EMPTY });
        }
    }

    /// Takes a send back that the transport has, or sees to it that it completes without the receiver.
    fn cancel_under_way(&mut self, request: Handle, ticket: Ticket) {
        if self.has_gone(request) {
            self.underway.retain(|it| *it != request);
        // SAFETY: the ticket is the request's, which is under way.
        } else if unsafe { self.paths.cancel(ticket) } {
            self.underway.retain(|it| *it != request);
            self.set_cancelled(request);
        } else {
            self.complete_ahead(request, Limit::None);
        }
    }
}
