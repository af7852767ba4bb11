//! Sending: blocking and non-blocking, all modes.

use crate::abi::{ANY_TAG, TAG_UB};
use crate::ahead::Limit;
use crate::buffer::is_none;
use crate::communicator::Endpoint;
use crate::compact::CompactRequest;
use crate::datatypes::{block_bytes, dense_bytes};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Keeps, Mode, Operation, Request, SendOperation, State};
use crate::wait::{DONE, POLLS_PER_PROGRESS};
use lwk_path::region::Region;
use lwk_path::{Label, Outgoing, Started, Ticket};
use lwk_user::wait::Poll;

// Every non-negative `int` is a tag.
const _: () = assert!(TAG_UB == i32::MAX && ANY_TAG < 0);

/// A non-blocking send looks this often for room before it is put off: a receiver at work makes room sooner than a request is
/// made and found again.
const POLLS_FOR_ROOM: u32 = 16;

/// A send's arguments, as the standard lists them.
#[derive(Clone, Copy, Debug)]
pub struct SendArguments {
    pub address: *const u8,
    pub count: i64,
    pub datatype: u64,
    pub target: i32,
    pub tag: i32,
    pub communicator: Handle,
}

impl Engine {
    /// Sends and returns when the buffer is free. (Callers try [`crate::short::send`] first.) Errors: `COMM`, `COUNT`, `TYPE`, `TAG`,
    /// `RANK`.
    ///
    /// # Safety
    /// The buffer must be readable, and nobody may write it, until this returns.
    #[inline(always)]
    pub unsafe fn send(&mut self, arguments: &SendArguments, mode: Mode) -> Result<()> {
        // SAFETY: the buffer is readable until this returns (this function's contract), which is after the
        // send is done.
        unsafe {
            if matches!(mode, Mode::Standard | Mode::Ready) && self.send_block(arguments) {
                return Ok(());
            }
            self.send_any(arguments, mode)
        }
    }

    /// Sends a block in standard mode if nothing stands in the way; false if nothing has happened.
    ///
    /// # Safety
    /// As for [`Engine::send`].
    #[inline(never)]
    unsafe fn send_block(&mut self, arguments: &SendArguments) -> bool {
        // SAFETY: the buffer is readable until this returns (this function's contract), which is after the
        // send is done.
        match unsafe { self.begin_block(arguments) } {
            Started::Full => false,
            Started::Done => true,
            Started::Underway(ticket) => {
                self.complete_send(ticket);
                true
            }
        }
    }

    /// Sends whatever it may be.
    ///
    /// # Safety
    /// As for [`Engine::send`].
    #[inline(never)]
    unsafe fn send_any(&mut self, arguments: &SendArguments, mode: Mode) -> Result<()> {
        let Some(send) = self.check_send(arguments, mode)? else { return Ok(()) };
        if mode == Mode::Buffered {
            return self.send_buffered(&send).map(drop);
        }
        // Progress may call an operation of the program's that frees the datatype.
        let _layout = self.layout_of(arguments.datatype, &send.source);
        if self.deferred.is_empty() {
            // SAFETY: the buffer is readable until this returns (this function's contract), which is after
            // the send is done.
            match unsafe { self.start_send(&send) } {
                Started::Done => return Ok(()),
                Started::Underway(ticket) => {
                    self.complete_send(ticket);
                    return Ok(());
                }
                Started::Full => {}
            }
        }
        // SAFETY: the buffer is readable until this returns (this function's contract).
        unsafe { self.send_when_there_is_room(&send) };
        Ok(())
    }

