//! Long and synchronous messages: copied once, from the sender's buffer to the receiver's, by the receiver, and for long ones by
//! both.
//!
//! The words by which the two agree are `lwk-rendezvous`'s [`Descriptor`], checked under loom there; here is the copying. The sender keeps
//! a descriptor for each such message and says where it is in the envelope; it polls it, in its own memory, until the receiver has
//! copied. From [`HELP_FROM`] bytes on the receiver asks for help, and a sender that is waiting copies as well, chunk by chunk.

use super::{Ticket, peer};
use crate::copy::copy;
use crate::error::{Error, Result};
use crate::region::{Region, copy_part, copy_regions};
use crate::transport::seen_from_here;
use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_rendezvous::{Descriptor, Helped, Seen, USES};
use lwk_ring::prefetch_to_write;
use lwk_user::smartmap::Peer;
use lwk_user::wait;

/// Content from this size on is copied by both cores (measured: halves lose below 16 KiB, gain from 64 KiB).
pub(super) const HELP_FROM: usize = 64 << 10;
/// Bytes of a chunk that one core takes at a time (measured).
const CHUNK: usize = 32 << 10;

/// A name in the envelope is the descriptor's address, as the sender calls it, and above these bits the number of its use.
const USE_SHIFT: u32 = 48;

const _: () = assert!(USES == 1 << (u64::BITS - USE_SHIFT));

/// The descriptors of this rank's sends. They are used again and never given back, since peers hold their addresses.
pub(super) struct Descriptors {
    all: Vec<Entry>,
    free: Vec<usize>,
}

struct Entry {
    descriptor: &'static Descriptor,
    peer: u32,
    source: Region,
    /// The number of this use.
    number: u64,
}

impl Descriptors {
    pub fn new() -> Descriptors {
        Descriptors { all: Vec::new(), free: Vec::new() }
    }

    /// A descriptor for a message to `peer`.
    pub fn take(&mut self, peer: u32, source: Region) -> Ticket {
        let Some(index) = self.free.pop() else {
            let descriptor: &'static Descriptor = Box::leak(Box::new(Descriptor::new()));
            self.all.push(Entry { descriptor, peer, source, number: 1 });
            return Ticket(self.all.len() - 1);
        };
        let entry = &mut self.all[index];
        (entry.peer, entry.source, entry.number) = (peer, source, (entry.number + 1) % USES);
        if source.bytes() >= HELP_FROM {
            entry.descriptor.renew();
        }
        Ticket(index)
    }

    /// What names the descriptor in the envelope.
    pub fn name(&self, ticket: Ticket) -> usize {
        let entry = &self.all[ticket.0];
        core::ptr::from_ref(entry.descriptor).expose_provenance() | (entry.number << USE_SHIFT) as usize
    }

    /// Helps if help is wanted; true when the content has been copied.
    ///
    /// # Safety
    /// The ticket is in use, and the message's bytes are readable.
    #[inline]
    pub unsafe fn advance(&mut self, ticket: Ticket) -> bool {
        let entry = &self.all[ticket.0];
        let mut seen = entry.descriptor.look(entry.number);
        if let Seen::Help { target, length } = seen {
            // SAFETY: help is wanted, to there; the caller vouches for the buffer.
            unsafe { entry.help(target, length) };
            seen = entry.descriptor.look(entry.number);
        }
        if seen != Seen::Done {
            return false;
        }
        self.free.push(ticket.0);
        true
    }

    /// Bytes of all descriptors.
    pub fn bytes(&self) -> usize {
        self.all.len() * (size_of::<Descriptor>() + size_of::<Entry>())
    }
}

impl Entry {
    /// Copies chunks until none is left, to what the receiver calls `target`.
    ///
    /// # Safety
    /// The receiver has asked for help with these words; the message's bytes are readable.
    unsafe fn help(&self, target: [u64; 4], length: u64) {
        let Some(peer) = peer(self.peer) else { return };
        let target = Region::of_peer(peer, target, length as usize);
        // SAFETY: the receiver has promised `length` bytes of its buffer, and no more than the message has; chunks are taken
        // once, so nobody else writes them.
        unsafe {
            // The outcome is told to the receiver, whose receive it is.
            let _ =
                copy_chunks(self.descriptor, &self.source, &target, length as usize, |copied, outcome| {
                    self.descriptor.tell_helped(copied, outcome.is_err());
                });
        }
    }
}

