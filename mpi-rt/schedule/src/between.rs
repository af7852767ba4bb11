//! Collectives of two groups, where what one contributes goes to the other (MPI-5.0, section 6.2.2). Both groups' ranks have one numbering, and each group is a range of
//! it. Parts of buffers are counted by the other group's ranks, those of a reduction's result by the own group's.

use crate::reduce::to_first;
use crate::rooted::scatter_from;
use crate::{Buffer, BufferPart, Rank, Schedule, Step, binomial_tree};
use core::ops::Range;

/// What a rank of one group sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Groups {
    /// This rank.
    pub me: Rank,
    /// Its group, and the other one.
    pub local: Range<Rank>,
    pub remote: Range<Rank>,
}

/// The root of an operation, as a rank sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// It is the root.
    Here,
    /// The root is this one, of the other group.
    There(Rank),
    /// Another of its group is.
    Beside,
}

const SENT: BufferPart = BufferPart::whole(Buffer::Send);
const RECEIVED: BufferPart = BufferPart::whole(Buffer::Receive);
/// A buffer that folding leaves alone.
const SPARE: Buffer = Buffer::Scratch(2);

impl Groups {
    /// This rank and the ranks of its group, counted from the group's first.
    fn own(&self) -> (Rank, Rank) {
        (self.me - self.local.start, self.local.end - self.local.start)
    }

    /// A step for each rank of the other group; `step` gets the rank and its place in the group.
    fn for_each(&self, step: impl Fn(Rank, Rank) -> Step) -> impl Iterator<Item = Step> {
        let first = self.remote.start;
        self.remote.clone().map(move |rank| step(rank, rank - first))
    }

    /// A schedule of this rank's group alone, in the numbering of both.
    fn within(&self, mut schedule: Schedule) -> Schedule {
        for step in schedule.0.iter_mut().flatten() {
            if let Step::Send { to: peer, .. } | Step::Receive { from: peer, .. } = step {
                *peer += self.local.start;
            }
        }
        schedule
    }

    fn is_first(&self) -> bool {
        self.me == self.local.start
    }
}

/// The root's receive buffer into those of the other group: to its first rank, and from there by a tree.
pub fn broadcast_between(groups: &Groups, root: Root) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        Root::Here => schedule.round([Step::Send { to: groups.remote.start, from: Some(RECEIVED) }]),
        Root::There(root) => {
            if groups.is_first() {
                schedule.round([Step::Receive { from: root, into: Some(RECEIVED) }]);
            }
            let (me, ranks) = groups.own();
            schedule.0.extend(groups.within(binomial_tree(me, ranks, 0)).0);
        }
        Root::Beside => {}
    }
    schedule
}

/// The other group's send buffers into the parts of the root's receive buffer.
pub fn gather_between(groups: &Groups, root: Root) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        Root::Here => schedule.round(groups.for_each(|from, place| Step::Receive {
            from,
            into: Some(BufferPart::part(Buffer::Receive, place)),
        })),
        Root::There(to) => schedule.round([Step::Send { to, from: Some(SENT) }]),
        Root::Beside => {}
    }
    schedule
}

/// The parts of the root's send buffer into the other group's receive buffers.
pub fn scatter_between(groups: &Groups, root: Root) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        Root::Here => schedule.round(
            groups.for_each(|to, place| Step::Send { to, from: Some(BufferPart::part(Buffer::Send, place)) }),
        ),
        Root::There(from) => schedule.round([Step::Receive { from, into: Some(RECEIVED) }]),
        Root::Beside => {}
    }
    schedule
}

/// What each rank tells each of the other group; `sent` says what of its send buffer goes to the rank at a place.
fn exchange(groups: &Groups, sent: impl Fn(Rank) -> BufferPart) -> Schedule {
    let mut schedule = Schedule::default();
    let sends = groups.for_each(|to, place| Step::Send { to, from: Some(sent(place)) });
    let receives = groups
        .for_each(|from, place| Step::Receive { from, into: Some(BufferPart::part(Buffer::Receive, place)) });
    schedule.round(sends.chain(receives));
    schedule
}

/// The other group's send buffers into the parts of each receive buffer.
pub fn allgather_between(groups: &Groups) -> Schedule {
    exchange(groups, |_| SENT)
}

/// The parts of send buffers into the parts of the other group's receive buffers.
pub fn alltoall_between(groups: &Groups) -> Schedule {
    exchange(groups, |place| BufferPart::part(Buffer::Send, place))
}

/// The other group's send buffers, folded, into the root's receive buffer.
pub fn reduce_between(groups: &Groups, root: Root) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        Root::Here => {
            schedule.round([Step::Receive { from: groups.remote.start, into: Some(RECEIVED) }]);
        }
        Root::There(root) => {
            let result;
            (schedule, result) = folded(groups);
            if groups.is_first() {
                schedule.round([Step::Send { to: root, from: Some(result) }]);
            }
        }
        Root::Beside => {}
    }
    schedule
}

/// Folds the contributions of this rank's group at its first rank; where they are there.
fn folded(groups: &Groups) -> (Schedule, BufferPart) {
    let (me, ranks) = groups.own();
    let (schedule, result) = to_first(me, ranks);
    (groups.within(schedule), result)
}

/// Both groups' results, each to the other one's first rank, into `into`.
fn results_swapped(groups: &Groups, into: BufferPart) -> Schedule {
    let (mut schedule, result) = folded(groups);
    if groups.is_first() {
        let other = groups.remote.start;
        schedule.round([
            Step::Send { to: other, from: Some(result) },
            Step::Receive { from: other, into: Some(into) },
        ]);
    }
    schedule
}

/// The other group's send buffers, folded, into each receive buffer.
pub fn allreduce_between(groups: &Groups) -> Schedule {
    let mut schedule = results_swapped(groups, RECEIVED);
    let (me, ranks) = groups.own();
    schedule.0.extend(groups.within(binomial_tree(me, ranks, 0)).0);
    schedule
}

/// The parts of the other group's send buffers, folded, into the receive buffers.
pub fn reduce_scatter_between(groups: &Groups) -> Schedule {
    let mut schedule = results_swapped(groups, BufferPart::whole(SPARE));
    let (me, ranks) = groups.own();
    schedule.0.extend(groups.within(scatter_from(me, ranks, 0, SPARE)).0);
    schedule
}
