//! Allgather by a ring: each rank hands on to the next what it has had last from the one before.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// An allgather: send buffers into the parts of all receive buffers.
pub fn ring(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    let part = |rank: Rank| BufferPart::part(Buffer::Receive, rank % ranks);
    schedule.round([Step::Copy { from: BufferPart::whole(Buffer::Send), into: part(me) }]);
    for round in 0..ranks - 1 {
        let (to, from) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        schedule.round([
            Step::Send { to, from: Some(part(me + ranks - round)) },
            Step::Receive { from, into: Some(part(me + ranks - round - 1)) },
        ]);
    }
    schedule
}
