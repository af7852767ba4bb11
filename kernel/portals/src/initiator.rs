//! The initiator's side: memory descriptors, operations, and what becomes of them (Portals 4.3, sections 3.10 and 3.15).

use bytemuck::Zeroable;
use lwk_abi::portals::{
    self as abi, ATOMIC_BYTES, DescriptorOptions as Options, Event, NONE, ack, datatype, event, failure,
    operation,
};

use crate::atomic;
use crate::memory::Memory;
use crate::message::{Message, kind};
use crate::node::{FOR_ANSWERS, State};
use crate::region::Region;
use crate::slab::{Kind, Place};
use crate::upper::Outgoing;
use crate::{Result, Status};

/// Most bytes of a message.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 40;
/// An operation waits for this long before the target is asked whether it is there, in microseconds.
const PATIENCE_US: u64 = 1_000_000;
/// Copies that only answers may use: what is copied aside for programs leaves them free.
const SNAPSHOTS_FOR_ANSWERS: usize = 256;

/// A memory descriptor.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Descriptor {
    pub memory: Region,
    pub options: u32,
    pub queue: Place,
    pub counter: Place,
    pub interface: u32,
    /// Operations that use it.
    pub users: u32,
    pub(crate) padding: u32,
}

impl Descriptor {
    pub fn new(memory: Region, options: Options, interface: u32) -> Descriptor {
        Descriptor { memory, options: options.bits(), interface, ..Descriptor::zeroed() }
    }

    /// Whether it has one of these.
    fn has(&self, options: Options) -> bool {
        Options::from_bits_retain(self.options).intersects(options)
    }
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Operation {
    /// Where the answer's data goes.
    pub answer: Region,
    pub user: u64,
    pub bytes: u64,
    pub remote_offset: u64,
    pub started_at: u64,
    pub interface: u32,
    /// Descriptors that data comes from and goes to.
    pub(crate) put: Place,
    pub(crate) get: Place,
    /// World rank.
    pub target: u32,
    pub(crate) ack: u32,
    /// 1: it still has to be sent; 1: it still has to be answered.
    pub(crate) sending: u32,
    pub answering: u32,
    pub(crate) padding: u32,
}

/// Bytes of an operation as the program writes it.
pub const OPERATION_BYTES: usize = size_of::<abi::Operation>();

impl State {
    /// Whether an operation makes sense; the descriptors that it takes data from and puts it to.
    pub(crate) fn check(
        &self,
        memory: &impl Memory,
        interface: u32,
        asked: &abi::Operation,
    ) -> Result<[Place; 2]> {
        let invalid = Err(Status::ARG_INVALID);
        match asked.kind {
            operation::CT_INC | operation::CT_SET => {
                return self.of_interface(Kind::Counter, interface, asked.counter).map(|_| [0, 0]);
            }
            operation::ENTRY_APPEND => {
                return self.appended(memory, interface, asked).map(|_| [0, 0]);
            }
            operation::ENTRY_UNLINK => {
                return self.of_interface(Kind::Entry, interface, asked.put).map(|_| [0, 0]);
            }
            _ => {}
        }
        let fetches = matches!(asked.kind, operation::GET | operation::FETCH_ATOMIC | operation::SWAP);
        let descriptor = |handle: u32, offset: u64, writable: bool| {
            let place = self.of_interface(Kind::Descriptor, interface, handle)?;
            let part = self.descriptors.get(place).memory.part(offset, asked.bytes);
            // A descriptor need not be writable, unless something is to be put there.
            let right = part.filter(|part| !writable || self.pieces.is_writable(memory, part));
            right.map(|_| place).ok_or(Status::ARG_INVALID)
        };
        let put =
            if asked.kind == operation::GET { 0 } else { descriptor(asked.put, asked.put_offset, false)? };
        let get = if fetches { descriptor(asked.get, asked.get_offset, true)? } else { 0 };
        if asked.bytes > MESSAGE_BYTES_MAX || asked.ack > ack::OPERATION_COMPLETED {
            return invalid;
        }
        if fetches && asked.ack != ack::NONE {
            return invalid;
        }
        if matches!(asked.kind, operation::ATOMIC | operation::FETCH_ATOMIC | operation::SWAP) {
            let swap = asked.kind == operation::SWAP;
            let Some(element) = atomic::element_bytes(asked.datatype) else { return invalid };
            // A conditional swap is of one element (Portals 4.3, section 3.15.6).
            let whole = asked.bytes.is_multiple_of(element as u64)
                && (!atomic::has_operand(asked.atomic) || asked.bytes == element as u64);
            if !atomic::is_possible(asked.atomic, asked.datatype, swap)
                || !whole
                || asked.bytes > ATOMIC_BYTES
            {
                return invalid;
            }
        } else if asked.kind > operation::GET || asked.datatype > datatype::DOUBLE {
            return invalid;
        }
        self.target(interface, asked).map(|_| [put, get])
    }

