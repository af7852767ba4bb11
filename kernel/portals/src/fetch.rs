//! Entries that fetch ([`lwk_abi::portals::EntryOptions::FETCH`]): a target's kernel gets what a put announces, without the program.
//!
//! The put and the get that it causes are one step: who sees later than the put that anything has come from this node sees it behind the get. The entry is off its list before
//! the get is on its way, so a program either takes an entry back, or its message comes.

use lwk_abi::portals::{
    self as abi, ANNOUNCED, ANNOUNCEMENT_BYTES, ANY, EntryOptions as Options, Event, PRIORITY_LIST, ack,
    event,
};

use crate::initiator::Operation;
use crate::memory::Memory;
use crate::message::{Message, kind};
use crate::node::State;
use crate::region::Region;
use crate::slab::{Kind, Place};
use crate::upper::Outgoing;
use crate::{Result, Status};

impl State {
    /// The descriptor of an entry that is to be appended, if it fetches; 0 if not. What only such an entry has is taken out of what is asked.
    pub(crate) fn fetching(
        &self,
        memory: &impl Memory,
        interface: u32,
        table: Place,
        asked: &mut abi::Entry,
        list: u32,
    ) -> Result<Place> {
        if !asked.options.contains(Options::FETCH) {
            return Ok(0);
        }
        let is_anybodys = asked.uid == ANY || asked.uid == 0;
        let sound =
            asked.options - Options::IOVEC == Options::FETCHES && list == PRIORITY_LIST && is_anybodys;
        if !sound || interface & 2 == 0 {
            return Err(Status::ARG_INVALID);
        }
        let descriptor = self.of_interface(Kind::Descriptor, interface, asked.reserved)?;
        if !self.pieces.is_writable(memory, &self.descriptors.get(descriptor).memory) {
            return Err(Status::ARG_INVALID);
        }
        if core::mem::take(&mut asked.min_free) != self.tables.get(table).overflowed {
            return Err(Status::IN_USE);
        }
        Ok(descriptor)
    }

    /// Whether a message announces something to an entry that fetches.
    pub(crate) fn is_announced_to(&self, place: Place, message: &Message) -> bool {
        message.data & ANNOUNCED != 0
            && message.kind == kind::PUT
            && message.bytes == ANNOUNCEMENT_BYTES as u64
            && self.lists.entries.get(place).fetch != 0
    }

    /// Whether there is room for a get, beside an answer to what causes it.
    pub(crate) fn has_room_to_fetch(&self) -> bool {
        self.has_room_for_operation()
    }

    /// Takes an entry off its list for a message that cannot be fetched now, and tells so: the message goes where the program finds it, and no later one comes before it.
    pub(crate) fn decline(&mut self, memory: &mut impl Memory, place: Place) {
        let entry = *self.lists.entries.get(place);
        let event = self.entry_event(&entry, event::AUTO_UNLINK);
        self.take_off(memory, place, &event);
    }

    /// Begins to get what a message announces into the descriptor of its entry, which has served.
    pub(crate) fn fetch(
        &mut self,
        memory: &mut impl Memory,
        message: &Message,
        place: Place,
        announcement: [u8; ANNOUNCEMENT_BYTES],
    ) {
        let word = |at: usize| announcement[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
        let (announced, bits) = (word(0), word(8));
        let entry = *self.lists.entries.get(place);
        let memory_of = self.descriptors.get(entry.fetch).memory;
        let bytes = announced.min(memory_of.bytes());
        let operation = Operation {
            answer: memory_of.part(0, bytes).unwrap_or_default(),
            user: entry.user,
            bytes,
            remote_offset: 0,
            started_at: self.now,
            interface: entry.interface,
            put: 0,
            get: entry.fetch,
            target: message.source,
            ack: ack::NONE,
            sending: 1,
            answering: 1,
            padding: 0,
        };
        let number = self.operations.add(operation).expect("room was looked for");
        self.descriptors.get_mut(entry.fetch).users += 1;
        let get = Message {
            kind: kind::GET,
            interface: message.interface,
            table: message.table + 1,
            source: message.target,
            target: message.source,
            operation: number,
            turn: self.operations.turn(number),
            bits,
            bytes,
            ..Message::default()
        };
        self.enqueue(Outgoing::request(get, Region::default(), 0, number));
        let initiator = self.initiator(message);
        let event = Event {
            node: initiator.node,
            process: initiator.process,
            bits: message.bits,
            requested: announced,
            done: bytes,
            start: self.pieces.address(&entry.memory),
            data: message.data,
            ..self.entry_event(&entry, event::PUT)
        };
        self.take_off(memory, place, &event);
    }

    /// Takes an entry off its list, with an event that says why.
    fn take_off(&mut self, memory: &mut impl Memory, place: Place, event: &Event) {
        let table = self.lists.entries.get(place).table;
        let table = self.tables.get_mut(table);
        let queue = table.queue;
        self.lists.unlink(&mut table.heads, place);
        self.post(memory, queue, event, false);
        self.free_entry(memory, place);
    }
}
