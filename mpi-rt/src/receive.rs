//! Receiving: blocking and non-blocking, and what happens to messages that nobody waits for.
//!
//! A blocking receive from one source looks at that source's ring itself and takes the message straight from the cell, as
//! long as no queue is in between; everything else goes through the queues of `lwk-matching`.
//!
//! Back pressure: a message that no posted receive accepts is held, up to [`HELD_BYTES`] for each peer; then its ring is left
//! as it is, and its sender waits. That never keeps a receive from its message: while a receive is posted that a peer
//! could satisfy, that peer's messages are held without a limit.

use crate::abi::ANY_TAG;
use crate::communicator::{Communicator, Place};
use crate::datatypes::short_bytes;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::region::Region;
use crate::request::{Operation, ReceiveOperation, Request, State};
use crate::status::Status;
use crate::transport::{Arrival, Delivery, Held, Label, Ticket, Transport};
use crate::wait::POLLS_PER_PROGRESS;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_matching::{Key, Pattern, Posted, Unexpected};
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
    pub content: Held,
}

impl Waiting {
    pub fn new(size: u32) -> Waiting {
        let peers = (0..size).map(|_| PeerCounts::default()).collect();
        Waiting { posted: Posted::new(), unexpected: Unexpected::new(), peers, from_any: 0 }
    }

    /// Whether no receive and no message waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.unexpected.is_empty() && self.posted.is_empty()
    }

    /// Counts a receive or probe that wants messages of a source, or one that no longer does.
    pub fn count(&mut self, source: Option<u32>, posted: bool) {
        let count = match source {
            Some(peer) => &mut self.peers[peer as usize].wanted,
            None => &mut self.from_any,
        };
        if posted { *count += 1 } else { *count -= 1 }
    }

    /// Whether a message of that peer may be held.
    fn may_hold(&self, peer: u32) -> bool {
        let counts = &self.peers[peer as usize];
        counts.held < HELD_BYTES || counts.wanted > 0 || self.from_any > 0
    }

    fn add(&mut self, key: Key, message: Message) {
        self.peers[key.source as usize].held += message.held_bytes();
        self.unexpected.add(key, message);
    }

    /// Takes the oldest message that the pattern accepts.
    pub fn take(&mut self, pattern: &Pattern) -> Option<(Key, Message)> {
        let (key, message) = self.unexpected.take(pattern)?;
        self.peers[key.source as usize].held -= message.held_bytes();
        Some((key, message))
    }

    /// Takes out a posted receive that the message matches.
    fn match_posted(&mut self, key: &Key) -> Option<Handle> {
        self.posted.take(key)
    }
}

