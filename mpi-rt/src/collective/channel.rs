//! Blocking operations on posted buffers: one after another, as the communicator's channel ([`lwk_mpi_area::Channel`]) has them.

use crate::engine::Engine;
use crate::error::Result;
use lwk_mpi_area::{Shared, sort_of};
use lwk_place::CommRank;
use lwk_user::wait::Poll;

impl Engine {
    /// Begins a blocking operation on posted buffers: all earlier ones are done, this one is posted. Its number. Errors: those of
    /// [`Shared::enter`].
    #[inline(always)]
    pub(super) fn open(&mut self, shared: &Shared, check: u64, words: &[u64]) -> Result<u64> {
        shared.enter(sort_of(check))?;
        let number = shared.channel.progress.call();
        if !(shared.channel.progress.is_next(number) && shared.channel.may_post(number)) {
            self.wait_for_turn(shared, number);
        }
        shared.channel.post(number, check, words);
        Ok(number)
    }

    #[cold]
    fn wait_for_turn(&mut self, shared: &Shared, number: u64) {
        let mut poll = Poll::new();
        while !(shared.channel.progress.is_next(number) && shared.channel.may_post(number)) {
            // Earlier, non-blocking operations go on here.
            self.progress();
            poll.pause();
        }
    }

    /// Waits for a rank's post. Errors: as for [`lwk_mpi_area::Channel::agree`], and those of `await_rank`.
    #[inline(always)]
    pub(super) fn await_post(
        &mut self,
        shared: &Shared,
        rank: CommRank,
        number: u64,
        check: u64,
    ) -> Result<()> {
        self.await_rank(shared, rank, || shared.channel.has_posted(rank, number))?;
        shared.channel.agree(rank, number, check)
    }

    /// Waits for the posts of all. Errors: as for [`Engine::await_post`], when all are there or will not come.
    #[inline(always)]
    pub(super) fn await_posts(&mut self, shared: &Shared, number: u64, check: u64) -> Result<()> {
        let mut outcome = Ok(());
        for rank in shared.ranks() {
            outcome = self.await_post(shared, rank, number, check).and(outcome);
        }
        outcome
    }

    /// Ends this rank's part, which came out so, and waits until all have done theirs that are in this operation.
    #[inline(always)]
    pub(super) fn close(&mut self, shared: &Shared, number: u64, outcome: Result<()>) -> Result<()> {
        shared.finish(number);
        let mut outcome = outcome;
        for rank in shared.ranks() {
            let ended = self.await_rank(shared, rank, || shared.channel.finished_by(rank) >= number);
            outcome = outcome.and(ended);
        }
        shared.pass_mismatch_on();
        outcome
    }
}
