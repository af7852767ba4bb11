//! Figures of chapters 2 and 3 of Chai's dissertation: how applications communicate, and messages through shared memory.

use super::applications::BASE;
use super::distribution::{MESSAGES, VOLUME};
use super::list::{Drawn, by_messages, of_applications, of_profiles};
use super::values::{is_above, is_below, value};
use super::{applications, distances, levels, misses, profiles};
use crate::node::figures::{Form, Panel, Ranks, panel};
use crate::node::results::Measurement;

/// Ranks from which on the lines of the dissertation's figure 3.5 are apart.
const MANY: u64 = 16;

/// Of an application's messages, by size and distance: see [`super::distribution`].
const fn distribution(
    letter: char,
    title: &'static str,
    program: &'static str,
    counted: &'static [&'static str],
) -> Panel {
    Panel { program, ranks: Ranks::All, ..panel(letter, title, counted, "Share") }
}

/// The value of what is nearer by the value of what is further away, at the least size; none where this machine has one distance only.
fn near_is_better(all: &[Measurement], test: &str) -> Option<f64> {
    let at = |distance| value(all, test, &distances::line("shm-basic", distance), Some(64));
    let mut known = ["shared-cache", "package", "node"].into_iter().filter_map(at);
    Some(known.next()? / known.next_back()?)
}

