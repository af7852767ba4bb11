//! Receiving: blocking and non-blocking, and what happens to messages that nobody waits for.
//!
//! A blocking receive from one source looks at that source's ring itself and takes the message straight from the cell, as
//! long as no queue is in between; everything else goes through the queues of `lwk-matching`.
//!
//! Back pressure: a message that no posted receive accepts is held, up to [`HELD_BYTES`] for each peer; then its ring is left
//! as it is, and its sender waits. That never keeps a receive from its message: while a receive is posted that a peer
//! could satisfy, that peer's messages are held without a limit.

use crate::abi::ANY_TAG;
use crate::buffer::is_none;
use crate::communicator::{Communicator, Endpoint};
use crate::compact::CompactRequest;
use crate::datatypes::block_bytes;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::progress::BATCH;
use crate::request::{Operation, ReceiveOperation, Request, State};
use crate::status::Status;
use crate::wait::POLLS_PER_PROGRESS;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_copy::threshold::AT_ONCE;
use lwk_matching::{Key, Pattern, Posted, Token, Unexpected};
use lwk_path::region::Region;
use lwk_path::{Arrival, CHANGE, Delivery, Held, Label, Parked, Ticket};
use lwk_place::WorldRank;
use lwk_user::wait::Poll;

/// Held messages of one peer take at most this many bytes, each counted with [`HELD_OVERHEAD`], while no receive wants them. With
/// the ring it keeps a peer below 8 KiB.
pub const HELD_BYTES: usize = 3 << 10;
/// What the queues need for one held message, in bytes.
pub const HELD_OVERHEAD: usize = 128;

/// What waits: receives for messages, and messages for receives.
pub(crate) struct Waiting {
    pub posted: Posted<Handle>,
    pub unexpected: Unexpected<Message>,
    peers: Vec<PeerCounts>,
    /// Posted receives from any source.
    from_any: usize,
}

#[derive(Clone, Copy, Default)]
struct PeerCounts {
    /// Bytes of its held messages, overhead included.
    held: usize,
    /// Posted receives from it.
    wanted: usize,
}

/// A message that waits for its receive.
#[derive(Debug)]
pub(crate) struct Message {
    pub bytes: usize,
    pub content: Parked,
}

impl Waiting {
    pub fn new(size: u32) -> Waiting {
        let peers = (0..size).map(|_| PeerCounts::default()).collect();
        Waiting { posted: Posted::new(), unexpected: Unexpected::new(), peers, from_any: 0 }
    }

    /// Whether no message of that peer waits, and no receive that one could be for: the next one is the next that it sends.
    #[inline(always)]
    pub fn is_clear(&self, peer: WorldRank) -> bool {
        let clear = |counts: &PeerCounts| counts.held == 0 && counts.wanted == 0;
        self.from_any == 0 && self.peers.get(peer.index()).is_some_and(clear)
    }

    /// Whether a posted receive or a probe names that peer.
    #[inline(always)]
    fn wanted(&self, peer: WorldRank) -> bool {
        self.peers.get(peer.index()).is_some_and(|counts| counts.wanted > 0)
    }

    /// Whether a message of that peer waits for its receive.
    #[inline(always)]
    fn held(&self, peer: WorldRank) -> bool {
        self.peers.get(peer.index()).is_some_and(|counts| counts.held > 0)
    }

    /// Takes back a posted receive; the source that it named, unless it has been matched.
    pub fn withdraw(&mut self, token: Token) -> Option<Option<WorldRank>> {
        self.posted.withdraw(token).map(|(pattern, _)| pattern.source)
    }

    /// Counts a receive or probe that wants messages of a source, or one that no longer does.
    #[inline(always)]
    pub fn count(&mut self, source: Option<WorldRank>, posted: bool) {
        let count = match source {
            Some(peer) => &mut self.peers[peer.index()].wanted,
            None => &mut self.from_any,
        };
        if posted { *count += 1 } else { *count -= 1 }
    }

    /// Whether a message of that peer may be held.
    fn may_hold(&self, peer: WorldRank) -> bool {
        let counts = &self.peers[peer.index()];
        counts.held < HELD_BYTES || counts.wanted > 0 || self.from_any > 0
    }

    fn add(&mut self, key: Key, message: Message) {
        self.peers[key.source.index()].held += message.held_bytes();
        self.unexpected.add(key, message);
    }

    /// Takes the oldest message that the pattern accepts.
    pub fn take(&mut self, pattern: &Pattern) -> Option<(Key, Message)> {
        let (key, message) = self.unexpected.take(pattern)?;
        self.peers[key.source.index()].held -= message.held_bytes();
        Some((key, message))
    }

    /// Takes out a posted receive that the message matches.
    #[inline(always)]
    fn match_posted(&mut self, key: &Key) -> Option<Handle> {
        self.posted.take(key)
    }
}

impl Message {
    fn held_bytes(&self) -> usize {
        HELD_OVERHEAD
            + match &self.content.held {
                Held::Copy(content) => content.len(),
                Held::AtSender { .. } | Held::Cancelled | Held::Kept(_) => 0,
            }
    }
}

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

/// The outcome of a receive: whose message, which tag, how long, and whether it fitted.
#[inline(always)]
fn received(
    communicator: &Communicator,
    source: WorldRank,
    tag: i32,
    bytes: usize,
    target: &Region,
    copied: lwk_path::Result<Delivery>,
) -> Status {
    let truncated = (bytes > target.bytes()).then_some(Error::TRUNCATE);
    let error = copied.err().map(Error::from).or(truncated);
    let bytes = bytes.min(target.bytes()) as u64;
    Status { source: communicator.rank_of(source), tag, error, bytes, cancelled: false, empty: false }
}

