//! Allreduce by recursive doubling: ranks exchange what they have folded with the one a power of two away, until all have all.
//!
//! Where the number of ranks is no power of two, the first ranks fold in pairs, one of each pair takes part, and hands the result back. Pairs are
//! neighbours, so that what a rank holds is always of ranks in one stretch, and the order of folding is that of ranks.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// An allreduce of send buffers into all receive buffers.
pub fn recursive_doubling(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    let (mine, theirs) = (BufferPart::whole(Buffer::Scratch(0)), BufferPart::whole(Buffer::Scratch(1)));
    schedule.round([Step::Copy { from: BufferPart::whole(Buffer::Send), into: mine }]);
    doubling(&mut schedule, me, ranks, (mine, theirs));
    schedule
}

/// The same of what lies in the first of two scratch buffers.
pub(crate) fn doubling(
    schedule: &mut Schedule,
    me: Rank,
    ranks: Rank,
    (mut mine, mut theirs): (BufferPart, BufferPart),
) {
    let power = 1 << ranks.ilog2();
    // The first `pairs` pairs of neighbours count as one rank each.
    let pairs = ranks - power;
    let paired = me < 2 * pairs;
    let target = BufferPart::whole(Buffer::Receive);
    if paired && me % 2 == 1 {
        schedule.round([Step::Send { to: me - 1, from: Some(mine) }]);
        schedule.round([Step::Receive { from: me - 1, into: Some(target) }]);
        return;
    }
    if paired {
        schedule.round([
            Step::Receive { from: me + 1, into: Some(theirs) },
            Step::Fold { left: mine, into: theirs },
        ]);
        (mine, theirs) = (theirs, mine);
    }
    let number = if paired { me / 2 } else { me - pairs };
    let rank_of = |number: Rank| if number < pairs { 2 * number } else { number + pairs };
    let mut distance = 1;
    while distance < power {
        let other = number ^ distance;
        let exchange = [
            Step::Send { to: rank_of(other), from: Some(mine) },
            Step::Receive { from: rank_of(other), into: Some(theirs) },
        ];
        if other < number {
            schedule.round(exchange.into_iter().chain([Step::Fold { left: theirs, into: mine }]));
        } else {
            schedule.round(exchange.into_iter().chain([Step::Fold { left: mine, into: theirs }]));
            (mine, theirs) = (theirs, mine);
        }
        distance *= 2;
    }
    schedule.round([Step::Copy { from: mine, into: target }]);
    if paired {
        schedule.round([Step::Send { to: me + 1, from: Some(mine) }]);
    }
}
