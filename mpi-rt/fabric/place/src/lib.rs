//! Places: which rank, on which node, in which slot, and the one translation of addresses between them.
//!
//! * [`WorldRank`] counts the ranks of the job, [`NodeRank`] those of one node; a [`Peer`] is a node rank that exists.
//! * [`Slot`] is where a rank's memory is seen. Slot 0 is one's own; a node rank has the slot after its number (SMARTMAP paper, figure 2).
//! * [`seen_from_here`] is the translation. It stands on `lwk_abi::address` and nothing else in the runtime shifts addresses.
//! * [`wall`] splits the node's ranks in two, for tests: a translation across the wall panics.
#![no_std]

mod slot;
pub mod wall;

pub use lwk_user::smartmap::{Peer, peers};
pub use lwk_user::{NodeRank, Rank as WorldRank};
pub use slot::{Slot, in_one_slot, is_own, seen_by_wire, seen_from_here};

/// A node of the job, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// The node of one of this node's ranks: as the job page has it; those on the far side of a wall count as the next one's.
pub fn node_of(rank: NodeRank) -> Node {
    Node(lwk_user::job().node() + wall::side_of(rank))
}