impl Message {
    fn held_bytes(&self) -> usize {
        HELD_OVERHEAD
            + match &self.content {
                Held::Copy(content) => content.len(),
                Held::AtSender { .. } | Held::Kept(_) => 0,
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

/// The outcome of a receive: whose message, which tag, how long, and whether it fitted.
#[inline(always)]
fn received(
    communicator: &Communicator,
    source: u32,
    tag: i32,
    bytes: usize,
    target: &Region,
    copied: Result<Delivery>,
) -> Status {
    let truncated = (bytes > target.bytes()).then_some(Error::TRUNCATE);
    let error = copied.err().or(truncated);
    let bytes = bytes.min(target.bytes()) as u64;
    Status { source: communicator.rank_of(source), tag, error, bytes, cancelled: false }
}

impl Engine {
    /// Receives a message. Errors: `COMM`, `COUNT`, `TYPE`, `TAG`, `RANK`; `TRUNCATE` if the message is longer than the buffer,
    /// which then holds its beginning.
    ///
    /// # Safety
    /// The buffer must be writable.
    #[inline(always)]
    pub unsafe fn receive(&mut self, arguments: &ReceiveArguments) -> Result<Status> {
        // SAFETY: the caller's promise, for both.
        unsafe {
            match self.receive_short(arguments) {
                Some(status) => Ok(status),
                None => self.receive_any(arguments),
            }
        }
    }

    /// Receives a short block that is the next message of its sender, as long as nothing waits in the queues. `None` if nothing has
    /// happened: the long way finds what there is, and the errors.
    ///
    /// # Safety
    /// The buffer must be writable.
    #[inline(always)]
    unsafe fn receive_short(&mut self, arguments: &ReceiveArguments) -> Option<Status> {
        let room = short_bytes(arguments.count, arguments.datatype)?;
        if arguments.tag < 0 || !self.waiting.is_empty() {
            return None;
        }
        let communicator = self.communicator(arguments.communicator).ok()?;
        let peer = *communicator.peers().get(arguments.source as usize)?;
        let label = Label::new(communicator.context, arguments.tag);
        // SAFETY: the caller's promise.
        let bytes = unsafe { self.transport.receive_short(peer, label, arguments.address, room)? } as u64;
        Some(Status { source: arguments.source, tag: arguments.tag, bytes, ..Status::EMPTY })
    }

    /// Receives whatever it is.
    ///
    /// # Safety
    /// As for [`Engine::receive`].
    #[inline(never)]
    unsafe fn receive_any(&mut self, arguments: &ReceiveArguments) -> Result<Status> {
        let communicator = self.communicator(arguments.communicator)?;
        let target = self.region(arguments.address, arguments.count, arguments.datatype)?;
        if arguments.tag < 0 && arguments.tag != ANY_TAG {
            return Err(Error::TAG);
        }
        let place = communicator.source(arguments.source)?;
        if let (Place::Peer(peer), true) = (place, arguments.tag >= 0) {
            let label = Label::new(communicator.context, arguments.tag);
            let mut poll = Poll::new();
            let mut round = 0u32;
            // While nothing waits in the queues, the message is the next of its sender or has not come.
            while self.waiting.is_empty() {
                if let Some(arrival) = self.transport.front(peer) {
                    if arrival.label != label {
                        break;
                    }
                    // SAFETY: it is the front message; the caller vouches for the buffer.
                    let copied = unsafe { self.transport.deliver(peer, &arrival, &target) };
                    let communicator = self.communicator(arguments.communicator)?;
                    let mut status =
                        received(communicator, peer, arguments.tag, arrival.bytes, &target, copied);
                    if let Ok(Delivery::Underway(ticket)) = copied {
                        // SAFETY: the transport has just given it; the caller vouches for the buffer until this returns.
                        let outcome = unsafe { self.finish_receive(ticket) };
                        status.error = outcome.err().or(status.error);
                    }
                    return status.error.map_or(Ok(status), Err);
                }
                round = round.wrapping_add(1);
                if round.is_multiple_of(POLLS_PER_PROGRESS) {
                    self.progress_except(peer);
                }
                poll.pause();
            }
        }
        // SAFETY: the caller vouches for the buffer until this returns.
        let request = unsafe { self.irecv(arguments)? };
        self.wait(request)
    }

    /// Waits until a message that is on its way has come.
    ///
    /// # Safety
    /// The ticket is of a delivery under way, and the receive buffer is writable.
    #[cold]
    unsafe fn finish_receive(&mut self, ticket: Ticket) -> Result<()> {
        let mut poll = Poll::new();
        for round in 1u32.. {
            // SAFETY: the caller's promise; it is the last use after the outcome is known.
            if let Some(outcome) = unsafe { self.transport.advance_receive(ticket) } {
                return outcome;
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
    pub unsafe fn irecv(&mut self, arguments: &ReceiveArguments) -> Result<Handle> {
        let Some(receive) = self.check_receive(arguments)? else {
            return Ok(self.requests.insert(Request::nothing(Status::PROC_NULL)));
        };
        let keeps = self.layout_of(arguments.datatype, &receive.target);
        let request = Request { keeps, ..Request::new(Operation::Receive(receive.clone())) };
        let request = self.requests.insert(request);
        self.begin_receive(request, &receive);
        Ok(request)
    }

    /// The operation that the arguments describe; `None` if it comes from nobody.
    pub(crate) fn check_receive(&self, arguments: &ReceiveArguments) -> Result<Option<ReceiveOperation>> {
        let communicator = self.communicator(arguments.communicator)?;
        let target = self.region(arguments.address, arguments.count, arguments.datatype)?;
        let pattern = match pattern(communicator, arguments.source, arguments.tag)? {
            Some(pattern) => pattern,
            None => return Ok(None),
        };
        let communicator = Rc::clone(communicator);
        Ok(Some(ReceiveOperation { pattern, target, communicator }))
    }

    /// Completes a receive from the messages that wait, or posts it.
    pub(crate) fn begin_receive(&mut self, request: Handle, receive: &ReceiveOperation) {
        if let Some((key, message)) = self.waiting.take(&receive.pattern) {
            self.deliver_held(request, receive, &key, message);
            return;
        }
        let token = self.waiting.posted.post(receive.pattern, request);
        self.waiting.count(receive.pattern.source, true);
        self.set_state(request, State::Posted(token));
    }

    /// Completes a receive with a message that was held.
    pub(crate) fn deliver_held(
        &mut self,
        request: Handle,
        receive: &ReceiveOperation,
        key: &Key,
        message: Message,
    ) {
        let bytes = message.bytes;
        // SAFETY: whoever made the request vouches for its buffer until it is complete.
        let copied = unsafe { self.transport.deliver_held(key.source, message.content, &receive.target) };
        let status = received(&receive.communicator, key.source, key.tag, bytes, &receive.target, copied);
        self.settle(request, copied, status);
    }

    /// Takes the front message of a peer: into a posted receive, or into the queue. False if it must stay where it is.
    pub(crate) fn accept(&mut self, peer: u32, arrival: &Arrival) -> bool {
        let key = Key { context: arrival.label.context(), source: peer, tag: arrival.label.tag() };
        if let Some(request) = self.waiting.match_posted(&key) {
            self.deliver_posted(request, &key, arrival);
            return true;
        }
        if !self.waiting.may_hold(peer) && !self.transport.must_take(peer) {
            return false;
        }
        // SAFETY: it is the front message.
        let Some(content) = (unsafe { self.transport.hold(peer, arrival) }) else { return false };
        self.waiting.add(key, Message { bytes: arrival.bytes, content });
        true
    }

    /// Completes a posted receive with the front message of its sender.
    fn deliver_posted(&mut self, request: Handle, key: &Key, arrival: &Arrival) {
        let Some(Request { operation: Operation::Receive(receive), .. }) = self.requests.get(request) else {
            // Posted receives are requests of that kind until they complete or are withdrawn.
            unreachable!("a posted receive without a request");
        };
        self.waiting.count(receive.pattern.source, false);
        // SAFETY: it is the front message; whoever made the request vouches for its buffer.
        let copied = unsafe { self.transport.deliver(key.source, arrival, &receive.target) };
        let target = &receive.target;
        let status = received(&receive.communicator, key.source, key.tag, arrival.bytes, target, copied);
        self.settle(request, copied, status);
    }

    /// Takes back a posted receive; false if it has been matched.
    pub(crate) fn withdraw(&mut self, request: Handle) -> bool {
        let Some(Request { state: State::Posted(token), operation: Operation::Receive(receive), .. }) =
            self.requests.get(request)
        else {
            return false;
        };
        let source = receive.pattern.source;
        let withdrawn = self.waiting.posted.withdraw(*token).is_some();
        if withdrawn {
            self.waiting.count(source, false);
        }
        withdrawn
    }
}

/// What a receive or probe accepts; `None` if it is from nobody. Errors: `TAG`, `RANK`.
pub(crate) fn pattern(communicator: &Communicator, source: i32, tag: i32) -> Result<Option<Pattern>> {
    if tag < 0 && tag != ANY_TAG {
        return Err(Error::TAG);
    }
    let source = match communicator.source(source)? {
        Place::Peer(peer) => Some(peer),
        Place::Any => None,
        Place::Nobody => return Ok(None),
    };
    Ok(Some(Pattern { context: communicator.context, source, tag: (tag >= 0).then_some(tag) }))
}
