//! The target's side: matching, delivery, events, flow control (Portals 4.3, sections 3.6, 3.11 to 3.13).

use bytemuck::Zeroable;
use lwk_abi::portals::{
    ANY, ATOMIC_BYTES, EntryOptions as Options, Event, OVERFLOW_LIST, PRIORITY_LIST, ack, event, failure,
    register,
};

use crate::atomic;
use crate::lists::{Entry, Header, Initiator, Wanted};
use crate::memory::Memory;
use crate::message::{Message, kind};
use crate::node::State;
use crate::region::Region;
use crate::slab::Place;
use crate::upper::Outgoing;

/// A message that has been matched and is arriving, or whose answer is on its way.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Delivery {
    /// Where it goes to or comes from: as many bytes as are done.
    pub memory: Region,
    pub entry: Place,
    pub table: Place,
    /// What is kept of it if it came unexpected.
    pub header: Place,
    /// Places in the queue that it has been promised.
    promised: u32,
}

/// What matching has found.
pub enum Matched {
    Delivery(Delivery),
    /// An entry that fetches what the message announces.
    Announced(Place),
    /// Why there is none (`lwk_abi::portals::failure`).
    Refused(u32),
}

/// The kind of event that tells of a message, and of the same when it came unexpected.
fn event_kinds(message: u8) -> [u32; 2] {
    match message {
        kind::GET => [event::GET, event::GET_OVERFLOW],
        kind::ATOMIC => [event::ATOMIC, event::ATOMIC_OVERFLOW],
        kind::FETCH_ATOMIC | kind::SWAP => [event::FETCH_ATOMIC, event::FETCH_ATOMIC_OVERFLOW],
        _ => [event::PUT, event::PUT_OVERFLOW],
    }
}

impl State {
    /// How a target names the initiator of a message.
    pub(crate) fn initiator(&self, message: &Message) -> Initiator {
        if message.interface & 1 != 0 {
            return Initiator { node: message.source, process: 0 };
        }
        let node = self.ranks.node_of(message.source);
        Initiator { node, process: message.source - self.ranks.first_of(node) }
    }

