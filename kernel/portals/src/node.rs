//! A node: all that Portals keeps for its ranks, and its link to the other nodes.

use bytemuck::Zeroable;
use lwk_abi::address::MAX_RANKS;
use lwk_frames::{Counters, Identity, Link, Lost, NodeId, PEERS_MAX, pause};

use crate::events::{Counter, Queue};
use crate::initiator::{Descriptor, Operation};
use crate::interface::{Interface, OF_A_RANK, Table};
use crate::lists::Lists;
use crate::memory::{Memory, Nic, Span};
use crate::message::MESSAGE_BYTES;
use crate::raw;
use crate::region::Pieces;
use crate::slab::{Place, Slab};
use crate::triggered::Triggered;
use crate::upper::{Incoming, Outgoing, Port};

/// Tables of fixed size, each for all ranks of the node together.
const TABLES: usize = 8_192;
const DESCRIPTORS: usize = 16_384;
const QUEUES: usize = 4_096;
const COUNTERS: usize = 16_384;
const OPERATIONS: usize = 16_384;
const TRIGGERED: usize = 8_192;
const OUTGOING: usize = 4_096;
const SNAPSHOTS: usize = 512;
/// Messages under way that only answers may use: requests leave them free.
pub(crate) const FOR_ANSWERS: usize = 1_024;

/// How the ranks of a job are spread over its nodes: in their order, as evenly as it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(C)]
pub struct Ranks {
    /// Ranks and nodes of the job, at least one each, and no more nodes than ranks.
    pub size: u32,
    pub nodes: u32,
}

impl Ranks {
    /// The first rank of a node, or of the node behind the last.
    pub fn first_of(self, node: u32) -> u32 {
        lwk_abi::portals::first_rank_of(node, self.size, self.nodes)
    }

    /// Ranks of a node.
    pub fn of(self, node: u32) -> u32 {
        self.first_of(node + 1) - self.first_of(node)
    }

    /// The node of a rank of the job.
    pub fn node_of(self, rank: u32) -> u32 {
        lwk_abi::portals::node_of(rank, self.size, self.nodes)
    }
}

/// What a node is told at its start.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub identity: Identity,
    /// Ranks of the job.
    pub size: u32,
    /// The node is its own peer: messages between its ranks go by the link. Of a job of one node.
    pub loops: bool,
}

/// What Portals has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(C)]
pub struct Counts {
    /// Messages of this node's ranks to others and among each other.
    pub sent: u64,
    /// Messages for this node's ranks.
    pub arrived: u64,
    /// Of those: with no meaning, or not from who they say.
    pub malformed: u64,
    /// Bytes that have been put into programs' memory, each once.
    pub bytes: u64,
    /// Bytes that have been written to programs' memory to tell them of something.
    pub told: u64,
    /// Bytes of payload that have been copied aside because the program may change them at once.
    pub copied_to_send: u64,
    /// Pauses that the switch has asked for.
    pub pauses: u64,
    /// Operations that have waited for a counting event and been set off.
    pub triggered: u64,
}

/// Everything but the link.
#[derive(Zeroable)]
#[repr(C)]
pub struct State {
    pub(crate) node: u32,
    pub(crate) ranks: Ranks,
    pub(crate) job: u64,
    pub(crate) frame_bytes: u32,
    pub(crate) started: u32,
    /// 1: the last piece that came was not the last of its message.
    pub(crate) in_the_middle: u32,
    /// 1: messages between ranks of this node go by the link.
    loops: u32,
    pub(crate) now: u64,
    pub(crate) next_probe: u64,
    /// Nothing is sent before, since the switch has asked for a pause.
    pub(crate) paused_until: u64,
    pub(crate) counts: Counts,
    pub(crate) outbox: [Place; 2],
    pub(crate) fired: [Place; 2],
    pub(crate) interfaces: [Interface; MAX_RANKS * OF_A_RANK],
    pub(crate) tables: Slab<Table, TABLES>,
    pub(crate) lists: Lists,
    pub(crate) descriptors: Slab<Descriptor, DESCRIPTORS>,
    pub(crate) queues: Slab<Queue, QUEUES>,
    pub(crate) counters: Slab<Counter, COUNTERS>,
    pub(crate) operations: Slab<Operation, OPERATIONS>,
    pub(crate) triggered: Slab<Triggered, TRIGGERED>,
    pub(crate) outgoing: Slab<Outgoing, OUTGOING>,
    pub(crate) snapshots: Slab<[u8; lwk_abi::portals::ATOMIC_BYTES as usize], SNAPSHOTS>,
    pub(crate) pieces: Pieces,
    /// Frames to measure by that have come; of each rank where its answers are counted, and how many have come.
    pub(crate) raw_arrived: u64,
    pub(crate) raw_words: [Span; MAX_RANKS],
    pub(crate) raw_answers: [u64; MAX_RANKS],
    /// Where payload of checked ones is copied.
    pub(crate) raw_aside: [u8; lwk_frames::FRAME_BYTES_MAX],
    pub(crate) incoming: [Incoming; PEERS_MAX],
}