    /// Whether there is room for one more operation, beside what answers need.
    pub(crate) fn has_room_for_operation(&self) -> bool {
        self.outgoing.room() > FOR_ANSWERS && self.operations.room() > 0
    }

    /// World rank of the target.
    fn target(&self, interface: u32, asked: &abi::Operation) -> Result<u32> {
        let target = if interface & 1 != 0 {
            // One word; what stands behind it in the program's union means nothing.
            Some(asked.node)
        } else {
            let node = Some(asked.node).filter(|node| *node < self.ranks.nodes);
            node.filter(|node| asked.process < self.ranks.of(*node))
                .map(|node| self.ranks.first_of(node) + asked.process)
        };
        target.filter(|rank| *rank < self.ranks.size).ok_or(Status::ARG_INVALID)
    }

    pub(crate) fn begin(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        asked: &abi::Operation,
    ) -> Result<()> {
        if asked.kind >= operation::CT_INC {
            return self.begin_here(memory, interface, asked);
        }
        let [put, get] = self.check(memory, interface, asked)?;
        if !self.has_room_for_operation() {
            return Err(Status::NO_SPACE);
        }
        let target = self.target(interface, asked)?;
        let part = |place: Place, offset: u64| match place {
            0 => Region::default(),
            place => self.descriptors.get(place).memory.part(offset, asked.bytes).unwrap_or_default(),
        };
        let (body, answer) = (part(put, asked.put_offset), part(get, asked.get_offset));
        let snapshot = self.copied_aside(memory, put, &body)?;
        let it = Operation {
            answer,
            user: asked.user,
            bytes: asked.bytes,
            remote_offset: asked.remote_offset,
            started_at: self.now,
            interface,
            put,
            get,
            target,
            ack: asked.ack,
            sending: 1,
            answering: (get != 0 || asked.ack != ack::NONE).into(),
            padding: 0,
        };
        let place = self.operations.add(it).expect("room was looked for");
        for descriptor in [put, get].into_iter().filter(|place| *place != 0) {
            self.descriptors.get_mut(descriptor).users += 1;
        }
        let kinds = [kind::PUT, kind::GET, kind::ATOMIC, kind::FETCH_ATOMIC, kind::SWAP];
        let message = Message {
            kind: kinds[asked.kind as usize],
            ack: asked.ack as u8,
            interface: (interface % 4) as u8,
            atomic: asked.atomic as u8,
            datatype: asked.datatype as u8,
            table: asked.table,
            source: self.rank_of(interface),
            target,
            operation: place,
            turn: self.operations.turn(place),
            bits: asked.bits,
            bytes: asked.bytes,
            offset: asked.remote_offset,
            data: asked.data,
            operand: asked.operand,
            operand_rest: asked.failures,
            ..Message::default()
        };
        self.enqueue(Outgoing::request(message, body, snapshot, place));
        Ok(())
    }

    /// A copy of what is put, if the descriptor's memory may change as soon as the call has returned. 0: none.
    fn copied_aside(&mut self, memory: &mut impl Memory, put: Place, body: &Region) -> Result<Place> {
        let volatile = put != 0 && self.descriptors.get(put).has(Options::VOLATILE);
        if !volatile || body.bytes() == 0 || body.bytes() > ATOMIC_BYTES {
            return Ok(0);
        }
        if self.snapshots.room() <= SNAPSHOTS_FOR_ANSWERS {
            return Err(Status::NO_SPACE);
        }
        let mut copy = [0; ATOMIC_BYTES as usize];
        let bytes = &mut copy[..body.bytes() as usize];
        self.pieces.read(memory, body, bytes);
        self.counts.copied_to_send += bytes.len() as u64;
        self.snapshots.add(copy).ok_or(Status::NO_SPACE)
    }

    /// Whether the program is told when an operation's message has gone.
    pub(crate) fn tells_of_sending(&self, place: Place) -> bool {
        let it = self.operations.get(place);
        if it.put == 0 {
            return false;
        }
        let of = self.descriptors.get(it.put);
        let by_event = of.queue != 0 && !of.has(Options::EVENT_SEND_DISABLE | Options::EVENT_SUCCESS_DISABLE);
        by_event || of.has(Options::EVENT_CT_SEND)
    }

