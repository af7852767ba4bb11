//! A barrier for the ranks of a node, on symmetric words ([`dissemination`] is the protocol).
//!
//! Guarantee: whatever any rank stored before it entered is visible to every rank that has left.

mod dissemination;
pub use dissemination::Arrivals;

#[cfg(not(all(test, feature = "loom")))]
mod node_barrier;
#[cfg(not(all(test, feature = "loom")))]
pub use node_barrier::{NodeBarrier, node_barrier};
