//! The initiator's side: memory descriptors, operations at once and triggered, and what becomes of them (Portals 4.3, sections 3.10, 3.15, 3.16).

use bytemuck::Zeroable;
use lwk_abi::portals::{
    self as abi, ATOMIC_BYTES, Event, NONE, ack, datatype, descriptor as option, event, failure, operation,
};

use crate::atomic;
use crate::memory::{Memory, Span};
use crate::message::{Message, kind};
use crate::node::{FOR_ANSWERS, State};
use crate::slab::{Kind, Place};
use crate::upper::Outgoing;
use crate::{Result, Status};

/// Most bytes of a message.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 40;
/// An operation waits for this long before the target is asked whether it is there, in microseconds.
const PATIENCE_US: u64 = 1_000_000;

/// A memory descriptor.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Descriptor {
    pub memory: Span,
    pub options: u32,
    pub queue: Place,
    pub counter: Place,
    pub interface: u32,
    /// Operations that use it.
    pub users: u32,
    pub(crate) padding: u32,
}

impl Descriptor {
    pub fn new(memory: Span, options: u32, interface: u32) -> Descriptor {
        Descriptor { memory, options, interface, ..Descriptor::zeroed() }
    }

    fn has(&self, option: u32) -> bool {
        self.options & option != 0
    }
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Operation {
    /// Where the answer's data goes.
    pub answer: Span,
    pub user: u64,
    pub bytes: u64,
    pub remote_offset: u64,
    pub started_at: u64,
    pub interface: u32,
    /// Descriptors that data comes from and goes to.
    put: Place,
    get: Place,
    /// World rank.
    pub target: u32,
    ack: u32,
    /// 1: it still has to be sent; 1: it still has to be answered.
    sending: u32,
    pub answering: u32,
    pub(crate) padding: u32,
}

/// Bytes of an operation as the program writes it.
pub const OPERATION_BYTES: usize = size_of::<abi::Operation>();

/// An operation that waits for its counting event, as the program wrote it.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Triggered {
    operation: [u8; OPERATION_BYTES],
    threshold: u64,
    interface: u32,
    pub(crate) next: Place,
}

impl State {
    /// Does an operation at once, or keeps it for its counting event.
    pub(crate) fn operate(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        bytes: &[u8; OPERATION_BYTES],
    ) -> Result<()> {
        let asked = crate::contract::operation(bytes);
        if asked.trigger == NONE {
            return self.begin(memory, interface, &asked);
        }
        let counter = self.of_interface(Kind::Counter, interface, asked.trigger)?;
        self.check(memory, interface, &asked)?;
        let it = self.counters.get(counter);
        if it.successes.wrapping_add(it.failures) >= asked.threshold {
            return self.begin(memory, interface, &asked);
        }
        let used = &self.interfaces[interface as usize];
        if used.used.triggered >= used.limits.triggered {
            return Err(Status::NO_SPACE);
        }
        let threshold = asked.threshold;
        let new = Triggered { operation: *bytes, threshold, interface, next: 0 };
        let place = self.triggered.add(new).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.triggered += 1;
        // Behind all whose threshold is not greater, so that they are set off in the order in which they were given.
        let (mut before, mut at) = (0, self.counters.get(counter).triggered);
        while at != 0 && self.triggered.get(at).threshold <= threshold {
            (before, at) = (at, self.triggered.get(at).next);
        }
        self.triggered.get_mut(place).next = at;
        match before {
            0 => self.counters.get_mut(counter).triggered = place,
            before => self.triggered.get_mut(before).next = place,
        }
        Ok(())
    }

    /// Moves what a counting event triggers now to the operations that are to be begun.
    pub(crate) fn set_off(&mut self, counter: Place) {
        let it = self.counters.get(counter);
        let reached = it.successes.wrapping_add(it.failures);
        let mut at = it.triggered;
        while at != 0 && self.triggered.get(at).threshold <= reached {
            let next = self.triggered.get(at).next;
            self.triggered.get_mut(at).next = 0;
            match core::mem::replace(&mut self.fired[1], at) {
                0 => self.fired[0] = at,
                last => self.triggered.get_mut(last).next = at,
            }
            at = next;
        }
        self.counters.get_mut(counter).triggered = at;
    }

    /// Forgets what a counting event was to trigger.
    pub(crate) fn cancel_triggered(&mut self, counter: Place) {
        let mut at = core::mem::take(&mut self.counters.get_mut(counter).triggered);
        while at != 0 {
            let Triggered { next, interface, .. } = *self.triggered.get(at);
            self.triggered.remove(at);
            self.interfaces[interface as usize].used.triggered -= 1;
            at = next;
        }
    }