    /// # Safety
    /// As for [`Engine::send`].
    #[cold]
    unsafe fn send_when_there_is_room(&mut self, send: &SendOperation) {
        let peer = send.peer;
        let mut poll = Poll::new();
        for round in 1u32.. {
            // Behind others that were put off there is no room in any case; they are looked after now and then.
            if round > 1 || self.deferred.of(peer).is_multiple_of(POLLS_PER_PROGRESS as usize) {
                self.progress();
            }
            // Sends that began before must reach the peer before.
            if self.deferred.of(peer) == 0 {
                // SAFETY: the buffer is readable until this returns (this function's contract), which is
                // after the send is done.
                match unsafe { self.start_send(send) } {
                    Started::Done => return,
                    Started::Underway(ticket) => return self.complete_send(ticket),
                    Started::Full => {}
                }
            }
            // SAFETY: the buffer is readable until this returns (this function's contract), and is copied
            // now.
            if let Some(request) = unsafe { self.defer_ahead(send, Limit::After(round)) } {
                self.deferred.push(peer, request);
                break;
            }
            poll.pause();
        }
    }

    /// Waits until the receiver has the message, and helps; or until the buffer is free by [`crate::ahead`].
    #[inline(never)]
    fn complete_send(&mut self, ticket: Ticket) {
        let mut poll = Poll::new();
        for round in 1u32.. {
            // SAFETY: all callers have just got the ticket from the table and return after this, so it is
            // not used again, and the message's bytes stay readable (contract of [`Engine::send`]).
            if unsafe { self.paths.advance(ticket) }.is_some() {
                break;
            }
            if round.is_multiple_of(POLLS_PER_PROGRESS) {
                if self.ahead.may_go(round) && self.send_ahead(ticket, Limit::After(round)) {
                    break;
                }
                self.progress();
            }
            poll.pause();
        }
    }

    /// Hands a message to the transport.
    ///
    /// # Safety
    /// The buffer must be readable, and nobody may write it, until the send is complete.
    #[inline(always)]
    pub(crate) unsafe fn start_send(&mut self, send: &SendOperation) -> Started {
        let synchronous = send.mode == Mode::Synchronous;
        let message = Outgoing { label: send.label, source: send.source, synchronous };
        // SAFETY: the buffer is readable until the send is complete (this function's contract).
        unsafe { self.paths.begin(send.peer, &message) }
    }

    /// Begins a send. Errors: as for [`Engine::send`].
    ///
    /// # Safety
    /// The buffer must be readable, and nobody may write it, until the request is complete.
    #[inline(never)]
    pub unsafe fn isend(&mut self, arguments: &SendArguments, mode: Mode) -> Result<Handle> {
        if matches!(mode, Mode::Standard | Mode::Ready) {
            // SAFETY: the buffer is readable until the request is complete (this function's contract).
            unsafe {
                if self.send_short(arguments) {
                    return Ok(DONE);
                }
                if let Some(request) = self.isend_block(arguments) {
                    return Ok(request);
                }
            }
        }
        let Some(send) = self.check_send(arguments, mode)? else { return Ok(DONE) };
        if mode == Mode::Buffered {
            let Some(message) = self.send_buffered(&send)? else { return Ok(DONE) };
            let operation = Operation::Send(SendOperation { buffered: Some(message), ..send });
            return Ok(self.requests.insert(Request { state: State::Complete, ..Request::new(operation) }));
        }
        if self.deferred.of(send.peer) == 0 {
            let mut poll = Poll::new();
            for _ in 0..POLLS_FOR_ROOM {
                // SAFETY: the buffer is readable until the request is complete (this function's contract).
                match unsafe { self.start_send(&send) } {
                    Started::Done => return Ok(DONE),
                    Started::Underway(ticket) => return Ok(self.send_underway(arguments, &send, ticket)),
                    Started::Full => poll.pause(),
                }
            }
        }
        let keeps = self.layout_of(arguments.datatype, &send.source);
        // SAFETY: the buffer is readable until the request is complete (this function's contract), and the request keeps its layout.
        Ok(unsafe { self.send_checked(send, keeps) })
    }

    /// Begins a send whose arguments have been checked. The request keeps what must live as long.
    ///
    /// # Safety
    /// The content must be readable until the request is complete, and its datatype live.
    #[inline]
    pub unsafe fn send_checked(&mut self, send: SendOperation, keeps: Keeps) -> Handle {
        let request = self.requests.insert(Request { keeps, ..Request::new(Operation::Send(send)) });
        self.begin_send(request, &send);
        request
    }

