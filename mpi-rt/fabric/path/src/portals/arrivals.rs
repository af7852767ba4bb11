//! The rings in use: what is put into a peer's, and what has arrived in this rank's, sorted by senders.

use super::head::{Head, Kind, Request};
use super::window::{Inward, Outward};
use super::wire::{Came, NoRoom, Target, Wire};
use super::words::Word;
use super::{Kept, Portals, SHORT, end_job};
use crate::Label;
use alloc::collections::VecDeque;
use lwk_place::WorldRank;
use lwk_user::job;
use lwk_user::portals::abi::{Event, failure};

/// What is known of a peer.
#[derive(Default)]
pub(super) struct Peer {
    outward: Outward,
    inward: Inward,
    /// What has arrived and has not been taken.
    pub arrived: VecDeque<Front>,
}

/// A message that has arrived.
#[derive(Clone, Copy)]
pub(super) struct Front {
    pub label: Label,
    pub bytes: usize,
    units: u32,
    pub what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Its content, in the ring.
    Content(*const u8),
    /// A request for the content of this token.
    Request(u64),
    /// Nothing that anybody receives.
    Nothing,
}

impl Portals {
    pub(super) fn peer(&mut self, peer: WorldRank) -> &mut Peer {
        self.peers[peer.index()].get_or_insert_default()
    }

    /// Puts something into the ring at a peer; `put` begins the put and says whether the kernel had room. False if nothing has happened.
    pub(super) fn put_into_ring(
        &mut self,
        peer: WorldRank,
        (kind, label): (Kind, Label),
        bytes: usize,
        put: impl FnOnce(&Wire, &Target) -> core::result::Result<(), NoRoom>,
    ) -> bool {
        let (form, me) = (self.form, self.me);
        let it = self.peers[peer.index()].get_or_insert_default();
        let units = form.units_of(bytes);
        let room = it.outward.reserve(form, units).or_else(|| {
            it.outward.freed_by_word(self.wire.told(Word::Freed(peer)));
            it.outward.reserve(form, units)
        });
        let Some((unit, after)) = room else { return false };
        let head = Head { kind, freed: it.inward.position() };
        let target = Target { peer, label, head, place: form.place(me.0, unit) };
        if put(&self.wire, &target).is_err() {
            return false;
        }
        it.outward = after;
        it.inward.tell();
        true
    }

    /// Tells a peer how far this rank has come, if it may wait for that.
    pub(super) fn tell_freed(&mut self, peer: WorldRank) {
        let Some(it) = &mut self.peers[peer.index()] else { return };
        if it.inward.is_owing(self.form) {
            // Without room now, it is told at the next look.
            let step = it.inward.step_of_word();
            if self.wire.add(peer, Word::Freed(self.me), step, SHORT | u64::from(peer.0)).is_ok() {
                it.inward.tell_by_word();
            }
        }
    }

    /// Sorts what has arrived by peers.
    pub(super) fn take_arrivals(&mut self) {
        while let Some((came, event)) = self.wire.next_arrival() {
            self.take_arrival(came, &event);
        }
    }

    fn take_arrival(&mut self, came: Came, event: &Event) {
        if came == Came::Declined && event.dropped == 0 {
            return self.posts.declined(event);
        }
        let sender = WorldRank(event.node);
        let (Some(head), true) = (Head::of(event.data), sender.0 < job().size()) else {
            end_job(format_args!("rank {sender} has put what no rank puts"));
        };
        if event.failure != failure::OK || event.dropped != 0 {
            end_job(format_args!("a message of rank {sender} has been lost: failure {}", event.failure));
        }
        let in_ring =
            if came == Came::Matched { self.take_matched(event, head) } else { event.done as usize };
        let (form, label, bytes) = (self.form, Label(event.bits), event.done as usize);
        let it = self.peers[sender.index()].get_or_insert_default();
        it.outward.freed(head.freed);
        let front = |bytes, what| Front { label, bytes, units: form.units_of(in_ring), what };
        let at = self.wire.arrived_at(event);
        match (head.kind, at) {
            // Its place in the ring has stayed empty.
            _ if came == Came::Matched => it.arrived.push_back(front(0, What::Nothing)),
            (Kind::Eager, Some(at)) => it.arrived.push_back(front(bytes, What::Content(at))),
            (Kind::Request, Some(at)) if bytes == Request::BYTES => {
                // SAFETY: as many bytes lie in the ring, which the kernel has written before the event, and the sender does not use them again
                // before they are free.
                let request = Request::of(unsafe { at.cast::<[u8; Request::BYTES]>().read() });
                it.arrived.push_back(front(request.bytes as usize, What::Request(request.token)));
            }
            (Kind::Cancel, _) => {
                it.arrived.push_back(front(0, What::Nothing));
                self.forget_request(sender, label.0);
            }
            (Kind::Meet, _) => self.meetings.note(label.0),
            _ => end_job(format_args!("rank {sender} has put what no rank puts")),
        }
    }

    /// A sender has taken a message back: if its request is here still, nobody receives it.
    fn forget_request(&mut self, peer: WorldRank, token: u64) {
        if self.beginning == Some((peer, token)) {
            self.beginning = None;
        }
        for front in &mut self.peer(peer).arrived {
            if front.what == What::Request(token) {
                front.what = What::Nothing;
            }
        }
        for (_, kept) in &mut self.kept {
            if matches!(kept, Kept::At { peer: of, token: other, .. } if (*of, *other) == (peer, token)) {
                *kept = Kept::Cancelled;
            }
        }
    }

    /// Takes the front message of a peer away.
    pub(super) fn take_front(&mut self, peer: WorldRank) -> Option<Front> {
        let form = self.form;
        let it = self.peer(peer);
        let front = it.arrived.pop_front()?;
        // Of content only when it has been copied: the ring is told to be free by a later put.
        it.inward.free(form, front.units);
        Some(front)
    }
}