    /// Begins the operations that have been triggered, as far as there is room.
    pub(crate) fn start_fired(&mut self, memory: &mut impl Memory) {
        while self.fired[0] != 0 {
            let at = self.fired[0];
            let it = *self.triggered.get(at);
            let asked = crate::contract::operation(&it.operation);
            // A descriptor that has been released since is the program's mistake: nobody is there to be told.
            if self.begin(memory, it.interface, &asked) == Err(Status::NO_SPACE) {
                return;
            }
            // It may have set off more, behind itself.
            let next = self.triggered.get(at).next;
            self.fired[0] = next;
            if next == 0 {
                self.fired[1] = 0;
            }
            self.triggered.remove(at);
            self.interfaces[it.interface as usize].used.triggered -= 1;
        }
    }

    /// Whether an operation makes sense; the descriptors that it takes data from and puts it to.
    fn check(&self, memory: &impl Memory, interface: u32, asked: &abi::Operation) -> Result<[Place; 2]> {
        let invalid = Err(Status::ARG_INVALID);
        if matches!(asked.kind, operation::CT_INC | operation::CT_SET) {
            self.of_interface(Kind::Counter, interface, asked.counter)?;
            return Ok([0, 0]);
        }
        let fetches = matches!(asked.kind, operation::GET | operation::FETCH_ATOMIC | operation::SWAP);
        let descriptor = |handle: u32, offset: u64, writable: bool| {
            let place = self.of_interface(Kind::Descriptor, interface, handle)?;
            let part =
                self.descriptors.get(place).memory.part(offset, asked.bytes).ok_or(Status::ARG_INVALID)?;
            // A descriptor need not be writable, unless something is to be put there.
            Span::check(memory, part.rank(), part.start(), part.bytes(), writable).map(|_| place)
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

    /// World rank of the target.
    fn target(&self, interface: u32, asked: &abi::Operation) -> Result<u32> {
        let target = if interface & 1 != 0 {
            (asked.process == 0).then_some(asked.node)
        } else {
            let node = Some(asked.node).filter(|node| *node < self.ranks.nodes);
            node.filter(|node| asked.process < self.ranks.of(*node))
                .map(|node| self.ranks.first_of(node) + asked.process)
        };
        target.filter(|rank| *rank < self.ranks.size).ok_or(Status::ARG_INVALID)
    }

    fn begin(&mut self, memory: &mut impl Memory, interface: u32, asked: &abi::Operation) -> Result<()> {
        let [put, get] = self.check(memory, interface, asked)?;
        if matches!(asked.kind, operation::CT_INC | operation::CT_SET) {
            let counter = self.of_interface(Kind::Counter, interface, asked.counter)?;
            if asked.kind == operation::CT_INC {
                self.count(memory, counter, asked.operand, asked.failures);
            } else {
                self.set_counter(memory, counter, asked.operand, asked.failures);
            }
            return Ok(());
        }
        if self.outgoing.room() <= FOR_ANSWERS {
            return Err(Status::NO_SPACE);
        }
        let target = self.target(interface, asked)?;
        let part = |place: Place, offset: u64| match place {
            0 => Span::default(),
            place => self.descriptors.get(place).memory.part(offset, asked.bytes).unwrap_or_default(),
        };
        let (body, answer) = (part(put, asked.put_offset), part(get, asked.get_offset));
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
        let place = self.operations.add(it).ok_or(Status::NO_SPACE)?;
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
            ..Message::default()
        };
        self.enqueue(Outgoing::request(message, body, place));
        Ok(())
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
            if !of.has(option::EVENT_SEND_DISABLE) {
                self.tell(
                    memory,
                    &of,
                    &it,
                    &Event { kind: event::SEND, failure, done: it.bytes, ..Event::default() },
                );
            }
            if of.has(option::EVENT_CT_SEND) {
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
        let counts = if it.get != 0 { option::EVENT_CT_REPLY } else { option::EVENT_CT_ACK };
        if of.has(counts) {
            self.count_for(memory, &of, answer.done, arrived);
        }
        self.release_operation(place);
    }

    /// Posts an event of the initiator's, unless it tells of a success that nobody wants to know of.
    fn tell(&mut self, memory: &mut impl Memory, of: &Descriptor, it: &Operation, event: &Event) {
        if event.failure == failure::OK && of.has(option::EVENT_SUCCESS_DISABLE) {
            return;
        }
        let event = Event { user: it.user, requested: it.bytes, node: NONE, process: NONE, ..*event };
        self.post(memory, of.queue, &event, false);
    }

    fn count_for(&mut self, memory: &mut impl Memory, of: &Descriptor, bytes: u64, arrived: bool) {
        let success = if of.has(option::EVENT_CT_BYTES) { bytes } else { 1 };
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
            self.enqueue(Outgoing::answer(message, Span::default()));
        }
    }
}
