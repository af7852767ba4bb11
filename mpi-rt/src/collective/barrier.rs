//! Barrier: dissemination (Hensgen, Finkel, Manber 1988). In round `k` a rank tells the rank `2^k` above and waits for the one
//! `2^k` below; each rank polls its own memory only. Two ranks share one line with a word of each instead (measured: half the time).

use super::algorithm::Barrier;
use super::{Call, Shared};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use core::sync::atomic::Ordering;

impl Engine {
    /// Waits until all ranks of the communicator have called it. Errors: `COMM`.
    pub fn barrier_on(&mut self, communicator: Handle) -> Result<()> {
        let communicator = self.communicator(communicator)?.clone();
        if communicator.inter.is_some() {
            // SAFETY: a barrier has no buffers.
            return unsafe { self.run_collective(&Call::Barrier, &communicator) };
        }
        self.barrier(&communicator)
    }

    #[inline]
    pub(crate) fn barrier(&mut self, communicator: &Communicator) -> Result<()> {
        let shared = &communicator.shared;
        let (rank, size) = (shared.rank, shared.size());
        let form = match self.algorithms.barrier {
            Some(Barrier::Paper) => return self.barrier_paper(communicator),
            Some(Barrier::Line) | None if size == 2 => Barrier::Line,
            _ => Barrier::Dissemination,
        };
        let number = Shared::next(&shared.barriers);
        if form == Barrier::Line {
            let words = &shared.of(0).meeting;
            let (mine, other) = (&words[rank as usize & 1], &words[rank as usize & 1 ^ 1]);
            // Release and acquire: pair with each other, in the two ranks. The other may be in the next barrier already.
            mine.store(number, Ordering::Release);
            self.wait_until(|| other.load(Ordering::Acquire) >= number);
            return Ok(());
        }
        let mut distance = 1;
        for round in 0.. {
            if distance >= size {
                break;
            }
            let above = if rank + distance < size { rank + distance } else { rank + distance - size };
            // Release: pairs with the acquire load below, in the rank above; carries what this rank has stored and learned of.
            shared.of(above).arrivals[round].store(number, Ordering::Release);
            let line = &shared.mine().arrivals[round];
            // Acquire: pairs with the release store above, in the rank below. A neighbour may be in the next barrier already.
            self.wait_until(|| line.load(Ordering::Acquire) >= number);
            distance *= 2;
        }
        Ok(())
    }
}
