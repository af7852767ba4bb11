//! Between Portals and the link: messages on their way out, and pieces of messages that come in.

use bytemuck::Zeroable;
use lwk_abi::portals::{ANNOUNCEMENT_BYTES, ATOMIC_BYTES, failure};
use lwk_frames::{HEAD_BYTES, NodeId, Sender, Upper};

use crate::memory::{Memory, Nic, Span};
use crate::message::{MESSAGE_BYTES, Message, kind};
use crate::node::State;
use crate::region::{IOVECS_MAX, Region};
use crate::slab::Place;
use crate::target::{Delivery, Matched};

/// A message on its way out.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Outgoing {
    pub message: Message,
    /// What follows its head: memory of a rank, or a copy of what was there.
    body: Region,
    /// Of an answer: what is to be told when it has gone, and of which request. An entry of 0: nothing.
    delivery: Delivery,
    request: Message,
    /// What is sent instead of the body, copied when the program asked for it or the target answered.
    snapshot: Place,
    /// Of a request: its operation.
    operation: Place,
    next: Place,
    padding: u32,
}

impl Outgoing {
    /// A request of an operation's; with a copy of its body, or 0.
    pub fn request(message: Message, body: Region, snapshot: Place, operation: Place) -> Outgoing {
        Outgoing { message, body, snapshot, operation, ..Outgoing::default() }
    }

    /// An answer.
    pub fn answer(message: Message, body: Region) -> Outgoing {
        Outgoing { message, body, ..Outgoing::default() }
    }
}

/// What comes in from a peer.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Incoming {
    message: Message,
    /// A request's delivery, or where a reply goes.
    delivery: Delivery,
    done: u64,
    /// What is done with it: one of the constants below.
    mode: u32,
    /// Of an answer: the operation.
    operation: Place,
}

/// Nothing is coming, or what comes is thrown away.
const DISCARD: u32 = 0;
const PUT: u32 = 1;
const REPLY: u32 = 2;

// With what the link keeps, a peer takes 1 KiB at most.
const _: () = assert!(size_of::<Incoming>() <= lwk_frames::peer::OWNER_BYTES_MAX);

/// The state as the link sees it.
pub struct Port<'a, H> {
    pub state: &'a mut State,
    pub home: &'a mut H,
}

impl State {
    /// Queues a message.
    pub(crate) fn enqueue(&mut self, outgoing: Outgoing) {
        // Requests look for room first, and so does whoever takes in a message that may be answered.
        let place = self.outgoing.add(outgoing).expect("room for a message was looked for");
        match core::mem::replace(&mut self.outbox[1], place) {
            0 => self.outbox[0] = place,
            last => self.outgoing.get_mut(last).next = place,
        }
    }

    /// The message that is to go next.
    pub(crate) fn next_outgoing(&self) -> Option<Place> {
        Some(self.outbox[0]).filter(|place| *place != 0)
    }

    /// Takes it off the queue.
    pub(crate) fn take_outgoing(&mut self) {
        let next = core::mem::take(&mut self.outgoing.get_mut(self.outbox[0]).next);
        self.outbox[0] = next;
        if next == 0 {
            self.outbox[1] = 0;
        }
    }

    fn outgoing_done(&mut self, memory: &mut impl Memory, place: Place, arrived: bool) {
        let it = *self.outgoing.get(place);
        self.outgoing.remove(place);
        if it.snapshot != 0 {
            self.snapshots.remove(it.snapshot);
        }
        if it.operation != 0 {
            self.sent(memory, it.operation, arrived);
        }
        if it.delivery.entry != 0 {
            let why = if arrived { failure::OK } else { failure::UNDELIVERABLE };
            self.delivered(memory, &it.delivery, &it.request, why);
        }
    }

    /// A message cannot be delivered.
    pub(crate) fn outgoing_failed(&mut self, memory: &mut impl Memory, place: Place) {
        self.outgoing_done(memory, place, false);
    }

