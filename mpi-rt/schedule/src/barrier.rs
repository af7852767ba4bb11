//! Barrier by dissemination: in round k a rank tells the one 2^k further and hears of the one 2^k before; after log2 of the ranks all are there.

use crate::{Rank, Schedule, Step};

/// A barrier.
pub fn dissemination(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    let mut distance = 1;
    while distance < ranks {
        let (to, from) = ((me + distance) % ranks, (me + ranks - distance) % ranks);
        schedule.round([Step::Send { to, from: None }, Step::Receive { from, into: None }]);
        distance *= 2;
    }
    schedule
}
