//! Lives of a node: which one of each end a pair of streams is between, who is there, and who is gone.

use bytemuck::Zeroable;

use super::Link;
use super::bundles::count_of;
use super::watching::is_restart;
use crate::count::Dropped;
use crate::frame::{self, HELLO, Head, NodeId};
use crate::messages::{MessageIndex, Messages};
use crate::peer::Peer;
use crate::peer_index::PeerIndex;
use crate::{Sender, Upper};

impl<T: Zeroable + Copy> Link<T> {
    /// The stream that a frame belongs to, begun anew if its sender is in a new life; nothing if it has only asked who is there.
    pub(super) fn stream_of(
        &mut self,
        head: &Head,
        now: u64,
        upper: &mut impl Upper<T>,
    ) -> Result<Option<PeerIndex>, Dropped> {
        let at = self.index[usize::from(head.source.0)];
        let ours = if at == 0 { self.epoch } else { self.peer(at).ours };
        if head.to != ours {
            // Who asks, or speaks to another life, learns of this one. Nothing is kept: whoever asks may not exist.
            if head.is_data() || head.has(HELLO) {
                self.answer(head, ours, upper);
            }
            return if head.has(HELLO) { Ok(None) } else { Err(Dropped::Epoch) };
        }
        // It has answered to this life, so it is no replay of an earlier one.
        let at = self.peer_of(head.source).ok_or(Dropped::Peers)?;
        let peer = self.peer(at);
        if head.from < peer.theirs {
            return Err(Dropped::Epoch);
        }
        if peer.known == 0 {
            // The pair of epochs is new even if the peer's is not: this node's has changed since.
            let restarted = peer.theirs != 0 && is_restart(peer.theirs, head.from);
            peer.restarted |= u8::from(restarted);
            (peer.known, peer.theirs, peer.silent_since) = (1, head.from, now);
        } else if head.from > peer.theirs {
            self.begin_anew(at, head.from, upper);
        }
        Ok(Some(at))
    }

    /// Asks a peer whose life is not known who it is, when it is time to.
    pub(super) fn ask_who_is_there(&mut self, at: PeerIndex, now: u64, upper: &mut impl Upper<T>) {
        let peer = self.peer(at);
        if now >= peer.ask_at {
            peer.unanswered = peer.unanswered.saturating_add(1);
            peer.ask_at = now + (u64::from(peer.window.timeout_us()) << peer.unanswered.min(3));
            self.transmit(at, HELLO, 0, None, upper);
        }
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
        peer.restarted |= u8::from(is_restart(peer.theirs, theirs));
        (peer.theirs, peer.known) = (theirs, 1);
    }

    /// The peer does not answer: what was under way has failed. If it comes back it has to do with another life of this node.
    pub(super) fn give_up(&mut self, at: PeerIndex, upper: &mut impl Upper<T>) {
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
            heard_at: peer.heard_at,
            restarted: peer.restarted,
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
}
