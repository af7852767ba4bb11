//! Contexts: numbers that keep the messages of communicators apart; and what freed communicators leave behind.
//!
//! A context is given out by one member of the communicator to be, from numbers of its own, so that no agreement is needed. It is free
//! again when nothing of the communicator is left in any member, not even a request that was begun on it; every member counts itself
//! out in the others' areas.

use crate::communicator::Communicator;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_area::Area;
use lwk_place::WorldRank;

/// Bits of a context's number: how many communicators that are alive at once one rank can have given contexts to.
const NUMBER_BITS: u32 = 13;
/// Contexts of one rank.
pub const CONTEXTS: usize = 1 << NUMBER_BITS;
const WORDS: usize = CONTEXTS / 64;

/// The contexts this rank gives out, and what freed communicators have left.
pub struct Contexts {
    /// This rank in the job.
    me: WorldRank,
    free: [u64; WORDS],
    /// Freed communicators that requests may still name.
    retired: Vec<Rc<Communicator>>,
    /// Areas of communicators that this rank has left, and that others may not have.
    left: Vec<Left>,
    /// Areas that nobody uses any more.
    areas: Vec<&'static Area>,
}

struct Left {
    area: &'static Area,
    members: u64,
    /// The context, if this rank has given it out.
    own: Option<u32>,
}

impl Contexts {
    /// All free but the predefined communicators'.
    pub fn new(me: WorldRank) -> Contexts {
        let mut free = [u64::MAX; WORDS];
        if me == WorldRank(0) {
            free[0] &= !(1 << Communicator::WORLD_CONTEXT | 1 << Communicator::SELF_CONTEXT);
        }
        Contexts { me, free, retired: Vec::new(), left: Vec::new(), areas: Vec::new() }
    }

    /// Gives out a context. `None` if none is free: a limit of this library's, which more memory does not move.
    pub fn take(&mut self) -> Option<u32> {
        let word = self.free.iter().position(|word| *word != 0)?;
        let bit = self.free[word].trailing_zeros();
        self.free[word] &= !(1 << bit);
        Some(self.me.0 << NUMBER_BITS | (word as u32 * 64 + bit))
    }

    /// Takes back a context that this rank has given out.
    pub fn give_back(&mut self, context: u32) {
        let number = context as usize % CONTEXTS;
        self.free[number / 64] |= 1 << (number % 64);
    }

    fn is_own(&self, context: u32) -> bool {
        context >> NUMBER_BITS == self.me.0
    }

    /// An area that nobody uses.
    pub fn used_area(&mut self) -> Option<&'static Area> {
        self.areas.pop()
    }

    /// Takes back what a communicator that has not come about would have used.
    pub fn abandon(&mut self, context: u32, area: Option<&'static Area>) {
        self.areas.extend(area);
        if self.is_own(context) {
            self.give_back(context);
        }
    }

    /// Keeps a communicator that has been freed until no request names it.
    pub fn retire(&mut self, communicator: Rc<Communicator>) {
        self.retired.push(communicator);
        self.reclaim();
    }

    /// Leaves communicators that no request names any more; takes back contexts and areas that all members have left.
    pub fn reclaim(&mut self) {
        while let Some(place) = self.retired.iter().position(|it| Rc::strong_count(it) == 1) {
            if let Ok(communicator) = Rc::try_unwrap(self.retired.swap_remove(place)) {
                self.leave(communicator);
            }
        }
        let mut place = 0;
        while let Some(left) = self.left.get(place) {
            if !left.area.have_left(left.members) {
                place += 1;
                continue;
            }
            let left = self.left.swap_remove(place);
            self.areas.push(left.area);
            if let Some(context) = left.own {
                self.give_back(context);
            }
        }
    }

    fn leave(&mut self, communicator: Communicator) {
        if let Some(area) = communicator.shared.leave() {
            let own = self.is_own(communicator.context).then_some(communicator.context);
            self.left.push(Left { area, members: communicator.size() as u64, own });
        }
        if let Some(inter) = communicator.inter {
            self.retired.push(inter.local);
            self.retired.push(inter.union);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn contexts_of_all_ranks_are_distinct_and_come_back() {
        let mut seen = BTreeSet::from([Communicator::WORLD_CONTEXT, Communicator::SELF_CONTEXT]);
        for me in [0, 1, 254].map(WorldRank) {
            let mut contexts = Contexts::new(me);
            let count = CONTEXTS - if me == WorldRank(0) { 2 } else { 0 };
            let taken: Vec<u32> = core::iter::from_fn(|| contexts.take()).collect();
            assert_eq!(taken.len(), count);
            assert!(taken.iter().all(|context| seen.insert(*context)));
            assert!(taken.iter().all(|context| contexts.is_own(*context)));
            contexts.give_back(taken[100]);
            assert_eq!((contexts.take(), contexts.take()), (Some(taken[100]), None));
        }
        // The largest context leaves the plane's bits alone.
        assert!(seen.last().is_some_and(|last| *last < 1 << 28));
    }
}
