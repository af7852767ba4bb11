//! Who has a message: one word, in which each use has a number of its own, so that nothing is reset between uses.
//!
//! A [`Gate`] is such a word in the *receiver's* memory, one for each cell of the ring by which envelopes come. The receiver passes it when it takes an
//! envelope out. That costs an exchange of a word that nobody else touches, so it waits for no line (measured: on a line that the sender
//! polls half round trips take a third longer, in the sender's memory windows lose a tenth). A sender comes to the gate, which is far from it, only to
//! cancel or to relocate. A short message is read without passing it while the sender may only relocate ([`crate::Pace`]). Behind the gate the message is the receiver's, unless it has said before that it keeps it unreceived
//! ([`crate::Descriptor::hold`]): then the descriptor's own word decides.

use crate::primitive::{AtomicU64, Ordering, fence};
use lwk_primitive::made;

/// The receiver has the message, or has met the envelope of one that was cancelled. While the word has another use's number, the message is where the
/// envelope says and nobody has matched it.
pub(crate) const CLAIMED: u64 = 3;
/// Not matched; the content is where `elsewhere` says.
pub(crate) const RELOCATED: u64 = 4;
/// Matched by a probe, not claimed.
pub(crate) const RESERVED: u64 = 5;
/// Both.
pub(crate) const RESERVED_RELOCATED: u64 = 6;
/// The sender has taken the message back.
pub(crate) const CANCELLED: u64 = 7;
/// Of a descriptor behind a gate: the receiver keeps the message unreceived.
pub(crate) const HELD: u64 = 1;

const CODE_BITS: u32 = 3;

/// A state of a use.
#[inline(always)]
pub(crate) fn state(number: u64, code: u64) -> u64 {
    number << CODE_BITS | code
}

/// Who has the message. If numbers `RISE`, each use has a greater one than those before: of a word that has a later use's number, the receiver has
/// had the message.
pub(crate) struct Word<const RISE: bool>(AtomicU64);

impl<const RISE: bool> Word<RISE> {
    made! {
        pub fn new() -> Word<RISE> {
            Word(AtomicU64::new(0))
        }
    }

    /// The code of a state, if it is one of this use.
    #[inline(always)]
    fn code(state: u64, number: u64) -> Option<u64> {
        match state >> CODE_BITS {
            of if of == number => Some(state & ((1 << CODE_BITS) - 1)),
            of if RISE && of > number => Some(CLAIMED),
            _ => None,
        }
    }

    /// The receiver takes the message; the code before.
    #[inline(always)]
    pub fn claim(&self, number: u64) -> Option<u64> {
        // Acquire: pairs with the release in `change`, from `relocate`: the copy is there, and the address of it. Release: pairs with the acquire loads
        // in `change`: what `hold` has written is there, and in `is`: the receiver is done with what a cancelled message has named.
        Self::code(self.0.swap(state(number, CLAIMED), Ordering::AcqRel), number)
    }

    /// Puts a code there that nobody else may replace now.
    pub fn set(&self, number: u64, code: u64) {
        // Relaxed: `claim` of the gate publishes it.
        self.0.store(state(number, code), Ordering::Relaxed);
    }

    /// Whether the word has this code.
    pub fn is(&self, number: u64, code: u64) -> bool {
        // Acquire: pairs with the release in `claim`, and in `change` from `relocate`.
        self.0.load(Ordering::Acquire) == state(number, code)
    }

    /// Whether `next` would make something of the code.
    pub fn may_change(&self, number: u64, next: impl Fn(Option<u64>) -> Option<u64>) -> bool {
        // Relaxed: a hint.
        next(Self::code(self.0.load(Ordering::Relaxed), number)).is_some()
    }

    /// Puts in place of the code what `next` makes of it, `None` being that of an earlier use; false if it makes nothing.
    pub fn change(&self, number: u64, next: impl Fn(Option<u64>) -> Option<u64>) -> bool {
        // Acquire, here and below: pairs with the release in `claim`: where the receiver has passed the gate, the descriptor says whether it holds.
        let mut before = self.0.load(Ordering::Acquire);
        while let Some(after) = next(Self::code(before, number)) {
            // Release: pairs with the exchange in `claim`. (`reserve` passes on what `relocate` has released.)
            let exchanged =
                self.0.compare_exchange(before, state(number, after), Ordering::AcqRel, Ordering::Acquire);
            match exchanged {
                Ok(_) => return true,
                Err(found) => before = found,
            }
        }
        false
    }
}

/// In the receiver's memory, one for each cell of the ring.
pub struct Gate(Word<true>);

impl Gate {
    made! {
        /// The gate of a new ring's cell.
        pub fn new() -> Gate {
            Gate(Word::new())
        }
    }
}

impl Default for Gate {
    fn default() -> Gate {
        Gate::new()
    }
}

/// The gate of one message.
#[derive(Clone, Copy)]
pub struct Passage<'a> {
    word: &'a Word<true>,
    number: u64,
}

impl<'a> Passage<'a> {
    /// Of the message whose envelope is at this position of the ring, in the gate's cell.
    #[inline(always)]
    pub fn new(gate: &'a Gate, position: u64) -> Passage<'a> {
        // New gates have the number 0.
        Passage { word: &gate.0, number: position + 1 }
    }

    /// The number of the use; never 0.
    #[inline(always)]
    pub(crate) fn number(self) -> u64 {
        self.number
    }

    /// Receiver, once: takes the message; the code before.
    #[inline(always)]
    pub(crate) fn take(self) -> Option<u64> {
        self.word.claim(self.number)
    }

    /// Receiver: whether the sender has relocated the message, which has not been claimed.
    #[inline(always)]
    pub(crate) fn is_relocated(self) -> bool {
        // Pairs with the fence in `close`: if something has been read that was written after it, then the state is found here. What is read in
        // place before has been read.
        fence(Ordering::Acquire);
        self.word.is(self.number, RELOCATED)
    }

    /// Puts this code there if the receiver has not come and the sender has not been there.
    pub(crate) fn close(self, code: u64) -> bool {
        let is_closed = self.word.change(self.number, |before| before.is_none().then_some(code));
        // Release: pairs with the fence in `is_relocated`: before what is written where the content was.
        fence(Ordering::Release);
        is_closed
    }

    /// Whether that would succeed now.
    pub(crate) fn is_untouched(self) -> bool {
        self.word.may_change(self.number, |before| before.is_none().then_some(CANCELLED))
    }

    /// Whether the message has been cancelled here and the receiver has not come.
    pub(crate) fn is_cancelled(self) -> bool {
        self.word.is(self.number, CANCELLED)
    }
}

impl core::fmt::Debug for Passage<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "Passage({})", self.number)
    }
}