    /// Delivers a message of this node's to one of its ranks: one copy, from memory to memory.
    pub(crate) fn deliver_here(&mut self, memory: &mut impl Memory, place: Place) {
        let it = *self.outgoing.get(place);
        let message = &it.message;
        self.counts.sent += 1;
        match message.kind {
            kind::PUT => match self.matched(memory, message) {
                Matched::Refused(why) => self.reply(message, None, why),
                Matched::Announced(entry) => {
                    let mut come = [0; ANNOUNCEMENT_BYTES];
                    match it.snapshot {
                        0 => self.pieces.read(memory, &it.body, &mut come),
                        snapshot => come.copy_from_slice(&self.snapshots.get(snapshot)[..ANNOUNCEMENT_BYTES]),
                    }
                    self.fetch(memory, message, entry, come);
                    self.reply(message, None, failure::OK);
                }
                Matched::Delivery(delivery) => {
                    self.put_here(memory, &delivery.memory, &it);
                    self.reply(message, Some(&delivery), failure::OK);
                    self.delivered(memory, &delivery, message, failure::OK);
                }
            },
            kind::ACK | kind::REPLY => {
                if let Some((operation, to)) = self.operation_of(message, self.node) {
                    if let Some(to) = to.part(0, message.done) {
                        self.put_here(memory, &to, &it);
                    }
                    self.answered(memory, operation, message.failure.into(), message);
                }
            }
            kind::PROBE => {}
            _ => {
                let mut come = [0; ATOMIC_BYTES as usize];
                let length = message.body_bytes() as usize;
                match it.snapshot {
                    0 => self.pieces.read(memory, &it.body, &mut come[..length]),
                    snapshot => come[..length].copy_from_slice(&self.snapshots.get(snapshot)[..length]),
                }
                self.take_request(memory, message, &come[..length]);
            }
        }
        self.outgoing_done(memory, place, true);
    }

    /// Puts the beginning of a message's body into memory of the same node.
    fn put_here(&mut self, memory: &mut impl Memory, to: &Region, it: &Outgoing) {
        let bytes = to.bytes();
        match it.snapshot {
            0 => {
                if let Some(from) = it.body.part(0, bytes) {
                    self.pieces.copy(memory, to, &from);
                }
            }
            snapshot => self.pieces.write(memory, to, &self.snapshots.get(snapshot)[..bytes as usize]),
        }
        self.counts.bytes += bytes;
    }

    fn reply(&mut self, message: &Message, delivery: Option<&Delivery>, why: u32) {
        if let Some(answer) = self.answer(message, delivery, why) {
            self.enqueue(answer);
        }
    }

    /// Takes a request that has come as a whole: a get or an atomic operation, with the data that came with it.
    fn take_request(&mut self, memory: &mut impl Memory, message: &Message, come: &[u8]) {
        let fetches = matches!(message.kind, kind::FETCH_ATOMIC | kind::SWAP);
        if fetches && self.snapshots.room() == 0 {
            return self.reply(message, None, failure::DROPPED);
        }
        let delivery = match self.matched(memory, message) {
            Matched::Refused(why) => return self.reply(message, None, why),
            Matched::Announced(_) => unreachable!("only puts announce"),
            Matched::Delivery(delivery) => delivery,
        };
        if message.kind == kind::GET {
            let Some(mut answer) = self.answer(message, Some(&delivery), failure::OK) else { return };
            // The event comes when the initiator has the data: until then the memory must stay as it is.
            (answer.body, answer.delivery, answer.request) = (delivery.memory, delivery, *message);
            return self.enqueue(answer);
        }
        let snapshot = if fetches { self.snapshots.add([0; ATOMIC_BYTES as usize]).unwrap_or(0) } else { 0 };
        self.operate_atomic(memory, message, come, &delivery, snapshot);
        if let Some(mut answer) = self.answer(message, Some(&delivery), failure::OK) {
            answer.snapshot = snapshot;
            self.enqueue(answer);
        }
        self.delivered(memory, &delivery, message, failure::OK);
    }

    /// The operation that an answer from a node is to, and where its data goes; nothing if there is none, or the node was not asked.
    fn operation_of(&self, answer: &Message, node: u32) -> Option<(Place, Region)> {
        let place = self.operations.in_turn(answer.operation, answer.turn)?;
        let it = self.operations.get(place);
        let asked = it.answering != 0
            && it.target == answer.source
            && self.ranks.node_of(it.target) == node
            && (answer.kind == kind::ACK || answer.done <= it.answer.bytes());
        asked.then_some((place, it.answer))
    }

