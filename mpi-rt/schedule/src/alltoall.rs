//! Alltoall by pairs: in round k a rank gives to the one k further and takes from the one k before, so that each has one partner of each kind at a time.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// An alltoall: the parts of send buffers into the parts of receive buffers.
pub fn pairwise(me: Rank, ranks: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    let (send, receive) =
        (|rank| BufferPart::part(Buffer::Send, rank), |rank| BufferPart::part(Buffer::Receive, rank));
    schedule.round([Step::Copy { from: send(me), into: receive(me) }]);
    for round in 1..ranks {
        let (to, from) = ((me + round) % ranks, (me + ranks - round) % ranks);
        schedule.round([
            Step::Send { to, from: Some(send(to)) },
            Step::Receive { from, into: Some(receive(from)) },
        ]);
    }
    schedule
}
