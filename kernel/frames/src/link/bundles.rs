//! Several short messages in one frame. A message that finds none under way goes at once, and so does a second one. Further ones are held back until an acknowledgement
//! comes, which the second has asked for, or until they fill a frame: then they go together. So the more messages there are, the fewer frames a message takes, and
//! neither a message alone nor the answer to one is late for another.
//!
//! This is Nagle's rule (RFC 896) with Minshall's change, by which only short messages hold others back, and for two frames instead of one: a window of one would have to
//! ask for an acknowledgement of each message alone.

use bytemuck::Zeroable;

use super::Link;
use crate::Upper;
use crate::bundle::{self, BUNDLE_BYTES_MAX, LENGTH_BYTES};
use crate::frame::{ASKS, BUNDLE, DATA, FIRST, LAST};
use crate::messages::MessageIndex;
use crate::peer_index::PeerIndex;

/// Set in the piece of a window's entry that is of so many messages, from the first one on.
pub(super) const BUNDLED: u32 = 1 << 31;

/// Weight under way from which on short messages are held back. That of a short message is 1. What has been held back weighs as much, and asks for an acknowledgement:
/// where messages come faster than acknowledgements, there is one frame for each of those.
const HELD_FROM: u32 = 2;

/// What the next new frame to a peer carries.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// Messages, from the first one on. One may be the next piece of a long one.
    pub count: u32,
    /// More messages could go with these, and nobody waits for them.
    is_open: bool,
}

impl Load {
    /// What the frame holds others back by.
    pub fn weight(self) -> u8 {
        match (self.is_open, self.count) {
            (false, _) => 0,
            (true, 1) => 1,
            (true, _) => HELD_FROM as u8,
        }
    }

    /// Whether it is to wait for what is under way.
    pub fn is_held_back(self, under_way: u32) -> bool {
        self.is_open && under_way >= HELD_FROM
    }

    /// Whether an acknowledgement of it lets others go that may have to wait for it.
    pub fn asks(self, under_way: u32) -> bool {
        self.is_open && under_way + u32::from(self.weight()) >= HELD_FROM
    }
}

/// How many messages an entry is of.
pub(super) fn count_of(piece: u32) -> u32 {
    if piece & BUNDLED == 0 { 1 } else { piece & !BUNDLED }
}

impl<T: Zeroable + Copy> Link<T> {
    /// What the next new frame to a peer carries: as many messages as can go together, or a piece of one.
    pub(super) fn gathered(&mut self, at: PeerIndex, upper: &impl Upper<T>) -> Load {
        let (mut message, pieces) = (self.peer(at).first, self.peer(at).pieces);
        if pieces > 0 {
            return Load { count: 1, is_open: false };
        }
        let (mut bytes, mut count, mut is_open) = (0, 0, true);
        let most = BUNDLE_BYTES_MAX.min(self.piece_bytes as usize) as u64;
        while message != 0 {
            let it = self.messages.get(message);
            bytes += LENGTH_BYTES as u64 + it.bytes;
            if bytes > most || !upper.is_own(&it.owner) {
                is_open = false;
                break;
            }
            is_open &= !upper.is_waited_for(&it.owner);
            (message, count) = (it.next, count + 1);
        }
        Load { count: count.max(1), is_open }
    }

    /// Sends so many messages of a peer, from one on, in one frame. False if the card has no room.
    pub(super) fn transmit_bundle(
        &mut self,
        at: PeerIndex,
        sequence: u32,
        first: MessageIndex,
        count: u32,
        asks: bool,
        upper: &mut impl Upper<T>,
    ) -> bool {
        let mut payload = [0; BUNDLE_BYTES_MAX];
        let (mut end, mut message) = (0, first);
        for _ in 0..count {
            let it = self.messages.get(message);
            let bytes = it.bytes as usize;
            let place = &mut payload[end..end + LENGTH_BYTES + bytes];
            bundle::seal(place, bytes);
            upper.read_own(&it.owner, &mut place[LENGTH_BYTES..]);
            (end, message) = (end + LENGTH_BYTES + bytes, it.next);
        }
        let flags = DATA | BUNDLE | FIRST | LAST | if asks { ASKS } else { 0 };
        self.transmit_bytes(at, flags, sequence, &payload[..end], upper)
    }

    /// Sends the next messages of a peer together. False if the card has no room.
    pub(super) fn send_bundle(
        &mut self,
        at: PeerIndex,
        load: Load,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> bool {
        let (peer, count) = (self.peer(at), load.count);
        let (first, number) = (peer.first, peer.window.next());
        let mut asks = peer.window.asks() || load.asks(peer.window.weight());
        let mut message = first;
        for _ in 0..count {
            let it = self.messages.get(message);
            asks |= upper.is_waited_for(&it.owner);
            message = it.next;
        }
        if !self.transmit_bundle(at, number, first, count, asks, upper) {
            return false;
        }
        let mut message = first;
        for _ in 0..count {
            let it = self.messages.get_mut(message);
            (it.under_way, it.cut) = (1, 1);
            message = it.next;
        }
        let peer = self.peer(at);
        peer.window.sent(first, BUNDLED | count, asks, load.weight(), now);
        peer.first = message;
        if message == 0 {
            peer.last = 0;
        }
        self.counters.bundled += u64::from(count);
        true
    }
}
