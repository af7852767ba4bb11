//! Waiting for another rank in a call, and looking now and then whether that one is in the same ([`lwk_mpi_area`]).

use crate::engine::Engine;
use crate::error::Result;
use crate::wait::POLLS_PER_PROGRESS;
use lwk_mpi_area::Shared;
use lwk_place::CommRank;
use lwk_user::wait::Poll;

/// Polls after which a rank looks what the awaited one is doing: many times what a rank takes that is on its way.
pub const POLLS_PER_LOOK: u32 = 1024;
const _: () = assert!(POLLS_PER_LOOK.is_multiple_of(POLLS_PER_PROGRESS));

impl Engine {
    /// Waits for what `rank` does in the call that this rank has entered last. Errors: the class of a mismatch that is seen meanwhile.
    #[inline(always)]
    pub(super) fn await_rank(
        &mut self,
        shared: &Shared,
        rank: CommRank,
        mut condition: impl FnMut() -> bool,
    ) -> Result<()> {
        let mut poll = Poll::new();
        let mut round = 0u32;
        while !condition() {
            round = round.wrapping_add(1);
            if round.is_multiple_of(POLLS_PER_PROGRESS) {
                self.progress();
                if round.is_multiple_of(POLLS_PER_LOOK) {
                    shared.look_at(rank)?;
                }
            }
            poll.pause();
        }
        Ok(())
    }

    /// The same, for what `rank` tells this one in a call that is over if that fails: then those that wait for this rank hear of it.
    #[inline(always)]
    pub(super) fn await_told(
        &mut self,
        shared: &Shared,
        rank: CommRank,
        condition: impl FnMut() -> bool,
    ) -> Result<()> {
        let told = self.await_rank(shared, rank, condition);
        if told.is_err() {
            shared.pass_mismatch_on();
        }
        told
    }
}
