//! What the root of an operation answers to a leaf whose part is too long for a line (`crate::Lines`): the second step of a large part.
//!
//! The leaf has told of its part, in its line of operation `n`, and waits. The root [answers](Reply::answer) by a few words in the leaf's memory, and goes on. If
//! there is more to do the leaf does it, and says so ([`Reply::end`]), for which the root waits. Where the root tells of a part and the leaf fetches it, there is no
//! answer, only that word. A reply goes with a line: a root writes it after it has seen the leaf's line of the same operation, and nobody writes it again before
//! the line is free. So roots may change, and several operations be under way.

use crate::line::Line;
use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::made;

/// Words of an answer.
pub const REPLY_WORDS: usize = 6;

/// In the leaf's memory: an answer, written by roots, and how far the leaf is, written by itself. A cache line each.
#[repr(C)]
pub struct Reply {
    answer: Aligned<Line<REPLY_WORDS>>,
    ended: Aligned<AtomicU64>,
}

#[repr(C, align(64))]
struct Aligned<T>(T);

// SAFETY: the answer is written by the operation's root before its number is stored, and read by the owner before it ends the operation, which is what the root of
// the line's next operation waits for; both are release-acquire pairs.
unsafe impl Sync for Reply {}

impl Reply {
    made! {
        /// Nothing has been answered.
        pub fn new() -> Reply {
            Reply { answer: Aligned(Line::new()), ended: Aligned(AtomicU64::new(0)) }
        }
    }

    /// Answers in operation `number`.
    ///
    /// # Safety
    /// Only that operation's root, once, after it has seen what the owner tells in that operation and waits for the answer of.
    #[inline]
    pub unsafe fn answer(&self, number: u64, words: [u64; REPLY_WORDS]) {
        // SAFETY: `with_mut` gives the array, which nobody else touches now (this function's contract).
        self.answer.0.fill(number, |place| unsafe { place.write(words) });
    }

    /// The answer in operation `number`, if it is there. The owner only, until it ends the operation.
    #[inline]
    pub fn answered(&self, number: u64) -> Option<[u64; REPLY_WORDS]> {
        // SAFETY: the number has told of the words, and no root writes others before the owner has ended the operation.
        (self.answer.0.word() == number).then(|| self.answer.0.read(|words| unsafe { words.read() }))
    }

    /// The owner has done its part of operation `number`.
    #[inline]
    pub fn end(&self, number: u64) {
        // Release: pairs with the acquire load in `has_ended`; carries what the owner has stored into the root's memory, and ends its use of it.
        self.ended.0.store(number, Ordering::Release);
    }

    /// Whether the owner has done its part of operation `number`.
    #[inline]
    pub fn has_ended(&self, number: u64) -> bool {
        // Acquire: pairs with the release store in `end`.
        self.ended.0.load(Ordering::Acquire) >= number
    }

    /// Makes it as new before anybody hears of it again.
    pub fn renew(&self) {
        self.answer.0.renew();
        // Relaxed: as in `Line::renew`.
        self.ended.0.store(0, Ordering::Relaxed);
    }
}

impl Default for Reply {
    fn default() -> Reply {
        Reply::new()
    }
}
