//! What this path has of Portals: an interface, two tables, two queues, and the operations that it uses.
//!
//! * [`MESSAGES`]: the rings of all senders, one entry of the overflow list, into which they put. The match bits of a put are the message's label; its header
//!   data says what it is ([`Head`]). Receives that the kernel matches stand in the priority list ([`super::posts`]).
//! * [`CONTENT`]: one entry for each message whose content stays at its sender, to be fetched by one get. Its match bits are the message's
//!   token; whoever is told of it by a put to [`MESSAGES`] finds it in the table behind. To take a message back is to unlink its entry, which fails when the receiver has been there: the sender's kernel decides.
//! * [`WORDS`]: what ranks tell each other beside messages. Nodes meet by puts without bytes, whose events stand among those of messages. The rest has no events:
//!   it is added to words of this rank's ([`super::words`]), which it looks at when it has to know.
//!
//! Both sides' memory is reached by the kernels alone; what has arrived is read only after the event that tells of it.

use super::head::{CONTENT, Head, MESSAGES, WORDS};
use super::words::{self, Word};
use crate::{Fault, Label, Result, leak};
use alloc::boxed::Box;
use core::cell::Cell;
use lwk_place::WorldRank;
use lwk_user::job;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, Event, InterfaceOptions, NONE, OVERFLOW_LIST,
    Operation, PRIORITY_LIST, TableOptions, ack, event, operation, status,
};
use lwk_user::portals::{self, DescriptorHandle, EntryHandle, Interface, Queue};
use lwk_words::Sum;

/// Bytes that the kernel copies when a put begins: the sender is done with them.
pub const VOLATILE: usize = lwk_user::portals::abi::ATOMIC_BYTES as usize;
/// Events about this rank's own operations, at most: more operations are not under way.
pub const OWN_EVENTS: usize = 4096;

/// Where a put goes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub peer: WorldRank,
    pub label: Label,
    pub head: Head,
    /// In the peer's rings.
    pub place: usize,
}

/// See the module.
pub struct Wire {
    interface: Interface,
    /// What has arrived.
    arrived: Queue,
    /// What has become of this rank's operations, and which content has been fetched.
    own: Queue,
    /// The rings; written by kernels.
    rings: &'static [Cell<u8>],
    /// By rank of the job: the last position in its ring that a rank has told without a message. Behind them, how often this rank has been called.
    told: &'static [Sum],
    /// Messages in the rings of which this rank has seen the events.
    seen: u64,
    /// What a put is made of that is over when it has begun.
    scratch: Box<[u8; VOLATILE]>,
    volatile: DescriptorHandle,
}

/// What an event of [`Wire::next_arrival`] tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// Something in the rings, or a word.
    Here,
    /// A message that the kernel has matched with the receive of the event's `user`.
    Matched,
    /// The kernel had no room for that of the event's `user`, and has taken the receive off the list.
    Declined,
}

/// Why a receive is not on the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotPosted {
    NoRoom,
    /// Something has come that this rank has not seen: it may be the receive's.
    Unseen,
}

/// The kernel has no room for an operation now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRoom;

/// What a call of Portals has answered: no room may be in a while, everything else is this path's own mistake.
fn room<T>(answer: portals::Result<T>) -> core::result::Result<T, NoRoom> {
    match answer {
        Ok(done) => Ok(done),
        Err(portals::Error::Status(status::NO_SPACE)) => Err(NoRoom),
        Err(other) => super::end_job(format_args!("a call of Portals failed: {other}")),
    }
}

fn address<T: ?Sized>(of: *const T) -> u64 {
    of.cast::<u8>().expose_provenance() as u64
}