    /// An operation's message has gone: the target has it, or never will.
    pub(crate) fn sent(&mut self, memory: &mut impl Memory, place: Place, arrived: bool) {
        let it = self.operations.get_mut(place);
        it.sending = 0;
        let it = *it;
        // A get has nothing whose memory comes free.
        if it.put != 0 {
            let of = *self.descriptors.get(it.put);
            let failure = if arrived { failure::OK } else { failure::UNDELIVERABLE };
            if !of.has(Options::EVENT_SEND_DISABLE) {
                self.tell(
                    memory,
                    &of,
                    &it,
                    &Event { kind: event::SEND, failure, done: it.bytes, ..Event::default() },
                );
            }
            if of.has(Options::EVENT_CT_SEND) {
                self.count_for(memory, &of, it.bytes, arrived);
            }
        }
        if !arrived && it.answering != 0 {
            self.answered(memory, place, failure::UNDELIVERABLE, &Message::default());
        } else {
            self.release_operation(place);
        }
    }

    /// An operation has been answered.
    pub(crate) fn answered(
        &mut self,
        memory: &mut impl Memory,
        place: Place,
        failure: u32,
        answer: &Message,
    ) {
        let it = self.operations.get_mut(place);
        it.answering = 0;
        let it = *it;
        let arrived = failure == failure::OK;
        let (descriptor, kind) = if it.get != 0 { (it.get, event::REPLY) } else { (it.put, event::ACK) };
        let of = *self.descriptors.get(descriptor);
        if it.get == 0 && arrived && u32::from(answer.ack) == ack::NONE {
            return self.release_operation(place);
        }
        if it.get != 0 || it.ack == ack::FULL {
            let event = Event {
                kind,
                failure,
                list: answer.list.into(),
                done: answer.done,
                remote_offset: answer.address,
                ..Event::default()
            };
            self.tell(memory, &of, &it, &event);
        }
        let counts = if it.get != 0 { Options::EVENT_CT_REPLY } else { Options::EVENT_CT_ACK };
        if of.has(counts) {
            self.count_for(memory, &of, answer.done, arrived);
        }
        self.release_operation(place);
    }

    /// Posts an event of the initiator's, unless it tells of a success that nobody wants to know of.
    fn tell(&mut self, memory: &mut impl Memory, of: &Descriptor, it: &Operation, event: &Event) {
        if event.failure == failure::OK && of.has(Options::EVENT_SUCCESS_DISABLE) {
            return;
        }
        let event = Event { user: it.user, requested: it.bytes, node: NONE, process: NONE, ..*event };
        self.post(memory, of.queue, &event, false);
    }

    fn count_for(&mut self, memory: &mut impl Memory, of: &Descriptor, bytes: u64, arrived: bool) {
        let success = if of.has(Options::EVENT_CT_BYTES) { bytes } else { 1 };
        let (successes, failures) = if arrived { (success, 0) } else { (0, 1) };
        self.count(memory, of.counter, successes, failures);
    }

    fn release_operation(&mut self, place: Place) {
        let it = *self.operations.get(place);
        if it.sending == 0 && it.answering == 0 {
            self.operations.remove(place);
            for descriptor in [it.put, it.get].into_iter().filter(|place| *place != 0) {
                self.descriptors.get_mut(descriptor).users -= 1;
            }
        }
    }

    /// A node is gone, or has begun anew: nobody will answer what it has been sent.
    pub(crate) fn unanswered(&mut self, memory: &mut impl Memory, node: u32) {
        let mut after = 0;
        while let Some(place) = self.operations.next_taken(after) {
            after = place;
            let it = self.operations.get(place);
            if it.answering != 0 && it.sending == 0 && self.ranks.node_of(it.target) == node {
                self.answered(memory, place, failure::UNDELIVERABLE, &Message::default());
            }
        }
    }

    /// Asks the nodes that owe an answer whether they are there: the link finds out.
    pub(crate) fn probe(&mut self) {
        let (mut asked, mut after) = (None, 0);
        while let Some(place) = self.operations.next_taken(after) {
            after = place;
            let it = *self.operations.get(place);
            let node = self.ranks.node_of(it.target);
            let late =
                it.answering != 0 && it.sending == 0 && self.now.saturating_sub(it.started_at) >= PATIENCE_US;
            if !late || node == self.node || asked == Some(node) || self.outgoing.room() == 0 {
                continue;
            }
            asked = Some(node);
            let source = self.ranks.first_of(self.node);
            let message = Message { kind: kind::PROBE, source, target: it.target, ..Message::default() };
            self.enqueue(Outgoing::answer(message, Region::default()));
        }
    }
}
