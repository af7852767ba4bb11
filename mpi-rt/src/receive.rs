//! Receiving: blocking and non-blocking, and what happens to messages that nobody waits for.
//!
//! A blocking receive from one source looks at that source's ring itself and takes the message straight from the cell, as
//! long as no queue is in between; everything else goes through the queues of `lwk-matching`.
//!
//! What waits is in [`crate::waiting`], back pressure with it.

use crate::abi::ANY_TAG;
use crate::buffer::is_none;
use crate::communicator::{Communicator, Endpoint};
use crate::compact::CompactRequest;
use crate::datatypes::block_bytes;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::progress::BATCH;
use crate::request::{Keeps, Operation, ReceiveOperation, Request, State};
use crate::status::Status;
use crate::wait::POLLS_PER_PROGRESS;
use crate::waiting::Message;
use alloc::rc::Rc;
use lwk_copy::threshold::{AT_ONCE, HELP_FROM};
use lwk_matching::{Key, Pattern};
use lwk_path::region::Region;
use lwk_path::{Arrival, CHANGE, Delivery, Label, Received, Ticket};
use lwk_place::WorldRank;
use lwk_user::wait::Poll;

/// A receive's arguments, as the standard lists them.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveArguments {
    pub address: *mut u8,
    pub count: i64,
    pub datatype: u64,
    pub source: i32,
    pub tag: i32,
    pub communicator: Handle,
}

/// Whether a call that posts a receive takes in such a message for one that was posted before.
#[inline(always)]
fn is_taken_at_once(arrival: &Arrival) -> bool {
    arrival.eager || AT_ONCE.contains(&arrival.bytes)
}

/// From whom a receive wants a message, and which: the rank is that in the communicator.
#[derive(Clone, Copy)]
struct Sender {
    peer: WorldRank,
    label: Label,
    rank: i32,
}

/// Bytes of a receive's items, if they are a block; no errors are found here. (Empty blocks are rare, and unknown types count as such.)
#[inline(always)]
fn block_of(arguments: &ReceiveArguments) -> Option<usize> {
    block_bytes(arguments.count, arguments.datatype)
        .filter(|_| arguments.tag >= 0 && !is_none(arguments.address))
}

/// A communicator that the program may free before a message has come: its context must not be another's until then.
#[inline(always)]
fn kept(communicator: &Rc<Communicator>) -> Option<Rc<Communicator>> {
    (communicator.context > Communicator::SELF_CONTEXT).then(|| Rc::clone(communicator))
}

/// The outcome of a receive: whose message, which tag, how long, and whether it fitted.
#[inline(always)]
fn received(
    source: i32,
    tag: i32,
    bytes: usize,
    target: &Region,
    copied: lwk_path::Result<Delivery>,
) -> Status {
    let truncated = (bytes > target.bytes()).then_some(Error::TRUNCATE);
    let error = copied.err().map(Error::from).or(truncated);
    let bytes = bytes.min(target.bytes()) as u64;
    Status { error, ..Status::received(source, tag, bytes) }
}

impl ReceiveOperation {
    /// The outcome, if a path has matched it with a message of that peer.
    pub(crate) fn status(&self, peer: WorldRank, it: &Received) -> Status {
        let (source, copied) = (self.communicator.rank_of(peer), it.outcome.map(|()| Delivery::Done));
        received(source, it.label.tag(), it.bytes, &self.target, copied)
    }
}

impl Engine {
    /// Receives a message. (Callers try [`crate::short::receive`] first.) Errors: `COMM`, `COUNT`, `TYPE`, `TAG`, `RANK`; `TRUNCATE` if the
    /// message is longer than the buffer, which then holds its beginning.
    ///
    /// # Safety
    /// The buffer must be writable, and nobody else may use it, until this returns.
    #[inline(always)]
    pub unsafe fn receive(&mut self, arguments: &ReceiveArguments) -> Result<Status> {
        // SAFETY: the buffer is writable, and nobody else uses it, until this returns (this function's contract).
        unsafe {
            match self.receive_block(arguments) {
                Some(outcome) => outcome,
                None => self.receive_any(arguments),
            }
        }
    }

