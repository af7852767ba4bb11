//! The link: messages of this node to all others, and theirs to this one. What it does with a frame that comes is in `receiving`, with one that goes in
//! `sending`; `acknowledging` is what each says of the other way, `lives` what becomes of streams when a node restarts or is gone, `watching` how one that is waited for
//! is missed.

mod acknowledging;
mod bundles;
mod lives;
mod receiving;
mod sending;
mod watching;

use bytemuck::Zeroable;

pub use acknowledging::ANSWER_US;
pub use watching::{ASK_US, Lost, QUESTIONS};

use crate::Upper;
use crate::count::Counters;
use crate::frame::{FRAME_BYTES_MAX, HEAD_BYTES, NodeId};
use crate::held::HeldFrames;
use crate::messages::Messages;
use crate::peer::Peer;
use crate::peer_index::PeerIndex;

/// Most nodes of a job.
pub const NODES_MAX: usize = 4096;
/// Most peers that a node may have to do with.
pub const PEERS_MAX: usize = 1024;
/// A peer that lets nothing through for so long is gone, in microseconds.
pub const SILENCE_MAX_US: u64 = 6_000_000;
/// A node that waits for a peer looks after it far more often than that, in microseconds. If it has not, it has stood still itself, as a virtual machine that is
/// stopped: that time is not its peers' silence.
const STOOD_STILL_US: u64 = SILENCE_MAX_US / 2;
/// How soon a card is tried again that had no room, in microseconds.
const NO_ROOM_US: u64 = 100;

/// Who a link is.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// This node, below `nodes`.
    pub node: NodeId,
    /// Nodes of the job, at most [`NODES_MAX`].
    pub nodes: u16,
    /// The job, the same on all its nodes and no other job's.
    pub job: u64,
    /// This life of the node: not 0, and greater than that of every earlier one.
    pub epoch: u64,
    /// Longest frame of card and network, in bytes with Ethernet's head; above [`HEAD_BYTES`], at most [`FRAME_BYTES_MAX`].
    pub frame_bytes: usize,
}

/// All of a node's streams. Zeros are an unused one, which [`Link::start`] makes ready.
#[derive(Zeroable)]
#[repr(C)]
pub struct Link<T> {
    node: u16,
    nodes: u16,
    /// Peers there are, and the first of those with something to do.
    peer_count: u16,
    busy: PeerIndex,
    /// Bytes of a message in a frame; 0 before the start.
    piece_bytes: u32,
    /// 1: the card had no room for a frame.
    blocked: u32,
    job: u64,
    epoch: u64,
    /// When it was looked after last.
    worked_at: u64,
    counters: Counters,
    index: [PeerIndex; NODES_MAX],
    peers: [Peer; PEERS_MAX],
    messages: Messages<T>,
    held: HeldFrames,
}

/// Why a message cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The job has no such node, or it is this one and not the only one.
    NoNode,
    /// A message has one byte at least.
    Empty,
    /// Too many messages are under way, or too many peers known: later perhaps.
    NoRoom,
}

impl<T: Zeroable + Copy> Link<T> {
    /// Makes an unused link ready.
    pub fn start(&mut self, identity: Identity) {
        assert!(
            identity.node.0 < identity.nodes && usize::from(identity.nodes) <= NODES_MAX,
            "a node of the job"
        );
        assert!(
            (HEAD_BYTES + 1..=FRAME_BYTES_MAX).contains(&identity.frame_bytes),
            "frames that hold something"
        );
        assert!(identity.epoch != 0 && self.piece_bytes == 0, "a life of its own");
        self.node = identity.node.0;
        self.nodes = identity.nodes;
        self.job = identity.job;
        self.epoch = identity.epoch;
        self.piece_bytes = (identity.frame_bytes - HEAD_BYTES) as u32;
    }

    /// What it has done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether the card had no room for a frame in the last [`Link::work`].
    pub fn is_blocked(&self) -> bool {
        self.blocked != 0
    }

    /// Messages under way, and frames kept for their turn.
    pub fn used(&self) -> (usize, usize) {
        (self.messages.used(), self.held.used())
    }

    /// Peers it has had to do with.
    pub fn peers(&self) -> usize {
        self.peer_count.into()
    }

    /// Bytes of a message that a frame carries at most.
    pub fn piece_bytes(&self) -> usize {
        self.piece_bytes as usize
    }

    /// Has a message of `bytes` bytes sent to a node. It goes with the next [`Link::work`].
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn send(&mut self, to: NodeId, bytes: u64, owner: T, now: u64) -> Result<(), Refused> {
        if !self.is_peer(to.0) {
            return Err(Refused::NoNode);
        }
        if bytes == 0 || bytes.div_ceil(self.piece_bytes.into()) > u32::MAX.into() {
            return Err(Refused::Empty);
        }
        let at = self.peer_of(to).ok_or(Refused::NoRoom)?;
        let message = self.messages.add(bytes, owner).ok_or(Refused::NoRoom)?;
        let peer = self.peer(at);
        if peer.first == 0 && peer.window.is_empty() {
            peer.silent_since = now;
            peer.ask_at = now;
        }
        let last = core::mem::replace(&mut peer.last, message);
        match last {
            0 => peer.first = message,
            last => self.messages.get_mut(last).next = message,
        }
        self.make_busy(at);
        Ok(())
    }

