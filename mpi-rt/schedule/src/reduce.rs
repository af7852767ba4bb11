//! Reduce by a binomial tree to rank 0, which keeps contributions in the order of ranks; the result then goes to its root, or its parts to all.

use crate::rooted::scatter_from;
use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// What a rank has folded so far, and what it gets.
pub(crate) const MINE: BufferPart = BufferPart::whole(Buffer::Scratch(0));
pub(crate) const THEIRS: BufferPart = BufferPart::whole(Buffer::Scratch(1));

/// Folds all contributions into rank 0's first or second scratch buffer, and says into which.
pub(crate) fn to_first(me: Rank, ranks: Rank) -> (Schedule, BufferPart) {
    let mut schedule = Schedule::default();
    schedule.round([Step::Copy { from: BufferPart::whole(Buffer::Send), into: MINE }]);
    let (mine, _) = fold_into_first(&mut schedule, me, ranks, (MINE, THEIRS));
    (schedule, mine)
}

/// Folds what lies in the first of two scratch buffers of each rank into rank 0's: into which, and the other one.
pub(crate) fn fold_into_first(
    schedule: &mut Schedule,
    me: Rank,
    ranks: Rank,
    (mut mine, mut theirs): (BufferPart, BufferPart),
) -> (BufferPart, BufferPart) {
    let mut distance = 1;
    while distance < ranks {
        if me & distance != 0 {
            schedule.round([Step::Send { to: me - distance, from: Some(mine) }]);
            break;
        }
        if me + distance < ranks {
            // What comes is of ranks behind this one's.
            schedule.round([
                Step::Receive { from: me + distance, into: Some(theirs) },
                Step::Fold { left: mine, into: theirs },
            ]);
            (mine, theirs) = (theirs, mine);
        }
        distance *= 2;
    }
    (mine, theirs)
}

/// A reduce of send buffers into the root's receive buffer.
pub fn reduce(me: Rank, ranks: Rank, root: Rank) -> Schedule {
    let (mut schedule, result) = to_first(me, ranks);
    hand_to_root(&mut schedule, me, root, result);
    schedule
}

/// Brings rank 0's result to its root.
pub(crate) fn hand_to_root(schedule: &mut Schedule, me: Rank, root: Rank, result: BufferPart) {
    let target = BufferPart::whole(Buffer::Receive);
    match (me, root) {
        (0, 0) => schedule.round([Step::Copy { from: result, into: target }]),
        (0, _) => schedule.round([Step::Send { to: root, from: Some(result) }]),
        _ if me == root => schedule.round([Step::Receive { from: 0, into: Some(target) }]),
        _ => {}
    }
}

/// A reduce of send buffers whose parts go to the receive buffers.
pub fn reduce_scatter(me: Rank, ranks: Rank) -> Schedule {
    let (mut schedule, result) = to_first(me, ranks);
    schedule.0.extend(scatter_from(me, ranks, 0, result.buffer).0);
    schedule
}
