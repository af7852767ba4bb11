//! Long and synchronous messages: copied once, from the sender's buffer to the receiver's, by the receiver, and for long ones by
//! both.
//!
//! The words by which the two agree are `lwk-rendezvous`'s [`Descriptor`], checked under loom there; here is the copying. The sender keeps
//! a descriptor for each such message and says where it is in the envelope; it polls it, in its own memory, until the receiver has
//! taken the message and copied it. From [`HELP_FROM`] bytes on the receiver asks for help, and a sender that is waiting copies as well, chunk by chunk.

use crate::copy::copy;
use crate::descriptors::{Descriptors, Entry, address, named};
use crate::region::{Region, copy_part, copy_regions};
use crate::{Fault, Result};
use crate::{Ticket, seen_from_here};
use lwk_rendezvous::{Claim, Descriptor, Helped, Seen};
use lwk_ring::{prefetch_to_read, prefetch_to_write};
use lwk_user::smartmap::Peer;
use lwk_user::wait;

/// Content from this size on is copied by both cores (measured: halves lose below 16 KiB, gain from 64 KiB).
pub(super) const HELP_FROM: usize = 64 << 10;
/// Lines of the next message that are asked for early: about as many as a core has under way. Windows of 2 KiB gain 0.3 and of 16 KiB 0.6, of 1 KiB
/// they lose 0.2 (far cores).
const PREFETCHED_LINES: usize = 16;
const PREFETCHED_FROM: usize = 2 << 10;
const LINE: usize = 64;
/// Bytes of a chunk that one core takes at a time (measured).
const CHUNK: usize = 32 << 10;

/// Helps with a send under way if help is wanted; true when the content has been copied, and then the ticket is void.
///
/// # Safety
/// The ticket is in use, and the message's bytes are readable.
#[inline]
pub(super) unsafe fn advance(descriptors: &mut Descriptors, ticket: Ticket) -> bool {
    let entry = descriptors.entry(ticket);
    let mut seen = entry.descriptor.look(entry.number);
    if let Seen::Help { target, length } = seen {
        // SAFETY: help is wanted, to there; the caller vouches for the buffer.
        unsafe { help(entry, target, length) };
        seen = entry.descriptor.look(entry.number);
    }
    if seen != Seen::Done {
        return false;
    }
    descriptors.release(ticket);
    true
}

/// Copies chunks until none is left, to what the receiver calls `target`.
///
/// # Safety
/// The receiver has asked for help with these words; the message's bytes are readable.
unsafe fn help(entry: &Entry, target: [u64; 4], length: u64) {
    let Some(peer) = Peer::new(entry.message.peer) else { return };
    let target = Region::of_peer(peer, target, length as usize);
    let (descriptor, source) = (entry.descriptor, &entry.message.source);
    // SAFETY: the receiver has promised `length` bytes of its buffer, and no more than the message has; chunks are taken
    // once, so nobody else writes them.
    unsafe {
        // The outcome is told to the receiver, whose receive it is.
        let _ = copy_chunks(descriptor, source, &target, length as usize, |copied, outcome| {
            descriptor.tell_helped(copied, outcome.is_err());
        });
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

/// Asks for the line in which the receiver takes a message and says that it has copied it, so that it is there by then.
#[inline(always)]
pub(super) fn prefetch(peer: Peer, name: usize) {
    prefetch_to_write(address(peer, name));
}

/// Asks for the first lines of the next message, one block at what its sender calls `block`: taking a message holds back all loads behind.
#[inline(always)]
pub(super) fn prefetch_content(peer: Peer, block: usize, bytes: usize) {
    if bytes >= PREFETCHED_FROM {
        let block = seen_from_here::<u8>(peer, block);
        for line in 0..PREFETCHED_LINES {
            prefetch_to_read(block.wrapping_add(line * LINE));
        }
    }
}

/// Receives a matched message, unless its sender has cancelled it: copies as many bytes as source and target have, and tells the sender; false if it
/// was cancelled. `name` is the descriptor's in the envelope. Errors: [`Fault::Internal`] if the sender's layout is damaged; the sender is told all
/// the same.
///
/// # Safety
/// The source must be that of a message from `peer` that has not been received; `target` must be writable for the bytes to copy,
/// its datatype live.
pub(super) unsafe fn receive(peer: Peer, source: &Region, name: usize, target: &Region) -> Result<bool> {
    let length = source.bytes().min(target.bytes());
    // SAFETY: a message of the peer names the descriptor; it keeps the content, wherever it is, until it is told.
    unsafe {
        let (descriptor, number) = named(peer, name);
        let source = match descriptor.claim(number) {
            Claim::InPlace => *source,
            Claim::Elsewhere(address) => Region::of_peer(peer, [address, 0, 0, 0], source.bytes()),
            Claim::Cancelled => return Ok(false),
        };
        let outcome = if length >= HELP_FROM {
            receive_together(descriptor, number, &source, target, length)
        } else {
            copy_regions(&source, target).map(drop)
        };
        descriptor.finish(number);
        outcome.map(|()| true)
    }
}

/// Receives a matched message of one block that fits and is short enough to be copied without help; false if its sender has cancelled it.
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
) -> bool {
    // SAFETY: as for `receive`.
    unsafe {
        let (descriptor, number) = named(peer, name);
        let source = match descriptor.claim(number) {
            Claim::InPlace => source,
            Claim::Elsewhere(address) => seen_from_here(peer, address as usize),
            Claim::Cancelled => return false,
        };
        copy(source, target, bytes);
        descriptor.finish(number);
    }
    true
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
    if helped == Helped::Failed { Err(Fault::Internal) } else { outcome }
}
