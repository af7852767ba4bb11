//! One long message: who copies which part of it, and when it has been copied.
//!
//! The sender keeps a descriptor for each such message and says in the envelope where it is. The receiver, when the message is
//! matched, copies and says so ([`Descriptor::finish`]); the sender polls that word, in its own memory. Or the receiver first tells where the
//! content goes ([`Descriptor::ask_for_help`]), so that a sender that is waiting can copy as well: both take chunks by adding to one counter
//! until none is left, so the work divides itself by how soon and how fast each of them is, and a sender that is not waiting takes none.
//!
//! Who has the message is decided by one word. The receiver takes it by one exchange before it reads a byte ([`Descriptor::claim`]). Until then the
//! sender may take it back ([`Descriptor::cancel`]), or put a copy of the content elsewhere and have its buffer free ([`Descriptor::relocate`]);
//! each succeeds only if the receiver has not been there before. A message that a probe has matched ([`Descriptor::reserve`]) can still be
//! relocated, but not cancelled. Where a message has a [`Passage`], that decides first, and the word in the descriptor only if the receiver holds the
//! message unreceived ([`Descriptor::hold`]).
//!
//! A descriptor is used again and again; each use has a number, which the envelope carries and which stands in every state. So what the
//! last use has left is never mistaken for news, and the sender need not reset a word in a line that the receiver has written last. After
//! cancelling, the sender keeps the descriptor from other uses until the receiver has met the envelope ([`Descriptor::is_given_up`]).

use crate::gate::{CANCELLED, HELD, Passage, RELOCATED, RESERVED, RESERVED_RELOCATED, Word, state};
use crate::line::Line;
use crate::primitive::{AtomicU64, Ordering};

/// Uses have numbers below this, and begin again at 0: a number fits the 16 bits that an address leaves free in a word.
pub const USES: u64 = 1 << 16;

/// What the receiver tells: it copies and wants help; `target` and `length` are valid. The words have the use's number above three bits; while
/// that is another's, nothing has been said of this use.
const HELP: u64 = 1;
/// The content has been copied.
const DONE: u64 = 2;

/// Set in `helped`: the sender could not copy a chunk.
const FAILED: u64 = 1 << 63;

/// What relocating makes of a code, if that can be done; `unmatched` is that of a message that nobody has matched.
fn relocated(code: Option<u64>, unmatched: Option<u64>) -> Option<u64> {
    match code {
        Some(RESERVED) => Some(RESERVED_RELOCATED),
        code => (code == unmatched).then_some(RELOCATED),
    }
}

/// The code in a descriptor of a message that nobody has matched.
fn unmatched(gate: Option<Passage>) -> Option<u64> {
    gate.map(|_| HELD)
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

/// What the receiver has when it has claimed a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The content, where the envelope says.
    InPlace,
    /// The content, in one block at this address, as the sender calls it.
    Elsewhere(u64),
    /// Nothing: the sender has cancelled. The receiver must not touch the descriptor again.
    Cancelled,
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
    /// What either takes.
    taken: Line<Taken>,
    /// Chunks that the sender has copied; polled by the receiver at the end.
    helped: Line<AtomicU64>,
}

struct Told {
    state: AtomicU64,
    target: [AtomicU64; 4],
    /// Bytes to copy: the message's or the receive buffer's, whichever is less.
    length: AtomicU64,
}

/// A line that the sender touches only for long messages, and when it takes something back: otherwise it stays with the receiver.
struct Taken {
    /// Who has the message.
    message: Word<false>,
    /// Written by the sender: where the content is when it has been relocated.
    elsewhere: AtomicU64,
    /// Chunks taken.
    chunks: AtomicU64,
}

impl Descriptor {
    /// One that has not been used; its first use has the number 1.
    pub fn new() -> Descriptor {
        let zero = || AtomicU64::new(0);
        let target = core::array::from_fn(|_| zero());
        let told = Told { state: zero(), target, length: zero() };
        let taken = Taken { message: Word::new(), elsewhere: zero(), chunks: zero() };
        Descriptor { told: Line(told), taken: Line(taken), helped: Line(zero()) }
    }

