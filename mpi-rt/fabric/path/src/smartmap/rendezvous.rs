//! Long and synchronous messages: copied once, from the sender's buffer to the receiver's, by the receiver, and for long ones by
//! both.
//!
//! The words by which the two agree are `lwk-rendezvous`'s [`Descriptor`], checked under loom there; here is the copying. The sender keeps
//! a descriptor for each such message and says where it is in the envelope; it polls it, in its own memory, until the receiver has
//! taken the message and copied it. From [`HELP_FROM`] bytes on the receiver asks for help, and a sender that is waiting copies as well, chunk by chunk.

use crate::descriptors::{Descriptors, Entry, address, named};
use crate::region::{Region, copy_part, copy_regions};
use crate::{Fault, Result};
use crate::{Ticket, seen_from_here};
use lwk_copy::copy;
use lwk_copy::threshold::{HELP_FROM, HELPED_AT_A_TIME, TWO_STRETCHES};
use lwk_place::peer_of;
use lwk_rendezvous::{Claim, Descriptor, Helped, Pace, Passage, Seen};
use lwk_ring::prefetch_to_write;
use lwk_user::smartmap::Peer;
use lwk_user::wait;

/// Helps with a send under way if help is wanted; true when the content has been copied, and then the ticket is void.
///
/// # Safety
/// The ticket is in use, and the message's bytes are readable.
#[inline]
pub(super) unsafe fn advance(descriptors: &mut Descriptors, ticket: Ticket) -> bool {
    let entry = descriptors.entry(ticket);
    let mut seen = entry.descriptor.look(entry.number);
    if let Seen::Help { target, length } = seen {
        // SAFETY: `target` and `length` are the words of the receiver's wish for help; the message's bytes
        // are readable (this function's contract).
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
    let Some(peer) = peer_of(entry.message.peer) else { return };
    let target = Region::of_peer(peer, target, length as usize);
    let (descriptor, source) = (entry.descriptor, &entry.message.source);
    // SAFETY: the receiver keeps `length` bytes of its buffer writable until helped, no more than the message
    // has; the source is readable (this function's contract). Chunks are taken once, so nobody else writes
    // them.
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
        let start = descriptor.take_chunk() as usize * HELPED_AT_A_TIME;
        if start >= length {
            return (copied, outcome);
        }
        // SAFETY: the chunk lies inside `length` bytes, readable and writable (this function's contract);
        // `take_chunk` gave it to nobody else.
        let chunk =
            unsafe { copy_part(source, start, target, start, (length - start).min(HELPED_AT_A_TIME)) };
        outcome = outcome.and(chunk);
        copied += 1;
        after(copied, outcome);
    }
}

/// Asks for the line in which the receiver will say that it has copied a message, so that it is there when it has.
#[inline(always)]
pub(super) fn prefetch(peer: Peer, name: usize) {
    prefetch_to_write(address(peer, name));
}

/// Receives a matched message, unless its sender has cancelled it: copies as many bytes as source and target have, and tells the sender; false if it
/// was cancelled. `name` is the descriptor's in the envelope; `gate` is the message's, unless it was held. Errors: [`Fault::Internal`] if the
/// sender's layout is damaged; the sender is told all the same.
///
/// # Safety
/// The source must be that of a message from `peer` that has not been received; `target` must be writable for the bytes to copy,
/// its datatype live.
pub(super) unsafe fn receive(
    peer: Peer,
    source: &Region,
    name: usize,
    target: &Region,
    gate: Option<Passage>,
) -> Result<bool> {
    let length = source.bytes().min(target.bytes());
    // SAFETY: a message from `peer` named the descriptor, and the sender keeps the content, wherever it is,
    // until `finish`; `target` is writable (this function's contract).
    unsafe {
        let (descriptor, number) = named(peer, name);
        let claim = match gate {
            Some(gate) => gate.claim(descriptor),
            None => descriptor.claim(number),
        };
        let moved;
        let source = match claim {
            Claim::InPlace => source,
            Claim::Elsewhere(address) => {
                moved = moved_to(peer, address, source.bytes());
                &moved
            }
            Claim::Cancelled => return Ok(false),
        };
        let outcome = if length >= HELP_FROM {
            receive_together(descriptor, number, source, target, length)
        } else {
            copy_regions(source, target).map(drop)
        };
        descriptor.finish(number);
        outcome.map(|()| true)
    }
}

