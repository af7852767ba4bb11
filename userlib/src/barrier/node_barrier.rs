//! The barrier that programs use: the protocol over a symmetric static.

use super::dissemination::{Arrivals, pass};
use crate::smartmap::{CacheLine, Peer, Symmetric};
use core::sync::atomic::{AtomicU64, Ordering};

/// A barrier of all ranks of this node ([`super`] says what it orders). Must be a `static`; two of them are independent.
pub struct NodeBarrier {
    arrivals: Symmetric<Arrivals>,
    /// Episodes this rank has entered. Only this rank touches it; on its own line because peers write the lines above.
    episode: CacheLine<AtomicU64>,
}

impl NodeBarrier {
    /// A barrier that no rank has entered.
    pub const fn new() -> NodeBarrier {
        NodeBarrier { arrivals: Symmetric::new(Arrivals::new()), episode: CacheLine(AtomicU64::new(0)) }
    }

    /// Waits until every rank of the node has called this as often as this rank has.
    ///
    /// If a peer never comes (it has exited, or waits elsewhere) this never returns, and the job's time limit ends the job.
    ///
    /// # Panics
    /// If the barrier is not a static.
    pub fn wait(&'static self) {
        // Relaxed: this rank is the only reader and writer.
        let episode = self.episode.load(Ordering::Relaxed) + 1;
        self.episode.store(episode, Ordering::Relaxed);
        let me = Peer::me();
        pass(Peer::count(), episode, self.arrivals.here(), |distance| {
            self.arrivals.at(me.ahead(distance)).get()
        });
    }
}

impl Default for NodeBarrier {
    fn default() -> NodeBarrier {
        NodeBarrier::new()
    }
}

/// Waits for all ranks of this node, as [`NodeBarrier::wait`] does, on a barrier that the library keeps for programs.
pub fn node_barrier() {
    static BARRIER: NodeBarrier = NodeBarrier::new();
    BARRIER.wait();
}
