//! Peers: ranks whose memory is mapped here, this rank's own among them.

use crate::job::{NodeRank, job};

/// A rank of this node, known to exist. This rank is its own peer, too: its memory appears in its own slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Peer(NodeRank);

impl Peer {
    /// The peer with that rank on this node; `None` if there is none.
    #[inline]
    pub fn new(rank: NodeRank) -> Option<Peer> {
        (rank.0 < job().node_size()).then_some(Peer(rank))
    }

    /// This rank, in its own slot.
    #[inline]
    pub fn me() -> Peer {
        Peer(job().node_rank())
    }

    /// Rank 0 of this node: every node has one.
    #[inline]
    pub fn root() -> Peer {
        Peer(NodeRank(0))
    }

    /// How many peers there are, this rank included.
    #[inline]
    pub fn count() -> u32 {
        job().node_size()
    }

    /// Its rank on this node.
    #[inline]
    pub fn node_rank(self) -> NodeRank {
        self.0
    }

    /// The peer `distance` ranks further around the ring; with one rank, itself.
    #[inline]
    pub fn ahead(self, distance: u32) -> Peer {
        // At most twice the largest node, so nothing overflows.
        Peer(NodeRank((self.0.0 + distance % Peer::count()) % Peer::count()))
    }

    /// The next rank around the ring; with one rank, itself.
    pub fn right(self) -> Peer {
        self.ahead(1)
    }

    /// The rank before, around the ring; with one rank, itself.
    pub fn left(self) -> Peer {
        self.ahead(Peer::count() - 1)
    }
}

impl core::fmt::Display for Peer {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// All ranks of this node in order, this one included.
pub fn peers() -> impl ExactSizeIterator<Item = Peer> {
    (0..Peer::count()).map(|rank| Peer(NodeRank(rank)))
}