    /// Receives a block from one rank; `None`, and nothing has happened, if it is something else.
    ///
    /// # Safety
    /// As for [`Engine::receive`].
    #[inline(never)]
    unsafe fn receive_block(&mut self, arguments: &ReceiveArguments) -> Option<Result<Status>> {
        let &ReceiveArguments { address, source, tag, .. } = arguments;
        let bytes = block_of(arguments)?;
        let communicator = self.communicator(arguments.communicator).ok()?;
        let peer = *communicator.peers.get(source as usize)?;
        let label = Label::new(communicator.context, tag);
        // Progress may call an operation of the program's that frees the communicator.
        let kept = kept(communicator);
        let from = Sender { peer, label, rank: source };
        let target = Region::block(address, bytes);
        // SAFETY: `bytes`, those of the arguments' items, are writable until this returns (this function's
        // contract).
        if let Some(outcome) = unsafe { self.receive_next(&from, &target) } {
            return Some(outcome);
        }
        let communicator = match kept {
            Some(communicator) => communicator,
            None => Rc::clone(self.communicator(arguments.communicator).ok()?),
        };
        let pattern = Pattern { context: label.context(), source: Some(peer), tag: Some(tag) };
        Some(self.receive_queued(ReceiveOperation { pattern, target, communicator }, Keeps::Nothing))
    }

    /// Receives whatever it may be.
    ///
    /// # Safety
    /// As for [`Engine::receive`].
    #[inline(never)]
    unsafe fn receive_any(&mut self, arguments: &ReceiveArguments) -> Result<Status> {
        let Some(receive) = self.check_receive(arguments)? else { return Ok(Status::PROC_NULL) };
        // Progress may call an operation of the program's that frees the datatype or the communicator: neither handle is looked up again.
        let keeps = self.layout_of(arguments.datatype, &receive.target);
        if let Pattern { context, source: Some(peer), tag: Some(tag) } = receive.pattern {
            let from = Sender { peer, label: Label::new(context, tag), rank: arguments.source };
            // SAFETY: the buffer is writable until this returns (this function's contract).
            if let Some(outcome) = unsafe { self.receive_next(&from, &receive.target) } {
                return outcome;
            }
        }
        self.receive_queued(receive, keeps)
    }

    /// Receives from the messages that wait, or whatever comes.
    fn receive_queued(&mut self, receive: ReceiveOperation, keeps: Keeps) -> Result<Status> {
        // SAFETY: the buffer is writable until the caller's call returns (contract of `Engine::receive`), which this does when the request is complete.
        let request = unsafe { self.receive_checked(receive, keeps) };
        self.wait(request)
    }

    /// Waits for the next message of a rank and receives it. While nothing of it waits in the queues, the message is the wanted one or another is in the
    /// way, or a path may match the receive; then nothing has happened, and the outcome is `None`. What is copied stays in few lines of the stack and of the engine: with long messages
    /// each of those is one that the content has displaced.
    ///
    /// # Safety
    /// The target must be writable, and nobody else may use it, until this returns; its datatype lives.
    #[inline(never)]
    unsafe fn receive_next(&mut self, from: &Sender, target: &Region) -> Option<Result<Status>> {
        let &Sender { peer, label, rank } = from;
        let mut poll = Poll::new();
        let mut round = 0u32;
        while self.waiting.is_clear(peer) {
            if let Some(arrival) = self.paths.arrival(peer) {
                if arrival.label != label {
                    return None;
                }
                // SAFETY: the target is writable until this returns (this function's contract).
                let received = target.contiguous().and_then(|address| unsafe {
                    let room = target.bytes();
                    if arrival.eager {
                        self.paths.receive_short(peer, label, address, room)
                    } else {
                        self.paths.receive_block(peer, label, address, room, 0..=HELP_FROM - 1)
                    }
                });
                if let Some(bytes) = received {
                    return Some(Ok(Status::received(rank, label.tag(), bytes as u64)));
                }
                // SAFETY: `arrival` is the peer's front message, if it still is there, and the target is writable until this
                // returns (this function's contract).
                if let Some(outcome) = unsafe { self.receive_arrived(from, target) } {
                    return Some(outcome);
                }
            }
            round = round.wrapping_add(1);
            if round.is_multiple_of(POLLS_PER_PROGRESS) {
                if self.paths.takes(Some(peer), target.bytes()) {
                    // The message has not come: the path may wait for it.
                    return None;
                }
                self.progress_except(Some(peer));
            }
            poll.pause();
        }
        None
    }

