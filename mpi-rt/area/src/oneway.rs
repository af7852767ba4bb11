//! Small operations with one direction: from the root to all (broadcast) or to each (scatter), or from all to the root (reduce, gather), by lines in turn
//! (`lwk_ring::Lines`). A rank that only gives does not wait, until it is as many operations ahead of the slowest one as there are lines.
//!
//! What fits a word has lines of its own, four to a cache line: a rank that is behind takes four operations with one transfer. What is more than a cache
//! line has long ones, which begin with the number of bytes, so they take what only giver and taker know the length of. What is too
//! long for those is described in place of its content.

use crate::whole::copy_whole;
use crate::{SMALL_BYTES, Shared};
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_copy::{copy, few};
use lwk_mpi_core::error::Result;
use lwk_path::region::Region;
use lwk_place::{CommRank, Peer};
use lwk_ring::{Lines, Pace};

/// Lines of a rank, and lines for a word; long ones: `long_lines`. Measured (docs/measurements/collectives.md).
pub const ONEWAY: usize = 16;
pub const ONEWAY_WORDS: usize = 64;
/// Bytes that fit a word.
const WORD_BYTES: usize = 8;
/// Words of a long line: the number of bytes, and content.
pub const LONG_WORDS: usize = TOLD_LIMIT / 8;
/// Bytes of content that fit a long line.
pub const LONG_BYTES: usize = 8 * (LONG_WORDS - 1);
/// What of them is in the cache line that the taker polls.
const FIRST_BYTES: usize = SMALL_BYTES - 8;

/// One operation of this rank: its number among those with such lines, and its word.
#[derive(Clone, Copy)]
pub struct Oneway {
    pub number: u64,
    pub word: u64,
    /// Of each rank's content; of a long one 0.
    pub bytes: usize,
    /// Whether it goes by long lines.
    pub is_long: bool,
}

impl Oneway {
    /// One by lines that are not the communicator's.
    #[inline]
    pub fn of_lane(number: u64) -> Oneway {
        Oneway { number, word: 0, bytes: 0, is_long: false }
    }

    /// Whether it goes by lines of a word.
    #[inline(always)]
    pub fn is_word(self) -> bool {
        self.bytes <= WORD_BYTES
    }
}

/// What a rank has given: that many bytes at an address, or, if they are more than [`LONG_BYTES`], four words that describe where.
#[derive(Clone, Copy)]
pub struct Given {
    pub bytes: usize,
    pub content: *const u8,
}

impl Given {
    /// Whether it is a description.
    #[inline(always)]
    pub fn is_described(self) -> bool {
        self.bytes > LONG_BYTES
    }

    /// What is described by `owner`.
    ///
    /// # Safety
    /// It is a description, and its line has not been ended.
    pub unsafe fn described(self, owner: Peer) -> Region {
        // SAFETY: a long line's content has room for four words, which were written before its word (this function's contract).
        let words = unsafe { self.content.cast::<[u64; 4]>().read() };
        Region::of_peer(owner, words, self.bytes)
    }

    /// Copies the content. Errors: `TRUNCATE` if `to` is shorter.
    ///
    /// # Safety
    /// It is no description, and its line has not been ended; `to` is writable.
    #[inline(always)]
    pub unsafe fn copy_to(self, to: &Region) -> Result<()> {
        if let Some(target) = to.contiguous()
            && self.bytes <= to.bytes()
        {
            // SAFETY: the line holds the bytes, and `target` is writable for no fewer (this function's contract).
            unsafe { move_few(self.content, target, self.bytes) };
            return Ok(());
        }
        // SAFETY: the line holds the bytes; `to` is writable (this function's contract).
        unsafe { copy_whole(&Region::block(self.content, self.bytes), to) }
    }
}

