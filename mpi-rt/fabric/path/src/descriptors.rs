//! The descriptors of this rank's sends that a receiver must take before they are its: `lwk-rendezvous`'s [`Descriptor`], one for each message
//! under way, by which both sides agree whether it is received or cancelled, and where its content is.
//!
//! They are used again and never given back, since peers hold their addresses.

use super::{Ticket, UnderWay};
use crate::region::Region;
use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_place::{Peer, seen_by_wire};
use lwk_rendezvous::{Descriptor, Passage, Seen, USES};

/// A name in an envelope is the descriptor's address, as the sender calls it, and above these bits the number of its use.
const USE_SHIFT: u32 = 48;

const _: () = assert!(USES == 1 << (u64::BITS - USE_SHIFT));

/// All of a rank.
pub(super) struct Descriptors {
    all: Vec<Entry>,
    free: Vec<usize>,
    /// Of cancelled messages whose envelopes the receivers have not met yet.
    given_up: Vec<usize>,
}

/// One, and the message that it is of.
pub(super) struct Entry {
    pub descriptor: &'static Descriptor,
    pub message: UnderWay,
    /// The number of this use.
    pub number: u64,
    /// Where the receiver takes the message first, if its transport has gates.
    gate: Option<Passage<'static>>,
}

impl Descriptors {
    pub fn new() -> Descriptors {
        Descriptors { all: Vec::new(), free: Vec::new(), given_up: Vec::new() }
    }

    /// A descriptor for a message, which comes through that gate.
    #[inline(always)]
    pub fn take(&mut self, message: UnderWay, gate: Option<Passage<'static>>) -> Ticket {
        let Some(index) = self.free.pop() else { return self.take_another(message, gate) };
        let entry = &mut self.all[index];
        (entry.message, entry.number, entry.gate) = (message, (entry.number + 1) % USES, gate);
        Ticket(index)
    }

    /// One that a cancelled message has left, or a new one.
    #[cold]
    fn take_another(&mut self, message: UnderWay, gate: Option<Passage<'static>>) -> Ticket {
        let all = &self.all;
        let is_left = |index: &usize| {
            let entry = &all[*index];
            entry.descriptor.is_given_up(entry.number, entry.gate)
        };
        if let Some(place) = self.given_up.iter().position(is_left) {
            self.free.push(self.given_up.swap_remove(place));
            return self.take(message, gate);
        }
        let descriptor: &'static Descriptor = Box::leak(Box::new(Descriptor::new()));
        self.all.push(Entry { descriptor, message, number: 1, gate });
        Ticket(self.all.len() - 1)
    }

    /// What names the descriptor in the envelope.
    #[inline(always)]
    pub fn name(&self, ticket: Ticket) -> usize {
        let entry = self.entry(ticket);
        core::ptr::from_ref(entry.descriptor).expose_provenance() | (entry.number << USE_SHIFT) as usize
    }

    /// A descriptor in use.
    #[inline(always)]
    pub fn entry(&self, ticket: Ticket) -> &Entry {
        &self.all[ticket.0]
    }

    /// The message has been received: the descriptor is free, and the ticket void.
    #[inline(always)]
    pub fn release(&mut self, ticket: Ticket) {
        self.free.push(ticket.0);
    }

    /// As [`Descriptors::release`], where the receiver has said so in another way and touches the descriptor no more.
    pub fn end(&mut self, ticket: Ticket) {
        let entry = self.entry(ticket);
        entry.descriptor.finish(entry.number);
        self.release(ticket);
    }

    /// Whether the message has been received, and the ticket only waits to be released.
    pub fn is_done(&self, ticket: Ticket) -> bool {
        let entry = self.entry(ticket);
        entry.descriptor.look(entry.number) == Seen::Done
    }

    /// Takes the message back; the ticket is void then. False if it has been matched.
    pub fn cancel(&mut self, ticket: Ticket) -> bool {
        let entry = self.entry(ticket);
        let is_cancelled = entry.descriptor.cancel(entry.number, entry.gate);
        if is_cancelled {
            self.given_up.push(ticket.0);
        }
        is_cancelled
    }

    /// Whether [`Descriptors::relocate`] would succeed now.
    pub fn may_relocate(&self, ticket: Ticket) -> bool {
        let entry = self.entry(ticket);
        entry.descriptor.may_relocate(entry.number, entry.gate)
    }

    /// The content is, from now on, in one block of this rank's memory, of which the address is given; false if the receiver is copying.
    pub fn relocate(&mut self, ticket: Ticket, copy: *const u8) -> bool {
        let entry = &mut self.all[ticket.0];
        let address = copy.expose_provenance() as u64;
        let is_relocated = entry.descriptor.relocate(entry.number, address, entry.gate);
        if is_relocated {
            // Where a sender that helps copies from.
            entry.message.source = Region::block(copy, entry.message.source.bytes());
        }
        is_relocated
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.all.len() * (size_of::<Descriptor>() + size_of::<Entry>())
    }
}

/// Where the descriptor is that has this name in an envelope of a peer.
#[inline(always)]
pub(super) fn address(peer: Peer, name: usize) -> *const Descriptor {
    seen_by_wire::<Descriptor>(peer, name & ((1 << USE_SHIFT) - 1))
}

/// The number of the use that the name has.
#[inline(always)]
pub(super) fn use_of(name: usize) -> u64 {
    name as u64 >> USE_SHIFT
}

/// The descriptor that has this name, and the number of its use.
///
/// # Safety
/// A peer has sent the name; it keeps descriptors as long as the job runs.
#[inline(always)]
pub(super) unsafe fn named(peer: Peer, name: usize) -> (&'static Descriptor, u64) {
    // SAFETY: the peer sent this name of a descriptor, which it never frees (this function's contract);
    // descriptors are shared through atomics.
    (unsafe { &*address(peer, name) }, use_of(name))
}