    /// Finds the entry that a request is for, and takes what it needs. The message's source and target are ranks of the job, the target one of this
    /// node.
    pub(crate) fn matched(&mut self, memory: &mut impl Memory, message: &Message) -> Matched {
        self.counts.arrived += 1;
        let rank = message.target - self.ranks.first_of(self.node);
        let interface = rank * 4 + u32::from(message.interface);
        if self.interfaces[interface as usize].open == 0 {
            return Matched::Refused(failure::TARGET_INVALID);
        }
        let tables = &self.interfaces[interface as usize].tables;
        let table = tables.get(message.table as usize).copied().unwrap_or(0);
        if table == 0 {
            return self.refuse(interface, register::DROP_COUNT, failure::DROPPED);
        }
        if self.tables.get(table).enabled == 0 {
            return self.refuse(interface, register::DROP_COUNT, failure::PT_DISABLED);
        }
        let initiator = self.initiator(message);
        let (bits, bytes, offset) = (message.bits, message.bytes, message.offset);
        let wanted = Wanted { table, bits, initiator, bytes, offset };
        let heads = self.tables.get(table).heads;
        let found = self.lists.find(&heads, PRIORITY_LIST, &wanted);
        let found = match found.filter(|place| self.is_announced_to(*place, message)) {
            Some(place) if self.has_room_to_fetch() => return Matched::Announced(place),
            Some(place) => {
                self.decline(memory, place);
                None
            }
            None => found,
        };
        let found = found.or_else(|| self.lists.find(&heads, OVERFLOW_LIST, &wanted));
        let Some(place) = found else { return self.no_room(memory, table, false) };
        let entry = *self.lists.entries.get(place);
        if entry.uid != ANY && entry.uid != 0 {
            return self.refuse(interface, register::PERMISSION_VIOLATIONS, failure::PERM_VIOLATION);
        }
        let needs = match message.kind {
            kind::GET => Options::OP_GET,
            kind::FETCH_ATOMIC | kind::SWAP => Options::OP_GET | Options::OP_PUT,
            _ => Options::OP_PUT,
        };
        if !entry.has(needs) {
            return self.refuse(interface, register::OPERATION_VIOLATIONS, failure::OP_VIOLATION);
        }
        // An event of the message, and one if its entry is unlinked.
        const EVENTS: u64 = 2;
        let of = *self.tables.get(table);
        let room = self.has_room(memory, of.queue, EVENTS);
        let quiet = entry.has(Options::EVENT_FLOWCTRL_DISABLE);
        if !room && of.controls_flow() {
            return self.no_room(memory, table, quiet);
        }
        let from = if entry.has(Options::MANAGE_LOCAL) { entry.local_offset } else { offset };
        let mut done = entry.memory.bytes().saturating_sub(from).min(bytes);
        if let Some(element) = atomic::element_bytes(message.datatype.into())
            && matches!(message.kind, kind::ATOMIC | kind::FETCH_ATOMIC | kind::SWAP)
        {
            done -= done % element as u64;
        }
        let part = entry.memory.part(from.min(entry.memory.bytes()), done).unwrap_or_default();
        let mut header = 0;
        if entry.list == OVERFLOW_LIST && !entry.has(Options::UNEXPECTED_HDR_DISABLE) {
            let new = Header {
                bits,
                bytes,
                done,
                offset,
                data: message.data,
                start: self.pieces.address(&part),
                initiator,
                table,
                entry: place,
                kind: event_kinds(message.kind)[1],
                atomic: message.atomic.into(),
                datatype: message.datatype.into(),
                ..Header::default()
            };
            let it = &self.interfaces[interface as usize];
            let heads = &mut self.tables.get_mut(table).heads;
            let kept = (it.used.headers < it.limits.headers).then(|| self.lists.keep(heads, new)).flatten();
            let Some(kept) = kept else { return self.no_room(memory, table, quiet) };
            header = kept;
            self.interfaces[interface as usize].used.headers += 1;
        }
        let promised = if room && of.queue != 0 { EVENTS as u32 } else { 0 };
        self.promise(of.queue, promised.into());
        let it = self.tables.get_mut(table);
        it.arriving += 1;
        it.overflowed += u64::from(entry.list == OVERFLOW_LIST);
        let mut delivery = Delivery { memory: part, entry: place, table, header, promised };
        let it = self.lists.entries.get_mut(place);
        it.arriving += 1;
        it.unexpected += u32::from(header != 0);
        if it.has(Options::MANAGE_LOCAL) {
            it.local_offset += done;
        }
        if it.has(Options::USE_ONCE) || it.is_used_up() {
            self.auto_unlink(memory, &mut delivery);
        }
        Matched::Delivery(delivery)
    }

    fn refuse(&mut self, interface: u32, register: u32, failure: u32) -> Matched {
        self.interfaces[interface as usize].registers[register as usize] += 1;
        Matched::Refused(failure)
    }

    /// There is no entry for a message, or no room for what is to be known of it: it is dropped, or the table disabled, which an event tells unless the
    /// entry is `quiet` about it.
    fn no_room(&mut self, memory: &mut impl Memory, table: Place, quiet: bool) -> Matched {
        let of = *self.tables.get(table);
        if !of.controls_flow() {
            return self.refuse(of.interface, register::DROP_COUNT, failure::DROPPED);
        }
        self.tables.get_mut(table).enabled = 0;
        let event = Event { failure: failure::PT_DISABLED, ..self.table_event(table, event::PT_DISABLED) };
        if !quiet {
            self.post_reserved(memory, of.queue, &event);
        }
        self.refuse(of.interface, register::DROP_COUNT, failure::PT_DISABLED)
    }

    fn auto_unlink(&mut self, memory: &mut impl Memory, delivery: &mut Delivery) {
        let table = self.tables.get_mut(delivery.table);
        let queue = table.queue;
        self.lists.unlink(&mut table.heads, delivery.entry);
        let entry = *self.lists.entries.get(delivery.entry);
        let promised = delivery.promised > 0;
        delivery.promised = delivery.promised.saturating_sub(1);
        if entry.has(Options::EVENT_UNLINK_DISABLE) {
            self.promise(queue, -i64::from(promised));
        } else {
            let event = Event { user: entry.user, ..self.entry_event(&entry, event::AUTO_UNLINK) };
            self.post(memory, queue, &event, promised);
        }
    }

