//! Barrier: dissemination (Hensgen, Finkel, Manber 1988). In round `k` a rank tells the rank `2^k` above and waits for the one
//! `2^k` below; each rank polls its own memory only. Two ranks share one line with a word of each instead (measured: half the time). Where
//! ranks share cores, each tells all others at once: who comes last on its core goes straight on into the next barrier, so a turn on the core takes a rank through
//! two, where dissemination gives the core away in every round.

use super::Call;
use super::algorithm::Barrier;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use alloc::rc::Rc;
use lwk_mpi_area::{Kind, NO_ROOT, Shared, sort};
use lwk_place::CommRank;
use lwk_user::barrier::Arrivals;
use lwk_user::job;

impl Engine {
    /// Waits until all ranks of the communicator have called it. Errors: `COMM`; `NOT_SAME` where calls do not match and it is seen.
    pub fn barrier_on(&mut self, communicator: Handle) -> Result<()> {
        let communicator = self.communicator(communicator)?.clone();
        self.barrier(&communicator)
    }

    #[inline]
    pub fn barrier(&mut self, communicator: &Rc<Communicator>) -> Result<()> {
        if communicator.shared.size() == 0 {
            // SAFETY: a barrier has no buffers.
            return unsafe { self.run_collective(&Call::Barrier, communicator) };
        }
        let shared = &communicator.shared;
        let (rank, size) = (shared.rank, shared.size());
        let are_few = size as usize - 1 <= Arrivals::WORDS;
        let form = match self.algorithms.barrier {
            Some(Barrier::Paper) => return self.barrier_paper(communicator),
            Some(Barrier::Line) | None if size == 2 => Barrier::Line,
            Some(Barrier::Direct) if are_few => Barrier::Direct,
            None if are_few && job().is_oversubscribed() => Barrier::Direct,
            _ => Barrier::Dissemination,
        };
        let word = shared.enter(sort(Kind::Barrier, NO_ROOT, 0))?;
        if form == Barrier::Line {
            let line = &shared.of(CommRank::FIRST).meeting;
            line.come(rank.index(), word);
            let met = self.await_rank(shared, rank.other(), || line.has_come(rank.other().index(), word));
            shared.pass_mismatch_on();
            return met;
        }
        if form == Barrier::Direct {
            let outcome = self.barrier_directly(shared, word);
            shared.pass_mismatch_on();
            return outcome;
        }
        let mut outcome = Ok(());
        let mut distance = 1;
        for round in 0.. {
            if distance >= size || outcome.is_err() {
                break;
            }
            shared.of(rank.above(distance, size)).arrivals.tell(round, word);
            let mine = &shared.mine().arrivals;
            outcome = self.await_rank(shared, rank.below(distance, size), || mine.are_told(round, word));
            distance *= 2;
        }
        shared.pass_mismatch_on();
        outcome
    }

    /// Tells all and waits for all.
    fn barrier_directly(&mut self, shared: &Shared, word: u64) -> Result<()> {
        let (rank, size) = (shared.rank, shared.size());
        for distance in 1..size {
            shared.of(rank.above(distance, size)).direct_arrivals.tell(distance as usize - 1, word);
        }
        let mine = &shared.mine().direct_arrivals;
        for distance in 1..size {
            self.await_rank(shared, rank.below(distance, size), || {
                mine.are_told(distance as usize - 1, word)
            })?;
        }
        Ok(())
    }
}
