//! Sending: frames to a peer, lost ones first.

use bytemuck::Zeroable;

use super::Link;
use super::bundles::{BUNDLED, Load, count_of};
use crate::Upper;
use crate::frame::{self, ASKS, DATA, ECHO, FIRST, HEAD_BYTES, HELLO, Head, LAST, NodeId};
use crate::messages::MessageIndex;
use crate::peer_index::PeerIndex;

impl<T: Zeroable + Copy> Link<T> {
    /// Sends what is lost again. False if the card has no room for all of it.
    pub(super) fn send_lost(&mut self, at: PeerIndex, now: u64, upper: &mut impl Upper<T>) -> bool {
        let peer = self.peer(at);
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
                return false;
            }
            self.counters.retransmitted += 1;
            self.peer(at).window.sent_again(number, now);
        }
        true
    }

    /// Sends new pieces, as many as the window has room for and nothing holds back. False if the card has no room for one.
    pub(super) fn send_new(&mut self, at: PeerIndex, now: u64, upper: &mut impl Upper<T>) -> bool {
        self.peer(at).holds = 0;
        while self.peer(at).first != 0 && self.peer(at).window.has_room() {
            let load = self.gathered(at, upper);
            let peer = self.peer(at);
            if load.is_held_back(peer.window.weight()) {
                peer.holds = 1;
                break;
            }
            let sent = match load.count {
                1 => self.send_piece(at, load, now, upper),
                _ => self.send_bundle(at, load, now, upper),
            };
            if !sent {
                return false;
            }
        }
        true
    }

    /// Sends the next piece of a peer's first message. False if the card has no room.
    fn send_piece(&mut self, at: PeerIndex, load: Load, now: u64, upper: &mut impl Upper<T>) -> bool {
        let peer = self.peer(at);
        let (message, piece, number) = (peer.first, peer.pieces, peer.window.next());
        let asks = peer.window.asks() || load.asks(peer.window.weight());
        let asks = asks || self.is_waited_for(message, piece, upper);
        let kind = if asks { DATA | ASKS } else { DATA };
        if !self.transmit(at, kind, number, Some((message, piece)), upper) {
            return false;
        }
        self.sent_new(at, (message, piece), asks, load.weight(), now);
        true
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
    fn sent_new(
        &mut self,
        at: PeerIndex,
        (message, piece): (MessageIndex, u32),
        asks: bool,
        weight: u8,
        now: u64,
    ) {
        let all = self.ends(self.messages.get(message).bytes, piece);
        let entry = self.messages.get_mut(message);
        entry.under_way += 1;
        let next = entry.next;
        entry.cut = all.into();
        let peer = self.peer(at);
        peer.window.sent(message, piece, asks, weight, now);
        peer.pieces += 1;
        if all {
            (peer.first, peer.pieces) = (next, 0);
            if next == 0 {
                peer.last = 0;
            }
        }
    }

    /// Sends a frame to a peer, with what is to be said of its stream. False if the card has no room.
    pub(super) fn transmit(
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
    pub(super) fn transmit_bytes(
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
        let head = Head {
            marked: false,
            flags: flags | if peer.marked != 0 { ECHO } else { 0 },
            source: NodeId(self.node),
            destination: NodeId(peer.node),
            job: self.job,
            from: peer.ours,
            to: if flags & HELLO != 0 && peer.known == 0 { 0 } else { peer.theirs },
            sequence,
            acknowledged: peer.expected,
            selective: peer.selective(),
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
}
