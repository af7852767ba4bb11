//! What sort of operation a call is, for ranks that look whether they are in the same one.

use lwk_place::CommRank;

/// What sort of operation a post belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Barrier = 1,
    Broadcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    NeighbourAllgather,
    NeighbourAlltoall,
    Exchange,
    /// The making of a persistent collective.
    Init,
    // The blocking forms that post a row: they do not match the others.
    BroadcastRow,
    GatherRow,
    ScatterRow,
    AllgatherRow,
    AlltoallRow,
    AlltoallPush,
    // The blocking forms of parts that differ, by lines.
    GatherParts,
    ScatterParts,
    AllgatherParts,
    AlltoallParts,
    NeighbourParts,
}

/// What stands for the root where there is none.
pub const NO_ROOT: CommRank = CommRank::FIRST;