/// Copies content that a peer has moved to what it calls `address`.
///
/// # Safety
/// There are `bytes` bytes until the message is finished, and `target` is writable for them.
#[cold]
unsafe fn copy_moved(peer: Peer, address: u64, target: *mut u8, bytes: usize) {
    // SAFETY: the bytes are there, and `target` is writable for them (this function's contract).
    unsafe { copy(seen_from_here(peer, address as usize), target, bytes) }
}

/// Where the content is that a peer has moved to what it calls `address`.
#[cold]
fn moved_to(peer: Peer, address: u64, bytes: usize) -> Region {
    Region::of_peer(peer, [address, 0, 0, 0], bytes)
}

/// Takes a message out of the ring that stays at its sender: where its content is, or nothing if the sender has cancelled it.
///
/// # Safety
/// A message of the peer that has not been received has this source, names the descriptor and comes through that gate.
pub(super) unsafe fn hold(peer: Peer, source: Region, name: usize, gate: Passage) -> Option<Region> {
    // SAFETY: a message of the peer names the descriptor (this function's contract); the peer never frees it.
    let (descriptor, number) = unsafe { named(peer, name) };
    match descriptor.hold(number, gate) {
        Claim::InPlace => Some(source),
        Claim::Elsewhere(address) => Some(moved_to(peer, address, source.bytes())),
        Claim::Cancelled => None,
    }
}

/// Receives the beginning of a matched message of one block, of a length that is copied without help; false if its sender has cancelled it.
///
/// # Safety
/// A message from `peer` that has not been received names the descriptor and comes through that gate. At least
/// `bytes` bytes at `source`, as this rank sees it, are the message; `target` must be writable for them.
#[inline(always)]
pub(super) unsafe fn receive_block(
    peer: Peer,
    source: *const u8,
    name: usize,
    target: *mut u8,
    bytes: usize,
    gate: Passage,
    pace: &Pace,
) -> bool {
    // SAFETY: a message from `peer` named the descriptor, and the sender keeps `bytes` where the content is until
    // `finish`; `target` is writable for them (this function's contract). What is copied from where the content was
    // may be anything, and is copied again; who writes it meanwhile races with instructions, as `copy` is from `TWO_STRETCHES` on.
    unsafe {
        let (descriptor, number) = named(peer, name);
        if bytes <= TWO_STRETCHES || !pace.enter(gate) {
            return receive_claimed_block(peer, source, name, target, bytes, gate);
        }
        if gate.moved(descriptor).is_none() {
            copy(source, target, bytes);
        }
        if let Some(address) = gate.moved(descriptor) {
            copy_moved(peer, address, target, bytes);
        }
        descriptor.finish(number);
        pace.leave();
    }
    true
}

/// The same, claimed first.
///
/// # Safety
/// As for [`receive_block`].
#[inline(never)]
unsafe fn receive_claimed_block(
    peer: Peer,
    source: *const u8,
    name: usize,
    target: *mut u8,
    bytes: usize,
    gate: Passage,
) -> bool {
    // SAFETY: a message from `peer` named the descriptor, and the sender keeps `bytes` where the content is until
    // `finish`; `target` is writable for them (this function's contract).
    unsafe {
        let (descriptor, number) = named(peer, name);
        let source = match gate.claim(descriptor) {
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
/// The descriptor has been claimed for use `number` and not finished. `source` is its content; `target` must
/// be writable for `length` bytes, its datatype live, until this returns.
unsafe fn receive_together(
    descriptor: &Descriptor,
    number: u64,
    source: &Region,
    target: &Region,
    length: usize,
) -> Result<()> {
    descriptor.ask_for_help(number, target.words(), length as u64);
    // SAFETY: `source` is readable until `finish`, and `target` writable, for `length` bytes; both datatypes
    // live (this function's contract).
    let (copied, outcome) = unsafe { copy_chunks(descriptor, source, target, length, |_, _| ()) };
    let rest = length.div_ceil(HELPED_AT_A_TIME) as u64 - copied;
    let mut helped = Helped::NotYet;
    wait::spin_until(|| {
        helped = descriptor.helped(rest);
        helped != Helped::NotYet
    });
    if helped == Helped::Failed { Err(Fault::Internal) } else { outcome }
}