impl Wire {
    /// Opens the interface, with rings of so many bytes and room for so many arrivals. Errors: [`Fault::NoNetwork`], [`Fault::NoMemory`].
    pub fn open(ring_bytes: usize, arrivals: usize) -> Result<Wire> {
        let fault = |error| match error {
            portals::Error::NoMemory | portals::Error::Status(status::NO_SPACE) => Fault::NoMemory,
            portals::Error::NoNetwork => Fault::NoNetwork,
            portals::Error::Status(_) => Fault::Internal,
        };
        let interface =
            Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL).map_err(fault)?;
        let arrived = interface.queue(arrivals).map_err(fault)?;
        let own = interface.queue(OWN_EVENTS).map_err(fault)?;
        interface.table(TableOptions::empty(), Some(&arrived), MESSAGES).map_err(fault)?;
        interface.table(TableOptions::empty(), Some(&own), CONTENT).map_err(fault)?;
        interface.table(TableOptions::empty(), Some(&arrived), WORDS).map_err(fault)?;
        let rings = leak(ring_bytes, || Cell::new(0))?;
        let told = leak(job().size() as usize + 1, Sum::new)?;
        let open = Entry {
            start: address(rings),
            bytes: ring_bytes as u64,
            counter: NONE,
            uid: ANY,
            options: EntryOptions::OP_PUT
                | EntryOptions::EVENT_LINK_DISABLE
                | EntryOptions::UNEXPECTED_HDR_DISABLE,
            node: ANY,
            process: ANY,
            ignore: u64::MAX,
            ..Entry::default()
        };
        let scratch = Box::new([0; VOLATILE]);
        let from = Descriptor {
            start: address(scratch.as_ptr()),
            bytes: VOLATILE as u64,
            options: DescriptorOptions::VOLATILE | DescriptorOptions::EVENT_SUCCESS_DISABLE,
            queue: own.handle(),
            counter: NONE,
            reserved: 0,
        };
        // SAFETY: the rings are leaked, are of cells, and are read only where an event has told of a put and before their sender is told that
        // they are free. The words are leaked atomics. The scratch lies in a box of this object, which nobody drops, and is read during calls only.
        let volatile = unsafe {
            interface.append(MESSAGES, &open, OVERFLOW_LIST).map_err(fault)?;
            interface
                .append(WORDS, &words::entry(address(told), size_of_val(told)), PRIORITY_LIST)
                .map_err(fault)?;
            // Last: nobody puts anything before nodes have met, which they do by words.
            interface.append(WORDS, &Entry { bytes: 0, ..open }, PRIORITY_LIST).map_err(fault)?;
            interface.bind(&from).map_err(fault)?
        };
        Ok(Wire { interface, arrived, own, rings, told, seen: 0, scratch, volatile })
    }

    /// What a put of at most [`VOLATILE`] bytes is made of.
    pub fn scratch(&mut self) -> &mut [u8; VOLATILE] {
        &mut self.scratch
    }

    /// Where that lies.
    pub fn start_of_scratch(&self) -> *const u8 {
        self.scratch.as_ptr()
    }

    /// Puts the first bytes of the scratch. The memory is this rank's again at once; a failure is told by an event with that `user`.
    pub fn put_scratch(&self, target: &Target, bytes: usize, user: u64) -> core::result::Result<(), NoRoom> {
        self.put(target, self.volatile, 0, bytes, ack::NONE, user)
    }

    /// Adds to a word of a peer; a failure is told by an event with that `user`.
    pub fn add(
        &mut self,
        peer: WorldRank,
        word: Word,
        number: u32,
        user: u64,
    ) -> core::result::Result<(), NoRoom> {
        self.scratch[..size_of_val(&number)].copy_from_slice(&number.to_ne_bytes());
        let operation = Operation { user, ..words::addition(peer, word, self.volatile) };
        // SAFETY: the scratch is copied by the call.
        room(unsafe { self.interface.operate(&operation) })
    }

    /// What has been added to a word of this rank's.
    #[inline]
    pub fn told(&self, word: Word) -> u32 {
        self.told[word.index()].look()
    }

    /// The same, and an event tells that the target has it, or why not.
    pub fn put_acknowledged(
        &self,
        target: &Target,
        by: DescriptorHandle,
        user: u64,
    ) -> core::result::Result<(), NoRoom> {
        self.put(target, by, 0, 0, ack::FULL, user)
    }

    /// Puts bytes of a descriptor, whose events tell when its memory is free.
    pub fn put(
        &self,
        target: &Target,
        by: DescriptorHandle,
        offset: usize,
        bytes: usize,
        ack: u32,
        user: u64,
    ) -> core::result::Result<(), NoRoom> {
        let operation = Operation {
            kind: operation::PUT,
            put: by.0,
            get: NONE,
            ack,
            put_offset: offset as u64,
            bytes: bytes as u64,
            node: target.peer.0,
            table: target.head.table(),
            trigger: NONE,
            counter: NONE,
            bits: target.label.0,
            remote_offset: target.place as u64,
            user,
            data: target.head.word(),
            ..Operation::default()
        };
        // SAFETY: the descriptor's memory is this path's own, and is left alone until the event, or copied by the call.
        room(unsafe { self.interface.operate(&operation) })
    }

    /// A descriptor of memory whose operations are told of.
    ///
    /// # Safety
    /// While an operation uses it, the memory is readable, or writable and nobody else's if the operation fetches.
    pub unsafe fn bind(
        &self,
        start: *const u8,
        bytes: usize,
    ) -> core::result::Result<DescriptorHandle, NoRoom> {
        let of = Descriptor {
            start: address(start),
            bytes: bytes as u64,
            options: DescriptorOptions::empty(),
            queue: self.own.handle(),
            counter: NONE,
            reserved: 0,
        };
        // SAFETY: operations may use the memory (this function's contract).
        room(unsafe { self.interface.bind(&of) })
    }

    /// Gives a descriptor back that no operation uses any more.
    pub fn release(&self, descriptor: DescriptorHandle) {
        // An operation that has been told of is over; if its descriptor were not, the job's end gives it back.
        let _ = self.interface.release(descriptor);
    }

    /// Lets the content of a message be fetched once, by its token.
    ///
    /// # Safety
    /// The bytes stay readable, and nobody writes them, until an event tells that they have been fetched or [`Wire::withdraw`] says yes.
    pub unsafe fn expose(
        &self,
        start: *const u8,
        bytes: usize,
        token: u64,
    ) -> core::result::Result<EntryHandle, NoRoom> {
        let entry = Entry {
            start: address(start),
            bytes: bytes as u64,
            counter: NONE,
            uid: ANY,
            options: EntryOptions::OP_GET
                | EntryOptions::USE_ONCE
                | EntryOptions::EVENT_LINK_DISABLE
                | EntryOptions::EVENT_UNLINK_DISABLE,
            node: ANY,
            process: ANY,
            bits: token,
            user: token,
            ..Entry::default()
        };
        // SAFETY: the bytes may be read until they have been fetched (this function's contract).
        room(unsafe { self.interface.append(CONTENT, &entry, PRIORITY_LIST) })
    }

    /// Takes content back; false if the receiver has come for it.
    pub fn withdraw(&self, entry: EntryHandle) -> bool {
        self.interface.unlink(entry).is_ok()
    }

    /// Fetches the first bytes of the content of that token into the descriptor's memory; an event with that `user` tells the end.
    pub fn fetch(
        &self,
        peer: WorldRank,
        token: u64,
        into: DescriptorHandle,
        bytes: usize,
        user: u64,
    ) -> core::result::Result<(), NoRoom> {
        let operation = Operation {
            kind: operation::GET,
            put: NONE,
            get: into.0,
            bytes: bytes as u64,
            node: peer.0,
            table: CONTENT,
            trigger: NONE,
            counter: NONE,
            bits: token,
            user,
            ..Operation::default()
        };
        // SAFETY: the descriptor's memory is left to the operation until the event (contract of `bind`).
        room(unsafe { self.interface.operate(&operation) })
    }

    /// Has the kernel match a receive: the next message of that peer with these bits, but for those ignored, goes into the descriptor's memory. An event of
    /// [`Wire::next_arrival`] with that `user` tells of it; if the message had to be fetched, one of [`Wire::next_own`] tells when it is there.
    ///
    /// # Safety
    /// `into` is of so many bytes at `start`, which are writable, and nobody else's, until the end of that or [`Wire::withdraw`].
    pub unsafe fn post(
        &self,
        peer: WorldRank,
        (bits, ignore): (u64, u64),
        (start, bytes): (*const u8, usize),
        into: DescriptorHandle,
        user: u64,
    ) -> core::result::Result<EntryHandle, NotPosted> {
        let entry = Entry {
            start: address(start),
            bytes: bytes as u64,
            counter: NONE,
            uid: ANY,
            options: EntryOptions::FETCHES,
            node: peer.0,
            process: ANY,
            reserved: into.0,
            bits,
            ignore,
            min_free: self.seen,
            user,
        };
        // SAFETY: the memory may be written until the message is there or the entry is withdrawn (this function's contract).
        match unsafe { self.interface.append(MESSAGES, &entry, PRIORITY_LIST) } {
            Err(portals::Error::Status(status::IN_USE)) => Err(NotPosted::Unseen),
            other => room(other).map_err(|NoRoom| NotPosted::NoRoom),
        }
    }

    /// The next arrival.
    #[inline(always)]
    pub fn next_arrival(&mut self) -> Option<(Came, Event)> {
        let event = self.arrived.get()?;
        if event.table != MESSAGES {
            return Some((Came::Here, event));
        }
        if event.list == OVERFLOW_LIST {
            self.seen += 1;
            return Some((Came::Here, event));
        }
        let came = if event.kind == event::AUTO_UNLINK { Came::Declined } else { Came::Matched };
        Some((came, event))
    }

    /// The next event about an operation of this rank's.
    #[inline(always)]
    pub fn next_own(&mut self) -> Option<Event> {
        self.own.get()
    }

    /// Where the bytes of an arrival lie, if they lie in the rings.
    pub fn arrived_at(&self, event: &Event) -> Option<*const u8> {
        let start = (event.start as usize).checked_sub(self.rings.as_ptr().addr())?;
        let piece = self.rings.get(start..start.checked_add(event.done as usize)?)?;
        Some(piece.as_ptr().cast())
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.rings.len() + size_of_val(self.told) + VOLATILE
    }
}