impl Engine {
    /// Receives a message. (Callers try [`crate::short::receive`] first.) Errors: `COMM`, `COUNT`, `TYPE`, `TAG`, `RANK`; `TRUNCATE` if the
    /// message is longer than the buffer, which then holds its beginning.
    ///
    /// # Safety
    /// The buffer must be writable, and nobody else may use it, until this returns.
    #[inline(never)]
    pub unsafe fn receive(&mut self, arguments: &ReceiveArguments) -> Result<Status> {
        let Some(receive) = self.check_receive(arguments)? else { return Ok(Status::PROC_NULL) };
        // Progress may call an operation of the program's that frees the datatype or the communicator: neither handle is looked up again.
        let keeps = self.layout_of(arguments.datatype, &receive.target);
        let target = &receive.target;
        if let Pattern { context, source: Some(peer), tag: Some(tag) } = receive.pattern {
            let label = Label::new(context, tag);
            let mut poll = Poll::new();
            let mut round = 0u32;
            // While nothing of it waits in the queues, the message is the next of its sender or has not come.
            while self.waiting.is_clear(peer) {
                if let Some(arrival) = self.paths.arrival(peer) {
                    if arrival.label != label {
                        break;
                    }
                    // SAFETY: `arrival` is the peer's front message, asked for just now; the buffer is
                    // writable until this returns (this function's contract).
                    let copied = unsafe { self.paths.deliver(peer, &arrival, target) };
                    if copied == Ok(Delivery::Cancelled) {
                        continue;
                    }
                    let mut status =
                        received(&receive.communicator, peer, tag, arrival.bytes, target, copied);
                    if let Ok(Delivery::Underway(ticket)) = copied {
                        // SAFETY: `deliver` has just given the ticket; the buffer is writable until this
                        // returns (this function's contract).
                        let outcome = unsafe { self.finish_receive(ticket) };
                        status.error = outcome.err().or(status.error);
                    }
                    return status.error.map_or(Ok(status), Err);
                }
                round = round.wrapping_add(1);
                if round.is_multiple_of(POLLS_PER_PROGRESS) {
                    self.progress_except(Some(peer));
                }
                poll.pause();
            }
        }
        let request = Request { keeps, ..Request::new(Operation::Receive(receive.clone())) };
        let request = self.requests.insert(request);
        self.begin_receive(request, &receive);
        self.wait(request)
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
        let &ReceiveArguments { address, count, source, tag, .. } = arguments;
        // Empty blocks are rare, and unknown types count as such.
        let compact = block_bytes(count, arguments.datatype).filter(|_| tag >= 0 && !is_none(address));
        let communicator = self.communicator(arguments.communicator)?;
        let peer = communicator.peers().get(source as usize).copied();
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
        let is_lasting = context <= Communicator::SELF_CONTEXT;
        let keeps =
            if is_lasting { None } else { Some(Rc::clone(self.communicator(arguments.communicator)?)) };
        let request = self.compact.insert(CompactRequest::receiving(address, bytes, source, tag, keeps));
        let pattern = Pattern { context, source: Some(peer), tag: Some(tag) };
        let token = self.waiting.posted.post(pattern, request);
        self.waiting.count(Some(peer), true);
        if let Some(it) = self.compact.get_mut(request) {
            it.post(token);
        }
        Ok(request)
    }

    /// # Safety
    /// As for [`Engine::irecv`].
    #[inline(never)]
    unsafe fn irecv_any(&mut self, arguments: &ReceiveArguments) -> Result<Handle> {
        let Some(receive) = self.check_receive(arguments)? else {
            return Ok(self.requests.insert(Request::nothing(Status::PROC_NULL)));
        };
        let keeps = self.layout_of(arguments.datatype, &receive.target);
        if self.waiting.unexpected.is_empty() {
            let pattern = receive.pattern;
            let request = Request { keeps, ..Request::new(Operation::Receive(receive)) };
            let request = self.requests.insert(request);
            self.post(request, pattern);
            return Ok(request);
        }
        let request = Request { keeps, ..Request::new(Operation::Receive(receive.clone())) };
        let request = self.requests.insert(request);
        self.begin_receive(request, &receive);
        Ok(request)
    }

    /// The operation that the arguments describe; `None` if it comes from nobody.
    pub(crate) fn check_receive(&self, arguments: &ReceiveArguments) -> Result<Option<ReceiveOperation>> {
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
        self.post(request, receive.pattern);
    }

    #[inline(always)]
    fn post(&mut self, request: Handle, pattern: Pattern) {
        let token = self.waiting.posted.post(pattern, request);
        self.waiting.count(pattern.source, true);
        self.set_state(request, State::Posted(token));
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
        let status = received(&receive.communicator, key.source, key.tag, bytes, &receive.target, copied);
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
            let key = Key { context: arrival.label.context(), source: peer, tag: arrival.label.tag() };
            let Some(request) = self.waiting.match_posted(&key) else { return };
            self.deliver_posted(request, &key, &arrival);
        }
    }

    /// Takes the front message of a peer: into a posted receive, or into the queue. False if it must stay where it is.
    pub(crate) fn accept(&mut self, peer: WorldRank, arrival: &Arrival) -> bool {
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
        it.status = received(&receive.communicator, key.source, key.tag, arrival.bytes, target, copied);
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
