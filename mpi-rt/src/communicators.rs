//! Making communicators from others (MPI-4.1, section 7.4.2), and freeing them.

use crate::abi::{COMM_SELF, COMM_WORLD, UNDEFINED};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// How two communicators compare (MPI-4.1, section 7.4.1); the numbers are the binary interface's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Comparison {
    /// The same communicator.
    Identical = 201,
    /// The same members in the same order.
    Congruent = 202,
    /// The same members.
    Similar = 203,
    Unequal = 204,
}

impl Engine {
    /// A communicator of the same members. All of them must call it. Errors: `COMM`, `NO_MEM`.
    pub fn duplicate(&mut self, parent: Handle) -> Result<Handle> {
        let parent = self.communicator(parent)?.clone();
        let context = self.agree_on_context(&parent)?;
        self.make_communicator(context, parent.members.clone())
    }

    /// Divides a communicator: ranks of the same color come together, ordered by key, then by rank. `None` for ranks whose color is
    /// undefined. All must call it. Errors: `COMM`, `NO_MEM`; `ARG` for a negative color.
    pub fn split(&mut self, parent: Handle, color: i32, key: i32) -> Result<Option<Handle>> {
        let parent = self.communicator(parent)?.clone();
        if color < 0 && color != UNDEFINED {
            return Err(Error::ARG);
        }
        let mut ranks: Vec<(i32, i32, u32)> = Vec::new();
        ranks.try_reserve_exact(parent.size() as usize).map_err(|_| Error::NO_MEM)?;
        self.exchange_words(&parent, [color, key], |rank, [color, key]| ranks.push((color, key, rank)))?;
        let context = self.agree_on_context(&parent)?;
        if color == UNDEFINED {
            self.return_context(context);
            return Ok(None);
        }
        ranks.retain(|rank| rank.0 == color);
        ranks.sort_unstable();
        let members = ranks.iter().map(|(_, _, rank)| parent.members[*rank as usize]).collect();
        self.make_communicator(context, members).map(Some)
    }

    /// Frees a communicator; requests begun on it still complete. All members must call it. Errors: `COMM`, also for predefined ones.
    pub fn free_communicator(&mut self, communicator: Handle) -> Result<()> {
        if matches!(communicator.0, COMM_WORLD | COMM_SELF) {
            return Err(Error::COMM);
        }
        let it = self.communicators.remove(communicator).ok_or(Error::COMM)?;
        self.retire_communicator(it)
    }

    /// Compares two communicators. Errors: `COMM`.
    pub fn compare_communicators(&self, left: Handle, right: Handle) -> Result<Comparison> {
        let (first, second) = (self.communicator(left)?, self.communicator(right)?);
        if left == right {
            return Ok(Comparison::Identical);
        }
        if first.members == second.members {
            return Ok(Comparison::Congruent);
        }
        let sorted = |it: &Communicator| {
            let mut members: Vec<u32> = it.members.to_vec();
            members.sort_unstable();
            members
        };
        Ok(if sorted(first) == sorted(second) { Comparison::Similar } else { Comparison::Unequal })
    }

    fn make_communicator(&mut self, context: u32, members: Box<[u32]>) -> Result<Handle> {
        let area = self.contexts.used_area();
        let made = Communicator::new(context, self.me, members, area)?;
        Ok(self.communicators.insert(Rc::new(made)))
    }
}
