//! Receiving: a frame that has come is looked at, put in order, and handed up.

use bytemuck::Zeroable;

use super::{Link, SILENCE_MAX_US};
use crate::count::Dropped;
use crate::frame::{self, BUNDLE, FIRST, HEAD_BYTES, HELLO, Head, LAST, NodeId};
use crate::peer::Peer;
use crate::peer_index::PeerIndex;
use crate::window::WINDOW;
use crate::{Sender, Upper, bundle};

/// The payload of a frame: in the frame, or so many bytes where they belong.
#[derive(Clone, Copy)]
enum Payload<'a> {
    Come(&'a [u8]),
    Placed(usize),
}

impl<T: Zeroable + Copy> Link<T> {
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
        let Some(at) = self.stream_of(head, now, upper)? else { return Ok(()) };
        self.take_acknowledgement(at, head, now, upper)?;
        self.counters.received += 1;
        let peer = self.peer(at);
        (peer.heard_at, peer.asked) = (now, 0);
        if head.has(HELLO) {
            // It asks whether this life is there, and any frame will tell.
            (peer.owes, peer.urgent) = (peer.owes.max(1), 1);
        }
        if head.marked {
            (peer.marked, peer.urgent) = (1, 1);
            self.counters.marked += 1;
        }
        let taken = if head.is_data() {
            self.peer(at).owe(now);
            let taken = self.take_data(at, head, payload, now, upper);
            self.peer(at).owe_at_once(taken.is_err(), head);
            taken
        } else {
            Ok(())
        };
        // It may have made room for more, or owe an answer.
        self.make_busy(at);
        taken
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
    pub(super) fn deliver_held(&mut self, at: PeerIndex, upper: &mut impl Upper<T>) {
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