    /// The first piece of a message from a node: what it is, and what is to be done with the rest. Nothing if there is no room for it now.
    fn take_first(
        &mut self,
        memory: &mut impl Memory,
        from: Sender,
        payload: &[u8],
        last: bool,
    ) -> Option<Incoming> {
        let malformed = Incoming::default();
        // An answer to it.
        if self.outgoing.room() == 0 {
            return None;
        }
        let node = u32::from(from.node.0);
        let Some((message, rest)) = Message::parse(payload) else {
            self.counts.malformed += 1;
            return Some(malformed);
        };
        let here = message.target.wrapping_sub(self.ranks.first_of(self.node)) < self.ranks.of(self.node);
        let there = message.source < self.ranks.size && self.ranks.node_of(message.source) == node;
        let whole = last && rest.len() as u64 == message.body_bytes();
        // Only what is put into memory as it comes may have more than one piece.
        let several = matches!(message.kind, kind::PUT | kind::REPLY);
        if !here || !there || !(several || whole) || rest.len() as u64 > message.body_bytes() {
            self.counts.malformed += 1;
            return Some(malformed);
        }
        let mut incoming = Incoming { message, ..malformed };
        match message.kind {
            kind::PUT => match self.matched(memory, &message) {
                Matched::Refused(why) => self.reply(&message, None, why),
                Matched::Announced(entry) => match rest.first_chunk() {
                    Some(come) => {
                        self.fetch(memory, &message, entry, *come);
                        self.reply(&message, None, failure::OK);
                    }
                    None => self.counts.malformed += 1,
                },
                Matched::Delivery(delivery) => (incoming.mode, incoming.delivery) = (PUT, delivery),
            },
            kind::ACK | kind::REPLY => match self.operation_of(&message, node) {
                None => self.counts.malformed += 1,
                Some((operation, to)) => {
                    (incoming.mode, incoming.operation) = (REPLY, operation);
                    incoming.delivery.memory = to;
                }
            },
            kind::PROBE => {}
            _ => {
                let element = crate::atomic::element_bytes(message.datatype.into());
                let possible = crate::atomic::is_possible(
                    message.atomic.into(),
                    message.datatype.into(),
                    message.kind == kind::SWAP,
                );
                let sound = message.kind == kind::GET
                    || (possible
                        && message.bytes <= ATOMIC_BYTES
                        && element.is_some_and(|element| message.bytes % element as u64 == 0));
                if sound {
                    self.take_request(memory, &message, rest);
                } else {
                    self.counts.malformed += 1;
                }
            }
        }
        Some(incoming)
    }

    /// Puts the next bytes of a message's body where they belong.
    fn take_body(&mut self, memory: &mut impl Memory, incoming: &mut Incoming, body: &[u8]) {
        let at = incoming.done;
        incoming.done += body.len() as u64;
        let to = &incoming.delivery.memory;
        let room = to.bytes().saturating_sub(at).min(body.len() as u64);
        if let (Some(to), true) = (to.part(at, room), room > 0) {
            self.pieces.write(memory, &to, &body[..room as usize]);
            self.counts.bytes += room;
        }
    }

    /// Where the next bytes of the message that a peer is in the middle of go, if all of them go anywhere.
    pub(crate) fn place_of(&self, from: Sender, bytes: usize) -> Option<Region> {
        let incoming = &self.incoming[from.place];
        let place = incoming.delivery.memory.part(incoming.done, bytes as u64);
        place.filter(|_| incoming.mode != DISCARD)
    }

    /// A piece of a message has been put where it belongs.
    fn end_piece(&mut self, memory: &mut impl Memory, from: Sender, mut incoming: Incoming, last: bool) {
        if last {
            let whole = incoming.done == incoming.message.body_bytes();
            self.take_last(memory, &incoming, whole);
            incoming = Incoming::default();
        }
        self.in_the_middle = (incoming.mode != DISCARD).into();
        self.incoming[from.place] = incoming;
    }

    fn take_last(&mut self, memory: &mut impl Memory, incoming: &Incoming, whole: bool) {
        let Incoming { mode, message, delivery, operation, .. } = incoming;
        let why = if whole { failure::OK } else { failure::UNDELIVERABLE };
        match *mode {
            PUT => {
                self.reply(message, Some(delivery), why);
                self.delivered(memory, delivery, message, why);
            }
            REPLY if self.operation_of(message, self.ranks.node_of(message.source)).is_some() => {
                let why = if whole { message.failure.into() } else { failure::UNDELIVERABLE };
                self.answered(memory, *operation, why, message);
            }
            _ => {}
        }
    }
}

