//! Event queues and counting events: kept here, seen by the program in its own memory (Portals 4.3, sections 3.13 and 3.14).
//!
//! How program and kernel hand each other events and counts through that memory is in [`lwk_words`].

use bytemuck::Zeroable;
use lwk_abi::portals::{Event, NONE, QUEUE_TAKEN};
use lwk_words::{counts, events};

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

/// The way to a queue's ring.
struct Ring<'a, M> {
    memory: &'a mut M,
    ring: Span,
}

impl<M: Memory> events::Ring for Ring<'_, M> {
    fn write(&mut self, place: u64, bytes: &[u8]) {
        if let Some(part) = self.ring.part(place, bytes.len() as u64) {
            self.memory.write(&part, bytes);
        }
    }

    fn tell(&mut self, place: u64, word: u64) {
        if let Some(part) = self.ring.part(place, 8) {
            self.memory.publish(&part, word);
        }
    }
}

impl State {
    /// Whether a queue has room for `events` more, beside what is promised. No queue has.
    pub(crate) fn has_room(&self, memory: &impl Memory, queue: Place, events: u64) -> bool {
        if queue == 0 {
            return true;
        }
        let queue = self.queues.get(queue);
        let taken = queue.ring.part(QUEUE_TAKEN, 8).map_or(0, |word| memory.look(&word));
        let wanted = events + queue.promised + u64::from(queue.reserved);
        events::room(taken, queue.size, queue.written).is_some_and(|room| wanted <= room)
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
        let event = Event { dropped: core::mem::take(&mut queue.lossy), ..*event };
        // Without its number, which is a word of the protocol's.
        self.counts.told += (size_of::<Event>() - 8) as u64;
        let mut ring = Ring { memory, ring: queue.ring };
        events::post(&mut ring, queue.size, queue.written, &contract::event_bytes(&event));
        queue.written += 1;
    }

    fn drop_event(&mut self, memory: &mut impl Memory, queue: Place) {
        let queue = self.queues.get_mut(queue);
        queue.dropped += 1;
        queue.lossy = 1;
        events::dropped(&mut Ring { memory, ring: queue.ring }, queue.dropped);
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
        counts::tell(successes, failures, |at, word| {
            if let Some(place) = it.words.part(at, 8) {
                memory.publish(&place, word);
            }
        });
        self.set_off(counter);
    }

    /// The event that everything about a table begins with.
    pub(crate) fn table_event(&self, table: Place, kind: u32) -> Event {
        let table = self.tables.get(table);
        Event { kind, table: table.index, node: NONE, process: NONE, ..Event::default() }
    }
}
