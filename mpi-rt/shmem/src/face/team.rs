//! Teams and their collective calls.

use super::{Error, Shmem, SymSlice};
use crate::engine::{self, Element, Operation};
use bytemuck::Pod;
use core::marker::PhantomData;

/// PEs that call collectively. Dropping one that was made ends it, which is collective over its members.
pub struct Team<'s> {
    handle: i32,
    _shmem: PhantomData<&'s Shmem>,
}

impl Shmem {
    /// The team of all PEs.
    pub fn world(&self) -> Team<'_> {
        Team { handle: engine::TEAM_WORLD, _shmem: PhantomData }
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        if self.handle != engine::TEAM_WORLD {
            engine::team_destroy(self.handle);
        }
    }
}

/// # Collective calls on data
///
/// All members must call them with the same arguments, in the same order; the destinations of all must be ready before any
/// member calls, and sources stay as they are until the call returns. That is the promise of the `unsafe` ones, beside that of
/// [`SymSlice`].
impl<'s> Team<'s> {
    /// This PE's number in the team.
    pub fn me(&self) -> usize {
        engine::team_my_pe(self.handle).max(0) as usize
    }

    /// How many members.
    pub fn size(&self) -> usize {
        engine::team_n_pes(self.handle).max(0) as usize
    }

    /// A team of the members `start`, `start + stride`, …, `size` of them: `None` in PEs that are not among them. Collective.
    ///
    /// Errors: there are no such members, in all PEs alike.
    pub fn split(&self, start: usize, stride: isize, size: usize) -> Result<Option<Team<'s>>, Error> {
        let number = |value: usize| i32::try_from(value).map_err(|_| Error::NoSuchMembers);
        let stride = i32::try_from(stride).map_err(|_| Error::NoSuchMembers)?;
        let mut handle = engine::TEAM_INVALID;
        let code = engine::team_split_strided(
            self.handle,
            number(start)?,
            stride,
            number(size)?,
            None,
            0,
            &mut handle,
        );
        match (code, handle) {
            (0, engine::TEAM_INVALID) => Ok(None),
            (0, handle) => Ok(Some(Team { handle, _shmem: PhantomData })),
            _ => Err(Error::NoSuchMembers),
        }
    }

    /// Waits for all members.
    pub fn sync(&self) {
        // The handle is valid as long as the team lives, so there is no code to look at.
        engine::team_sync(self.handle);
    }

    /// Reduces the first `count` elements of all members' `source` to all members' `dest`.
    ///
    /// Errors: a slice is shorter.
    ///
    /// # Safety
    /// The promise of collective calls on data.
    pub unsafe fn reduce<T: Pod + Element, O: Operation<T>>(
        &self,
        dest: &mut SymSlice<T>,
        source: &SymSlice<T>,
        count: usize,
    ) -> Result<(), Error> {
        let (dest, source) = (dest.part(0..count)?, source.part(0..count)?);
        // SAFETY: `dest` and `source` hold `count` elements (`part`) of distinct objects; no member uses them
        // otherwise during the call (this function's contract).
        unsafe { engine::reduce::<T, O>(self.handle, dest, source, count) };
        Ok(())
    }

    /// Copies the first `count` elements of member `root`'s `source` to all members' `dest`.
    ///
    /// Errors: a slice is shorter, or there is no such member.
    ///
    /// # Safety
    /// The promise of collective calls on data.
    pub unsafe fn broadcast<T: Pod>(
        &self,
        dest: &mut SymSlice<T>,
        source: &SymSlice<T>,
        count: usize,
        root: usize,
    ) -> Result<(), Error> {
        let (dest, source) = (dest.part(0..count)?, source.part(0..count)?);
        let root = i32::try_from(root).map_err(|_| Error::NoSuchMembers)?;
        // SAFETY: `dest` and `source` hold `count` elements (`part`) of distinct objects; no member uses them
        // otherwise during the call (this function's contract).
        let code = unsafe { engine::broadcast(self.handle, dest, source, count, root) };
        if code == 0 { Ok(()) } else { Err(Error::NoSuchMembers) }
    }

    /// Concatenates the first `count` elements of all members' `source`, in their order, in all members' `dest`.
    ///
    /// Errors: a slice is shorter.
    ///
    /// # Safety
    /// The promise of collective calls on data.
    pub unsafe fn fcollect<T: Pod>(
        &self,
        dest: &mut SymSlice<T>,
        source: &SymSlice<T>,
        count: usize,
    ) -> Result<(), Error> {
        let (dest, source) = (dest.part(0..count.saturating_mul(self.size()))?, source.part(0..count)?);
        // SAFETY: `source` holds `count` elements, `dest` as many from each member (`part`), in distinct
        // objects; no member uses them otherwise during the call (this function's contract).
        unsafe { engine::fcollect(self.handle, dest, source, count) };
        Ok(())
    }

    /// Sends block `j` of `count` elements of `source` to member `j`, which finds it in `dest` at this member's number.
    ///
    /// Errors: a slice is shorter than a block for each member.
    ///
    /// # Safety
    /// The promise of collective calls on data.
    pub unsafe fn alltoall<T: Pod>(
        &self,
        dest: &mut SymSlice<T>,
        source: &SymSlice<T>,
        count: usize,
    ) -> Result<(), Error> {
        let all = count.saturating_mul(self.size());
        let (dest, source) = (dest.part(0..all)?, source.part(0..all)?);
        // SAFETY: `dest` and `source` hold `count` elements for each member (`part`) in distinct objects; no
        // member uses them otherwise during the call (this function's contract).
        unsafe { engine::alltoall(self.handle, dest, source, count) };
        Ok(())
    }
}