    /// Receives the front message of a rank if it is there; `None`, and there is another or none, if its sender has cancelled it.
    ///
    /// # Safety
    /// As for [`Engine::receive_next`]; the front message, if there is one, is the wanted one.
    #[inline(never)]
    unsafe fn receive_arrived(&mut self, from: &Sender, target: &Region) -> Option<Result<Status>> {
        let &Sender { peer, label, rank } = from;
        let arrival = self.paths.arrival(peer).filter(|arrival| arrival.label == label)?;
        // SAFETY: `arrival` is the peer's front message, asked for just now; the target is writable until this returns (this
        // function's contract).
        let copied = unsafe { self.paths.deliver(peer, &arrival, target) };
        if copied == Ok(Delivery::Cancelled) {
            return None;
        }
        let mut status = received(rank, label.tag(), arrival.bytes, target, copied);
        if let Ok(Delivery::Underway(ticket)) = copied {
            // SAFETY: `deliver` has just given the ticket; the target is writable until this returns (this function's
            // contract).
            let outcome = unsafe { self.finish_receive(ticket) };
            status.error = outcome.err().or(status.error);
        }
        Some(status.error.map_or(Ok(status), Err))
    }

    /// Waits until a message that is on its way has come.
    ///
    /// # Safety
    /// The ticket is of a delivery under way, and the receive buffer is writable until this returns.
    #[cold]
    unsafe fn finish_receive(&mut self, ticket: Ticket) -> Result<()> {
        let mut poll = Poll::new();
        for round in 1u32.. {
            // SAFETY: the ticket is of a delivery under way, to a writable buffer (this function's contract);
            // it is not used again after the outcome.
            if let Some(outcome) = unsafe { self.paths.advance(ticket) } {
                return outcome.map_err(Error::from);
            }
            if round.is_multiple_of(POLLS_PER_PROGRESS) {
                self.progress();
            }
            poll.pause();
        }
        Err(Error::INTERN)
    }

    /// Begins a receive. Errors: as for [`Engine::receive`], except `TRUNCATE`.
    ///
    /// # Safety
    /// The buffer must be writable, and nobody else may use it, until the request is complete.
    #[inline(always)]
    pub unsafe fn irecv(&mut self, arguments: &ReceiveArguments) -> Result<Handle> {
        // SAFETY: the buffer is writable, and nobody else uses it, until the request is complete (this
        // function's contract).
        unsafe {
            match self.receive_short(arguments) {
                Some(bytes) => {
                    Ok(self.compact.insert(CompactRequest::received(bytes, arguments.source, arguments.tag)))
                }
                None => self.irecv_more(arguments),
            }
        }
    }

    /// Posts the receive of a block from one rank, or finds its message after all; what it cannot do, goes the general way.
    ///
    /// # Safety
    /// As for [`Engine::irecv`].
    #[inline(never)]
    unsafe fn irecv_more(&mut self, arguments: &ReceiveArguments) -> Result<Handle> {
        let &ReceiveArguments { address, source, tag, .. } = arguments;
        let compact = block_of(arguments);
        let communicator = self.communicator(arguments.communicator)?;
        let peer = communicator.peers.get(source as usize).copied();
        let (Some(bytes), Some(peer)) = (compact, peer) else {
            // SAFETY: the buffer is writable, and nobody else uses it, until the request is complete (this
            // function's contract).
            return unsafe { self.irecv_any(arguments) };
        };
        let context = communicator.context;
        if self.waiting.wanted(peer)
            && let Some(arrival) = self.paths.arrival(peer)
            && is_taken_at_once(&arrival)
        {
            self.take_in_posted(peer);
            // SAFETY: the buffer is writable, and nobody else uses it (this function's contract).
            if let Some(bytes) = unsafe { self.receive_short(arguments) } {
                return Ok(self.compact.insert(CompactRequest::received(bytes, source, tag)));
            }
        }
        if self.waiting.held(peer) {
            // SAFETY: the buffer is writable, and nobody else uses it, until the request is complete (this
            // function's contract).
            return unsafe { self.irecv_any(arguments) };
        }
        let label = Label::new(context, tag);
        if self.waiting.is_clear(peer) {
            // SAFETY: `bytes`, those of the arguments' items, are writable at `address` (this function's
            // contract).
            let received = unsafe { self.paths.receive_block(peer, label, address, bytes, AT_ONCE) };
            if let Some(bytes) = received {
                return Ok(self.compact.insert(CompactRequest::received(bytes as u64, source, tag)));
            }
            if let Some(arrival) = self.paths.arrival(peer)
                && arrival.label == label
                && AT_ONCE.contains(&arrival.bytes)
            {
                let request =
                    self.compact.insert(CompactRequest::receiving(address, bytes, source, tag, None));
                if self.deliver_compact(request, peer, &arrival) == Some(true) {
                    return Ok(request);
                }
                self.compact.discard(request);
            }
        }
        let keeps = kept(self.communicator(arguments.communicator)?);
        let request = self.compact.insert(CompactRequest::receiving(address, bytes, source, tag, keeps));
        let pattern = Pattern { context, source: Some(peer), tag: Some(tag) };
        let token = self.waiting.posted.post(pattern, request);
        self.waiting.count(Some(peer), true);
        if let Some(it) = self.compact.get_mut(request) {
            it.post(token);
        }
        if self.paths.takes(Some(peer), bytes) {
            self.hand_over(request, token, &pattern, &Region::block(address, bytes));
        }
        Ok(request)
    }

