//! Several short messages in one frame. While the window has room each goes at once, in a frame of its own. What has had to wait goes together as soon as
//! a frame may: so the fuller the way is, the fewer frames there are, and a message that is alone is never late for another.

use bytemuck::Zeroable;

use super::Link;
use crate::Upper;
use crate::bundle::{self, BUNDLE_BYTES_MAX, LENGTH_BYTES};
use crate::frame::{ASKS, BUNDLE, DATA, FIRST, LAST};
use crate::messages::MessageIndex;
use crate::peer::PeerIndex;

/// Set in the piece of a window's entry that is of so many messages, from the first one on.
pub(super) const BUNDLED: u32 = 1 << 31;

/// How many messages an entry is of.
pub(super) fn count_of(piece: u32) -> u32 {
    if piece & BUNDLED == 0 { 1 } else { piece & !BUNDLED }
}

impl<T: Zeroable + Copy> Link<T> {
    /// How many of a peer's messages the next new frame may carry: one, if it is none that can go with others, or there are no others.
    pub(super) fn gathered(&mut self, at: PeerIndex, upper: &impl Upper<T>) -> u32 {
        let (mut message, pieces) = (self.peer(at).first, self.peer(at).pieces);
        if pieces > 0 || self.messages.get(message).next == 0 {
            return 1;
        }
        let (mut bytes, mut count) = (0, 0);
        let most = BUNDLE_BYTES_MAX.min(self.piece_bytes as usize) as u64;
        while message != 0 {
            let it = self.messages.get(message);
            bytes += LENGTH_BYTES as u64 + it.bytes;
            if bytes > most || !upper.is_own(&it.owner) {
                break;
            }
            (message, count) = (it.next, count + 1);
        }
        count.max(1)
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
        count: u32,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> bool {
        let peer = self.peer(at);
        let (first, number, mut asks) = (peer.first, peer.window.next(), peer.window.asks());
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
        peer.window.sent(first, BUNDLED | count, asks, now);
        peer.first = message;
        if message == 0 {
            peer.last = 0;
        }
        self.counters.bundled += u64::from(count);
        true
    }
}