/// A node. Zeros are an unused one, which [`Node::start`] makes ready.
#[derive(Zeroable)]
#[repr(C)]
pub struct Node {
    pub(crate) link: Link<Place>,
    pub(crate) state: State,
}

impl State {
    /// Whether the switch has asked for a pause that is not over.
    pub(crate) fn is_paused(&self) -> bool {
        self.now < self.paused_until
    }
}

/// How often a peer that owes an answer is asked whether it is there, in microseconds.
const PROBE_US: u64 = 1_000_000;

impl Node {
    /// Makes an unused node ready.
    pub fn start(&mut self, settings: &Settings) {
        let identity = settings.identity;
        let least = lwk_frames::HEAD_BYTES + MESSAGE_BYTES + lwk_abi::portals::ATOMIC_BYTES as usize;
        assert!(identity.frame_bytes >= least, "an atomic operation fits into a frame");
        assert!(settings.size >= u32::from(identity.nodes), "every node has a rank");
        assert!(!settings.loops || identity.nodes == 1, "a node that is its own peer is alone");
        self.link.start(identity);
        let state = &mut self.state;
        state.node = identity.node.0.into();
        state.ranks = Ranks { size: settings.size, nodes: identity.nodes.into() };
        assert!(state.ranks.of(state.node) as usize <= MAX_RANKS, "the ranks of a node");
        (state.job, state.frame_bytes) = (identity.job, identity.frame_bytes as u32);
        (state.started, state.loops) = (1, settings.loops.into());
    }

    /// Whether [`Node::start`] has been called.
    pub fn is_started(&self) -> bool {
        self.state.started != 0
    }

    /// What Portals and the link have done.
    pub fn counts(&self) -> (&Counts, &Counters) {
        (&self.state.counts, self.link.counters())
    }

    /// Whether programs have nothing of it: no interface is open, and no place of any table is taken.
    pub fn is_empty(&self) -> bool {
        self.state.interfaces.iter().all(|interface| interface.open == 0) && self.kept() == 0
    }

    /// Places of tables that are taken, messages under way, and frames that wait for their turn.
    pub(crate) fn kept(&self) -> usize {
        let it = &self.state;
        let (messages, frames) = self.link.used();
        let used = [
            it.tables.used(),
            it.lists.entries.used(),
            it.lists.headers.used(),
            it.descriptors.used(),
            it.queues.used(),
            it.counters.used(),
            it.operations.used(),
            it.triggered.used(),
            it.outgoing.used(),
            it.snapshots.used(),
            it.pieces.used(),
            messages,
            frames,
        ];
        used.iter().sum()
    }

    /// Takes a frame that the card has received. [`Node::work`] is to be called after the last of those that are there.
    pub fn receive<H: Memory + Nic>(&mut self, frame: &[u8], now: u64, home: &mut H) {
        self.state.now = now;
        if let Some(units) = pause::asked(frame) {
            self.state.counts.pauses += 1;
            self.state.paused_until = now + pause::micros(units);
            return;
        }
        if raw::is_raw(frame) {
            return self.state.take_raw(home, frame);
        }
        self.link.receive(frame, now, &mut Port { state: &mut self.state, home });
    }

    /// Whether the card had no room for a frame in the last [`Node::work`].
    pub fn is_blocked(&self) -> bool {
        self.link.is_blocked()
    }

    /// Whether the next frame may be in the middle of a message: then it is worth asking [`Node::place_of`].
    pub fn is_in_the_middle(&self) -> bool {
        self.state.in_the_middle != 0
    }