    /// # Safety
    /// As for [`Engine::irecv`].
    #[inline(never)]
    unsafe fn irecv_any(&mut self, arguments: &ReceiveArguments) -> Result<Handle> {
        let Some(receive) = self.check_receive(arguments)? else {
            return Ok(self.insert_complete(Status::PROC_NULL));
        };
        let keeps = self.layout_of(arguments.datatype, &receive.target);
        // SAFETY: the buffer is writable, and nobody else uses it, until the request is complete (this function's contract), and the request keeps its layout.
        Ok(unsafe { self.receive_checked(receive, keeps) })
    }

    /// Begins a receive whose arguments have been checked. The request keeps what must live as long.
    ///
    /// # Safety
    /// The target must be writable, and nobody else may use it, until the request is complete, and its datatype live.
    #[inline]
    pub unsafe fn receive_checked(&mut self, receive: ReceiveOperation, keeps: Keeps) -> Handle {
        if self.waiting.unexpected.is_empty() {
            let (pattern, target) = (receive.pattern, receive.target);
            let request = Request { keeps, ..Request::new(Operation::Receive(receive)) };
            let request = self.requests.insert(request);
            self.post(request, pattern, &target);
            return request;
        }
        let request = Request { keeps, ..Request::new(Operation::Receive(receive.clone())) };
        let request = self.requests.insert(request);
        self.begin_receive(request, &receive);
        request
    }

    /// The operation that the arguments describe; `None` if it comes from nobody.
    pub fn check_receive(&self, arguments: &ReceiveArguments) -> Result<Option<ReceiveOperation>> {
        let communicator = self.communicator(arguments.communicator)?;
        let target = self.buffer(arguments.address, arguments.count, arguments.datatype)?;
        let pattern = match pattern(communicator, arguments.source, arguments.tag)? {
            Some(pattern) => pattern,
            None => return Ok(None),
        };
        let communicator = Rc::clone(communicator);
        Ok(Some(ReceiveOperation { pattern, target, communicator }))
    }

    /// Completes a receive from the messages that wait, or posts it.
    pub(crate) fn begin_receive(&mut self, request: Handle, receive: &ReceiveOperation) {
        while let Some((key, message)) = self.waiting.take(&receive.pattern) {
            if self.deliver_held(request, receive, &key, message) {
                return;
            }
        }
        self.post(request, receive.pattern, &receive.target);
    }

    #[inline(always)]
    fn post(&mut self, request: Handle, pattern: Pattern, target: &Region) {
        let token = self.waiting.posted.post(pattern, request);
        self.waiting.count(pattern.source, true);
        self.set_state(request, State::Posted(token));
        if self.paths.takes(pattern.source, target.bytes()) {
            self.hand_over(request, token, &pattern, target);
        }
    }

    /// Completes a receive with a message that was held. False, and the receive still wants one, if the sender has cancelled it.
    pub(crate) fn deliver_held(
        &mut self,
        request: Handle,
        receive: &ReceiveOperation,
        key: &Key,
        message: Message,
    ) -> bool {
        let bytes = message.bytes;
        // SAFETY: `message` was held for this sender and is delivered once; `target` is writable until the
        // request is complete (contract of the receive that made it).
        let copied = unsafe { self.paths.deliver_held(key.source, message.content, &receive.target) };
        if copied == Ok(Delivery::Cancelled) {
            return false;
        }
        let status =
            received(receive.communicator.rank_of(key.source), key.tag, bytes, &receive.target, copied);
        self.settle(request, copied, status);
        true
    }

