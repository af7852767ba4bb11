//! Communicators: who is in them, and making new ones (MPI-5.0, chapter 7). Of an intercommunicator, ranks to send to are those of the remote
//! group, and rooted collectives take [`ROOT`](super::ROOT) and [`PROC_NULL`](super::PROC_NULL) in the root's group.

use super::Mpi;
use core::marker::PhantomData;
use lwk_mpi_rt::abi::{self, topology};
use lwk_mpi_rt::communicators;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::group::{Comparison, Group};
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_rt::hardware::{Level, RESOURCE_KEY};
use lwk_mpi_rt::info::Info;

/// A communicator. One that has been freed answers `COMM`.
#[derive(Clone, Copy)]
pub struct Communicator<'mpi> {
    handle: Handle,
    mpi: PhantomData<&'mpi Mpi>,
}

impl<'mpi> Communicator<'mpi> {
    /// The running runtime's communicator with that handle.
    #[inline]
    pub(super) fn of(handle: Handle) -> Communicator<'mpi> {
        Communicator { handle, mpi: PhantomData }
    }

    #[inline]
    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    /// This rank in it; of an intercommunicator, in the local group.
    pub fn rank(&self) -> Result<u32> {
        with(|engine| engine.communicators.rank(self.handle))
    }

    /// Ranks in it; of an intercommunicator, in the local group.
    pub fn size(&self) -> Result<u32> {
        with(|engine| engine.communicators.size(self.handle))
    }

    /// Whether it is an intercommunicator.
    pub fn is_inter(&self) -> Result<bool> {
        with(|engine| engine.communicators.is_inter(self.handle))
    }

    /// Ranks in the remote group. Errors: `COMM` if it is not an intercommunicator.
    pub fn remote_size(&self) -> Result<u32> {
        with(|engine| engine.communicators.remote_size(self.handle))
    }

    /// Its ranks; of an intercommunicator, those of the local group.
    pub fn group(&self) -> Result<Group> {
        with(|engine| {
            let handle = engine.group_of(self.handle)?;
            let group = engine.groups.get(handle).cloned();
            engine.groups.free(handle).and(group)
        })
    }

    /// The ranks of the remote group. Errors: `COMM` if it is not an intercommunicator.
    pub fn remote_group(&self) -> Result<Group> {
        with(|engine| {
            let handle = engine.remote_group_of(self.handle)?;
            let group = engine.groups.get(handle).cloned();
            engine.groups.free(handle).and(group)
        })
    }

    /// How its ranks compare with another's. Errors: `COMM`.
    pub fn compare(&self, other: &Communicator) -> Result<Comparison> {
        with(|engine| engine.communicators.compare(self.handle, other.handle))
    }

    /// A communicator of the same ranks, whose messages are its own; all ranks must call it. Errors: `NO_MEM`.
    pub fn duplicate(&self) -> Result<Communicator<'mpi>> {
        communicators::duplicate(self.handle).map(Self::of)
    }

    /// Divides the ranks: those of one color come together, ordered by key. `None` is no color, and gets none. Errors: `ARG` for a color
    /// above `i32::MAX`, `NO_MEM`.
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Communicator<'mpi>>> {
        let color = match color {
            Some(color) => i32::try_from(color).map_err(|_| Error::ARG)?,
            None => abi::UNDEFINED,
        };
        Ok(with(|engine| engine.split(self.handle, color, key))?.map(Self::of))
    }

    /// Divides the ranks by what hardware they share, and orders each part by key. All ranks must call it. Errors: `COMM` for an
    /// intercommunicator, `NO_MEM`.
    pub fn split_by(&self, level: Level, key: i32) -> Result<Option<Communicator<'mpi>>> {
        let mut hints = Info::new();
        hints.set(RESOURCE_KEY, level.name().as_bytes())?;
        let made = with(|engine| engine.split_type(self.handle, topology::HW_GUIDED, key, &hints))?;
        Ok(made.0.map(Self::of))
    }

    /// A communicator of a group of its ranks; `None` for the others. All ranks must call it. Errors: `GROUP` if the group has others than members,
    /// `NO_MEM`.
    pub fn create(&self, group: &Group) -> Result<Option<Communicator<'mpi>>> {
        with(|engine| {
            let group = engine.groups.insert(group.clone());
            let made = engine.create(self.handle, group);
            engine.groups.free(group).and(made)
        })
        .map(|made| made.map(Self::of))
    }

    /// The same, called by the ranks of the group alone, with the same tag. Errors: also `TAG`.
    pub fn create_group(&self, group: &Group, tag: i32) -> Result<Option<Communicator<'mpi>>> {
        with(|engine| {
            let group = engine.groups.insert(group.clone());
            let made = engine.create_group(self.handle, group, tag);
            engine.groups.free(group).and(made)
        })
        .map(|made| made.map(Self::of))
    }

    /// An intercommunicator of this local group and the one whose leader has rank `remote_leader` in `peer`, a communicator of both leaders. All
    /// ranks of both must call it, with the same tag. Errors: `RANK`, `TAG`, `COMM`, `NO_MEM`.
    pub fn connect(
        &self,
        local_leader: i32,
        peer: &Communicator,
        remote_leader: i32,
        tag: i32,
    ) -> Result<Communicator<'mpi>> {
        let (local, peer) = (self.handle, peer.handle);
        with(|engine| engine.create_inter(local, local_leader, peer, remote_leader, tag)).map(Self::of)
    }

    /// Both groups of an intercommunicator as one, of which the one that says `high` comes second. All ranks must call it. Errors: `COMM` if it is no
    /// intercommunicator, `NO_MEM`.
    pub fn merge(&self, high: bool) -> Result<Communicator<'mpi>> {
        with(|engine| engine.merge(self.handle, high)).map(Self::of)
    }

    /// Frees it; all its ranks must call it. Copies of it are void. Errors: `COMM` if it is predefined or void.
    pub fn free(self) -> Result<()> {
        communicators::free(self.handle)
    }
}
