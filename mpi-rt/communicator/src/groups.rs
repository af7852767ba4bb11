//! Groups by their handles (MPI-5.0, section 7.3).

use crate::group::{Comparison, Group, Range};
use alloc::vec::Vec;
use lwk_mpi_core::abi::GROUP_EMPTY;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::{Handle, Kind, Table};
use lwk_place::WorldRank;

/// The groups that have handles.
pub struct Groups {
    /// This rank in the job.
    me: WorldRank,
    /// The empty group.
    no_ranks: Group,
    all: Table<Group>,
}

impl Groups {
    /// Of rank `me`: the empty one alone.
    pub fn new(me: WorldRank) -> Groups {
        Groups { me, no_ranks: Group::new([].into()), all: Table::of(Kind::Group) }
    }

    /// The group with that handle. Errors: `GROUP`.
    pub fn get(&self, handle: Handle) -> Result<&Group> {
        match handle.0 {
            GROUP_EMPTY => Ok(&self.no_ranks),
            _ => self.all.get(handle).ok_or(Error::GROUP),
        }
    }

    /// Gives a group a handle; the empty group has one.
    pub fn insert(&mut self, group: Group) -> Handle {
        if group.size() == 0 { Handle(GROUP_EMPTY) } else { self.all.insert(group) }
    }

    /// Frees a group. Errors: `GROUP`, but not for the empty one, which calls give out.
    pub fn free(&mut self, group: Handle) -> Result<()> {
        if group.0 == GROUP_EMPTY {
            return Ok(());
        }
        self.all.remove(group).map(|_| ()).ok_or(Error::GROUP)
    }

    /// Its size. Errors: `GROUP`.
    pub fn size(&self, group: Handle) -> Result<usize> {
        self.get(group).map(Group::size)
    }

    /// This rank in it, or `UNDEFINED`. Errors: `GROUP`.
    pub fn rank(&self, group: Handle) -> Result<i32> {
        self.get(group).map(|it| it.rank_of(self.me))
    }

    /// Ranks of one group in another, `UNDEFINED` where it has none. Errors: `GROUP`, `RANK`.
    pub fn translate(&self, from: Handle, ranks: &[i32], to: Handle) -> Result<Vec<i32>> {
        let (from, to) = (self.get(from)?, self.get(to)?);
        ranks.iter().map(|rank| from.translate(*rank, to)).collect()
    }

    /// As [`Group::compare`]. Errors: `GROUP`.
    pub fn compare(&self, left: Handle, right: Handle) -> Result<Comparison> {
        Ok(self.get(left)?.compare(self.get(right)?))
    }

    /// As [`Group::union`]. Errors: `GROUP`.
    pub fn union(&mut self, left: Handle, right: Handle) -> Result<Handle> {
        let made = self.get(left)?.union(self.get(right)?);
        Ok(self.insert(made))
    }

    /// As [`Group::intersection`]. Errors: `GROUP`.
    pub fn intersection(&mut self, left: Handle, right: Handle) -> Result<Handle> {
        let made = self.get(left)?.intersection(self.get(right)?);
        Ok(self.insert(made))
    }

    /// As [`Group::difference`]. Errors: `GROUP`.
    pub fn difference(&mut self, left: Handle, right: Handle) -> Result<Handle> {
        let made = self.get(left)?.difference(self.get(right)?);
        Ok(self.insert(made))
    }

    /// As [`Group::include`]. Errors: `GROUP`, `RANK`.
    pub fn include(&mut self, group: Handle, ranks: &[i32]) -> Result<Handle> {
        let made = self.get(group)?.include(ranks)?;
        Ok(self.insert(made))
    }

    /// As [`Group::exclude`]. Errors: `GROUP`, `RANK`.
    pub fn exclude(&mut self, group: Handle, ranks: &[i32]) -> Result<Handle> {
        let made = self.get(group)?.exclude(ranks)?;
        Ok(self.insert(made))
    }

    /// As [`Group::include_ranges`]. Errors: `GROUP`, `ARG`, `RANK`.
    pub fn include_ranges(&mut self, group: Handle, ranges: &[Range]) -> Result<Handle> {
        let made = self.get(group)?.include_ranges(ranges)?;
        Ok(self.insert(made))
    }

    /// As [`Group::exclude_ranges`]. Errors: `GROUP`, `ARG`, `RANK`.
    pub fn exclude_ranges(&mut self, group: Handle, ranges: &[Range]) -> Result<Handle> {
        let made = self.get(group)?.exclude_ranges(ranges)?;
        Ok(self.insert(made))
    }
}