    /// The event that everything about an entry begins with.
    pub(crate) fn entry_event(&self, entry: &Entry, kind: u32) -> Event {
        Event { list: entry.list, user: entry.user, ..self.table_event(entry.table, kind) }
    }

    /// A message has arrived as a whole, or its answer has been delivered; or it has failed.
    pub(crate) fn delivered(
        &mut self,
        memory: &mut impl Memory,
        delivery: &Delivery,
        message: &Message,
        why: u32,
    ) {
        let entry = self.lists.entries.get_mut(delivery.entry);
        entry.arriving -= 1;
        let entry = *entry;
        let table = self.tables.get_mut(delivery.table);
        table.arriving -= 1;
        let queue = table.queue;
        let silent = entry.has(Options::EVENT_COMM_DISABLE)
            || (why == failure::OK && entry.has(Options::EVENT_SUCCESS_DISABLE));
        let initiator = self.initiator(message);
        let mut promised = delivery.promised;
        if !silent {
            let event = Event {
                failure: why,
                node: initiator.node,
                process: initiator.process,
                atomic: message.atomic.into(),
                datatype: message.datatype.into(),
                bits: message.bits,
                requested: message.bytes,
                done: delivery.memory.bytes(),
                remote_offset: message.offset,
                start: self.pieces.address(&delivery.memory),
                data: message.data,
                ..self.entry_event(&entry, event_kinds(message.kind)[0])
            };
            self.post(memory, queue, &event, promised > 0);
            promised = promised.saturating_sub(1);
        }
        self.promise(queue, -i64::from(promised));
        if entry.has(Options::EVENT_CT_COMM) {
            let success = if entry.has(Options::EVENT_CT_BYTES) { delivery.memory.bytes() } else { 1 };
            let (successes, failures) = if why == failure::OK { (success, 0) } else { (0, 1) };
            self.count(memory, entry.counter, successes, failures);
        }
        if delivery.header != 0 {
            let header = self.lists.headers.get_mut(delivery.header);
            header.complete = 1;
            if header.taken != 0 {
                self.tell_overflow(memory, delivery.header);
            }
        }
        self.free_entry(memory, delivery.entry);
    }

    /// Gives the place of an entry back that is in no list and that nothing refers to any more.
    pub(crate) fn free_entry(&mut self, memory: &mut impl Memory, place: Place) {
        let entry = *self.lists.entries.get(place);
        if entry.linked != 0 || entry.arriving != 0 || entry.unexpected != 0 {
            return;
        }
        self.lists.entries.remove(place);
        self.forget_region(entry.interface, &entry.memory);
        self.interfaces[entry.interface as usize].used.entries -= 1;
        if entry.counter != 0 {
            self.counters.get_mut(entry.counter).users -= 1;
        }
        if entry.fetch != 0 {
            self.descriptors.get_mut(entry.fetch).users -= 1;
        }
        if entry.list == OVERFLOW_LIST && !entry.has(Options::EVENT_UNLINK_DISABLE) {
            let event = self.entry_event(&entry, event::AUTO_FREE);
            let queue = self.tables.get(entry.table).queue;
            self.post(memory, queue, &event, false);
        }
    }

    /// An entry, or a search, takes an unexpected message: the event comes when all of it is there.
    pub(crate) fn take_header(&mut self, memory: &mut impl Memory, place: Place, by: &Entry) {
        let table = self.lists.headers.get(place).table;
        self.lists.take(&mut self.tables.get_mut(table).heads, place);
        let header = self.lists.headers.get_mut(place);
        (header.taken, header.user, header.options, header.counter) = (1, by.user, by.options, by.counter);
        if header.complete != 0 {
            self.tell_overflow(memory, place);
        }
    }

    /// The event about an unexpected message.
    pub(crate) fn header_event(&self, header: &Header, kind: u32) -> Event {
        Event {
            list: OVERFLOW_LIST,
            node: header.initiator.node,
            process: header.initiator.process,
            atomic: header.atomic,
            datatype: header.datatype,
            bits: header.bits,
            requested: header.bytes,
            done: header.done,
            remote_offset: header.offset,
            start: header.start,
            data: header.data,
            ..self.table_event(header.table, kind)
        }
    }