/// # Safety
/// That of [`copy`].
#[inline(always)]
unsafe fn move_few(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: readable and writable for `bytes`, without overlap (this function's contract).
    unsafe { if bytes <= SMALL_BYTES { few(from, to, bytes) } else { copy(from, to, bytes) } }
}

/// Stores the bytes of a part one after another. Errors: `INTERN`.
///
/// # Safety
/// The part is readable, `to` is writable for as many bytes.
#[inline(always)]
unsafe fn store(part: &Region, to: *mut u8) -> Result<()> {
    match part.contiguous() {
        // SAFETY: the part is readable and `to` writable for its bytes (this function's contract).
        Some(from) => unsafe { move_few(from, to, part.bytes()) },
        // SAFETY: the part is readable and `to` writable for its bytes (this function's contract).
        None => unsafe { copy_whole(part, &Region::block(to, part.bytes()))? },
    }
    Ok(())
}

/// Fills a long line: the number of bytes, and the part's content or, if it is too long, its description. Errors: `INTERN`.
///
/// # Safety
/// The part is readable; `line` is writable for [`LONG_WORDS`] words, or for a word and the part's bytes.
#[inline]
pub unsafe fn fill_long(part: &Region, line: *mut u64) -> Result<()> {
    let bytes = part.bytes();
    // SAFETY: the line takes a word and `LONG_BYTES`, and the part is readable (this function's contract).
    unsafe {
        let content = line.add(1).cast::<u8>();
        if bytes > LONG_BYTES {
            content.cast::<[u64; 4]>().write(part.words());
        } else if let Some(from) = part.contiguous() {
            // The first cache line last: it has the word that the taker polls, and would be taken away in between.
            let first = bytes.min(FIRST_BYTES);
            copy(from.add(first), content.add(first), bytes - first);
            few(from, content, first);
        } else {
            store(part, content)?;
        }
        line.write(bytes as u64);
    }
    Ok(())
}

impl Shared {
    /// Enters an operation of that sort, on at most [`LONG_BYTES`] bytes, as many in all ranks. Errors: those of [`Shared::enter`].
    #[inline(always)]
    pub fn enter_oneway(&self, sort: u64, bytes: usize) -> Result<Oneway> {
        if bytes > SMALL_BYTES {
            return self.enter_long(sort);
        }
        let word = self.enter(sort)?;
        let number = if bytes <= WORD_BYTES { self.pace_of_words.call() } else { self.pace.call() };
        Ok(Oneway { number, word, bytes, is_long: false })
    }

    /// The same on any numbers of bytes, of which giver and taker alone know. Errors: also `NO_MEM`.
    #[inline]
    pub fn enter_long(&self, sort: u64) -> Result<Oneway> {
        self.make_long()?;
        let word = self.enter(sort)?;
        Ok(Oneway { number: self.pace_of_long.call(), word, bytes: 0, is_long: true })
    }

    /// This rank is done with an operation.
    #[inline(always)]
    pub fn end_oneway(&self, it: Oneway) {
        if it.is_long {
            if let Some(long) = self.long(self.rank) {
                self.pace_of_long.end(&long.lines, it.number);
            }
        } else if it.is_word() {
            self.pace_of_words.end(&self.mine().oneway_words, it.number);
        } else {
            self.pace.end(&self.mine().oneway, it.number);
        }
        self.pass_mismatch_on();
    }
}

impl Shared {
    /// Whether what is in the lines for an operation is not used any more.
    #[inline]
    pub fn has_room(&self, it: Oneway) -> bool {
        if it.is_long {
            self.has_room_in(&self.pace_of_long, it.number, |rank| Some(&self.long(rank)?.lines))
        } else if it.is_word() {
            self.has_room_in(&self.pace_of_words, it.number, |rank| Some(&self.of(rank).oneway_words))
        } else {
            self.has_room_in(&self.pace, it.number, |rank| Some(&self.of(rank).oneway))
        }
    }

    #[inline]
    fn has_room_in<const N: usize, const W: usize>(
        &self,
        pace: &Pace<N>,
        number: u64,
        lines: impl Fn(CommRank) -> Option<&'static Lines<N, W>>,
    ) -> bool {
        if pace.has_room(number) {
            return true;
        }
        let others = self.ranks().filter(|rank| *rank != self.rank);
        let ended = others.map(|rank| lines(rank).map_or(0, Lines::ended)).min();
        pace.learn(ended.unwrap_or(number));
        pace.has_room(number)
    }

    /// Stores a part into the line of `to` for the operation; false if that rank has no long lines yet. Errors: `INTERN`.
    ///
    /// # Safety
    /// The part is readable; once an operation and rank, of which nobody else gives by these lines, and [`Shared::has_room`] has said yes to it. Unless the operation is of
    /// any numbers of bytes, the part has as many as it says.
    #[inline]
    pub unsafe fn store_given(&self, it: Oneway, to: CommRank, part: &Region) -> Result<bool> {
        let mut outcome = Ok(());
        // SAFETY: the line is free, nobody else gives by it, and the part is readable (this function's contract). The lines chosen take `it.bytes`, and so does
        // `fill`; a long one has `LONG_WORDS`.
        unsafe {
            if it.is_long {
                let Some(long) = self.long(to) else { return Ok(false) };
                long.lines.give(it.number, it.word, |line| outcome = fill_long(part, line.cast()));
            } else if it.is_word() {
                outcome = fill(&self.of(to).oneway_words, it, part);
            } else {
                outcome = fill(&self.of(to).oneway, it, part);
            }
        }
        outcome.map(|()| true)
    }

    /// What is given by the lines of `by` in an operation, if it is there; it stays until [`Shared::end_oneway`].
    #[inline]
    pub fn given(&self, it: Oneway, by: CommRank) -> Option<Given> {
        let area = self.of(by);
        // SAFETY: the line has this operation's word; this rank ends the operation after its last use of the address. A long line begins with its number of bytes.
        unsafe {
            if it.is_long {
                let lines = &self.long(by)?.lines;
                return (lines.word(it.number) == it.word).then(|| long_given(lines, it.number));
            }
            let content = if it.is_word() {
                let lines = &area.oneway_words;
                (lines.word(it.number) == it.word).then(|| lines.read(it.number, |line| line.cast()))
            } else {
                let lines = &area.oneway;
                (lines.word(it.number) == it.word).then(|| lines.read(it.number, |line| line.cast()))
            };
            content.map(|content| Given { bytes: it.bytes, content })
        }
    }
}

/// What a long line has.
///
/// # Safety
/// As for [`Lines::read`].
#[inline]
pub unsafe fn long_given<const N: usize, const W: usize>(lines: &Lines<N, W>, number: u64) -> Given {
    // SAFETY: the operation's word has been there, and it has not been ended (this function's contract). A long line begins with its number of bytes.
    unsafe {
        let line = lines.read(number, |line| line.cast::<u64>());
        Given { bytes: line.read() as usize, content: line.add(1).cast() }
    }
}

/// Fills the line of an operation. Errors: `INTERN`.
///
/// # Safety
/// The line is free, and nobody else gives by it in this operation; the part is readable.
#[inline(always)]
pub unsafe fn fill<const N: usize, const W: usize>(
    lines: &Lines<N, W>,
    it: Oneway,
    part: &Region,
) -> Result<()> {
    let mut outcome = Ok(());
    // SAFETY: the line is free, and the part readable (this function's contract). Of a block so many bytes are copied as both have; anything else is copied into
    // a block of the line's bytes.
    unsafe {
        lines.give(it.number, it.word, |line| match part.contiguous() {
            Some(from) => few(from, line.cast(), it.bytes.min(Lines::<N, W>::BYTES)),
            None => outcome = copy_whole(part, &Region::block(line.cast::<u8>(), Lines::<N, W>::BYTES)),
        });
    }
    outcome
}
