//! Broadcast by a binomial tree: who has the content gives it to the rank half as far away as it was given last.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};

/// A broadcast of the receive buffer.
pub fn binomial_tree(me: Rank, ranks: Rank, root: Rank) -> Schedule {
    let mut schedule = Schedule::default();
    // Ranks counted from the root.
    let relative = (me + ranks - root) % ranks;
    let all = Some(BufferPart::whole(Buffer::Receive));
    let mut distance = 1;
    while distance < ranks && relative & distance == 0 {
        distance *= 2;
    }
    if relative != 0 {
        let from = (relative - distance + root) % ranks;
        schedule.round([Step::Receive { from, into: all }]);
    }
    while distance > 1 {
        distance /= 2;
        if relative + distance < ranks {
            schedule.round([Step::Send { to: (relative + distance + root) % ranks, from: all }]);
        }
    }
    schedule
}
