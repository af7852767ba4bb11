//! Sending ahead: standard sends that need not wait for a receiver that is not there.
//!
//! A message moves by one copy, which the receiver makes, and its send is complete when it is made. Where the receiver does not come, because it sends
//! first as well, computes, or has no core now, the sender copies the content into memory of its own and is free; the receiver copies once from
//! there. That costs a copy, so it is done only after a wait in which a receiver that is there would have come ([`PATIENCE`]), and up to so many
//! bytes a message and a peer. Synchronous sends always wait (MPI-5.0, section 3.4).
//!
//! What goes on is a request of the general kind that nobody waits for. The end of the runtime waits until all are fetched.

use crate::engine::Engine;
use crate::handle::Handle;
use crate::request::{Keeps, Mode, Operation, Request, SendOperation, State};
use crate::status::Status;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use lwk_copy::threshold::{AHEAD_LIMIT, AHEAD_OF_ONE_PEER};
use lwk_path::Ticket;
use lwk_path::region::{Region, content};
use lwk_place::WorldRank;
use lwk_user::job;

/// Messages for one peer, at most: those without content count, too.
pub const PEER_MESSAGES: usize = 8192;
/// Polls that a sender waits before it copies: a receiver that is there has taken the message by then.
const PATIENCE: u32 = 256;
/// The same for a peer that has not fetched what was copied before, and where ranks share cores: there the peer has had its turns by then, and
/// each poll may cost the sender's own.
const SHORT_PATIENCE: u32 = 16;

/// What has been sent ahead.
pub(crate) struct Ahead {
    peers: Vec<Counts>,
    /// For all peers together.
    messages: usize,
    /// Polls that a sender waits for a peer that owes nothing.
    patience: u32,
    /// The requests that the transport has.
    pub requests: VecDeque<Handle>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    bytes: usize,
    messages: usize,
}

/// How much may be sent ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Limit {
    /// What a sender may that has polled so often.
    After(u32),
    /// Anything.
    None,
}

impl Ahead {
    pub fn new(size: u32) -> Ahead {
        let peers = (0..size).map(|_| Counts::default()).collect();
        let patience = if job().is_oversubscribed() { SHORT_PATIENCE } else { PATIENCE };
        Ahead { peers, messages: 0, patience, requests: VecDeque::new() }
    }

    /// Bytes of content.
    pub fn bytes(&self) -> usize {
        self.peers.iter().map(|it| it.bytes).sum()
    }

    /// Whether a sender that has polled so often may go on from a copy, unless it is the message that forbids it.
    #[inline(always)]
    pub fn may_go(&self, polls: u32) -> bool {
        polls >= self.patience || polls >= SHORT_PATIENCE && self.messages > 0
    }

    fn allows(&self, peer: WorldRank, bytes: usize, limit: Limit) -> bool {
        let Limit::After(polls) = limit else { return true };
        let Counts { bytes: used, messages } = self.peers[peer.index()];
        polls >= if messages > 0 { SHORT_PATIENCE } else { self.patience }
            && bytes <= AHEAD_LIMIT
            && used + bytes <= AHEAD_OF_ONE_PEER
            && messages < PEER_MESSAGES
    }

    fn add(&mut self, peer: WorldRank, bytes: usize) {
        let counts = &mut self.peers[peer.index()];
        counts.bytes += bytes;
        counts.messages += 1;
        self.messages += 1;
    }

    /// A message has been fetched.
    pub fn remove(&mut self, peer: WorldRank, bytes: usize) {
        let counts = &mut self.peers[peer.index()];
        counts.bytes -= bytes;
        counts.messages -= 1;
        self.messages -= 1;
    }
}

impl Engine {
    /// Has a send that the transport has go on from a copy, so that its buffer is free and its ticket somebody else's. False, and nothing has changed,
    /// if the limit forbids it, there is no memory, or the receiver is copying.
    #[cold]
    pub(crate) fn send_ahead(&mut self, ticket: Ticket, limit: Limit) -> bool {
        // SAFETY: the ticket is of a send under way.
        let message = unsafe { self.paths.under_way(ticket) };
        let (peer, bytes) = (message.peer, message.source.bytes());
        if limit != Limit::None && message.synchronous || !self.ahead.allows(peer, bytes, limit) {
            return false;
        }
        let mut copied = None;
        let mut copy = || {
            // SAFETY: the send is under way, so its buffer is readable and its layout lives (`Path::begin`'s
            // contract).
            let content = unsafe { content(&message.source) }.ok()?;
            Some(copied.insert(content).as_ptr())
        };
        // SAFETY: the ticket is of a send under way; the request keeps the copy until the send is done.
        let is_relocated = unsafe { self.paths.relocate(ticket, &mut copy) };
        let (true, Some(content)) = (is_relocated, copied) else { return false };
        let request = self.insert_ahead(Operation::Nothing, State::Underway(ticket), content, peer);
        self.ahead.requests.push_back(request);
        true
    }

    /// Puts a message that finds no room off from a copy, so that its buffer is free: the request that stands for it, which the caller queues. `None`
    /// if the limit forbids it or there is no memory.
    ///
    /// # Safety
    /// The send's buffer must be readable.
    #[cold]
    pub(crate) unsafe fn defer_ahead(&mut self, send: &SendOperation, limit: Limit) -> Option<Handle> {
        // Behind others that were put off a message waits in any case.
        let limit = if self.deferred.of(send.peer) == 0 { limit } else { Limit::After(PATIENCE) };
        if send.mode == Mode::Synchronous || !self.ahead.allows(send.peer, send.source.bytes(), limit) {
            return None;
        }
        // SAFETY: the send's buffer is readable (this function's contract), its layout live.
        let content = unsafe { content(&send.source) }.ok()?;
        let source = Region::block(content.as_ptr(), content.len());
        let copied = SendOperation { source, ..*send };
        Some(self.insert_ahead(Operation::Send(copied), State::Deferred, content, send.peer))
    }

    fn insert_ahead(
        &mut self,
        operation: Operation,
        state: State,
        content: Vec<u8>,
        peer: WorldRank,
    ) -> Handle {
        self.ahead.add(peer, content.len());
        let keeps = Keeps::Ahead { content, peer };
        self.requests.insert(Request { state, keeps, detached: true, ..Request::new(operation) })
    }

    /// Completes a send that is being waited for from a copy, as far as the limit allows; whether it has.
    #[cold]
    pub(crate) fn complete_ahead(&mut self, request: Handle, limit: Limit) -> bool {
        let ticket = self.compact.get(request).and_then(|it| it.send_ticket());
        let ticket = ticket.or_else(|| match self.requests.get(request) {
            Some(Request { operation: Operation::Send(_), state: State::Underway(ticket), .. }) => {
                Some(*ticket)
            }
            _ => None,
        });
        if let Some(ticket) = ticket {
            if !self.send_ahead(ticket, limit) {
                return false;
            }
            self.underway.retain(|it| *it != request);
        } else {
            let Some(Request { operation: Operation::Send(send), state: State::Deferred, .. }) =
                self.requests.get(request)
            else {
                return false;
            };
            let send = *send;
            // SAFETY: the send is not complete, so its buffer is readable (contract of `Engine::isend`).
            let Some(copied) = (unsafe { self.defer_ahead(&send, limit) }) else { return false };
            self.deferred.replace(send.peer, request, copied);
        }
        if !self.complete_compact(request, Ok(())) {
            self.complete(request, Status::EMPTY);
        }
        true
    }
}
