//! Small operations with one direction: from the root to all (broadcast), or from all to the root (reduce), by lines in turn
//! (`lwk_ring::Lines`). A rank that only gives does not wait, until it is as many operations ahead of the slowest one as there are lines.
//!
//! What fits a word has lines of its own, four to a cache line: a rank that is behind takes four operations with one transfer.

use super::area::{Area, Shared};
use crate::engine::Engine;
use crate::error::Result;
use lwk_ring::{Lines, Pace};

/// Lines of a rank, and lines for a word. Measured (README).
pub const ONEWAY: usize = 16;
pub const ONEWAY_WORDS: usize = 64;
/// Bytes that fit a word.
const WORD_BYTES: usize = 8;

/// One operation of this rank: its number among those with such lines, and its word.
#[derive(Clone, Copy)]
pub(super) struct Oneway {
    number: u64,
    word: u64,
    bytes: usize,
}

impl Oneway {
    #[inline(always)]
    fn is_word(self) -> bool {
        self.bytes <= WORD_BYTES
    }
}

impl Shared {
    /// Enters an operation of that sort, on bytes that fit a line, as many in all ranks. Errors: those of [`Shared::enter`].
    #[inline(always)]
    pub(super) fn enter_oneway(&self, sort: u64, bytes: usize) -> Result<Oneway> {
        let word = self.enter(sort)?;
        let number = if bytes <= WORD_BYTES { self.pace_of_words.call() } else { self.pace.call() };
        Ok(Oneway { number, word, bytes })
    }

    /// This rank is done with an operation.
    #[inline(always)]
    pub(super) fn end_oneway(&self, it: Oneway) {
        if it.is_word() {
            self.pace_of_words.end(&self.mine().oneway_words, it.number);
        } else {
            self.pace.end(&self.mine().oneway, it.number);
        }
        self.pass_mismatch_on();
    }
}

impl Engine {
    /// Gives the operation's bytes. Errors: those of `await_rank`.
    ///
    /// # Safety
    /// `content` must be readable for the operation's bytes; once an operation.
    #[inline(always)]
    pub(super) unsafe fn give(&mut self, shared: &Shared, it: Oneway, content: *const u8) -> Result<()> {
        // SAFETY: `content` is readable for `it.bytes`, and this is called once an operation (this function's
        // contract); the lines chosen take the bytes.
        unsafe {
            if it.is_word() {
                self.give_by(shared, it, content, &shared.pace_of_words, |area| &area.oneway_words)
            } else {
                self.give_by(shared, it, content, &shared.pace, |area| &area.oneway)
            }
        }
    }

    /// # Safety
    /// As for [`Engine::give`]; the bytes fit these lines.
    #[inline(always)]
    unsafe fn give_by<const N: usize, const W: usize>(
        &mut self,
        shared: &Shared,
        it: Oneway,
        content: *const u8,
        pace: &Pace<N>,
        lines: impl Fn(&'static Area) -> &'static Lines<N, W>,
    ) -> Result<()> {
        debug_assert!(it.bytes <= Lines::<N, W>::BYTES);
        if !pace.has_room(it.number) {
            self.wait_for_lines(shared, it.number, pace, &lines)?;
        }
        // SAFETY: the line is free (`has_room`, or the wait), and takes the bytes; `content` is readable for
        // them (this function's contract).
        unsafe {
            lines(shared.mine()).give(it.number, it.word, |line| {
                lwk_copy::few(content, line.cast(), it.bytes.min(Lines::<N, W>::BYTES));
            });
        }
        Ok(())
    }

    /// Waits until all other ranks are known to be done with what is in the line for operation `number`.
    #[cold]
    fn wait_for_lines<const N: usize, const W: usize>(
        &mut self,
        shared: &Shared,
        number: u64,
        pace: &Pace<N>,
        lines: &impl Fn(&'static Area) -> &'static Lines<N, W>,
    ) -> Result<()> {
        let mut least = number;
        for rank in (0..shared.size()).filter(|rank| *rank != shared.rank) {
            let lines = lines(shared.of(rank));
            self.await_rank(shared, rank, || lines.ended() + N as u64 >= number)?;
            least = least.min(lines.ended());
        }
        pace.learn(least);
        Ok(())
    }

    /// What `rank` gives, when it is there; it stays until [`Shared::end_oneway`]. Errors: those of `await_rank`.
    #[inline(always)]
    pub(super) fn await_given(&mut self, shared: &Shared, rank: u32, it: Oneway) -> Result<*const u8> {
        let (lines, words) = (&shared.of(rank).oneway, &shared.of(rank).oneway_words);
        // SAFETY: the line has this operation's word when it is read; this rank ends the operation, by
        // `end_oneway`, after its last use of the address.
        unsafe {
            if it.is_word() {
                self.await_rank(shared, rank, || words.word(it.number) == it.word)?;
                Ok(words.read(it.number, |line| line.cast()))
            } else {
                self.await_rank(shared, rank, || lines.word(it.number) == it.word)?;
                Ok(lines.read(it.number, |line| line.cast()))
            }
        }
    }
}