    fn tell_overflow(&mut self, memory: &mut impl Memory, place: Place) {
        let header = *self.lists.headers.get(place);
        let queue = self.tables.get(header.table).queue;
        let has = |option| Options::from_bits_retain(header.options).contains(option);
        if !has(Options::EVENT_OVER_DISABLE) {
            let event = Event { user: header.user, ..self.header_event(&header, header.kind) };
            self.post(memory, queue, &event, false);
        }
        if has(Options::EVENT_CT_OVERFLOW) {
            let success = if has(Options::EVENT_CT_BYTES) { header.done } else { 1 };
            self.count(memory, header.counter, success, 0);
        }
        self.forget_header(memory, place);
    }

    /// Gives the place of an unexpected message back that is off its list.
    pub(crate) fn forget_header(&mut self, memory: &mut impl Memory, place: Place) {
        let header = *self.lists.headers.get(place);
        self.lists.headers.remove(place);
        let interface = self.tables.get(header.table).interface;
        self.interfaces[interface as usize].used.headers -= 1;
        self.lists.entries.get_mut(header.entry).unexpected -= 1;
        self.free_entry(memory, header.entry);
    }

    /// Does an atomic operation on the target's memory: on aligned words, one by one, also against instructions of ranks, which change them at the same time. If
    /// the operation fetches, what was there before is kept in a place for it.
    pub(crate) fn operate_atomic(
        &mut self,
        memory: &mut impl Memory,
        message: &Message,
        come: &[u8],
        delivery: &Delivery,
        snapshot: Place,
    ) {
        let bytes = delivery.memory.bytes() as usize;
        let mut old = [0; ATOMIC_BYTES as usize];
        let (Some(old), Some(come)) = (old.get_mut(..bytes), come.get(..bytes)) else { return };
        if bytes == 0 {
            return;
        }
        let element = atomic::element_bytes(message.datatype.into()).unwrap_or(bytes);
        let first = delivery.memory.part(0, element as u64);
        // If one of a block is a word, all are.
        let step = if first.is_some_and(|it| self.pieces.word(&it).is_some()) { element } else { bytes };
        for (at, (old, come)) in old.chunks_mut(step).zip(come.chunks(step)).enumerate() {
            if let Some(part) = delivery.memory.part((at * step) as u64, old.len() as u64) {
                atomic::change(&self.pieces, memory, message, &part, old, come);
            }
        }
        if snapshot != 0 {
            self.snapshots.get_mut(snapshot)[..bytes].copy_from_slice(old);
        }
        self.counts.bytes += bytes as u64;
    }

    /// The answer to a request, without data. Nothing if none is wanted.
    pub(crate) fn answer(
        &self,
        message: &Message,
        delivery: Option<&Delivery>,
        why: u32,
    ) -> Option<Outgoing> {
        let fetches = matches!(message.kind, kind::GET | kind::FETCH_ATOMIC | kind::SWAP);
        let silent = delivery.is_some_and(|it| self.lists.entries.get(it.entry).has(Options::ACK_DISABLE));
        if !fetches && message.ack == ack::NONE as u8 {
            return None;
        }
        let answer = Message {
            kind: if fetches { kind::REPLY } else { kind::ACK },
            // Where the entry wants no acknowledgements the operation ends without telling the initiator.
            ack: if silent && why == failure::OK { ack::NONE as u8 } else { message.ack },
            interface: message.interface,
            failure: why as u8,
            list: delivery.map_or(0, |it| self.lists.entries.get(it.entry).list as u8),
            source: message.target,
            target: message.source,
            operation: message.operation,
            turn: message.turn,
            done: delivery.filter(|_| why == failure::OK).map_or(0, |it| it.memory.bytes()),
            address: delivery.map_or(0, |it| {
                it.memory.start().wrapping_sub(self.lists.entries.get(it.entry).memory.start())
            }),
            ..Message::default()
        };
        Some(Outgoing::answer(answer, Region::default()))
    }
}
