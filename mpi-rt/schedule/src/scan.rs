//! Scan and exscan by doubling: a rank keeps what has been folded of a stretch of ranks that ends with itself, and puts the stretch before it in front.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// What has been folded up to this rank; the same without this rank; what comes.
const UP_TO: BufferPart = BufferPart::whole(Buffer::Scratch(0));
const BEFORE: BufferPart = BufferPart::whole(Buffer::Scratch(1));
const THEIRS: BufferPart = BufferPart::whole(Buffer::Scratch(2));

fn stretches(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    schedule.round([Step::Copy { from: BufferPart::whole(Buffer::Send), into: UP_TO }]);
    let mut distance = 1;
    while distance < ranks {
        let mut round = alloc::vec::Vec::new();
        if me + distance < ranks {
            round.push(Step::Send { to: me + distance, from: Some(UP_TO) });
        }
        if me >= distance {
            round.push(Step::Receive { from: me - distance, into: Some(THEIRS) });
            round.push(Step::Fold { left: THEIRS, into: UP_TO });
            // The first that comes is the neighbour's own.
            round.push(match distance {
                1 => Step::Copy { from: THEIRS, into: BEFORE },
                _ => Step::Fold { left: THEIRS, into: BEFORE },
            });
        }
        schedule.round(round);
        distance *= 2;
    }
    schedule
}

/// A scan of send buffers into receive buffers.
pub fn scan(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = stretches(me, ranks);
    schedule.round([Step::Copy { from: UP_TO, into: BufferPart::whole(Buffer::Receive) }]);
    schedule
}

/// An exclusive scan; the first rank's receive buffer stays as it is.
pub fn exscan(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = stretches(me, ranks);
    if me > 0 {
        schedule.round([Step::Copy { from: BEFORE, into: BufferPart::whole(Buffer::Receive) }]);
    }
    schedule
}