/// They.
pub const DRAWN: &[Drawn] = &[
    Drawn {
        number: "2.1",
        title: "Levels of communication",
        panels: &[
            Panel { program: levels::PROGRAM, ..panel('a', "Half round trip", &["latency"], "Latency") },
            Panel { program: levels::PROGRAM, ..panel('b', "Window of messages", &["bw"], "Bandwidth") },
        ],
        claim: "Small messages take 0.42 us within a chip, 0.89 between chips, 2.83 between nodes; at most 6684, 1258 and 1532 MB/s pass. (Here two levels: a node, and two on this machine. \
                Distances within a node are those of figures 3.11 and 3.12.)",
        holds: |all| {
            Some(
                value(all, "latency", levels::WITHIN, Some(8))?
                    < value(all, "latency", levels::BETWEEN, Some(8))?,
            )
        },
    },
    Drawn {
        number: "2.2",
        title: "Message distribution of particles and of a grid",
        panels: &[
            distribution('a', "MD, messages", "md", &[MESSAGES]),
            distribution('b', "MD, volume of data", "md", &[VOLUME]),
            distribution('c', "Heat, messages", "heat", &[MESSAGES]),
            distribution('d', "Heat, volume of data", "heat", &[VOLUME]),
        ],
        claim: "Of NAMD's messages 90 % have 4 to 64 KB, most of which leave the node. (Here: MD and heat of the bundled programs, all on one node; point to point.)",
        holds: |_| None,
    },
    Drawn {
        number: "2.3",
        title: "Message distribution of a solver",
        panels: &[
            distribution('a', "CG, messages", "cg", &[MESSAGES]),
            distribution('b', "CG, volume of data", "cg", &[VOLUME]),
        ],
        claim: "Most of HPL's messages are small, and most of its data is in those above 256 KB. (Here: CG of the bundled programs, all on one node; point to point. IS sends by MPI_Alltoallv alone, which is no message.)",
        holds: |_| None,
    },
    Drawn {
        number: "table-2.1",
        title: "Message distribution by distance",
        panels: &[
            of_profiles('a', "Messages", &[profiles::NEAR_MESSAGES]),
            of_profiles('b', "Volume of data", &[profiles::NEAR_VOLUME]),
        ],
        claim: "About half of the messages stay within a node, far more than if every process spoke as often to every other (20 % on 4 nodes of 4). (Here: the bundled programs on as many nodes and ranks; \
                collectives are messages, as there; twice as many are far more.)",
        holds: profiles::stay_within,
    },
    Drawn {
        number: "2.4",
        title: "Message distribution on many ranks",
        panels: &[of_profiles('a', "HPL on 256 ranks, CG", &[profiles::MANY_RANKS])],
        claim: "Even on 32 nodes of 8 cores, 58 % of HPL's messages and 23 % of its data stay within a node, of which evenly spread would be 3 %. (Here: CG on 4 nodes of 8 ranks, where it would be 23 %.)",
        holds: profiles::stay_within_on_many,
    },
    Drawn {
        number: "2.5",
        title: "Applications on different configurations",
        panels: &[of_applications(
            'a',
            "The bundled programs",
            &[applications::CONFIGURATIONS],
            "Time",
            Form::BarsOver(applications::OWN_NODES),
        )],
        claim: "Processes of one node contend for its caches and memory: IS, FT, CG, SP and HPL take longer on 4 cores of one node than on a core each of 4. (Here nodes are on one machine and have its caches \
                and memory in common, so what is left is the network's price; IS and CG are judged.)",
        holds: applications::contend,
    },
    Drawn {
        number: "2.6",
        title: "Effect of data tiling",
        panels: &[Panel {
            program: applications::PROGRAM,
            ranks: Ranks::All,
            ..panel('a', "A round, by the bytes of a tile", &[applications::TILES], "Time")
        }],
        claim: "Tiles of 256 KB are faster than all data at once, by up to 70 % between cores with a common cache (64 MB; here 16 MiB).",
        holds: |all| {
            let whole = value(all, applications::TILES, BASE, None)?;
            Some(value(all, applications::TILES, BASE, Some(256 << 10))? < whole)
        },
    },
    Drawn {
        number: "2.7",
        title: "Scalability of applications",
        panels: &[of_applications('a', "Speed-up", &[applications::SPEEDUP], "Speed-up", Form::Lines)],
        claim: "Some applications have almost the ideal speed-up (MG, LU), others contend for caches and memory (IS, FT, CG). (Here: the bundled programs, beside one rank; nine tenths of the ideal are almost.)",
        holds: applications::some_scale,
    },
    Drawn {
        number: "3.5",
        title: "Memory within a node",
        panels: &[Panel { ranks: Ranks::Each, ..panel('a', "Memory of all ranks", &["memory"], "Memory") }],
        claim: "The new design (shm-advanced) takes less memory than the basic one from a number of ranks on.",
        holds: |all| {
            let is_less =
                value(all, "memory", "shm-advanced", None)? < value(all, "memory", "shm-basic", None)?;
            let most = all.iter().filter(|one| one.test == "memory").map(|one| one.ranks).max()?;
            // Few ranks say nothing of many: the pool of the new design does not grow with them.
            (is_less || most >= MANY).then_some(is_less)
        },
    },
    Drawn {
        number: "3.6",
        title: "Latency of the two shared-memory designs",
        panels: &[panel('a', "Half round trip", &["latency"], "Latency")],
        claim: "Small and medium messages are faster by the new design (shm-advanced).",
        holds: |all| is_below(all, "latency", ["shm-advanced", "shm-basic"], &[8, 64, 1024]),
    },
    Drawn {
        number: "3.7",
        title: "Bandwidth of the two shared-memory designs",
        panels: &[panel('a', "Window of messages", &["bw"], "Bandwidth")],
        claim: "The new design (shm-advanced) has the higher bandwidth for medium and large messages.",
        holds: |all| is_above(all, "bw", ["shm-advanced", "shm-basic"], &[4096, 65_536, 1 << 20]),
    },
    Drawn {
        number: "3.8",
        title: "Misses of the second-level cache",
        panels: &[Panel {
            program: misses::PROGRAM,
            ..panel('a', "The receiver, by valgrind", &[misses::TEST], "Misses")
        }],
        claim: "The new design (shm-advanced) misses the cache less often. (Counted as there, by valgrind, for a cache of as many bytes; of a window of messages from and to the same buffers.)",
        holds: |all| is_below(all, misses::TEST, ["shm-advanced", "shm-basic"], &[16_384, 65_536]),
    },
    Drawn {
        number: "3.9",
        title: "Barrier by messages",
        panels: &[Panel { ranks: Ranks::Each, ..by_messages('a', "MPI_Barrier", &["barrier"]) }],
        claim: "The new design (shm-advanced) is faster by 17 % on 2 processes and by 19 % on 4. (Here ranks are apart, so that collectives go by messages.)",
        holds: |all| {
            Some(value(all, "barrier", "shm-advanced", None)? < value(all, "barrier", "shm-basic", None)?)
        },
    },
    Drawn {
        number: "3.10",
        title: "Alltoall by messages",
        panels: &[by_messages('a', "MPI_Alltoall", &["alltoall"])],
        claim: "The new design (shm-advanced) is faster, by up to 10 % for small and medium messages, by 25 % for large ones. (Here ranks are apart, so that collectives go by messages.)",
        holds: |all| is_below(all, "alltoall", ["shm-advanced", "shm-basic"], &[1024, 65_536]),
    },
    Drawn {
        number: "3.11",
        title: "Latency by distance",
        panels: &[Panel {
            program: distances::PROGRAM,
            ..panel('a', "A message of a window", &[distances::TIME], "Time")
        }],
        claim: "Small messages are faster on a chip than between chips. (Here: at the distances that this machine has.)",
        holds: |all| near_is_better(all, distances::TIME).map(|ratio| ratio < 1.0),
    },
    Drawn {
        number: "3.12",
        title: "Bandwidth by distance",
        panels: &[Panel {
            program: distances::PROGRAM,
            ..panel('a', "A window of messages", &[distances::RATE], "Bandwidth")
        }],
        claim: "More small messages pass on a chip than between chips. (Here: at the distances that this machine has.)",
        holds: |all| near_is_better(all, distances::RATE).map(|ratio| ratio > 1.0),
    },
];