    /// Where the payload of a frame goes, by its head and its bytes of payload, if it may be put there before the frame is looked at: calls `place` with each piece
    /// of memory, in order, at most [`crate::region::IOVECS_MAX`]. Then it is to be taken by [`Node::receive_placed`].
    pub fn place_of(
        &self,
        head: &[u8; lwk_frames::HEAD_BYTES],
        payload: usize,
        mut place: impl FnMut(&Span),
    ) -> bool {
        let from = self.link.continues(head, payload);
        let region = from.and_then(|from| self.state.place_of(from, payload));
        let Some(region) = region else { return false };
        self.state.pieces.each(&region, |_, span| place(span));
        true
    }

    /// As [`Node::receive`], of a frame whose payload is where [`Node::place_of`] has said, with nothing in between.
    pub fn receive_placed<H: Memory + Nic>(
        &mut self,
        head: &[u8; lwk_frames::HEAD_BYTES],
        payload: usize,
        now: u64,
        home: &mut H,
    ) {
        self.state.now = now;
        self.link.receive_placed(head, payload, now, &mut Port { state: &mut self.state, home });
    }

    /// Sends what is to be sent, and looks after what time brings.
    pub fn work<H: Memory + Nic>(&mut self, now: u64, home: &mut H) {
        self.state.now = now;
        if self.state.operations.used() > 0 && now >= self.state.next_probe {
            self.state.next_probe = now + PROBE_US;
            self.state.probe();
        }
        self.pump(home);
        self.link.work(now, &mut Port { state: &mut self.state, home });
        // What the link has reported may have set off more.
        if self.state.outbox[0] != 0 || self.state.fired[0] != 0 {
            self.pump(home);
            self.link.work(now, &mut Port { state: &mut self.state, home });
        }
    }

    /// As [`Node::work`], for a rank that waits: asks nodes that have been silent whether they are there ([`Link::watch`]), and gives one that is lost. All frames that have come
    /// are to be received before.
    pub fn watch<H: Memory + Nic>(&mut self, now: u64, home: &mut H) -> Option<Lost> {
        self.work(now, home);
        self.link.watch(now, &mut Port { state: &mut self.state, home })
    }

    /// When [`Node::work`] is to be called again if nothing comes before, on the caller's clock; nothing if nobody is waited for.
    pub fn deadline(&self, now: u64) -> Option<u64> {
        let probe = (self.state.operations.used() > 0).then_some(self.state.next_probe.max(now));
        self.link.deadline(now).into_iter().chain(probe).min()
    }

    /// Hands messages over: to ranks of this node at once, to others by the link. Operations that have been triggered come first.
    pub(crate) fn pump<H: Memory + Nic>(&mut self, home: &mut H) {
        loop {
            self.state.start_fired(home);
            let Some(place) = self.state.next_outgoing() else { return };
            let outgoing = *self.state.outgoing.get(place);
            let node = self.state.ranks.node_of(outgoing.message.target);
            if node == self.state.node && self.state.loops == 0 {
                self.state.take_outgoing();
                self.state.deliver_here(home, place);
                continue;
            }
            let bytes = MESSAGE_BYTES as u64 + outgoing.message.body_bytes();
            match self.link.send(NodeId(node as u16), bytes, place, self.state.now) {
                Ok(()) => {
                    self.state.take_outgoing();
                    self.state.counts.sent += 1;
                }
                // It stays where it is, and so do those behind it, whose order is theirs.
                Err(lwk_frames::Refused::NoRoom) => return,
                Err(_) => {
                    self.state.take_outgoing();
                    self.state.outgoing_failed(home, place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_on_the_node_that_has_it() {
        for nodes in 1..20 {
            for size in nodes..60 {
                let ranks = Ranks { size, nodes };
                let spread: std::vec::Vec<u32> =
                    (0..nodes).flat_map(|node| std::iter::repeat_n(node, ranks.of(node) as usize)).collect();
                assert_eq!(spread, (0..size).map(|rank| ranks.node_of(rank)).collect::<std::vec::Vec<_>>());
                assert!((0..nodes).all(|node| ranks.of(node).abs_diff(size / nodes) <= 1));
            }
        }
    }
}
