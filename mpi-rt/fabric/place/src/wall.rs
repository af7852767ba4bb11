//! Walls in the node: ranks behind one count as another node's, and no load or store reaches them. One across the middle is for tests; those between all ranks have everything go by messages.
//!
//! Where programs are to run over several nodes there must be no load from a rank of another one. With the wall up each translation asserts it.

use crate::{NodeRank, WorldRank};
use core::ops::Range;
use lwk_primitive::own::Own;
use lwk_user::job;

/// The first rank behind the wall; 0: there is no wall; [`BETWEEN_ALL`].
static FIRST_BEHIND: Own<u32> = Own::<u32>::new(0);

/// Every rank is behind walls of its own.
const BETWEEN_ALL: u32 = u32::MAX;

/// Builds walls between all ranks of the node. Every rank must, before it translates an address.
pub fn build_between_all() {
    FIRST_BEHIND.set(BETWEEN_ALL);
}

/// Builds a wall in the middle of the node's ranks, if there are two or more. Every rank must, before it translates an address.
pub fn build() {
    FIRST_BEHIND.set(first_behind(job().node_size()));
}

/// Of a node with so many ranks; nobody, if there is one.
fn first_behind(ranks: u32) -> u32 {
    (ranks / 2).max(1)
}

/// The number of the node that a rank counts as one of: there is one more for each wall. `node` is the one it is on, which has the ranks `ranks`.
pub fn node_of(rank: WorldRank, node: u32, ranks: Range<u32>) -> u32 {
    number(FIRST_BEHIND.get(), rank, node, ranks)
}

fn number(first: u32, WorldRank(rank): WorldRank, node: u32, ranks: Range<u32>) -> u32 {
    match first {
        0 => node,
        BETWEEN_ALL => rank,
        _ => 2 * node + side(first_behind(ranks.len() as u32), NodeRank(rank - ranks.start)),
    }
}

#[inline(always)]
fn side(first: u32, rank: NodeRank) -> u32 {
    match first {
        0 => 0,
        BETWEEN_ALL => rank.0,
        _ => (rank.0 >= first).into(),
    }
}

/// Whether the wall is between this rank and another.
#[inline(always)]
pub fn is_between(rank: NodeRank) -> bool {
    let first = FIRST_BEHIND.get();
    first != 0 && side(first, rank) != side(first, job().node_rank())
}

/// # Panics
/// If the wall is between this rank and another.
#[inline(always)]
pub fn check(rank: NodeRank) {
    if is_between(rank) {
        refuse(rank);
    }
}

#[cold]
#[inline(never)]
fn refuse(rank: NodeRank) -> ! {
    panic!("an address of rank {rank}, which counts as another node's, was about to be used")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a job of two nodes with three ranks and two.
    #[test]
    fn no_two_ranks_with_a_wall_or_a_wire_between_them_count_as_one_nodes() {
        let of = |first| {
            [0, 1, 2, 3, 4].map(|rank| {
                let (node, ranks) = if rank < 3 { (0, 0..3) } else { (1, 3..5) };
                number(first, WorldRank(rank), node, ranks)
            })
        };
        assert_eq!(of(0), [0, 0, 0, 1, 1]);
        assert_eq!(of(BETWEEN_ALL), [0, 1, 2, 3, 4]);
        // As those of the first node see it, and those of the second.
        assert_eq!(of(first_behind(3)), [0, 1, 1, 2, 3]);
        assert_eq!(of(first_behind(2)), [0, 1, 1, 2, 3]);
    }
}
