//! Receives that a path matches ([`lwk_path::Matching::post`]): with `limic` and `portals`, the kernel.
//!
//! They stay among the posted ones, so that a receive is the next for its message wherever that is found. Order between the two is kept here: a receive of one peer is handed over only if
//! every posted receive that could be for a message of that peer has been, and all of a peer are recalled before a message of it is taken in.

use crate::engine::Engine;
use crate::handle::Handle;
use crate::request::Operation;
use crate::waiting::Waiting;
use alloc::vec::Vec;
use lwk_matching::{Pattern, Token};
use lwk_path::region::Region;
use lwk_path::{Received, Ticket};
use lwk_place::WorldRank;

/// Such receives.
pub(crate) struct Handed {
    all: Vec<Entry>,
    /// How many, by peer.
    counts: Vec<usize>,
}

/// One of them.
#[derive(Clone, Copy)]
struct Entry {
    request: Handle,
    token: Token,
    ticket: Ticket,
    peer: WorldRank,
}

impl Handed {
    pub fn new(size: u32) -> Handed {
        Handed { all: Vec::new(), counts: (0..size).map(|_| 0).collect() }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a receive of that peer, which has just been posted, is the only one that has not been handed over and could be for a message of the peer.
    fn is_next(&self, waiting: &Waiting, peer: WorldRank) -> bool {
        waiting.are_of(peer, self.counts[peer.index()] + 1)
    }

    fn remove(&mut self, index: usize) -> Entry {
        let entry = self.all.remove(index);
        self.counts[entry.peer.index()] -= 1;
        entry
    }
}

impl Engine {
    /// Hands a receive that has just been posted to the path, if the path wants it and order allows.
    #[cold]
    pub(crate) fn hand_over(&mut self, request: Handle, token: Token, pattern: &Pattern, target: &Region) {
        let Some(peer) = pattern.source.filter(|peer| self.handed.is_next(&self.waiting, *peer)) else {
            return;
        };
        // SAFETY: the target is writable until the request is complete (contract of the receive that made it), which it is not before the path has been asked.
        if let Some(ticket) = unsafe { self.paths.post(peer, pattern.context, pattern.tag, target) } {
            self.handed.all.push(Entry { request, token, ticket, peer });
            self.handed.counts[peer.index()] += 1;
        }
    }

    /// Completes receives whose message the path has received.
    #[cold]
    pub(crate) fn complete_handed(&mut self) {
        let mut index = 0;
        while let Some(entry) = self.handed.all.get(index) {
            match self.paths.posted(entry.ticket) {
                Some(received) => {
                    let entry = self.handed.remove(index);
                    self.complete_received(&entry, &received);
                }
                None => index += 1,
            }
        }
    }

    /// Takes back what has been handed over of a peer, whose next message has come by the FIFO: any of them may be for that. The last one first, so that a message which comes meanwhile
    /// finds the first that is for it, or none.
    #[cold]
    pub(crate) fn recall_from(&mut self, peer: WorldRank) {
        while let Some(index) = self.handed.all.iter().rposition(|entry| entry.peer == peer) {
            self.recall(index);
        }
    }

    /// Takes back a receive, if it has been handed over.
    #[cold]
    pub(crate) fn recall_request(&mut self, request: Handle) {
        if let Some(index) = self.handed.all.iter().position(|entry| entry.request == request) {
            self.recall(index);
        }
    }

    /// A receive is posted here only, or complete.
    fn recall(&mut self, index: usize) {
        let entry = self.handed.remove(index);
        if let Some(received) = self.paths.recall(entry.ticket) {
            self.complete_received(&entry, &received);
        }
    }

    /// Completes a receive that the path has matched.
    fn complete_received(&mut self, entry: &Entry, received: &Received) {
        let &Entry { request, token, peer, .. } = entry;
        let source = self.waiting.withdraw(token);
        assert!(source == Some(Some(peer)), "a receive that was handed over is not posted");
        self.waiting.count(Some(peer), false);
        if self.complete_compact_received(request, received) {
            return;
        }
        let Some(Operation::Receive(receive)) = self.requests.get(request).map(|it| &it.operation) else {
            unreachable!("a posted receive without a request");
        };
        let status = receive.status(peer, received);
        self.complete(request, status);
    }
}
