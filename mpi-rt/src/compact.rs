//! Compact requests: what most programs make most often, a receive or a long send of one block, in little more than a cache line and
//! without anything to be freed. A [`Request`](crate::request::Request) holds whatever any operation needs, five times as much; filling,
//! moving and dropping it was half the cost of a window of short messages (measured: README.md).
//!
//! They have a table and a kind of handle of their own, so that every call that completes requests finds either. What they do
//! not do: persistence, datatypes with layouts, wildcards, being put off. Whatever needs those is a request of the general kind.

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::status::Status;
use crate::wait::NULL;
use alloc::rc::Rc;
use lwk_matching::Token;
use lwk_path::region::Region;
use lwk_path::{Arrival, Delivery, Received, Ticket};
use lwk_place::WorldRank;

/// A receive or send of one block.
pub(crate) struct CompactRequest {
    /// The buffer, and its bytes; when a receive is complete, the bytes received.
    address: *mut u8,
    bytes: usize,
    /// Of the status: the source's rank in its communicator, and the tag.
    source: i32,
    tag: i32,
    state: Stage,
    error: Option<Error>,
    /// Freed by its owner while active: it goes when it completes.
    detached: bool,
    /// A communicator that the program may free before the message has come: its context must not be another's until then.
    #[expect(dead_code, reason = "holds what the context stands for")]
    keeps: Option<Rc<Communicator>>,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// A receive that waits for its message.
    Posted(Token),
    /// A receive whose message is on its way.
    Arriving(Ticket),
    /// A send that the transport has.
    Underway(Ticket),
    Complete,
    Cancelled,
}

impl CompactRequest {
    /// A receive that is complete already: bytes, source and tag of its status.
    #[inline(always)]
    pub fn received(bytes: u64, source: i32, tag: i32) -> CompactRequest {
        CompactRequest::receiving(core::ptr::null_mut(), bytes as usize, source, tag, None)
    }

    /// A send that the transport has; its status says nothing.
    #[inline(always)]
    pub fn sending(ticket: Ticket) -> CompactRequest {
        let Status { bytes, source, tag, .. } = Status::EMPTY;
        CompactRequest { state: Stage::Underway(ticket), ..CompactRequest::received(bytes, source, tag) }
    }

    /// A receive into a block, from `source` by its rank in the communicator; it is posted by [`CompactRequest::post`].
    #[inline(always)]
    pub fn receiving(
        address: *mut u8,
        bytes: usize,
        source: i32,
        tag: i32,
        keeps: Option<Rc<Communicator>>,
    ) -> CompactRequest {
        let state = Stage::Complete;
        CompactRequest { address, bytes, source, tag, state, error: None, detached: false, keeps }
    }

    #[inline(always)]
    pub fn post(&mut self, token: Token) {
        self.state = Stage::Posted(token);
    }

    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        matches!(self.state, Stage::Complete | Stage::Cancelled)
    }

    #[inline(always)]
    pub fn status(&self) -> Status {
        let cancelled = self.state == Stage::Cancelled;
        if cancelled {
            return Status { cancelled, ..Status::EMPTY };
        }
        let bytes = self.bytes as u64;
        Status { source: self.source, tag: self.tag, error: self.error, bytes, cancelled, empty: false }
    }

    /// Of a receive that waits for its message.
    pub fn token(&self) -> Option<Token> {
        if let Stage::Posted(token) = self.state { Some(token) } else { None }
    }

    /// Of a send that the transport has.
    pub fn send_ticket(&self) -> Option<Ticket> {
        if let Stage::Underway(ticket) = self.state { Some(ticket) } else { None }
    }

    /// Of a send that the transport has, or a receive whose message is on its way.
    pub fn ticket(&self) -> Option<Ticket> {
        match self.state {
            Stage::Arriving(ticket) | Stage::Underway(ticket) => Some(ticket),
            Stage::Posted(_) | Stage::Complete | Stage::Cancelled => None,
        }
    }
}

