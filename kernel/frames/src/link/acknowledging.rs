//! Acknowledging: what a peer's frames say of this node's, and when it is told of its own.
//!
//! An acknowledgement is in every frame's head. It goes alone only where nothing else goes in time.

use bytemuck::Zeroable;

use super::Link;
use super::bundles::count_of;
use crate::Upper;
use crate::count::Dropped;
use crate::frame::{ASKS, ECHO, Head, NodeId};
use crate::messages::MessageIndex;
use crate::peer::Peer;
use crate::peer_index::PeerIndex;
use crate::window::WINDOW;

/// How long an acknowledgement waits for data to go with, in microseconds: well below the least time after which a sender asks again.
pub const ANSWER_US: u64 = 500;
/// Frames for which an acknowledgement is owed before it goes at once, if none of them has asked for it.
const OWED_MAX: u8 = (WINDOW / 2) as u8;

impl<T: Zeroable + Copy> Link<T> {
    /// What a frame says has come at the peer is no longer under way. Errors: it says what cannot be.
    pub(super) fn take_acknowledgement(
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

    /// Acknowledges what has come in a frame of its own, if something is owed and it is time to.
    pub(super) fn acknowledge_alone(&mut self, at: PeerIndex, now: u64, upper: &mut impl Upper<T>) {
        let peer = self.peer(at);
        let answers = peer.urgent != 0 || now.saturating_sub(peer.owes_since) >= ANSWER_US;
        if peer.owes != 0 && answers && self.transmit(at, 0, 0, None, upper) {
            self.counters.answers += 1;
        }
    }
}

impl Peer {
    /// A frame with data has come, which is to be acknowledged.
    pub(super) fn owe(&mut self, now: u64) {
        if self.owes == 0 {
            self.owes_since = now;
        }
        self.owes = self.owes.saturating_add(1);
    }

    /// The acknowledgement of that frame goes at once if it asks for it, if many are owed, or if the sender is to learn at once of what it must send again.
    pub(super) fn owe_at_once(&mut self, refused: bool, head: &Head) {
        let gap = refused || self.keeps_any();
        self.urgent |= u8::from(gap || head.has(ASKS) || self.owes >= OWED_MAX);
    }

    /// Which frames behind the next expected one are there: bit 0 is the first of them.
    pub(super) fn selective(&self) -> u32 {
        if !self.keeps_any() {
            return 0;
        }
        (0..WINDOW - 1)
            .filter(|bit| self.held[(self.expected.wrapping_add(bit + 1) % WINDOW) as usize] != 0)
            .fold(0, |bits, bit| bits | 1 << bit)
    }
}
