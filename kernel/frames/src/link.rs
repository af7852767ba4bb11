//! The link: messages of this node to all others, and theirs to this one.

mod bundles;

use bytemuck::Zeroable;

use crate::count::{Counters, Dropped};
use bundles::{BUNDLED, count_of};

use crate::bundle;
use crate::frame::{
    self, ASKS, BUNDLE, DATA, ECHO, FIRST, FRAME_BYTES_MAX, HEAD_BYTES, HELLO, Head, LAST, NodeId,
};
use crate::held::HeldFrames;
use crate::messages::{MessageIndex, Messages};
use crate::peer::{Peer, PeerIndex};
use crate::window::WINDOW;
use crate::{Sender, Upper};

/// Most nodes of a job.
pub const NODES_MAX: usize = 4096;
/// Most peers that a node may have to do with.
pub const PEERS_MAX: usize = 1024;
/// A peer that lets nothing through for so long is gone, in microseconds.
pub const SILENCE_MAX_US: u64 = 6_000_000;
/// A node that waits for a peer looks after it far more often than that, in microseconds. If it has not, it has stood still itself, as a virtual machine that is
/// stopped: that time is not its peers' silence.
const STOOD_STILL_US: u64 = SILENCE_MAX_US / 2;
/// How long an acknowledgement waits for data to go with, in microseconds: well below the least time after which a sender asks again.
pub const ANSWER_US: u64 = 500;
/// Frames for which an acknowledgement is owed before it goes at once, if none of them has asked for it.
const OWED_MAX: u8 = (WINDOW / 2) as u8;
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