    /// Takes in a peer's messages that are not long and that posted receives want, until there is another. A program that
    /// posts receives while their messages come in thereby does at once what waiting would do later, and when all that it has posted
    /// have their messages, it can receive straight from the ring again.
    #[inline(never)]
    fn take_in_posted(&mut self, peer: WorldRank) {
        for _ in 0..BATCH {
            let Some(arrival) = self.paths.arrival(peer) else { return };
            if !is_taken_at_once(&arrival) {
                return;
            }
            if !self.handed.is_empty() {
                self.recall_from(peer);
            }
            let key = Key { context: arrival.label.context(), source: peer, tag: arrival.label.tag() };
            let Some(request) = self.waiting.match_posted(&key) else { return };
            self.deliver_posted(request, &key, &arrival);
        }
    }

    /// Takes the front message of a peer: into a posted receive, or into the queue. False if it must stay where it is.
    pub(crate) fn accept(&mut self, peer: WorldRank, arrival: &Arrival) -> bool {
        if !self.handed.is_empty() {
            self.recall_from(peer);
        }
        let key = Key { context: arrival.label.context(), source: peer, tag: arrival.label.tag() };
        if let Some(request) = self.waiting.match_posted(&key) {
            self.deliver_posted(request, &key, arrival);
            return true;
        }
        if key.context == CHANGE {
            // What follows comes by another path. A path that tells nonsense is left where it is.
            return self.paths.follow(peer, arrival).is_ok();
        }
        if !self.waiting.may_hold(peer) && !self.paths.must_take(peer) {
            return false;
        }
        // SAFETY: `arrival` is the peer's front message, which the caller has just asked for and nobody has
        // taken.
        let Some(content) = (unsafe { self.paths.hold(peer, arrival) }) else { return false };
        self.waiting.add(key, Message { bytes: arrival.bytes, content });
        true
    }

    /// Completes a posted receive with the front message of its sender; it stays posted if the sender has cancelled that.
    fn deliver_posted(&mut self, request: Handle, key: &Key, arrival: &Arrival) {
        match self.deliver_compact(request, key.source, arrival) {
            Some(true) => return self.waiting.count(Some(key.source), false),
            Some(false) => return self.put_back_compact(request, key),
            None => {}
        }
        let Some(it) = self.requests.get_mut(request) else {
            // Posted receives are requests of that kind until they complete or are withdrawn.
            unreachable!("a posted receive without a request");
        };
        let Operation::Receive(receive) = &it.operation else {
            unreachable!("a posted receive whose request is another operation");
        };
        // SAFETY: `arrival` is the sender's front message; `target` is writable until the request is complete
        // (contract of the receive that made it).
        let copied = unsafe { self.paths.deliver(key.source, arrival, &receive.target) };
        if copied == Ok(Delivery::Cancelled) {
            if let State::Posted(token) = it.state {
                it.state = State::Posted(self.waiting.posted.put_back(receive.pattern, token, request));
            }
            return;
        }
        self.waiting.count(receive.pattern.source, false);
        let target = &receive.target;
        it.status =
            received(receive.communicator.rank_of(key.source), key.tag, arrival.bytes, target, copied);
        match copied {
            Ok(Delivery::Underway(ticket)) => {
                it.state = State::Arriving(ticket);
                self.arriving.push(request);
            }
            _ if it.detached => self.requests.discard(request),
            _ => it.state = State::Complete,
        }
    }

    /// Posts a compact receive again, as old as it was.
    #[cold]
    fn put_back_compact(&mut self, request: Handle, key: &Key) {
        let Some(it) = self.compact.get_mut(request) else { return };
        let Some(token) = it.token() else { return };
        let pattern = Pattern { context: key.context, source: Some(key.source), tag: Some(key.tag) };
        it.post(self.waiting.posted.put_back(pattern, token, request));
    }
}

/// What a receive or probe accepts; `None` if it is from nobody. Errors: `TAG`, `RANK`.
pub(crate) fn pattern(communicator: &Communicator, source: i32, tag: i32) -> Result<Option<Pattern>> {
    if tag < 0 && tag != ANY_TAG {
        return Err(Error::TAG);
    }
    let source = match communicator.source(source)? {
        Endpoint::Peer(peer) => Some(peer),
        Endpoint::Any => None,
        Endpoint::Nobody => return Ok(None),
    };
    Ok(Some(Pattern { context: communicator.context, source, tag: (tag >= 0).then_some(tag) }))
}
