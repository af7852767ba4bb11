//! A wall across the node, for tests: ranks of the other half count as another node's, and no load or store reaches them.
//!
//! Where programs are to run over several nodes there must be no load from a rank of another one. With the wall up each translation asserts it.

use crate::NodeRank;
use lwk_primitive::own::Own;
use lwk_user::job;

/// The first rank behind the wall; 0: there is no wall.
static FIRST_BEHIND: Own<u32> = Own::<u32>::new(0);

/// Builds a wall in the middle of the node's ranks, if there are two or more. Every rank must, before it translates an address.
pub fn build() {
    FIRST_BEHIND.set(job().node_size() / 2);
}

/// On which side of the wall a rank is; 0 if there is none.
pub fn side_of(rank: NodeRank) -> u32 {
    let first = FIRST_BEHIND.get();
    (first != 0 && rank.0 >= first) as u32
}

/// Whether the wall is between this rank and another.
#[inline(always)]
pub fn is_between(rank: NodeRank) -> bool {
    let first = FIRST_BEHIND.get();
    first != 0 && (rank.0 < first) != (job().node_rank().0 < first)
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