/// The payload of a frame: in the frame, or so many bytes where they belong.
#[derive(Clone, Copy)]
enum Payload<'a> {
    Come(&'a [u8]),
    Placed(usize),
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

    /// Takes a frame that the card has received. What it calls for is sent by the next [`Link::work`].
    pub fn receive(&mut self, frame: &[u8], now: u64, upper: &mut impl Upper<T>) {
        if let Err(why) = self.take(frame, now, upper) {
            self.counters.drop_for(why);
        }
    }

    fn take(&mut self, frame: &[u8], now: u64, upper: &mut impl Upper<T>) -> Result<(), Dropped> {
        let (head, payload) = frame::parse(frame, |seed, bytes| upper.checksum_of(seed, bytes))?;
        self.take_parsed(&head, Payload::Come(payload), now, upper)
    }

    /// Whether a frame with this head and so many bytes of payload is the next of its sender's, and in the middle of a message or its end. Then its payload may
    /// be put where it belongs at once, whoever can, and the frame be taken by [`Link::receive_placed`]; nothing else may come between.
    ///
    /// The head is not known to be intact: if the frame is damaged, what has been put there is overwritten when it comes again.
    pub fn continues(&self, head: &[u8; HEAD_BYTES], payload: usize) -> Option<Sender> {
        let head = frame::parse_head(head, payload).ok()?;
        let at = *self.index.get(usize::from(head.source.0)).filter(|at| **at != 0)?;
        let peer = &self.peers[usize::from(at) - 1];
        let is_ours = head.job == self.job && head.destination.0 == self.node;
        let same_lives = peer.known != 0 && head.from == peer.theirs && head.to == peer.ours;
        let is_next = head.sequence == peer.expected && peer.held_next().is_none();
        let goes_on = head.is_data() && !head.has(FIRST) && !head.has(BUNDLE);
        let from = Sender { node: head.source, place: usize::from(at) - 1 };
        (is_ours && same_lives && is_next && goes_on).then_some(from)
    }

    /// As [`Link::receive`], of a frame that [`Link::continues`], whose payload is where it belongs.
    pub fn receive_placed(
        &mut self,
        head: &[u8; HEAD_BYTES],
        payload: usize,
        now: u64,
        upper: &mut impl Upper<T>,
    ) {
        if let Err(why) = self.take_placed(head, payload, now, upper) {
            self.counters.drop_for(why);
        }
    }

    fn take_placed(
        &mut self,
        head: &[u8; HEAD_BYTES],
        payload: usize,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> Result<(), Dropped> {
        let from = self.continues(head, payload).ok_or(Dropped::Window)?;
        let sum = frame::head_checksum(head, |seed, bytes| upper.checksum_of(seed, bytes));
        if !frame::is_intact(head, upper.checksum_placed(sum, from, payload)) {
            return Err(Dropped::Checksum);
        }
        let parsed = frame::parse_head(head, payload)?;
        self.take_parsed(&parsed, Payload::Placed(payload), now, upper)
    }

    fn take_parsed(
        &mut self,
        head: &Head,
        payload: Payload<'_>,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> Result<(), Dropped> {
        if head.job != self.job {
            return Err(Dropped::Job);
        }
        if head.destination.0 != self.node {
            return Err(Dropped::Destination);
        }
        if !self.is_peer(head.source.0) || head.from == 0 {
            return Err(Dropped::Source);
        }
        let at = self.index[usize::from(head.source.0)];
        let ours = if at == 0 { self.epoch } else { self.peer(at).ours };
        if head.to != ours {
            // Who asks, or speaks to another life, learns of this one. Nothing is kept: whoever asks may not exist.
            if head.is_data() || head.has(HELLO) {
                self.answer(head, ours, upper);
            }
            return if head.has(HELLO) { Ok(()) } else { Err(Dropped::Epoch) };
        }
        // It has answered to this life, so it is no replay of an earlier one.
        let at = self.peer_of(head.source).ok_or(Dropped::Peers)?;
        let peer = self.peer(at);
        if head.from < peer.theirs {
            return Err(Dropped::Epoch);
        }
        if peer.known == 0 {
            // The pair of epochs is new even if the peer's is not: this node's has changed since.
            (peer.known, peer.theirs, peer.silent_since) = (1, head.from, now);
        } else if head.from > peer.theirs {
            self.begin_anew(at, head.from, upper);
        }
        self.take_acknowledgement(at, head, now, upper)?;
        self.counters.received += 1;
        let peer = self.peer(at);
        peer.heard_at = now;
        if head.marked {
            (peer.marked, peer.urgent) = (1, 1);
            self.counters.marked += 1;
        }
        let taken = if head.is_data() {
            let peer = self.peer(at);
            if peer.owes == 0 {
                peer.owes_since = now;
            }
            peer.owes = peer.owes.saturating_add(1);
            let taken = self.take_data(at, head, payload, now, upper);
            let peer = self.peer(at);
            // The sender is to learn at once of what it must send again.
            let gap = taken.is_err() || peer.held.iter().any(|held| *held != 0);
            peer.urgent |= u8::from(gap || head.has(ASKS) || peer.owes >= OWED_MAX);
            taken
        } else {
            Ok(())
        };
        // It may have made room for more, or owe an answer.
        self.make_busy(at);
        taken
    }

    fn take_acknowledgement(
        &mut self,
        at: PeerIndex,
        head: &Head,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> Result<(), Dropped> {
        let peer = &mut self.peers[usize::from(at) - 1];
        let messages = &mut self.messages;
        let node = NodeId(peer.node);
        let arrived = |mut message: MessageIndex, piece: u32| {
            for _ in 0..count_of(piece) {
                let entry = messages.get_mut(message);
                let (owner, next) = (entry.owner, entry.next);
                entry.under_way -= 1;
                if entry.under_way == 0 && entry.cut != 0 {
                    messages.remove(message);
                    upper.completed(node, &owner);
                }
                message = next;
            }
        };
        let progress = peer
            .window
            .acknowledged(head.acknowledged, head.selective, now, arrived)
            .ok_or(Dropped::Acknowledgement)?;
        if progress.arrived > 0 {
            peer.silent_since = now;
        }
        if head.has(ECHO) {
            peer.window.marked();
        }
        Ok(())
    }

    fn take_data(
        &mut self,
        at: PeerIndex,
        head: &Head,
        payload: Payload<'_>,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> Result<(), Dropped> {
        let peer = &mut self.peers[usize::from(at) - 1];
        let ahead = head.sequence.wrapping_sub(peer.expected) as i32;
        if ahead < 0 {
            return Err(Dropped::Duplicate);
        }
        if ahead as u32 >= WINDOW {
            return Err(Dropped::Window);
        }
        let place = &mut peer.held[(head.sequence % WINDOW) as usize];
        if ahead > 0 {
            if *place != 0 {
                return Err(Dropped::Duplicate);
            }
            let Payload::Come(payload) = payload else { return Err(Dropped::Window) };
            return self.keep(at, head, payload, now);
        }
        if *place != 0 {
            // It waits for room above.
            return Err(Dropped::Duplicate);
        }
        let from = Sender { node: NodeId(peer.node), place: usize::from(at) - 1 };
        let taken = match payload {
            Payload::Come(payload) => hand_up(peer, from, head.flags, payload, upper),
            Payload::Placed(bytes) => upper.deliver_placed(from, bytes, head.has(LAST)),
        };
        if !taken {
            return Err(Dropped::NoRoom);
        }
        peer.expected = peer.expected.wrapping_add(1);
        self.deliver_held(at, upper);
        Ok(())
    }

    /// Hands up the kept frames whose turn has come, as far as there is room above.
    fn deliver_held(&mut self, at: PeerIndex, upper: &mut impl Upper<T>) {
        let peer = &mut self.peers[usize::from(at) - 1];
        let from = Sender { node: NodeId(peer.node), place: usize::from(at) - 1 };
        while let Some(place) = peer.held_next() {
            let (flags, payload) = self.held.get(place);
            if !hand_up(peer, from, flags, payload, upper) {
                return;
            }
            self.held.release(place);
            peer.held[(peer.expected % WINDOW) as usize] = 0;
            peer.expected = peer.expected.wrapping_add(1);
            (peer.owes, peer.urgent) = (peer.owes.max(1), 1);
        }
    }

    /// Keeps a frame that came too early. If there is no room, peers that have said nothing for so long that they have given up make some.
    fn keep(&mut self, at: PeerIndex, head: &Head, payload: &[u8], now: u64) -> Result<(), Dropped> {
        let mut kept = self.held.keep(at, head.flags, payload);
        if kept.is_none() {
            let heard_at = |peer: PeerIndex| self.peers[usize::from(peer) - 1].heard_at;
            let silent = |peer| now.saturating_sub(heard_at(peer)) > 2 * SILENCE_MAX_US;
            if let Some(gone) = self.held.find(silent) {
                self.peers[usize::from(gone) - 1].drop_held(&mut self.held);
                kept = self.held.keep(at, head.flags, payload);
            }
        }
        self.peer(at).held[(head.sequence % WINDOW) as usize] = kept.ok_or(Dropped::NoRoom)?;
        self.counters.held += 1;
        Ok(())
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

    fn work_for(&mut self, at: PeerIndex, now: u64, upper: &mut impl Upper<T>) {
        self.deliver_held(at, upper);
        let peer = self.peer(at);
        let waits = peer.first != 0 || !peer.window.is_empty();
        if waits && now.saturating_sub(peer.silent_since) >= SILENCE_MAX_US {
            self.give_up(at, upper);
            return;
        }
        let peer = self.peer(at);
        if waits && peer.known == 0 {
            if now >= peer.ask_at {
                peer.unanswered = peer.unanswered.saturating_add(1);
                peer.ask_at = now + (u64::from(peer.window.timeout_us()) << peer.unanswered.min(3));
                self.transmit(at, HELLO, 0, None, upper);
            }
            return;
        }
        if peer.window.deadline(now).is_some_and(|deadline| deadline <= now) {
            let lost = peer.window.timed_out();
            self.counters.timeouts += u64::from(lost);
        }
        while let Some((number, entry)) = self.peer(at).window.lost() {
            let (message, piece) = (entry.message, entry.piece);
            let sent = match piece & BUNDLED {
                0 => self.transmit(at, DATA | ASKS, number, Some((message, piece)), upper),
                _ => self.transmit_bundle(at, number, message, count_of(piece), true, upper),
            };
            if !sent {
                return;
            }
            self.counters.retransmitted += 1;
            self.peer(at).window.sent_again(number, now);
        }
        while self.peer(at).first != 0 && self.peer(at).window.has_room() {
            let together = self.gathered(at, upper);
            if together > 1 {
                if !self.send_bundle(at, together, now, upper) {
                    return;
                }
                continue;
            }
            let peer = self.peer(at);
            let (message, piece, number) = (peer.first, peer.pieces, peer.window.next());
            let asks = peer.window.asks() || self.is_waited_for(message, piece, upper);
            let kind = if asks { DATA | ASKS } else { DATA };
            if !self.transmit(at, kind, number, Some((message, piece)), upper) {
                return;
            }
            self.sent_new(at, (message, piece), asks, now);
        }
        let peer = self.peer(at);
        let answers = peer.urgent != 0 || now.saturating_sub(peer.owes_since) >= ANSWER_US;
        if peer.owes != 0 && answers && self.transmit(at, 0, 0, None, upper) {
            self.counters.answers += 1;
        }
    }

    /// Whether a piece is the last of a message whose end is waited for.
    fn is_waited_for(&self, message: MessageIndex, piece: u32, upper: &impl Upper<T>) -> bool {
        let entry = self.messages.get(message);
        self.ends(entry.bytes, piece) && upper.is_waited_for(&entry.owner)
    }

    /// Whether a piece is the last of a message of so many bytes.
    fn ends(&self, bytes: u64, piece: u32) -> bool {
        u64::from(piece + 1) * u64::from(self.piece_bytes) >= bytes
    }

    /// Takes note that a piece has gone for the first time.
    fn sent_new(&mut self, at: PeerIndex, (message, piece): (MessageIndex, u32), asks: bool, now: u64) {
        let all = self.ends(self.messages.get(message).bytes, piece);
        let entry = self.messages.get_mut(message);
        entry.under_way += 1;
        let next = entry.next;
        entry.cut = all.into();
        let peer = self.peer(at);
        peer.window.sent(message, piece, asks, now);
        peer.pieces += 1;
        if all {
            (peer.first, peer.pieces) = (next, 0);
            if next == 0 {
                peer.last = 0;
            }
        }
    }

    /// Sends a frame to a peer, with what is to be said of its stream. False if the card has no room.
    fn transmit(
        &mut self,
        at: PeerIndex,
        kind: u8,
        sequence: u32,
        piece: Option<(MessageIndex, u32)>,
        upper: &mut impl Upper<T>,
    ) -> bool {
        let mut flags = kind;
        let piece = piece.map(|(message, piece)| {
            let message = self.messages.get(message);
            let offset = u64::from(piece) * u64::from(self.piece_bytes);
            let bytes = (message.bytes - offset).min(self.piece_bytes.into());
            flags |= if piece == 0 { FIRST } else { 0 };
            flags |= if offset + bytes == message.bytes { LAST } else { 0 };
            (&message.owner, offset, bytes as usize)
        });
        let to = NodeId(self.peers[usize::from(at) - 1].node);
        let bytes = piece.map_or(0, |(_, _, bytes)| bytes);
        if !upper.has_room(to, bytes) {
            return self.note_sent(at, false);
        }
        let mut head = self.head_for(at, flags, sequence, bytes);
        let sum = frame::head_checksum(&head, |seed, bytes| upper.checksum_of(seed, bytes));
        let sum = piece.map_or(sum, |(owner, offset, length)| upper.checksum(sum, owner, offset, length));
        frame::seal(&mut head, sum);
        let sent = upper.transmit(to, &head, piece);
        self.note_sent(at, sent)
    }

    /// As [`Link::transmit`], of a frame with a payload that is not of one message.
    fn transmit_bytes(
        &mut self,
        at: PeerIndex,
        flags: u8,
        sequence: u32,
        payload: &[u8],
        upper: &mut impl Upper<T>,
    ) -> bool {
        let mut head = self.head_for(at, flags, sequence, payload.len());
        let sum = frame::head_checksum(&head, |seed, bytes| upper.checksum_of(seed, bytes));
        frame::seal(&mut head, upper.checksum_of(sum, payload));
        let sent = upper.transmit_bytes(NodeId(self.peer(at).node), &head, payload);
        self.note_sent(at, sent)
    }

    /// The head of a frame to a peer, with what is to be said of its stream, but for the checksum.
    fn head_for(&self, at: PeerIndex, flags: u8, sequence: u32, payload: usize) -> [u8; HEAD_BYTES] {
        let peer = &self.peers[usize::from(at) - 1];
        let selective = (0..WINDOW - 1)
            .filter(|bit| peer.held[(peer.expected.wrapping_add(bit + 1) % WINDOW) as usize] != 0)
            .fold(0, |bits, bit| bits | 1 << bit);
        let head = Head {
            marked: false,
            flags: flags | if peer.marked != 0 { ECHO } else { 0 },
            source: NodeId(self.node),
            destination: NodeId(peer.node),
            job: self.job,
            from: peer.ours,
            to: if flags & HELLO != 0 { 0 } else { peer.theirs },
            sequence,
            acknowledged: peer.expected,
            selective,
            payload: payload as u16,
        };
        head.encode()
    }

    /// The card has taken a frame to a peer, or not; which is returned.
    fn note_sent(&mut self, at: PeerIndex, sent: bool) -> bool {
        if !sent {
            self.blocked = 1;
            return false;
        }
        self.counters.sent += 1;
        let peer = self.peer(at);
        (peer.owes, peer.urgent, peer.marked) = (0, 0, 0);
        true
    }

    /// Tells a node which life of this one it has to do with.
    fn answer(&mut self, head: &Head, ours: u64, upper: &mut impl Upper<T>) {
        let answer = Head {
            marked: false,
            flags: 0,
            source: NodeId(self.node),
            destination: head.source,
            job: self.job,
            from: ours,
            to: head.from,
            sequence: 0,
            acknowledged: 0,
            selective: 0,
            payload: 0,
        };
        let mut bytes = answer.encode();
        let sum = frame::head_checksum(&bytes, |seed, bytes| upper.checksum_of(seed, bytes));
        frame::seal(&mut bytes, sum);
        if upper.transmit(head.source, &bytes, None) {
            self.counters.sent += 1;
        }
    }

    /// The peer has begun another life: what was under way has failed, and both streams begin anew.
    fn begin_anew(&mut self, at: PeerIndex, theirs: u64, upper: &mut impl Upper<T>) {
        self.break_off(at, upper);
        let peer = self.peer(at);
        (peer.theirs, peer.known) = (theirs, 1);
    }

    /// The peer does not answer: what was under way has failed. If it comes back it has to do with another life of this node.
    fn give_up(&mut self, at: PeerIndex, upper: &mut impl Upper<T>) {
        self.break_off(at, upper);
        let peer = self.peer(at);
        peer.ours += 1;
        (peer.known, peer.unanswered) = (0, 0);
    }

    fn break_off(&mut self, at: PeerIndex, upper: &mut impl Upper<T>) {
        self.counters.restarts += 1;
        let peer = &mut self.peers[usize::from(at) - 1];
        let node = NodeId(peer.node);
        peer.drop_held(&mut self.held);
        let mut queued = peer.first;
        let pieces = peer.pieces;
        let mut window = peer.window;
        let kept = Peer {
            node: peer.node,
            busy: peer.busy,
            next_busy: peer.next_busy,
            ours: peer.ours,
            theirs: peer.theirs,
            ..Peer::zeroed()
        };
        *peer = kept;
        peer.window.start();
        upper.broken(Sender { node, place: usize::from(at) - 1 });
        let mut fail = |messages: &mut Messages<T>, message: MessageIndex| {
            let owner = messages.get(message).owner;
            messages.remove(message);
            self.counters.failed += 1;
            upper.failed(node, &owner);
        };
        // Sent as a whole but not acknowledged; the first of the queue may have pieces under way, too, and goes with the queue.
        let partly = if pieces > 0 { queued } else { 0 };
        window.abandon(|mut message, piece| {
            for _ in 0..count_of(piece) {
                let entry = self.messages.get_mut(message);
                let next = entry.next;
                entry.under_way -= 1;
                if entry.under_way == 0 && message != partly {
                    fail(&mut self.messages, message);
                }
                message = next;
            }
        });
        while queued != 0 {
            let next = self.messages.get(queued).next;
            fail(&mut self.messages, queued);
            queued = next;
        }
    }

    /// When [`Link::work`] is to be called again if nothing comes before: microseconds on the caller's clock; nothing if nobody is waited for.
    pub fn deadline(&self, now: u64) -> Option<u64> {
        let mut earliest: Option<u64> = None;
        let mut at = self.busy;
        while at != 0 {
            let peer = &self.peers[usize::from(at) - 1];
            let waits = peer.first != 0 || !peer.window.is_empty();
            let sends = (peer.first != 0 && peer.known != 0 && peer.window.has_room())
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

/// Hands up the frame of a peer whose turn it is. False if there is no room now for all of it; what has been handed up of several messages is not again.
fn hand_up<T>(peer: &mut Peer, from: Sender, flags: u8, payload: &[u8], upper: &mut impl Upper<T>) -> bool {
    if flags & BUNDLE == 0 {
        return upper.deliver(from, payload, flags & FIRST != 0, flags & LAST != 0);
    }
    for message in bundle::messages(payload).skip(peer.taken.into()) {
        if !upper.deliver(from, message, true, true) {
            return false;
        }
        peer.taken += 1;
    }
    peer.taken = 0;
    true
}
