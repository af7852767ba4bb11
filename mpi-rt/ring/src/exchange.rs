//! Lines by which all members of a group tell each other something small at once, and wait for each other: what allreduce, allgather and
//! alltoall of small buffers are made of.
//!
//! The members' operations are numbered, and all call the same ones in the same order. A line is used by the parity of the operation's
//! number: a member that is in the operation after the next knows that all have left this one, since every member waits for every other
//! in each. The callers choose what word tells that a line is filled, as long as no two operations have the same. A "line" is a word and `W`
//! words of data: a cache line with seven, several with more.

use crate::line::Line;
use lwk_primitive::{array, made};

/// One member's lines: written by it alone, read by all.
pub struct ExchangeLines<const W: usize>([Aligned<W>; 2]);

#[repr(C, align(64))]
struct Aligned<const W: usize>(Line<W>);

// SAFETY: the data is written by its owner before the word is stored, and not again before every reader has entered the next operation, which
// it does after reading; both are release-acquire pairs.
unsafe impl<const W: usize> Sync for ExchangeLines<W> {}

impl<const W: usize> ExchangeLines<W> {
    /// Bytes of data in a line.
    pub const BYTES: usize = 8 * W;

    made! {
        /// Lines with nothing in them.
        pub fn new() -> ExchangeLines<W> {
            ExchangeLines(array!(Aligned(Line::new()); 2))
        }
    }

    #[inline(always)]
    fn line(&self, number: u64) -> &Line<W> {
        &self.0[number as usize & 1].0
    }

    /// Fills the line of operation `number` by `write`, and says so by `word`.
    ///
    /// # Safety
    /// Only the owner, in operation `number`; `write` must write nothing but the array it is given.
    #[inline(always)]
    pub unsafe fn tell(&self, number: u64, word: u64, write: impl FnOnce(*mut [u64; W])) {
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
    /// [`ExchangeLines::word`] must have been that operation's, and the caller must still be in it.
    #[inline(always)]
    pub unsafe fn read<R>(&self, number: u64, read: impl FnOnce(*const [u64; W]) -> R) -> R {
        self.line(number).read(read)
    }

    /// Makes lines as new that no member will touch before it hears of them again.
    pub fn renew(&self) {
        self.0.iter().for_each(|line| line.0.renew());
    }
}

/// Bytes of content for each of two members that share a line.
pub const PAIR_BYTES: usize = 8;

/// One line of two members: a word and a little content of each, by parity of the number and member. (Measured: with a line for each
/// parity an exchange takes twice as long.)
#[repr(C, align(64))]
pub struct PairLine([[Line<1>; 2]; 2]);

// SAFETY: a half's content is written by its member before the word is stored, and not again before the other has entered the next
// operation, which it does after reading; both are release-acquire pairs.
unsafe impl Sync for PairLine {}

impl PairLine {
    made! {
        /// A line with nothing in it.
        pub fn new() -> PairLine {
            PairLine(array!(array!(Line::new(); 2); 2))
        }
    }

    #[inline(always)]
    fn half(&self, member: u32, number: u64) -> &Line<1> {
        &self.0[number as usize & 1][member as usize & 1]
    }

    /// Fills the half of `member` for operation `number` by `write`, and says so by `word`.
    ///
    /// # Safety
    /// Only that member, in operation `number`; `write` must write nothing but the word it is given.
    #[inline(always)]
    pub unsafe fn tell(&self, member: u32, number: u64, word: u64, write: impl FnOnce(*mut u64)) {
        self.half(member, number).fill(word, |data| write(data.cast()));
    }

    /// The word of what is in the half of `member` for operation `number`, or was there before.
    #[inline(always)]
    pub fn word(&self, member: u32, number: u64) -> u64 {
        self.half(member, number).word()
    }

    /// Lets `read` look at the half of `member` for operation `number`.
    ///
    /// # Safety
    /// [`PairLine::word`] must have been that operation's, and the caller must still be in it.
    #[inline(always)]
    pub unsafe fn read<R>(&self, member: u32, number: u64, read: impl FnOnce(*const u64) -> R) -> R {
        self.half(member, number).read(|data| read(data.cast()))
    }

    /// As [`ExchangeLines::renew`].
    pub fn renew(&self) {
        self.0.iter().flatten().for_each(Line::renew);
    }
}

impl<const W: usize> Default for ExchangeLines<W> {
    fn default() -> ExchangeLines<W> {
        ExchangeLines::new()
    }
}

impl Default for PairLine {
    fn default() -> PairLine {
        PairLine::new()
    }
}