    /// Whether frames go from this node to that one. A node alone in its job is its own peer, if its wire leads back: the two streams are one then.
    fn is_peer(&self, node: u16) -> bool {
        node < self.nodes && (node != self.node || self.nodes == 1)
    }

    fn peer(&mut self, at: PeerIndex) -> &mut Peer {
        &mut self.peers[usize::from(at) - 1]
    }

    /// The place of a node's state, made if there is none; nothing if there is no room.
    fn peer_of(&mut self, node: NodeId) -> Option<PeerIndex> {
        let known = self.index[usize::from(node.0)];
        if known != 0 {
            return Some(known);
        }
        let peer = self.peers.get_mut(usize::from(self.peer_count))?;
        *peer = Peer { node: node.0, ours: self.epoch, ..Peer::zeroed() };
        peer.window.start();
        self.peer_count += 1;
        self.index[usize::from(node.0)] = self.peer_count;
        Some(self.peer_count)
    }

    fn make_busy(&mut self, at: PeerIndex) {
        let next = self.busy;
        let peer = self.peer(at);
        if peer.busy == 0 {
            (peer.busy, peer.next_busy) = (1, next);
            self.busy = at;
        }
    }

    /// Sends what may be sent, as far as the card takes it: acknowledgements, what was lost, and new pieces. To be called after frames have
    /// been received or messages queued, and when [`Link::deadline`] has come.
    pub fn work(&mut self, now: u64, upper: &mut impl Upper<T>) {
        self.blocked = 0;
        let since = now.saturating_sub(core::mem::replace(&mut self.worked_at, now));
        let stood_still = if since >= STOOD_STILL_US { since } else { 0 };
        let mut at = core::mem::take(&mut self.busy);
        while at != 0 {
            let peer = self.peer(at);
            let next = core::mem::take(&mut peer.next_busy);
            peer.busy = 0;
            peer.silent_since = peer.silent_since.saturating_add(stood_still).min(now);
            self.work_for(at, now, upper);
            let peer = self.peer(at);
            if peer.first != 0 || !peer.window.is_empty() || peer.owes != 0 || peer.held_next().is_some() {
                self.make_busy(at);
            }
            at = next;
        }
    }

    /// Serves one peer. A card without room ends it: the rest goes the next time.
    fn work_for(&mut self, at: PeerIndex, now: u64, upper: &mut impl Upper<T>) {
        self.deliver_held(at, upper);
        let peer = self.peer(at);
        let waits = peer.first != 0 || !peer.window.is_empty();
        if waits && now.saturating_sub(peer.silent_since) >= SILENCE_MAX_US {
            self.give_up(at, upper);
        } else if waits && peer.known == 0 {
            self.ask_who_is_there(at, now, upper);
        } else if self.send_lost(at, now, upper) && self.send_new(at, now, upper) {
            self.acknowledge_alone(at, now, upper);
        }
    }

    /// When [`Link::work`] is to be called again if nothing comes before: microseconds on the caller's clock; nothing if nobody is waited for.
    pub fn deadline(&self, now: u64) -> Option<u64> {
        let mut earliest: Option<u64> = None;
        let mut at = self.busy;
        while at != 0 {
            let peer = &self.peers[usize::from(at) - 1];
            let waits = peer.first != 0 || !peer.window.is_empty();
            let sends = (peer.first != 0 && peer.known != 0 && peer.holds == 0 && peer.window.has_room())
                || peer.window.lost().is_some()
                || (peer.owes != 0 && peer.urgent != 0);
            let wants = if peer.held_next().is_some() || sends {
                None
            } else if waits && peer.known == 0 {
                Some(peer.ask_at)
            } else {
                let answer = (peer.owes != 0).then_some(peer.owes_since + ANSWER_US);
                peer.window.deadline(now).into_iter().chain(answer).min()
            };
            // Something could be sent: the card had no room.
            let wants = wants.unwrap_or(now + NO_ROOM_US);
            let wants = if waits { wants.min(peer.silent_since + SILENCE_MAX_US) } else { wants };
            earliest = Some(earliest.map_or(wants, |earliest| earliest.min(wants)));
            at = peer.next_busy;
        }
        let earliest = earliest.map(|earliest| earliest.max(now));
        if self.blocked != 0 { earliest.map(|earliest| earliest.min(now + NO_ROOM_US)) } else { earliest }
    }
}
