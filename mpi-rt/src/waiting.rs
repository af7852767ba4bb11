//! What waits: receives for messages, and messages for receives.
//!
//! Back pressure: a message that no posted receive accepts is held, up to [`HELD_BYTES`] for each peer; then its ring is left
//! as it is, and its sender waits. That never keeps a receive from its message: while a receive is posted that a peer
//! could satisfy, that peer's messages are held without a limit.

use crate::handle::Handle;
use alloc::vec::Vec;
use lwk_matching::{Key, Pattern, Posted, Token, Unexpected};
use lwk_path::{Held, Parked};
use lwk_place::WorldRank;

/// Held messages of one peer take at most this many bytes, each counted with [`HELD_OVERHEAD`], while no receive wants them. With
/// the ring it keeps a peer below 8 KiB.
pub const HELD_BYTES: usize = 3 << 10;
/// What the queues need for one held message, in bytes.
pub const HELD_OVERHEAD: usize = 128;

/// What waits: receives for messages, and messages for receives. The counts, which every blocking receive asks, stand beside the engine's own.
#[repr(C)]
pub(crate) struct Waiting {
    peers: Vec<PeerCounts>,
    /// Posted receives from any source.
    from_any: usize,
    pub posted: Posted<Handle>,
    pub unexpected: Unexpected<Message>,
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
    pub fn wanted(&self, peer: WorldRank) -> bool {
        self.peers.get(peer.index()).is_some_and(|counts| counts.wanted > 0)
    }

    /// Whether a message of that peer waits for its receive.
    #[inline(always)]
    pub fn held(&self, peer: WorldRank) -> bool {
        self.peers.get(peer.index()).is_some_and(|counts| counts.held > 0)
    }

    /// Whether so many posted receives could be for a message of that peer, all of which name it.
    pub fn are_of(&self, peer: WorldRank, count: usize) -> bool {
        self.from_any == 0 && self.peers.get(peer.index()).is_some_and(|counts| counts.wanted == count)
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
    pub fn may_hold(&self, peer: WorldRank) -> bool {
        let counts = &self.peers[peer.index()];
        counts.held < HELD_BYTES || counts.wanted > 0 || self.from_any > 0
    }

    pub fn add(&mut self, key: Key, message: Message) {
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
    pub fn match_posted(&mut self, key: &Key) -> Option<Handle> {
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
