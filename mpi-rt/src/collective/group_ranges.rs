//! The groups of a communicator, as places in its shared areas: who gives to whom.

use crate::abi::ROOT;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use alloc::rc::Rc;
use core::ops::Range;
use lwk_place::{CommRank, Ranks};

/// The communicator whose shared areas the collectives of `communicator` use: of an intercommunicator, the one of both groups.
pub(super) fn channel_of(communicator: &Rc<Communicator>) -> &Rc<Communicator> {
    communicator.inter.as_ref().map_or(communicator, |inter| &inter.union)
}

/// This rank's group and the one it exchanges with, which on an intracommunicator is the same.
#[derive(Clone, Debug)]
pub(crate) struct GroupRanges {
    pub inter: bool,
    /// This rank's place.
    pub me: CommRank,
    /// This rank in its group.
    pub rank: CommRank,
    pub local: Ranks,
    pub remote: Ranks,
}

impl GroupRanges {
    pub fn of(communicator: &Rc<Communicator>) -> GroupRanges {
        let channel = channel_of(communicator);
        let (all, me, rank) = (Ranks::all(channel.size()), channel.rank, communicator.rank);
        match &communicator.inter {
            None => GroupRanges { inter: false, me, rank, local: all.clone(), remote: all },
            Some(inter) => {
                let (own, other) = (communicator.size(), communicator.peers.len() as u32);
                let (local, remote) =
                    if inter.is_first { (0..own, own..own + other) } else { (other..other + own, 0..other) };
                let (local, remote) = (Ranks(local), Ranks(remote));
                GroupRanges { inter: true, me, rank, local, remote }
            }
        }
    }

    /// The remote group, beginning near this rank's own place, so that no two ranks begin with the same peer.
    pub fn nearest_first(&self) -> impl Iterator<Item = CommRank> + use<> {
        let Range { start, end } = self.remote.0;
        let first = start + self.rank.0.min(end - start);
        Ranks(first..end).chain(Ranks(start..first))
    }

    /// Both groups.
    pub fn all(&self) -> Ranks {
        let (local, remote) = (&self.local.0, &self.remote.0);
        Ranks(local.start.min(remote.start)..local.end.max(remote.end))
    }
}

impl Engine {
    /// Into how many parts a buffer is divided that is for all: the ranks, or those of the remote group. Errors: `COMM`.
    pub fn parts_of(&self, communicator: Handle) -> Result<usize> {
        self.communicator(communicator).map(|it| it.peers.len())
    }

    /// Whether this rank is the root that a rooted collective names. Errors: `COMM`.
    pub fn is_root(&self, communicator: Handle, root: i32) -> Result<bool> {
        let it = self.communicator(communicator)?;
        Ok(if it.inter.is_some() { root == ROOT } else { root == it.rank.number() })
    }
}
