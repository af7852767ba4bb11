//! Long and synchronous messages: copied once, from the sender's buffer to the receiver's, by the receiver, and for long ones by
//! both.
//!
//! The sender keeps a [`Descriptor`] for each such message and says where it is in the envelope. The receiver, when the message is
//! matched, copies and stores `DONE`; the sender polls that word, in its own memory. From [`HELP_FROM`] bytes on the receiver
//! first tells where the content goes, so that a sender that is waiting can copy as well: both take chunks by adding to one
//! counter until none is left, so the work divides itself by how soon and how fast each of them is, and a sender that is not
//! waiting takes none.

use super::{Ticket, peer};
use crate::error::{Error, Result};
use crate::region::{Region, copy_part, copy_regions};
use crate::transport::seen_from_here;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_user::smartmap::{CacheLine, Peer};
use lwk_user::wait;

/// Content from this size on is copied by both cores (measured: halves lose below 16 KiB, gain from 64 KiB).
pub(super) const HELP_FROM: usize = 64 << 10;
/// Bytes of a chunk that one core takes at a time (measured).
const CHUNK: usize = 32 << 10;

/// A name in the envelope is the descriptor's address, as the sender calls it, and above these bits the number of its use, so that the
/// sender need not reset the state, in a line that the receiver has written last. (Measured: no difference in windows.)
const USE_SHIFT: u32 = 48;
const USES: u64 = 1 << (u64::BITS - USE_SHIFT);

/// `state`: the receiver copies and wants help; `target` and `length` are valid. States have the use's number above two bits; while
/// that is another's, the receiver has not matched the message.
const HELP: u64 = 1;
/// `state`: the content has been copied.
const DONE: u64 = 2;

/// A state of a use.
#[inline(always)]
fn state(number: u64, code: u64) -> u64 {
    number << 2 | code
}

/// Set in `helped`: the sender could not copy a chunk, because a layout is damaged.
const HELP_FAILED: u64 = 1 << 63;

/// In the sender's memory, one for each such message under way.
pub(super) struct Descriptor {
    /// Written by the receiver, polled by the sender.
    told: CacheLine<Told>,
    /// Chunks taken, by either.
    taken: CacheLine<AtomicU64>,
    /// Chunks that the sender has copied; polled by the receiver at the end.
    helped: CacheLine<AtomicU64>,
}

struct Told {
    state: AtomicU64,
    /// Where the content goes: the words of the receiver's region.
    target: [AtomicU64; 4],
    /// Bytes to copy: the message's or the receive buffer's, whichever is less.
    length: AtomicU64,
}

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
            let descriptor: &'static Descriptor = Box::leak(Box::new(Descriptor {
                told: CacheLine(Told {
                    state: AtomicU64::new(0),
                    target: [const { AtomicU64::new(0) }; 4],
                    length: AtomicU64::new(0),
                }),
                taken: CacheLine(AtomicU64::new(0)),
                helped: CacheLine(AtomicU64::new(0)),
            }));
            self.all.push(Entry { descriptor, peer, source, number: 1 });
            return Ticket(self.all.len() - 1);
        };
        let entry = &mut self.all[index];
        (entry.peer, entry.source, entry.number) = (peer, source, (entry.number + 1) % USES);
        if source.bytes() >= HELP_FROM {
            // Relaxed: the ring's release store publishes them with the envelope.
            entry.descriptor.taken.store(0, Ordering::Relaxed);
            entry.descriptor.helped.store(0, Ordering::Relaxed);
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
        // Acquire: pairs with the receiver's release stores of HELP (target and length are valid) and of DONE (the receiver has
        // read the buffer and will not touch the descriptor again).
        let mut told = entry.descriptor.told.state.load(Ordering::Acquire);
        if told == state(entry.number, HELP) {
            // SAFETY: the state is HELP; the caller vouches for the buffer.
            unsafe { entry.help() };
            told = entry.descriptor.told.state.load(Ordering::Acquire);
        }
        if told != state(entry.number, DONE) {
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
    /// Copies chunks until none is left.
    ///
    /// # Safety
    /// The state has been seen to be HELP; the message's bytes are readable.
    unsafe fn help(&self) {
        let Some(peer) = peer(self.peer) else { return };
        let told = &self.descriptor.told;
        // Relaxed, all: ordered by the acquire load of the state.
        let target = told.target.each_ref().map(|word| word.load(Ordering::Relaxed));
        let length = told.length.load(Ordering::Relaxed) as usize;
        let target = Region::of_peer(peer, target, length);
        // SAFETY: the receiver has promised `length` bytes of its buffer, and no more than the message has; chunks are taken
        // once, so nobody else writes them.
        unsafe {
            // The outcome is told to the receiver, whose receive it is.
            let _ = copy_chunks(self.descriptor, &self.source, &target, length, |copied, outcome| {
                let failed = if outcome.is_err() { HELP_FAILED } else { 0 };
                // Release: pairs with the acquire load in `receive_together`: the chunk is in the receiver's buffer.
                self.descriptor.helped.store(copied | failed, Ordering::Release);
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
        // Relaxed: only distributes the work; the content is ordered by `state` and `helped`.
        let start = descriptor.taken.fetch_add(1, Ordering::Relaxed) as usize * CHUNK;
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

/// Receives a matched message: copies as many bytes as source and target have, and tells the sender. `name` is the descriptor's in the
/// envelope. Errors: `INTERN` if the sender's layout is damaged; the sender is told all the same.
///
/// # Safety
/// The source must be that of a message from `peer` that has not been received; `target` must be writable for the bytes to copy,
/// its datatype live.
pub(super) unsafe fn receive(peer: Peer, source: &Region, name: usize, target: &Region) -> Result<()> {
    let (number, address) = (name as u64 >> USE_SHIFT, name & ((1 << USE_SHIFT) - 1));
    let length = source.bytes().min(target.bytes());
    let descriptor = seen_from_here::<Descriptor>(peer, address);
    // SAFETY: the sender keeps both until DONE is stored; descriptors live as long as the job.
    unsafe {
        let descriptor = &*descriptor;
        let outcome = if length >= HELP_FROM {
            receive_together(descriptor, number, source, target, length)
        } else {
            copy_regions(source, target).map(drop)
        };
        // Release: pairs with the acquire load in `advance`: all reads of the sender's buffer are done.
        descriptor.told.state.store(state(number, DONE), Ordering::Release);
        outcome
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
    let told = &descriptor.told;
    // Relaxed, all: the release store below publishes them.
    for (word, value) in told.target.iter().zip(target.words()) {
        word.store(value, Ordering::Relaxed);
    }
    told.length.store(length as u64, Ordering::Relaxed);
    // Release: pairs with the acquire load in `advance`; what this rank has read or written in the buffer before is done.
    told.state.store(state(number, HELP), Ordering::Release);
    // SAFETY: the caller's promise.
    let (copied, outcome) = unsafe { copy_chunks(descriptor, source, target, length, |_, _| ()) };
    let rest = length.div_ceil(CHUNK) as u64 - copied;
    // Acquire: pairs with the release store in `help`: the sender's chunks are in this rank's buffer.
    wait::spin_until(|| descriptor.helped.load(Ordering::Acquire) & !HELP_FAILED == rest);
    // Relaxed: the last store has been seen above.
    if descriptor.helped.load(Ordering::Relaxed) & HELP_FAILED != 0 { Err(Error::INTERN) } else { outcome }
}
