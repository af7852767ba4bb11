//! Communicators: a context, members, and the shared memory of their collectives.

use crate::abi::{ANY_SOURCE, PROC_NULL};
use crate::collective::{Area, Shared};
use crate::error::{Error, Result};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A communicator of ranks of this node.
pub struct Communicator {
    /// What separates its messages from those of others: even for point to point.
    pub context: u32,
    /// This rank in it.
    pub rank: u32,
    /// Node rank of each member.
    pub members: Box<[u32]>,
    /// Rank in it of each node rank, or [`PROC_NULL`]; `None` if the numbers are the same.
    ranks: Option<Box<[i32]>>,
    pub(crate) shared: Shared,
}

/// Where a message goes to, or may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Node rank.
    Peer(u32),
    Any,
    Nobody,
}

impl Communicator {
    pub const WORLD_CONTEXT: u32 = 0;
    pub const SELF_CONTEXT: u32 = 1;

    /// A communicator whose context all members have agreed on. Every member must call this; it waits for the others. `area` is one
    /// that nobody uses any more, if there is one.
    pub(crate) fn new(
        context: u32,
        me: u32,
        members: Box<[u32]>,
        area: Option<&'static Area>,
    ) -> Result<Communicator> {
        let rank = members.iter().position(|member| *member == me).ok_or(Error::INTERN)? as u32;
        let shared = Shared::set_up(context, rank, &members, area)?;
        let identity = members.iter().enumerate().all(|(rank, member)| rank as u32 == *member);
        let ranks = (!identity).then(|| {
            let count = members.iter().max().map_or(0, |last| *last as usize + 1);
            let mut ranks: Vec<i32> = (0..count).map(|_| PROC_NULL).collect();
            for (rank, member) in members.iter().enumerate() {
                ranks[*member as usize] = rank as i32;
            }
            ranks.into_boxed_slice()
        });
        Ok(Communicator { context, rank, members, ranks, shared })
    }

    /// Ranks in it.
    #[inline]
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// Rank in it of a node rank that is a member.
    #[inline]
    pub(crate) fn rank_of(&self, node_rank: u32) -> i32 {
        match &self.ranks {
            None => node_rank as i32,
            Some(ranks) => ranks.get(node_rank as usize).copied().unwrap_or(PROC_NULL),
        }
    }

    /// The target of a send. Errors: `RANK`.
    #[inline(always)]
    pub(crate) fn target(&self, rank: i32) -> Result<Place> {
        match self.members.get(rank as usize) {
            Some(member) => Ok(Place::Peer(*member)),
            None if rank == PROC_NULL => Ok(Place::Nobody),
            None => Err(Error::RANK),
        }
    }

    /// The source of a receive. Errors: `RANK`.
    #[inline(always)]
    pub(crate) fn source(&self, rank: i32) -> Result<Place> {
        if rank == ANY_SOURCE { Ok(Place::Any) } else { self.target(rank) }
    }

    /// Errors: `ROOT` if there is no such rank.
    pub(crate) fn root(&self, rank: i32) -> Result<u32> {
        u32::try_from(rank).ok().filter(|rank| *rank < self.size()).ok_or(Error::ROOT)
    }
}
