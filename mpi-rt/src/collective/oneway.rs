//! Giving and taking by lines ([`lwk_mpi_area::Oneway`]) in blocking operations.

use crate::engine::Engine;
use crate::error::{Error, Result};
use lwk_mpi_area::{Given, Oneway, Shared, fill, long_given};
use lwk_path::region::Region;
use lwk_place::CommRank;
use lwk_ring::{Lines, Pace};

impl Engine {
    /// Gives a part by the lines of `to`: of this rank, for whoever takes it there, or of the only rank that takes it. Errors: those of `await_rank`; `INTERN`.
    ///
    /// # Safety
    /// The part is readable; once an operation and rank, of which nobody else gives by these lines. Unless the operation is of any numbers of bytes, the
    /// part has as many as it says.
    #[inline(always)]
    pub(super) unsafe fn give(
        &mut self,
        shared: &Shared,
        it: Oneway,
        to: CommRank,
        part: &Region,
    ) -> Result<()> {
        if it.is_long {
            // SAFETY: nobody else gives by these lines in this operation, and the part is readable (this function's contract).
            return unsafe { self.give_long(shared, it, to, part) };
        }
        debug_assert!(part.bytes() == it.bytes);
        // SAFETY: nobody else gives by these lines in this operation (this function's contract). The lines chosen take `it.bytes`, and so does `fill`.
        unsafe {
            if it.is_word() {
                let lines = |rank| Some(&shared.of(rank).oneway_words);
                self.make_room(shared, it.number, &shared.pace_of_words, lines)?;
                fill(&shared.of(to).oneway_words, it, part)
            } else {
                self.make_room(shared, it.number, &shared.pace, |rank| Some(&shared.of(rank).oneway))?;
                fill(&shared.of(to).oneway, it, part)
            }
        }
    }

    /// # Safety
    /// As for [`Engine::give`].
    #[inline(never)]
    unsafe fn give_long(&mut self, shared: &Shared, it: Oneway, to: CommRank, part: &Region) -> Result<()> {
        let lines = |rank| Some(&shared.long(rank)?.lines);
        self.make_room(shared, it.number, &shared.pace_of_long, lines)?;
        self.await_rank(shared, to, || shared.long(to).is_some())?;
        // SAFETY: there is room (`make_room`), nobody else gives by the line, and the part is readable (this function's contract).
        unsafe { shared.store_given(it, to, part).map(drop) }
    }

    /// Waits until what is in the lines for operation `number` is not used any more. Errors: those of `await_rank`.
    #[inline(always)]
    fn make_room<const N: usize, const W: usize>(
        &mut self,
        shared: &Shared,
        number: u64,
        pace: &Pace<N>,
        lines: impl Fn(CommRank) -> Option<&'static Lines<N, W>>,
    ) -> Result<()> {
        if pace.has_room(number) { Ok(()) } else { self.wait_for_lines(shared, number, pace, &lines) }
    }

    /// Waits until all ranks are known to be done with what is in the line for operation `number`: this one, too, which may have left it under way.
    #[cold]
    fn wait_for_lines<const N: usize, const W: usize>(
        &mut self,
        shared: &Shared,
        number: u64,
        pace: &Pace<N>,
        lines: &impl Fn(CommRank) -> Option<&'static Lines<N, W>>,
    ) -> Result<()> {
        let (mut least, awaited) = (number, number - N as u64);
        for rank in shared.ranks().filter(|rank| *rank != shared.rank) {
            let ended = || lines(rank).map_or(0, Lines::ended);
            self.await_rank(shared, rank, || ended() >= awaited)?;
            least = least.min(ended());
        }
        self.await_rank(shared, shared.rank, || pace.ended() >= awaited)?;
        pace.learn(least);
        Ok(())
    }

    /// What `rank` gives by the lines of `by`, when it is there; it stays until [`Shared::end_oneway`]. Errors: those of `await_rank`.
    #[inline(always)]
    pub(super) fn await_given(
        &mut self,
        shared: &Shared,
        rank: CommRank,
        by: CommRank,
        it: Oneway,
    ) -> Result<Given> {
        let area = shared.of(by);
        if it.is_long {
            return self.await_long(shared, rank, by, it);
        }
        // SAFETY: the line has this operation's word when it is read; this rank ends the operation, by
        // `end_oneway`, after its last use of the address.
        let content = unsafe {
            if it.is_word() {
                self.await_rank(shared, rank, || area.oneway_words.word(it.number) == it.word)?;
                area.oneway_words.read(it.number, |line| line.cast())
            } else {
                self.await_rank(shared, rank, || area.oneway.word(it.number) == it.word)?;
                area.oneway.read(it.number, |line| line.cast())
            }
        };
        Ok(Given { bytes: it.bytes, content })
    }

    #[inline(never)]
    fn await_long(&mut self, shared: &Shared, rank: CommRank, by: CommRank, it: Oneway) -> Result<Given> {
        self.await_rank(shared, rank, || shared.long(by).is_some())?;
        let lines = &shared.long(by).ok_or(Error::INTERN)?.lines;
        self.await_rank(shared, rank, || lines.word(it.number) == it.word)?;
        // SAFETY: the line has this operation's word; this rank ends the operation, by `end_oneway`, after its last use of the address.
        unsafe { Ok(long_given(lines, it.number)) }
    }
}