    /// Begins the send of a block in standard mode if nothing stands in the way; `None` if nothing has happened.
    ///
    /// # Safety
    /// As for [`Engine::isend`].
    #[inline(always)]
    unsafe fn isend_block(&mut self, arguments: &SendArguments) -> Option<Handle> {
        // SAFETY: the arguments' items are readable until the request is complete (this function's contract).
        match unsafe { self.begin_block(arguments) } {
            Started::Full => None,
            Started::Done => Some(DONE),
            Started::Underway(ticket) => {
                let request = self.compact.insert(CompactRequest::sending(ticket));
                self.underway.push_back(request);
                Some(request)
            }
        }
    }

    /// Hands a block to the transport if nothing stands in the way; `Full` if something does, and then nothing has happened.
    ///
    /// # Safety
    /// The arguments' items must be readable, and nobody may write them, until the send is complete.
    #[inline(always)]
    unsafe fn begin_block(&mut self, arguments: &SendArguments) -> Started {
        let Some(bytes) = block_bytes(arguments.count, arguments.datatype) else { return Started::Full };
        if is_none(arguments.address) || arguments.tag < 0 || !self.deferred.is_empty() {
            return Started::Full;
        }
        let Ok(communicator) = self.communicator(arguments.communicator) else { return Started::Full };
        let Some(&peer) = communicator.peers.get(arguments.target as usize) else { return Started::Full };
        let label = Label::new(communicator.context, arguments.tag);
        let source = Region::block(arguments.address, bytes);
        // SAFETY: `bytes`, those of the arguments' items, are readable until the send is complete (this
        // function's contract).
        unsafe { self.paths.begin(peer, &Outgoing { label, source, synchronous: false }) }
    }

    /// The request of a send that the transport has.
    fn send_underway(&mut self, arguments: &SendArguments, send: &SendOperation, ticket: Ticket) -> Handle {
        let request = if dense_bytes(arguments.datatype) != 0 {
            self.compact.insert(CompactRequest::sending(ticket))
        } else {
            let keeps = self.layout_of(arguments.datatype, &send.source);
            let state = State::Underway(ticket);
            let request = Request { state, keeps, ..Request::new(Operation::Send(*send)) };
            self.requests.insert(request)
        };
        self.underway.push_back(request);
        request
    }

    /// Begins the send of a request, or puts it off until the peer has room.
    pub(crate) fn begin_send(&mut self, request: Handle, send: &SendOperation) {
        let started = if self.deferred.of(send.peer) == 0 {
            // SAFETY: the send's buffer is readable until the request is complete (contract of what made it),
            // or a copy the request keeps.
            unsafe { self.start_send(send) }
        } else {
            Started::Full
        };
        let state = match started {
            Started::Done => State::Complete,
            Started::Underway(ticket) => {
                self.underway.push_back(request);
                State::Underway(ticket)
            }
            Started::Full => {
                self.deferred.push(send.peer, request);
                State::Deferred
            }
        };
        self.set_state(request, state);
    }

    /// The operation that the arguments describe; `None` if it goes to nobody.
    #[inline(always)]
    pub fn check_send(&self, arguments: &SendArguments, mode: Mode) -> Result<Option<SendOperation>> {
        let communicator = self.communicator(arguments.communicator)?;
        let source = self.buffer(arguments.address, arguments.count, arguments.datatype)?;
        if arguments.tag < 0 {
            return Err(Error::TAG);
        }
        let peer = match communicator.target(arguments.target)? {
            Endpoint::Peer(peer) => peer,
            Endpoint::Any | Endpoint::Nobody => return Ok(None),
        };
        let label = Label::new(communicator.context, arguments.tag);
        let communicator = arguments.communicator;
        Ok(Some(SendOperation { peer, label, source, mode, communicator, buffered: None }))
    }
}
