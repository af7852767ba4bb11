//! Event queues and counting events: kept here, seen by the program in its own memory (Portals 4.3, sections 3.13 and 3.14).
//!
//! A queue is a ring in the program's memory. An event is written there as a whole before its sequence number, by which the program sees that it
//! is new. The program says how many it has taken; whatever it writes there, it can only lose events of its own.

use bytemuck::Zeroable;
use lwk_abi::portals::{Event, NONE, QUEUE_DROPPED, QUEUE_EVENTS, QUEUE_TAKEN};

use crate::contract;
use crate::memory::{Memory, Span};
use crate::node::State;
use crate::slab::Place;

/// An event queue.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Queue {
    pub ring: Span,
    pub size: u64,
    /// Events written, and places promised to messages that are arriving.
    pub written: u64,
    pub promised: u64,
    pub dropped: u64,
    pub interface: u32,
    /// Tables and descriptors that use it, and those tables among them that may have to tell that they are disabled.
    pub users: u32,
    pub reserved: u32,
    /// 1: events have been dropped since the last was written.
    pub lossy: u32,
}

/// A counting event.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Counter {
    pub words: Span,
    pub successes: u64,
    pub failures: u64,
    pub interface: u32,
    /// Entries and descriptors that use it.
    pub users: u32,
    /// Operations that it triggers, by threshold.
    pub triggered: Place,
    pub(crate) padding: u32,
}

const EVENT_BYTES: u64 = size_of::<Event>() as u64;

impl State {
    /// Whether a queue has room for `events` more, beside what is promised. No queue has.
    pub(crate) fn has_room(&self, memory: &impl Memory, queue: Place, events: u64) -> bool {
        if queue == 0 {
            return true;
        }
        let queue = self.queues.get(queue);
        let mut taken = [0; 8];
        if let Some(word) = queue.ring.part(QUEUE_TAKEN, 8) {
            memory.read(&word, &mut taken);
        }
        // What the program says can be anything.
        let waiting = queue.written.wrapping_sub(u64::from_ne_bytes(taken));
        waiting <= queue.size && events + queue.promised + u64::from(queue.reserved) <= queue.size - waiting
    }

    /// Promises places in a queue, or takes a promise back.
    pub(crate) fn promise(&mut self, queue: Place, events: i64) {
        if queue != 0 {
            let promised = &mut self.queues.get_mut(queue).promised;
            *promised = promised.wrapping_add_signed(events);
        }
    }

    /// Posts an event, or drops it if the queue is full. `promised`: it has a place.
    pub(crate) fn post(&mut self, memory: &mut impl Memory, queue: Place, event: &Event, promised: bool) {
        if queue == 0 {
            return;
        }
        if promised {
            self.promise(queue, -1);
        } else if !self.has_room(memory, queue, 1) {
            return self.drop_event(memory, queue);
        }
        self.write(memory, queue, event);
    }

    /// Posts that a table is disabled, for which a place is reserved.
    pub(crate) fn post_reserved(&mut self, memory: &mut impl Memory, queue: Place, event: &Event) {
        if queue != 0 {
            self.write(memory, queue, event);
        }
    }

    fn write(&mut self, memory: &mut impl Memory, queue: Place, event: &Event) {
        let queue = self.queues.get_mut(queue);
        let at = QUEUE_EVENTS + queue.written % queue.size * EVENT_BYTES;
        queue.written += 1;
        let event = Event { dropped: core::mem::take(&mut queue.lossy), ..*event };
        self.counts.told += EVENT_BYTES - 8;
        let (Some(number), Some(rest)) = (queue.ring.part(at, 8), queue.ring.part(at + 8, EVENT_BYTES - 8))
        else {
            return;
        };
        memory.write(&rest, &contract::event_bytes(&event)[8..]);
        memory.publish(&number, queue.written);
    }

    fn drop_event(&mut self, memory: &mut impl Memory, queue: Place) {
        let queue = self.queues.get_mut(queue);
        queue.dropped += 1;
        queue.lossy = 1;
        if let Some(word) = queue.ring.part(QUEUE_DROPPED, 8) {
            memory.publish(&word, queue.dropped);
        }
    }

    /// Writes what Portals tells a program of, to memory that is writable.
    pub(crate) fn write_told(&mut self, memory: &mut impl Memory, to: &Span, bytes: &[u8]) {
        self.counts.told += bytes.len() as u64;
        memory.write(to, bytes);
    }

    /// Adds to a counting event, or sets it, and sets off what it triggers.
    pub(crate) fn count(&mut self, memory: &mut impl Memory, counter: Place, successes: u64, failures: u64) {
        if counter != 0 {
            let it = self.counters.get(counter);
            let (successes, failures) =
                (it.successes.wrapping_add(successes), it.failures.wrapping_add(failures));
            self.set_counter(memory, counter, successes, failures);
        }
    }

    /// See [`State::count`].
    pub(crate) fn set_counter(
        &mut self,
        memory: &mut impl Memory,
        counter: Place,
        successes: u64,
        failures: u64,
    ) {
        let it = self.counters.get_mut(counter);
        (it.successes, it.failures) = (successes, failures);
        for (at, word) in [(8, failures), (0, successes)] {
            if let Some(place) = it.words.part(at, 8) {
                memory.publish(&place, word);
            }
        }
        self.set_off(counter);
    }

    /// The event that everything about a table begins with.
    pub(crate) fn table_event(&self, table: Place, kind: u32) -> Event {
        let table = self.tables.get(table);
        Event { kind, table: table.index, node: NONE, process: NONE, ..Event::default() }
    }
}
