//! A lock of this rank's that ranks out of reach take by asking: their tickets, which this rank holds for them.

use crate::Question;
use alloc::vec::Vec;
use lwk_epoch::{TargetLock, Ticket};
use lwk_mpi_core::error::{Error, Result};
use lwk_place::WorldRank;

/// Ranks that wait for a lock by asking, or have it.
#[derive(Default)]
pub struct LockQueue(Vec<(WorldRank, Ticket)>);

impl LockQueue {
    /// The lock for the rank that asks, once it is its turn: 1. Errors: `NO_MEM`.
    pub fn enter(&mut self, lock: &TargetLock, question: &Question, exclude: bool) -> Option<Result<u64>> {
        let ticket = match self.0.iter().find(|(rank, _)| *rank == question.from) {
            Some((_, ticket)) => *ticket,
            None => {
                if self.0.try_reserve(1).is_err() {
                    return Some(Err(Error::NO_MEM));
                }
                let ticket = lock.queue();
                self.0.push((question.from, ticket));
                ticket
            }
        };
        let enters = if exclude { lock.enter_exclusive(ticket) } else { lock.enter_shared(ticket) };
        enters.then_some(Ok(1))
    }

    /// Lets the rank that asks share the lock if nobody is in the way; 1 if so. Errors: `NO_MEM`.
    pub fn try_share(&mut self, lock: &TargetLock, question: &Question) -> Result<u64> {
        self.0.try_reserve(1).map_err(|_| Error::NO_MEM)?;
        let ticket = lock.try_shared();
        self.0.extend(ticket.map(|ticket| (question.from, ticket)));
        Ok(u64::from(ticket.is_some()))
    }

    /// Gives back the lock that the rank that asks has. Errors: `INTERN` if it has none.
    pub fn leave(&mut self, lock: &TargetLock, question: &Question, excluded: bool) -> Result<u64> {
        let place = self.0.iter().position(|(rank, _)| *rank == question.from).ok_or(Error::INTERN)?;
        let (_, ticket) = self.0.swap_remove(place);
        if excluded {
            lock.leave_exclusive(ticket)
        } else {
            lock.leave_shared()
        }
        Ok(0)
    }
}
