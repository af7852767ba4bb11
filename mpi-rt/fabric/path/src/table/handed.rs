//! Receives that a path matches itself ([`Matching`](crate::Matching)).

use super::Table;
use crate::path_id::PathId;
use crate::region::Region;
use crate::{Received, Ticket};
use lwk_place::WorldRank;

impl Table {
    /// Whether a receive of one peer with room for so many bytes may be worth handing over.
    #[inline(always)]
    pub fn takes(&mut self, peer: Option<WorldRank>, bytes: usize) -> bool {
        bytes > self.takes_above && self.takes_of(peer, bytes)
    }

    #[cold]
    fn takes_of(&mut self, peer: Option<WorldRank>, bytes: usize) -> bool {
        let Some(peer) = peer else { return false };
        let path = self.routes[peer.index()].incoming;
        self.path(path).matching().is_some_and(|it| bytes > it.takes_above())
    }

    /// As [`Matching::post`](crate::Matching::post), of the path by which the peer's next message comes. If one has come, it is not handed over: that may be its message.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn post(
        &mut self,
        peer: WorldRank,
        context: u32,
        tag: Option<i32>,
        target: &Region,
    ) -> Option<Ticket> {
        if self.arrival(peer).is_some() {
            return None;
        }
        let path = self.routes[peer.index()].incoming;
        // SAFETY: the target is writable until the receive is done or recalled (this function's contract).
        let ticket = unsafe { self.path(path).matching()?.post(peer, context, tag, target) };
        ticket.map(|ticket| ticket.of(path))
    }

    /// As [`Matching::posted`](crate::Matching::posted).
    pub fn posted(&mut self, ticket: Ticket) -> Option<Received> {
        self.path(ticket.path().unwrap_or(PathId::Smartmap)).matching()?.posted(ticket.bare())
    }

    /// As [`Matching::recall`](crate::Matching::recall).
    #[cold]
    pub fn recall(&mut self, ticket: Ticket) -> Option<Received> {
        self.path(ticket.path().unwrap_or(PathId::Smartmap)).matching()?.recall(ticket.bare())
    }
}
