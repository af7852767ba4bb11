//! The figures of the SMARTMAP paper that one node can answer.

use super::list::Drawn;
use super::values::{is_above, value};
use crate::node::figures::{Panel, Ranks, SHMEM, panel};

/// They.
pub const DRAWN: &[Drawn] = &[
    Drawn {
        number: "4",
        title: "SHMEM put",
        panels: &[
            Panel { program: SHMEM, unit: "us", ..panel('a', "SHMEM put, one way", &["netpipe"], "Latency") },
            Panel { program: SHMEM, unit: "MB/s", ..panel('b', "SHMEM put", &["netpipe"], "Bandwidth") },
        ],
        claim: "A byte takes 230 ns with SMARTMAP, more than 5 us through the operating system. (Beside it here: the floor, without a library.)",
        holds: |_| None,
    },
    Drawn {
        number: "5",
        title: "MPI point to point",
        panels: &[
            panel('a', "MPI ping-pong, half round trip", &["latency"], "Latency"),
            panel('b', "MPI bandwidth, window of messages", &["bw"], "Bandwidth"),
            panel('c', "MPI exchange", &["exchange"], "Bandwidth"),
            panel('d', "MPI sendrecv", &["sendrecv"], "Bandwidth"),
        ],
        claim: "One copy by SMARTMAP beats the copy by the system and two through shared memory: no bytes in 630 ns, at most 9.4 GB/s (5.7 by the system).",
        holds: |all| {
            let two = is_above(all, "bw", ["smartmap", "shm-basic"], &[65_536, 1 << 20])?;
            Some(two && is_above(all, "bw", ["smartmap", "limic2"], &[65_536, 1 << 20])?)
        },
    },
    Drawn {
        number: "6",
        title: "MPI message rate",
        panels: &[Panel {
            ranks: Ranks::All,
            ..panel('a', "MPI message rate, all pairs", &["mbw_mr"], "Rate")
        }],
        claim: "With one pair shared memory has the higher rate of short messages (3.5 to 2.4 million a second), since its sends need no receiver.",
        holds: |all| is_above(all, "mbw_mr", ["shm-basic", "smartmap"], &[1]),
    },
    Drawn {
        number: "7",
        title: "MPI halo exchange",
        panels: &[Panel { ranks: Ranks::All, ..panel('a', "MPI halo exchange", &["halo"], "Time") }],
        claim: "SMARTMAP is better within a node. (The document: 16 ranks on four nodes.)",
        holds: |all| Some(value(all, "halo", "smartmap", None)? < value(all, "halo", "shm-basic", None)?),
    },
    Drawn {
        number: "8",
        title: "MPI collectives",
        panels: &[
            Panel { ranks: Ranks::All, ..panel('a', "MPI broadcast", &["bcast"], "Latency") },
            Panel { ranks: Ranks::All, ..panel('b', "MPI reduce", &["reduce"], "Latency") },
            Panel { ranks: Ranks::All, ..panel('c', "MPI allreduce", &["allreduce"], "Latency") },
            Panel { ranks: Ranks::All, ..panel('d', "MPI alltoall", &["alltoall"], "Latency") },
            Panel { ranks: Ranks::Each, ..panel('e', "MPI barrier", &["barrier"], "Latency") },
        ],
        claim: "Collectives in place beat those by messages. (Here all paths have them in place: nothing to compare.)",
        holds: |_| None,
    },
];
