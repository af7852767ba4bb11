//! Sends that wait for room at their receivers, in order.
//!
//! A send goes only when none to the same peer waits before it. Memory is taken for peers that somebody waits for.

use crate::handle::Handle;
use alloc::collections::{BTreeMap, VecDeque};
use lwk_place::WorldRank;

/// See the module.
#[derive(Default)]
pub(crate) struct Deferred {
    /// By peer; no queue is empty.
    queues: BTreeMap<u32, VecDeque<Handle>>,
}

impl Deferred {
    /// Whether no send waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Sends that wait for a peer.
    #[inline(always)]
    pub fn of(&self, peer: WorldRank) -> usize {
        if self.is_empty() { 0 } else { self.queues.get(&peer.0).map_or(0, VecDeque::len) }
    }

    /// The first peer from that one on for which sends wait, and the first of these.
    pub fn first_from(&self, peer: WorldRank) -> Option<(WorldRank, Handle)> {
        let (peer, queue) = self.queues.range(peer.0..).next()?;
        Some((WorldRank(*peer), *queue.front()?))
    }

    /// A send waits behind all others to its peer.
    pub fn push(&mut self, peer: WorldRank, request: Handle) {
        self.queues.entry(peer.0).or_default().push_back(request);
    }

    /// A send does not wait any more.
    pub fn remove(&mut self, peer: WorldRank, request: Handle) {
        let Some(queue) = self.queues.get_mut(&peer.0) else { return };
        queue.retain(|it| *it != request);
        if queue.is_empty() {
            self.queues.remove(&peer.0);
        }
    }

    /// Another send takes the place of one.
    pub fn replace(&mut self, peer: WorldRank, old: Handle, new: Handle) {
        let queue = self.queues.get_mut(&peer.0).into_iter().flatten();
        queue.filter(|it| **it == old).for_each(|it| *it = new);
    }
}
