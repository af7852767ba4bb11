//! Places: which rank, on which node, in which slot, and the one translation of addresses between them.
//!
//! * [`WorldRank`] counts the ranks of the job, by which all of the runtime names them; [`NodeRank`] those of one node; a [`Peer`] is a node
//!   rank that exists. [`peer_of`] leads from the first to the last. A [`CommRank`] is one within a communicator, a [`TeamRank`] one within a team,
//!   whose members say which rank of the job.
//! * [`Slot`] is where a rank's memory is seen. Slot 0 is one's own; a node rank has the slot after its number (SMARTMAP paper, figure 2).
//! * [`seen_from_here`] is the translation. It stands on `lwk_abi::address` and nothing else in the runtime shifts addresses.
//! * [`wall`] splits the node's ranks in two, for tests: a translation across the wall panics.
#![cfg_attr(not(test), no_std)]

mod comm_rank;
mod slot;
mod team_rank;
pub mod wall;

pub use comm_rank::{CommRank, Ranks};
pub use lwk_user::smartmap::{Peer, peers};
pub use lwk_user::{NodeRank, Rank as WorldRank};
pub use slot::{Slot, in_one_slot, is_own, seen_by_wire, seen_from_here};
pub use team_rank::TeamRank;

use lwk_user::abi::portals;
use lwk_user::abi::runtime::DISTANCES;
use lwk_user::job;

/// A node of the job, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// The node of a rank of the job, the same for whoever asks: ranks are spread in their order, and those on the far side of a wall count as another node's.
pub fn node_of(rank: WorldRank) -> Node {
    let (size, nodes) = (job().size(), job().nodes());
    let node = portals::node_of(rank.0, size, nodes);
    let first = |node| portals::first_rank_of(node, size, nodes);
    Node(wall::node_of(rank, node, first(node)..first(node + 1)))
}

/// The rank of the job that is this node's first.
#[inline(always)]
pub fn first_of_node() -> WorldRank {
    WorldRank(job().rank().0 - job().node_rank().0)
}

/// A rank of the job as a peer, if it is of this node: whether its memory may be reached says [`is_far`].
#[inline(always)]
pub fn peer_of(rank: WorldRank) -> Option<Peer> {
    Peer::new(NodeRank(rank.0.wrapping_sub(first_of_node().0)))
}

/// A peer as a rank of the job.
#[inline(always)]
pub fn world_rank_of(peer: Peer) -> WorldRank {
    WorldRank(first_of_node().0 + peer.node_rank().0)
}

/// Whether only messages reach a rank: it is on another node, or behind the wall.
#[inline]
pub fn is_far(rank: WorldRank) -> bool {
    peer_of(rank).is_none_or(|peer| wall::is_between(peer.node_rank()))
}

/// How far apart the cores of two ranks are, as far as the job page knows: an index of [`DISTANCES`]. Ranks of other nodes are as far as any of this one.
pub fn distance(one: WorldRank, other: WorldRank) -> usize {
    let place = |rank| peer_of(rank).and_then(|peer| job().place(peer.node_rank()));
    let (Some(here), Some(there)) = (place(one), place(other)) else {
        return DISTANCES.len() - 1;
    };
    if one == other {
        0
    } else if here.l3 == there.l3 || here.l2 == there.l2 {
        1
    } else if here.package == there.package {
        2
    } else {
        3
    }
}
