//! Nodes that stay up: `cargo lwk up`, `launch`, `ps`, `nodes`, `kill` and `down`; under Slurm `node` ([`slurm`]).
//!
//! A node is a process ([`daemon`]) that waits for jobs; how they come together is in [`join`]. Node 0 takes the requests of launchers ([`root`]); the others hang below it in a tree
//! ([`links`]), by which program and files of a job are sent once, and all that is said later goes. For each job a node starts a fresh node of the host home
//! (`lwk_home`), or boots a machine in QEMU ([`booted`]), which ends with the job ([`work`]): nothing of a job outlives it.
//!
//! A job starts in steps, and its ranks only when the last node has done all others: nodes get what they need, make ready for frames, learn where the other
//! nodes are, and set the ranks up. The launcher ([`mod@launch`]) supervises the job as `run --nodes` does; when its connection ends, so does the job.
//!
//! Everything that is said is sealed by a key (crate `lwk_control`), which stands in a file beside node 0's address ([`folder`]).

mod ask;
mod body;
mod booted;
mod daemon;
mod folder;
mod join;
mod launch;
mod links;
mod place;
mod relay;
mod root;
mod slurm;
mod start;
mod stations;
mod work;

pub use ask::{down, jobs, kill, nodes};
pub use launch::launch;
pub use slurm::node;
pub use start::{stay, up};

use std::time::Duration;

/// How often somebody who has nothing to say says so.
const PING: Duration = Duration::from_secs(2);
/// Who says nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(8);

/// The node above this one in the tree, if there is one.
fn parent(node: u32) -> Option<u32> {
    node.checked_sub(1).map(|below| below / 2)
}

/// The nodes right below this one.
fn children(node: u32, nodes: u32) -> impl Iterator<Item = u32> {
    [2 * node + 1, 2 * node + 2].into_iter().filter(move |child| *child < nodes)
}

/// The child of `from` whose part of the tree has `to` in it, if there is one.
fn way(from: u32, to: u32) -> Option<u32> {
    let mut at = to;
    while let Some(above) = parent(at) {
        if above == from {
            return Some(at);
        }
        at = above;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_reached_from_the_first() {
        for nodes in 1..40 {
            for to in 1..nodes {
                let (mut at, mut steps) = (0, 0);
                while at != to {
                    let next = way(at, to).unwrap();
                    assert!(children(at, nodes).any(|child| child == next) && parent(next) == Some(at));
                    (at, steps) = (next, steps + 1);
                }
                assert!(steps <= nodes.ilog2() + 1);
            }
        }
        assert_eq!((way(1, 2), way(1, 1), way(1, 4)), (None, None, Some(4)));
    }
}
