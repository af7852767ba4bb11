//! One long message: who copies which part of it, and when it has been copied.
//!
//! The sender keeps a descriptor for each such message and says in the envelope where it is. The receiver, when the message is
//! matched, copies and says so ([`Descriptor::finish`]); the sender polls that word, in its own memory. Or the receiver first tells where the
//! content goes ([`Descriptor::ask_for_help`]), so that a sender that is waiting can copy as well: both take chunks by adding to one counter
//! until none is left, so the work divides itself by how soon and how fast each of them is, and a sender that is not waiting takes none.
//!
//! A descriptor is used again and again; each use has a number, which the envelope carries and which stands in every state. So what the
//! last use has left is never mistaken for news, and the sender need not reset a word in a line that the receiver has written last.

use crate::line::Line;
use crate::primitive::{AtomicU64, Ordering};

/// Uses have numbers below this, and begin again at 0: a number fits the 16 bits that an address leaves free in a word.
pub const USES: u64 = 1 << 16;

/// The receiver copies and wants help; `target` and `length` are valid. States have the use's number above two bits; while that is
/// another's, the receiver has not matched the message.
const HELP: u64 = 1;
/// The content has been copied.
const DONE: u64 = 2;

/// Set in `helped`: the sender could not copy a chunk.
const FAILED: u64 = 1 << 63;

/// A state of a use.
#[inline(always)]
fn state(number: u64, code: u64) -> u64 {
    number << 2 | code
}

/// What the receiver has said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Nothing yet.
    Nothing,
    /// It copies `length` bytes to the place that these words describe, which may be written now, and wants help.
    Help { target: [u64; 4], length: u64 },
    /// It has copied the message, reads the buffer no more and will not touch the descriptor again.
    Done,
}

/// What the sender has copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Helped {
    /// Not all of the chunks that it has taken.
    NotYet,
    /// All of them.
    All,
    /// All of them are dealt with, but some could not be copied.
    Failed,
}

/// In the sender's memory, one for each long message under way.
pub struct Descriptor {
    /// Written by the receiver, polled by the sender.
    told: Line<Told>,
    /// Chunks taken, by either.
    taken: Line<AtomicU64>,
    /// Chunks that the sender has copied; polled by the receiver at the end.
    helped: Line<AtomicU64>,
}

struct Told {
    state: AtomicU64,
    target: [AtomicU64; 4],
    /// Bytes to copy: the message's or the receive buffer's, whichever is less.
    length: AtomicU64,
}

impl Descriptor {
    /// One that has not been used; its first use has the number 1.
    pub fn new() -> Descriptor {
        let zero = || AtomicU64::new(0);
        let told = Told { state: zero(), target: core::array::from_fn(|_| zero()), length: zero() };
        Descriptor { told: Line(told), taken: Line(zero()), helped: Line(zero()) }
    }

    /// Sender: prepares for a use for which help may be asked, before the envelope is sent.
    #[inline]
    pub fn renew(&self) {
        // Relaxed: whatever hands the envelope over publishes them.
        self.taken.0.store(0, Ordering::Relaxed);
        self.helped.0.store(0, Ordering::Relaxed);
    }

    /// Sender: what the receiver has said of this use.
    #[inline(always)]
    pub fn look(&self, number: u64) -> Seen {
        let told = &self.told.0;
        // Acquire: pairs with the release stores in `ask_for_help` (target and length are valid, and the target may be written) and in
        // `finish` (the receiver has read the buffer).
        let seen = told.state.load(Ordering::Acquire);
        if seen == state(number, DONE) {
            return Seen::Done;
        }
        if seen != state(number, HELP) {
            return Seen::Nothing;
        }
        // Relaxed, all: ordered by the acquire load of the state.
        let target = told.target.each_ref().map(|word| word.load(Ordering::Relaxed));
        Seen::Help { target, length: told.length.load(Ordering::Relaxed) }
    }

    /// Receiver: copies `length` bytes to a place that these words describe to the sender, and wants help.
    #[inline]
    pub fn ask_for_help(&self, number: u64, target: [u64; 4], length: u64) {
        let told = &self.told.0;
        // Relaxed, all: the release store below publishes them.
        for (word, value) in told.target.iter().zip(target) {
            word.store(value, Ordering::Relaxed);
        }
        told.length.store(length, Ordering::Relaxed);
        // Release: pairs with the acquire load in `look`; what this rank has read or written in the target before is done.
        told.state.store(state(number, HELP), Ordering::Release);
    }

    /// Either, from the time that help is asked for: the number, from 0, of a chunk that is this rank's alone to copy, if the message has as
    /// many. How many bytes a chunk has is for the callers to agree on.
    #[inline]
    pub fn take_chunk(&self) -> u64 {
        // Relaxed: only distributes the work; the content is ordered by `state` and `helped`.
        self.taken.0.fetch_add(1, Ordering::Relaxed)
    }

    /// Sender: has dealt with so many chunks of this use; whether one of them could not be copied.
    #[inline]
    pub fn tell_helped(&self, chunks: u64, failed: bool) {
        // Release: pairs with the acquire load in `helped`: the chunks are in the receiver's buffer.
        self.helped.0.store(chunks | if failed { FAILED } else { 0 }, Ordering::Release);
    }

    /// Receiver, when no chunk is left to take: whether the sender has dealt with the `chunks` that this rank has not taken.
    #[inline]
    pub fn helped(&self, chunks: u64) -> Helped {
        // Acquire: pairs with the release store in `tell_helped`.
        let told = self.helped.0.load(Ordering::Acquire);
        match (told & !FAILED == chunks, told & FAILED != 0) {
            (false, _) => Helped::NotYet,
            (true, false) => Helped::All,
            (true, true) => Helped::Failed,
        }
    }

    /// Receiver: the message has been copied. This is the last that it does with the descriptor in this use.
    #[inline(always)]
    pub fn finish(&self, number: u64) {
        // Release: pairs with the acquire load in `look`: all reads of the sender's buffer are done.
        self.told.0.state.store(state(number, DONE), Ordering::Release);
    }
}

impl Default for Descriptor {
    fn default() -> Descriptor {
        Descriptor::new()
    }
}