impl<H: Memory + Nic> Upper<Place> for Port<'_, H> {
    fn checksum(&self, seed: u32, place: &Place, offset: u64, bytes: usize) -> u32 {
        let it = self.state.outgoing.get(*place);
        let mut buffer = [0; HEADED];
        let (middle, body) = pieces(self.state, it, offset, bytes, &mut buffer);
        let sum = self.home.checksum_of(seed, middle);
        body.map_or(sum, |body| self.state.pieces.checksum(self.home, sum, &body))
    }

    fn checksum_of(&self, seed: u32, bytes: &[u8]) -> u32 {
        self.home.checksum_of(seed, bytes)
    }

    fn is_waited_for(&self, place: &Place) -> bool {
        let it = self.state.outgoing.get(*place);
        it.delivery.entry != 0 || (it.operation != 0 && self.state.tells_of_sending(it.operation))
    }

    fn is_own(&self, place: &Place) -> bool {
        let it = self.state.outgoing.get(*place);
        it.snapshot != 0 || it.message.body_bytes() == 0
    }

    fn read_own(&self, place: &Place, into: &mut [u8]) {
        let it = self.state.outgoing.get(*place);
        let (head, body) = into.split_at_mut(MESSAGE_BYTES);
        head.copy_from_slice(&it.message.encode());
        if it.snapshot != 0 {
            body.copy_from_slice(&self.state.snapshots.get(it.snapshot)[..body.len()]);
        }
    }

    fn has_room(&self, to: NodeId, bytes: usize) -> bool {
        self.home.has_room(to, bytes)
    }

    fn transmit_bytes(&mut self, to: NodeId, head: &[u8; HEAD_BYTES], bytes: &[u8]) -> bool {
        !self.state.is_paused() && self.home.send(to, head, bytes, &[])
    }

    fn transmit(&mut self, to: NodeId, head: &[u8; HEAD_BYTES], piece: Option<(&Place, u64, usize)>) -> bool {
        if self.state.is_paused() {
            return false;
        }
        let Some((place, offset, bytes)) = piece else { return self.home.send(to, head, &[], &[]) };
        let it = self.state.outgoing.get(*place);
        let mut buffer = [0; HEADED];
        let (middle, body) = pieces(self.state, it, offset, bytes, &mut buffer);
        let mut spans = [Span::default(); IOVECS_MAX as usize];
        let mut count = 0;
        self.state.pieces.each(&body.unwrap_or_default(), |_, span| {
            spans[count] = *span;
            count += 1;
        });
        self.home.send(to, head, middle, &spans[..count])
    }

    fn deliver(&mut self, from: Sender, payload: &[u8], first: bool, last: bool) -> bool {
        let state = &mut *self.state;
        let mut body = payload;
        if first {
            let Some(incoming) = state.take_first(self.home, from, payload, last) else { return false };
            state.incoming[from.place] = incoming;
            body = payload.get(MESSAGE_BYTES..).unwrap_or_default();
        }
        let mut incoming = state.incoming[from.place];
        if incoming.mode == DISCARD {
            return true;
        }
        // The answer to a message that has come as a whole.
        if last && state.outgoing.room() == 0 {
            return false;
        }
        state.take_body(self.home, &mut incoming, body);
        state.end_piece(self.home, from, incoming, last);
        true
    }

    fn deliver_placed(&mut self, from: Sender, bytes: usize, last: bool) -> bool {
        let state = &mut *self.state;
        if last && state.outgoing.room() == 0 {
            return false;
        }
        let mut incoming = state.incoming[from.place];
        incoming.done += bytes as u64;
        state.counts.bytes += bytes as u64;
        state.end_piece(self.home, from, incoming, last);
        true
    }

    fn checksum_placed(&self, seed: u32, from: Sender, bytes: usize) -> u32 {
        let place = self.state.place_of(from, bytes).unwrap_or_default();
        self.state.pieces.checksum(self.home, seed, &place)
    }

    fn completed(&mut self, _: NodeId, place: &Place) {
        self.state.outgoing_done(self.home, *place, true);
    }

    fn failed(&mut self, _: NodeId, place: &Place) {
        self.state.outgoing_done(self.home, *place, false);
    }

    fn broken(&mut self, from: Sender) {
        let incoming = core::mem::take(&mut self.state.incoming[from.place]);
        if incoming.mode == PUT {
            let Incoming { delivery, message, .. } = incoming;
            self.state.delivered(self.home, &delivery, &message, failure::UNDELIVERABLE);
        }
        self.state.unanswered(self.home, from.node.0.into());
    }
}

/// Bytes of a message that are not in programs' memory, at most.
const HEADED: usize = MESSAGE_BYTES + ATOMIC_BYTES as usize;

/// The part of a message from `offset` on: what is in the kernel's memory, in `buffer`, and what is in a program's.
fn pieces<'a>(
    state: &State,
    it: &Outgoing,
    offset: u64,
    bytes: usize,
    buffer: &'a mut [u8; HEADED],
) -> (&'a [u8], Option<Region>) {
    let mut own = MESSAGE_BYTES;
    buffer[..MESSAGE_BYTES].copy_from_slice(&it.message.encode());
    if it.snapshot != 0 {
        own = HEADED;
        buffer[MESSAGE_BYTES..].copy_from_slice(state.snapshots.get(it.snapshot));
    }
    let own = own as u64;
    let end = offset + bytes as u64;
    let middle = &buffer[offset.min(own) as usize..end.min(own) as usize];
    let rest = end.saturating_sub(offset.max(own));
    let body = it.body.part(offset.max(own) - own, rest);
    (middle, body.filter(|_| rest > 0))
}
