//! How peers are named within a node.

/// A peer's place in the table, plus one; 0 is none.
pub type PeerIndex = u16;
