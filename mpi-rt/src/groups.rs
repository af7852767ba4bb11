//! The engine's calls for groups (MPI-5.0, section 7.3): by handle, and as communicators have them.

use crate::abi::GROUP_EMPTY;
use crate::communicators::Comparison;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::group::{Group, Range};
use crate::handle::Handle;
use alloc::vec::Vec;

impl Engine {
    /// The group with that handle. Errors: `GROUP`.
    pub fn group(&self, handle: Handle) -> Result<&Group> {
        match handle.0 {
            GROUP_EMPTY => Ok(&self.no_ranks),
            _ => self.groups.get(handle).ok_or(Error::GROUP),
        }
    }

    /// Gives a group a handle; the empty group has one.
    pub fn insert_group(&mut self, group: Group) -> Handle {
        if group.size() == 0 { Handle(GROUP_EMPTY) } else { self.groups.insert(group) }
    }

    /// Frees a group. Errors: `GROUP`, but not for the empty one, which calls give out.
    pub fn free_group(&mut self, group: Handle) -> Result<()> {
        if group.0 == GROUP_EMPTY {
            return Ok(());
        }
        self.groups.remove(group).map(|_| ()).ok_or(Error::GROUP)
    }

    /// The group of a communicator (the local one). Errors: `COMM`.
    pub fn group_of(&mut self, communicator: Handle) -> Result<Handle> {
        let it = self.communicator(communicator)?;
        let group = Group::new(it.members.clone()).of_session(it.session);
        Ok(self.insert_group(group))
    }

    /// The remote group of an intercommunicator. Errors: `COMM`.
    pub fn remote_group_of(&mut self, communicator: Handle) -> Result<Handle> {
        let it = self.communicator(communicator)?;
        let group = Group::new(it.remote()?.clone()).of_session(it.session);
        Ok(self.insert_group(group))
    }

    /// Its size. Errors: `GROUP`.
    pub fn group_size(&self, group: Handle) -> Result<usize> {
        self.group(group).map(Group::size)
    }

    /// This rank in it, or `UNDEFINED`. Errors: `GROUP`.
    pub fn group_rank(&self, group: Handle) -> Result<i32> {
        self.group(group).map(|it| it.rank_of(self.me))
    }

    /// Ranks of one group in another, `UNDEFINED` where it has none. Errors: `GROUP`, `RANK`.
    pub fn translate_ranks(&self, from: Handle, ranks: &[i32], to: Handle) -> Result<Vec<i32>> {
        let (from, to) = (self.group(from)?, self.group(to)?);
        ranks.iter().map(|rank| from.translate(*rank, to)).collect()
    }

    /// As [`Group::compare`]. Errors: `GROUP`.
    pub fn compare_groups(&self, left: Handle, right: Handle) -> Result<Comparison> {
        Ok(self.group(left)?.compare(self.group(right)?))
    }

    /// As [`Group::union`]. Errors: `GROUP`.
    pub fn group_union(&mut self, left: Handle, right: Handle) -> Result<Handle> {
        let made = self.group(left)?.union(self.group(right)?);
        Ok(self.insert_group(made))
    }

    /// As [`Group::intersection`]. Errors: `GROUP`.
    pub fn group_intersection(&mut self, left: Handle, right: Handle) -> Result<Handle> {
        let made = self.group(left)?.intersection(self.group(right)?);
        Ok(self.insert_group(made))
    }

    /// As [`Group::difference`]. Errors: `GROUP`.
    pub fn group_difference(&mut self, left: Handle, right: Handle) -> Result<Handle> {
        let made = self.group(left)?.difference(self.group(right)?);
        Ok(self.insert_group(made))
    }

    /// As [`Group::include`]. Errors: `GROUP`, `RANK`.
    pub fn group_include(&mut self, group: Handle, ranks: &[i32]) -> Result<Handle> {
        let made = self.group(group)?.include(ranks)?;
        Ok(self.insert_group(made))
    }

    /// As [`Group::exclude`]. Errors: `GROUP`, `RANK`.
    pub fn group_exclude(&mut self, group: Handle, ranks: &[i32]) -> Result<Handle> {
        let made = self.group(group)?.exclude(ranks)?;
        Ok(self.insert_group(made))
    }

    /// As [`Group::include_ranges`]. Errors: `GROUP`, `ARG`, `RANK`.
    pub fn group_include_ranges(&mut self, group: Handle, ranges: &[Range]) -> Result<Handle> {
        let made = self.group(group)?.include_ranges(ranges)?;
        Ok(self.insert_group(made))
    }

    /// As [`Group::exclude_ranges`]. Errors: `GROUP`, `ARG`, `RANK`.
    pub fn group_exclude_ranges(&mut self, group: Handle, ranges: &[Range]) -> Result<Handle> {
        let made = self.group(group)?.exclude_ranges(ranges)?;
        Ok(self.insert_group(made))
    }
}
