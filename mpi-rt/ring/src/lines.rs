//! Lines in turn, from one member of a group to all others or from all to one: what broadcast, reduce, gather and scatter of small buffers are made of.
//!
//! Every member has [`Lines`] in its own memory, and counts the operations in its [`Pace`]; all members call the same operations in the
//! same order, so the counts agree. In operation `n` some members give: they fill their line `n mod N` and go on, without waiting for
//! anybody; the others take what is there. Or one member, the root, deals: it fills the line `n mod N` of each other member, who takes what is in its own.
//! A line has one writer in an operation. Whoever is done with an operation, as a giver or as a taker, [ends](Pace::end) it.
//!
//! A line may be filled again when all members have ended the operation that was in it. Each tells so in a word of its own, once in a
//! [`CREDIT_SHARE`]th of the lines, and a giver looks at these words only when what it knows no longer suffices: a giver may be
//! up to `N` operations ahead of the slowest member, and then waits. A member that has come to operation `n` has told of `n - N` at least,
//! since what it has not told of yet is less than `N`; so no two members wait for each other's word.
//!
//! A member may leave an operation under way and go on with later ones, which end first ([`Pace`] keeps both apart): what it tells is the last operation up to
//! which it has ended all. The first operation that is not over in every member has room always, since nobody holds back `N` operations before it.
//!
//! The callers choose what word tells that a line is filled, as long as no two operations have the same. A "line" is a word and `W` words of
//! data: a whole cache line with seven, and a quarter of one with one word, of which four travel together when the taker is behind.

use crate::CREDIT_SHARE;
use crate::cell::Credit;
use crate::line::Line;
use crate::primitive::Ordering;
use core::cell::Cell as Local;
use lwk_primitive::{array, made};

/// One member's lines: written by it, or in operations in which a root deals by that one; read by all.
#[repr(C, align(64))]
pub struct Lines<const N: usize, const W: usize> {
    cells: [Line<W>; N],
    /// The last operation that this member has told it has ended.
    ended: Credit,
}

// SAFETY: the data is written by an operation's one writer before the word is stored, and not again, by anybody, before all members have ended that operation,
// which they do after reading and writing; both are release-acquire pairs.
unsafe impl<const N: usize, const W: usize> Sync for Lines<N, W> {}

/// How far a member is: its own, of no concern to the others.
pub struct Pace<const N: usize> {
    called: Local<u64>,
    /// The last operation up to which all have ended here.
    ended: Local<u64>,
    /// Those after the next one that have ended, too: bit `i` is operation `ended + 2 + i`.
    beyond: Local<u64>,
    /// The last operation of which the others have been told that it has ended here.
    told: Local<u64>,
    /// The last one that all members are known to have ended.
    known: Local<u64>,
}

impl<const N: usize, const W: usize> Lines<N, W> {
    /// Bytes of data in a line.
    pub const BYTES: usize = 8 * W;

    made! {
        /// Lines with nothing in them.
        pub fn new() -> Lines<N, W> {
            Lines { cells: array!(Line::new(); N), ended: Credit::new() }
        }
    }

    #[inline(always)]
    fn line(&self, number: u64) -> &Line<W> {
        &self.cells[number as usize % N]
    }

    /// Fills the line of operation `number` by `write`, and says so by `word`.
    ///
    /// # Safety
    /// Only the owner or, if a root deals in operation `number`, that root, after its [`Pace::has_room`] has said yes to the operation; `write` must
    /// write nothing but the array it is given.
    #[inline(always)]
    pub unsafe fn give(&self, number: u64, word: u64, write: impl FnOnce(*mut [u64; W])) {
        self.line(number).fill(word, write);
    }

    /// The word of what is in the line of operation `number`, or was there before.
    #[inline(always)]
    pub fn word(&self, number: u64) -> u64 {
        self.line(number).word()
    }

    /// Lets `read` look at the line of operation `number`.
    ///
    /// # Safety
    /// [`Lines::word`] must have been that operation's, and the caller must not have ended it yet.
    #[inline(always)]
    pub unsafe fn read<R>(&self, number: u64, read: impl FnOnce(*const [u64; W]) -> R) -> R {
        self.line(number).read(read)
    }

    /// The last operation that the owner is known to have ended.
    #[inline(always)]
    pub fn ended(&self) -> u64 {
        // Acquire: pairs with the release store in `Pace::end`.
        self.ended.0.load(Ordering::Acquire)
    }

    /// Makes lines as new that no member will touch before it hears of them again.
    pub fn renew(&self) {
        self.cells.iter().for_each(Line::renew);
        // Relaxed: as in `Line::renew`.
        self.ended.0.store(0, Ordering::Relaxed);
    }
}

impl<const N: usize> Pace<N> {
    /// No operation has been called.
    pub const fn new() -> Pace<N> {
        // No operation ends further beyond the first one that is under way: its line would not have been free.
        const { assert!(N <= u64::BITS as usize) };
        Pace {
            called: Local::new(0),
            ended: Local::new(0),
            beyond: Local::new(0),
            told: Local::new(0),
            known: Local::new(0),
        }
    }

    /// The number of the operation that is called now.
    #[inline(always)]
    pub fn call(&self) -> u64 {
        let number = self.called.get() + 1;
        self.called.set(number);
        number
    }

    /// Whether this member may fill its line for operation `number`, as far as it knows. If not, [`Pace::learn`].
    #[inline(always)]
    pub fn has_room(&self, number: u64) -> bool {
        number <= self.known.get() + N as u64
    }

    /// The last operation up to which this member has ended all.
    #[inline]
    pub fn ended(&self) -> u64 {
        self.ended.get()
    }

    /// All other members have ended all operations up to `number` at least: the least of their [`Lines::ended`].
    pub fn learn(&self, number: u64) {
        // What is in this member's own lines may be for itself, from a root that deals.
        self.known.set(number.min(self.ended.get()));
    }

    /// This member has ended operation `number`, and will not look at anybody's line of it again.
    #[inline(always)]
    pub fn end<const W: usize>(&self, mine: &Lines<N, W>, number: u64) {
        if number == self.ended.get() + 1 && self.beyond.get() == 0 {
            self.ended.set(number);
        } else {
            self.end_out_of_turn(number);
        }
        let ended = self.ended.get();
        if ended - self.told.get() >= (N as u64 / CREDIT_SHARE).max(1) {
            self.told.set(ended);
            // Release: pairs with the acquire load in `Lines::ended`; all reads of others' lines are done.
            mine.ended.0.store(ended, Ordering::Release);
        }
    }

    /// Ends an operation while others are under way that have been called before, or have ended before.
    #[cold]
    fn end_out_of_turn(&self, number: u64) {
        let (first, beyond) = (self.ended.get() + 1, self.beyond.get());
        if number == first {
            let more = beyond.trailing_ones();
            self.ended.set(first + u64::from(more));
            self.beyond.set(beyond.checked_shr(more + 1).unwrap_or(0));
            return;
        }
        // Only an operation that has failed, before its line was looked at, ends further away: on those lines nobody goes on.
        let place = u32::try_from(number.wrapping_sub(first + 1)).ok();
        self.beyond.set(beyond | place.and_then(|place| 1u64.checked_shl(place)).unwrap_or(0));
    }
}

impl<const N: usize, const W: usize> Default for Lines<N, W> {
    fn default() -> Lines<N, W> {
        Lines::new()
    }
}

impl<const N: usize> Default for Pace<N> {
    fn default() -> Pace<N> {
        Pace::new()
    }
}
