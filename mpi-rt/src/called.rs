//! Calls: a word to a rank that takes in messages for a subsystem only while somebody has called it.

use crate::engine::Engine;
use crate::local::RankLocal;
use lwk_place::WorldRank;

/// What is done with the calls that have come: how many.
type Called = fn(&mut Engine, u32);

static CALLED: RankLocal<Option<Called>> = RankLocal::new(None);

/// What this rank does when it is called ([`Engine::call`]). The subsystem that calls says it before the runtime starts, in every rank.
pub fn when_called(called: Called) {
    // In use for moments only, in which nothing is called.
    let _ = CALLED.try_with(|it| *it = Some(called));
}

impl Engine {
    /// Calls a rank.
    pub fn call(&mut self, peer: WorldRank) {
        self.paths.call(peer);
    }

    /// This rank has been called so often.
    #[cold]
    pub(crate) fn be_called(&mut self, calls: u32) {
        if let Some(called) = CALLED.try_with(|it| *it).flatten() {
            called(self, calls);
        }
    }
}