impl Engine {
    /// Completes a compact receive with the front message of its sender. False, and the receive still wants one, if the sender has cancelled it. `None` if
    /// the handle is not of a compact request.
    #[inline(always)]
    pub(crate) fn deliver_compact(
        &mut self,
        request: Handle,
        source: WorldRank,
        arrival: &Arrival,
    ) -> Option<bool> {
        let it = self.compact.get_mut(request)?;
        let target = Region::block(it.address, it.bytes);
        // SAFETY: `arrival` is the sender's front message. The receive's `bytes` at `address` are writable
        // until it is complete (`Engine::irecv`'s contract).
        let copied = unsafe { self.paths.deliver(source, arrival, &target) };
        if copied == Ok(Delivery::Cancelled) {
            return Some(false);
        }
        if arrival.bytes > it.bytes {
            it.error = Some(Error::TRUNCATE);
        } else {
            it.bytes = arrival.bytes;
        }
        it.state = Stage::Complete;
        match copied {
            Ok(Delivery::Done | Delivery::Cancelled) => {}
            Ok(Delivery::Underway(ticket)) => {
                it.state = Stage::Arriving(ticket);
                self.arriving.push(request);
                return Some(true);
            }
            Err(error) => it.error = Some(error.into()),
        }
        if it.detached {
            self.compact.discard(request);
        }
        Some(true)
    }

    /// Helps with a compact send that the transport has; true when it is complete. `None` if the handle is not of a compact request.
    #[inline(always)]
    pub(crate) fn advance_compact(&mut self, request: Handle) -> Option<bool> {
        let it = self.compact.get_mut(request)?;
        let Stage::Underway(ticket) = it.state else { unreachable!("a send under way that is not") };
        // SAFETY: the ticket is the request's, which is under way, so the buffer is readable
        // (`Engine::isend`'s contract).
        if unsafe { self.paths.advance(ticket) }.is_none() {
            return Some(false);
        }
        it.state = Stage::Complete;
        if it.detached {
            self.compact.discard(request);
        }
        Some(true)
    }

    /// The status of a compact request if it is complete, which ends it: the handle becomes null.
    #[inline(always)]
    pub(crate) fn retire_compact(&mut self, request: &mut Handle) -> Option<Status> {
        let status = self.compact.get(*request).filter(|it| it.is_complete())?.status();
        self.compact.discard(*request);
        *request = NULL;
        Some(status)
    }

    /// A compact request's operation has ended, by itself or with an error of the transport; false if the handle is not of one.
    #[inline]
    pub(crate) fn complete_compact(&mut self, request: Handle, outcome: Result<()>) -> bool {
        let Some(it) = self.compact.get_mut(request) else { return false };
        it.state = Stage::Complete;
        it.error = outcome.err().or(it.error);
        if it.detached {
            self.compact.discard(request);
        }
        true
    }

    /// A compact receive's message has been received by a path that matches; false if the handle is not of one.
    #[cold]
    pub(crate) fn complete_compact_received(&mut self, request: Handle, received: &Received) -> bool {
        let Some(it) = self.compact.get_mut(request) else { return false };
        let truncated = (received.bytes > it.bytes).then_some(Error::TRUNCATE);
        it.bytes = received.bytes.min(it.bytes);
        let outcome = received.outcome.map_err(Error::from).and(truncated.map_or(Ok(()), Err));
        self.complete_compact(request, outcome)
    }

    /// Gives a compact request up; false if the handle is not of one.
    pub(crate) fn free_compact(&mut self, request: Handle) -> bool {
        let Some(it) = self.compact.get_mut(request) else { return false };
        if it.is_complete() {
            self.compact.discard(request);
        } else {
            it.detached = true;
        }
        true
    }

    /// A compact request's operation has been taken back.
    pub(crate) fn set_light_cancelled(&mut self, request: Handle) {
        let Some(it) = self.compact.get_mut(request) else { return };
        it.state = Stage::Cancelled;
        if it.detached {
            self.compact.discard(request);
        }
    }
}