/// Takes and copies chunks until none is left; tells `after` how many it has copied so far. Returns that number; a chunk that
/// could not be copied counts, so that nobody waits for it.
///
/// # Safety
/// `source` must be readable and `target` writable for `length` bytes, their datatypes live.
unsafe fn copy_chunks(
    descriptor: &Descriptor,
    source: &Region,
    target: &Region,
    length: usize,
    after: impl Fn(u64, Result<()>),
) -> (u64, Result<()>) {
    let (mut copied, mut outcome) = (0, Ok(()));
    loop {
        let start = descriptor.take_chunk() as usize * CHUNK;
        if start >= length {
            return (copied, outcome);
        }
        // SAFETY: inside `length` bytes; this chunk is nobody else's.
        let chunk = unsafe { copy_part(source, start, target, start, (length - start).min(CHUNK)) };
        outcome = outcome.and(chunk);
        copied += 1;
        after(copied, outcome);
    }
}

/// Asks for the line in which the receiver will say that it has copied a message, so that it is there when it has.
#[inline(always)]
pub(super) fn prefetch(peer: Peer, name: usize) {
    prefetch_to_write(descriptor(peer, name));
}

/// Where the descriptor is that has this name in an envelope.
#[inline(always)]
fn descriptor(peer: Peer, name: usize) -> *const Descriptor {
    seen_from_here::<Descriptor>(peer, name & ((1 << USE_SHIFT) - 1))
}

/// The number of the use that the name has.
#[inline(always)]
fn use_of(name: usize) -> u64 {
    name as u64 >> USE_SHIFT
}

/// Receives a matched message: copies as many bytes as source and target have, and tells the sender. `name` is the descriptor's in the
/// envelope. Errors: `INTERN` if the sender's layout is damaged; the sender is told all the same.
///
/// # Safety
/// The source must be that of a message from `peer` that has not been received; `target` must be writable for the bytes to copy,
/// its datatype live.
pub(super) unsafe fn receive(peer: Peer, source: &Region, name: usize, target: &Region) -> Result<()> {
    let number = use_of(name);
    let length = source.bytes().min(target.bytes());
    // SAFETY: the sender keeps both until it is told; descriptors live as long as the job.
    unsafe {
        let descriptor = &*descriptor(peer, name);
        let outcome = if length >= HELP_FROM {
            receive_together(descriptor, number, source, target, length)
        } else {
            copy_regions(source, target).map(drop)
        };
        descriptor.finish(number);
        outcome
    }
}

/// Receives a matched message of one block that fits and is short enough to be copied without help.
///
/// # Safety
/// As for [`receive`]: `bytes` bytes at `source`, as this rank sees it, are the message.
#[inline(always)]
pub(super) unsafe fn receive_block(
    peer: Peer,
    source: *const u8,
    name: usize,
    target: *mut u8,
    bytes: usize,
) {
    // SAFETY: the sender keeps both until it is told; descriptors live as long as the job.
    unsafe {
        copy(source, target, bytes);
        (*descriptor(peer, name)).finish(use_of(name));
    }
}

/// # Safety
/// As for [`receive`].
unsafe fn receive_together(
    descriptor: &Descriptor,
    number: u64,
    source: &Region,
    target: &Region,
    length: usize,
) -> Result<()> {
    descriptor.ask_for_help(number, target.words(), length as u64);
    // SAFETY: the caller's promise.
    let (copied, outcome) = unsafe { copy_chunks(descriptor, source, target, length, |_, _| ()) };
    let rest = length.div_ceil(CHUNK) as u64 - copied;
    let mut helped = Helped::NotYet;
    wait::spin_until(|| {
        helped = descriptor.helped(rest);
        helped != Helped::NotYet
    });
    if helped == Helped::Failed { Err(Error::INTERN) } else { outcome }
}
