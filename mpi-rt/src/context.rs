//! Contexts: numbers that keep the messages and the shared areas of communicators apart.
//!
//! The members of a communicator to be agree on the lowest number that is free in all ranks of its parent. A number is free again when
//! nothing of its communicator is left in this rank, not even a request that was begun on it.

use crate::abi::{datatype, op};
use crate::collective::{Area, CONTEXTS};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::rc::Rc;
use alloc::vec::Vec;

const WORDS: usize = CONTEXTS / 64;

/// The contexts of this rank, and what freed communicators have left.
pub(crate) struct Contexts {
    free: [u64; WORDS],
    /// Freed communicators that requests may still name.
    retired: Vec<Rc<Communicator>>,
    /// Areas of freed communicators, and how many members must have left each before it can be used again.
    areas: Vec<(&'static Area, u64)>,
}

impl Contexts {
    /// All free but the predefined communicators'.
    pub fn new() -> Contexts {
        let mut free = [u64::MAX; WORDS];
        free[0] &= !(1 << Communicator::WORLD_CONTEXT | 1 << Communicator::SELF_CONTEXT);
        Contexts { free, retired: Vec::new(), areas: Vec::new() }
    }

    /// The lowest context in a set.
    fn lowest(set: &[u64; WORDS]) -> Option<u32> {
        let word = set.iter().position(|word| *word != 0)?;
        Some(word as u32 * 64 + set[word].trailing_zeros())
    }

    /// An area that all members of its former communicator have left.
    pub fn used_area(&mut self) -> Option<&'static Area> {
        let place = self.areas.iter().position(|(area, members)| area.departed() == *members)?;
        Some(self.areas.swap_remove(place).0)
    }

    fn reclaim(&mut self) {
        let free = &mut self.free;
        self.retired.retain(|communicator| {
            let in_use = Rc::strong_count(communicator) > 1;
            if !in_use {
                free[communicator.context as usize / 64] |= 1 << (communicator.context % 64);
            }
            in_use
        });
    }
}

impl Engine {
    /// Agrees with all ranks of `parent` on a context, and takes it. Errors: `NO_MEM` if none is free in all.
    pub(crate) fn agree_on_context(&mut self, parent: &Communicator) -> Result<u32> {
        self.contexts.reclaim();
        let mut common = self.contexts.free;
        let address = (&raw mut common).cast::<u8>();
        let reduction = crate::collective::Reduction::new(WORDS as i64, datatype::UINT64, op::BAND)?;
        // SAFETY: in place on an array of this function.
        unsafe { self.allreduce_shares(parent, &reduction, address, address)? };
        let context = Contexts::lowest(&common).ok_or(Error::NO_MEM)?;
        self.contexts.free[context as usize / 64] &= !(1 << (context % 64));
        Ok(context)
    }

    /// Gives back a context that this rank has taken and not used.
    pub(crate) fn return_context(&mut self, context: u32) {
        self.contexts.free[context as usize / 64] |= 1 << (context % 64);
    }

    /// Frees a communicator after all its members have come here.
    pub(crate) fn retire_communicator(&mut self, communicator: Rc<Communicator>) -> Result<()> {
        self.barrier(&communicator)?;
        let area = communicator.shared.leave(communicator.context);
        self.contexts.areas.push((area, communicator.size() as u64));
        self.contexts.retired.push(communicator);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_context_that_is_not_predefined_comes_first() {
        let mut contexts = Contexts::new();
        assert_eq!(Contexts::lowest(&contexts.free), Some(2));
        contexts.free[0] = 0;
        assert_eq!(Contexts::lowest(&contexts.free), Some(64));
        assert_eq!(Contexts::lowest(&[0; WORDS]), None);
    }
}