    /// Sender: prepares for a use for which help may be asked, before the envelope is sent.
    #[inline]
    pub fn renew(&self) {
        // Relaxed: whatever hands the envelope over publishes them.
        self.taken.0.chunks.store(0, Ordering::Relaxed);
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

    /// Receiver, once, before it reads the content: takes the message, if it has no gate or is held.
    #[inline(always)]
    pub fn claim(&self, number: u64) -> Claim {
        match self.taken.0.message.claim(number) {
            Some(CANCELLED) => Claim::Cancelled,
            Some(RELOCATED | RESERVED_RELOCATED) => Claim::Elsewhere(self.elsewhere()),
            _ => Claim::InPlace,
        }
    }

    /// Where the content of a relocated message is.
    fn elsewhere(&self) -> u64 {
        // Relaxed: ordered by the exchange that found the message relocated.
        self.taken.0.elsewhere.load(Ordering::Relaxed)
    }

    /// Receiver: takes a message out of the ring without receiving it. The sender can cancel or relocate it again, until it is claimed by the
    /// descriptor. What it is claimed as now is where the content is, or nothing.
    pub fn hold(&self, number: u64, gate: Passage) -> Claim {
        // Before the gate is passed: a sender that finds that must find this.
        self.taken.0.message.set(number, HELD);
        gate.claim(self)
    }

    /// Receiver: whether the sender has taken a message back that has not been claimed.
    pub fn is_cancelled(&self, number: u64) -> bool {
        self.taken.0.message.is(number, CANCELLED)
    }

    /// Receiver: a probe has matched the message, which is claimed later; false if the sender has cancelled.
    pub fn reserve(&self, number: u64) -> bool {
        self.taken.0.message.change(number, |code| match code {
            Some(CANCELLED) => None,
            Some(RELOCATED | RESERVED_RELOCATED) => Some(RESERVED_RELOCATED),
            _ => Some(RESERVED),
        })
    }

    /// Sender: takes the message back; false if it has been matched or relocated. Afterwards the receiver reads neither content nor layout.
    pub fn cancel(&self, number: u64, gate: Option<Passage>) -> bool {
        gate.is_some_and(|gate| gate.close(CANCELLED))
            || self.taken.0.message.change(number, |code| (code == unmatched(gate)).then_some(CANCELLED))
    }

    /// Sender, after cancelling: whether the receiver has met the envelope. Then the descriptor may be used again, and is made ready for it.
    pub fn is_given_up(&self, number: u64, gate: Option<Passage>) -> bool {
        let is_given_up = !gate.is_some_and(Passage::is_cancelled) && !self.is_cancelled(number);
        if is_given_up {
            // Of a use that the receiver does not end.
            self.finish(number);
        }
        if is_given_up && gate.is_some() {
            // What `hold` has left of a message that was cancelled at its gate: when the number comes again, it would be taken for news.
            self.taken.0.message.set(0, 0);
        }
        is_given_up
    }

    /// Sender: the content is, from now on, in one block at this address, where it stays until the message has been copied; false if
    /// the receiver is copying or has copied, or it was relocated before. Afterwards the receiver reads nothing of the place in the envelope.
    pub fn relocate(&self, number: u64, address: u64, gate: Option<Passage>) -> bool {
        // Relaxed: closing the gate or changing the word publishes it. The receiver reads it only if that succeeds.
        self.taken.0.elsewhere.store(address, Ordering::Relaxed);
        gate.is_some_and(|gate| gate.close(RELOCATED))
            || self.taken.0.message.change(number, |code| relocated(code, unmatched(gate)))
    }

    /// Sender: whether that would succeed now.
    pub fn may_relocate(&self, number: u64, gate: Option<Passage>) -> bool {
        gate.is_some_and(Passage::is_untouched)
            || self.taken.0.message.may_change(number, |code| relocated(code, unmatched(gate)))
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
        self.taken.0.chunks.fetch_add(1, Ordering::Relaxed)
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

    /// Receiver: the message has been copied. This is the last that it does with the descriptor in this use. Or the sender, where the receiver has told it so
    /// in another way: every use leaves its own number here, so that none is taken for the end of a later one whose number is the same again.
    #[inline(always)]
    pub fn finish(&self, number: u64) {
        // Release: pairs with the acquire load in `look`: all reads of the sender's buffer are done.
        self.told.0.state.store(state(number, DONE), Ordering::Release);
    }
}

impl Passage<'_> {
    /// Receiver, once, when it takes the envelope out of the ring: takes the message, which has that descriptor.
    #[inline(always)]
    pub fn claim(self, descriptor: &Descriptor) -> Claim {
        match self.take() {
            Some(CANCELLED) => Claim::Cancelled,
            Some(RELOCATED) => Claim::Elsewhere(descriptor.elsewhere()),
            _ => Claim::InPlace,
        }
    }

    /// Receiver, in place of [`Passage::claim`] where the sender cannot cancel now ([`crate::Pace`]): where the sender has moved the content to, if it has.
    /// Asked before the content is read in place, and again after that: if it has been moved meanwhile, what was read may be anything.
    #[inline(always)]
    pub fn moved(self, descriptor: &Descriptor) -> Option<u64> {
        self.is_relocated().then(|| descriptor.elsewhere())
    }
}

impl Default for Descriptor {
    fn default() -> Descriptor {
        Descriptor::new()
    }
}
