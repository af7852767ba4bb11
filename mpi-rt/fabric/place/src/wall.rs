//! Walls in the node: ranks behind one count as another node's, and no load or store reaches them. One across the middle is for tests; those between all ranks have everything go by messages.
//!
//! Where programs are to run over several nodes there must be no load from a rank of another one. With the wall up each translation asserts it.

use crate::NodeRank;
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
    FIRST_BEHIND.set(job().node_size() / 2);
}

/// On which side of the wall a rank is; 0 if there is none.
pub fn side_of(rank: NodeRank) -> u32 {
    side(FIRST_BEHIND.get(), rank)
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
