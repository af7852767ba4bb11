//! Collectives by messages: what one rank sends, receives, copies and folds, as a list of rounds.
//!
//! Where the ranks of a communicator can load and store each other's memory, collectives work in place. Between nodes they go by these schedules.
//! A schedule is worked out from a rank's number, the number of ranks and, for those in two levels, the ranks' nodes alone; whoever carries it out knows buffers, datatypes and operators.
//!
//! The promise: if every rank carries out its own schedule over channels that keep the order of each pair, all end, and the buffers hold what
//! MPI-5.0, chapter "Collective Communication", says. Contributions are folded in the order of ranks, whether or not the operator is commutative.
//! The tests play all ranks at once, for 1 to 17 ranks and every root, with an operator that is not commutative.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod between;
mod broadcast;
mod levels;
mod neighbourhood;
mod reduce;
mod rooted;
mod scan;

pub use allgather::ring;
pub use allreduce::recursive_doubling;
pub use alltoall::pairwise;
pub use barrier::dissemination;
pub use between::{
    Groups, Root, allgather_between, allreduce_between, alltoall_between, broadcast_between, gather_between,
    reduce_between, reduce_scatter_between, scatter_between,
};
pub use broadcast::binomial_tree;
pub use levels::{Levels, allreduce_by_levels, barrier_by_levels, broadcast_by_levels, reduce_by_levels};
pub use neighbourhood::{Edges, neighbours};
pub use reduce::{reduce, reduce_scatter};
pub use rooted::{gather, scatter};
pub use scan::{exscan, scan};

use alloc::vec::Vec;

/// A rank of the communicator.
pub type Rank = u32;

/// A buffer of the call, or one that holds a contribution in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    Send,
    Receive,
    Scratch(u8),
}

/// The most scratch buffers of a schedule.
pub const SCRATCH: usize = 3;

/// What of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferPart {
    pub buffer: Buffer,
    /// The part for or of a rank, or a neighbour, by its number; all of it.
    pub part: Option<Rank>,
}

impl BufferPart {
    pub const fn whole(buffer: Buffer) -> BufferPart {
        BufferPart { buffer, part: None }
    }

    pub const fn part(buffer: Buffer, rank: Rank) -> BufferPart {
        BufferPart { buffer, part: Some(rank) }
    }
}

/// One message, or one step of this rank's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Sends what is there; nothing, and it only tells.
    Send {
        to: Rank,
        from: Option<BufferPart>,
    },
    Receive {
        from: Rank,
        into: Option<BufferPart>,
    },
    Copy {
        from: BufferPart,
        into: BufferPart,
    },
    /// `into` becomes `left ∘ into`.
    Fold {
        left: BufferPart,
        into: BufferPart,
    },
    /// Alone in its round: the first rank of each node folds what is in `from` with that of all other nodes' into `into`, or, without any, waits for them. How is not a
    /// matter of messages, and in which order they are folded not one of the schedule.
    Together {
        from: Option<BufferPart>,
        into: Option<BufferPart>,
    },
}

/// A rank's part: rounds one after another. The messages of a round are all begun, then all completed; then come its copies and folds, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule(pub Vec<Vec<Step>>);

impl Schedule {
    fn round(&mut self, steps: impl IntoIterator<Item = Step>) {
        self.0.push(steps.into_iter().collect());
    }

    /// Every message's peer is below `ranks`, and every scratch buffer below [`SCRATCH`].
    pub fn is_sound(&self, ranks: Rank) -> bool {
        let place = |place: BufferPart| match place.buffer {
            Buffer::Scratch(number) => (number as usize) < SCRATCH,
            Buffer::Send | Buffer::Receive => true,
        };
        self.0.iter().flatten().all(|step| match *step {
            Step::Send { to: peer, from: at } | Step::Receive { from: peer, into: at } => {
                peer < ranks && at.is_none_or(place)
            }
            Step::Copy { from, into } | Step::Fold { left: from, into } => place(from) && place(into),
            Step::Together { from, into } => from.is_none_or(place) && into.is_none_or(place),
        })
    }
}
