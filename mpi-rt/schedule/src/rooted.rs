//! Gather and scatter, flat: the root exchanges one message with every rank. Parts may be of any size and layout, so none goes by way of another rank.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// A gather: send buffers into the parts of the root's receive buffer.
pub fn gather(me: Rank, ranks: Rank, root: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    let own = BufferPart::whole(Buffer::Send);
    if me != root {
        schedule.round([Step::Send { to: root, from: Some(own) }]);
        return schedule;
    }
    let others = (0..ranks).filter(|rank| *rank != root);
    let receives =
        others.map(|from| Step::Receive { from, into: Some(BufferPart::part(Buffer::Receive, from)) });
    schedule.round(receives.chain([Step::Copy { from: own, into: BufferPart::part(Buffer::Receive, root) }]));
    schedule
}

/// A scatter: the parts of the root's send buffer into receive buffers.
pub fn scatter(me: Rank, ranks: Rank, root: Rank) -> Schedule {
    scatter_from(me, ranks, root, Buffer::Send)
}

/// The same from any buffer of the root.
pub(crate) fn scatter_from(me: Rank, ranks: Rank, root: Rank, buffer: Buffer) -> Schedule {
    let mut schedule = Schedule::default();
    let own = BufferPart::whole(Buffer::Receive);
    if me != root {
        schedule.round([Step::Receive { from: root, into: Some(own) }]);
        return schedule;
    }
    let others = (0..ranks).filter(|rank| *rank != root);
    let sends = others.map(|to| Step::Send { to, from: Some(BufferPart::part(buffer, to)) });
    schedule.round(sends.chain([Step::Copy { from: BufferPart::part(buffer, root), into: own }]));
    schedule
}
