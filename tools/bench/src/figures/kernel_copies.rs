//! Figures of chapters 4 and 5 of Chai's dissertation: copies by the kernel and by copy engines.

use super::applications::{self, BASE};
use super::list::{Drawn, of_applications, of_profiles};
use super::values::is_below;
use super::{breakdown, effective, profiles};
use crate::node::figures::{Form, Panel, Ranks, panel};

/// Parts of the kernel's copy, one bar on the other.
const fn parts(letter: char, title: &'static str, tests: &'static [&'static str]) -> Panel {
    Panel { program: breakdown::PROGRAM, form: Form::Stacked, ..panel(letter, title, tests, "Share") }
}

/// They.
pub const DRAWN: &[Drawn] = &[
    Drawn {
        number: "table-4.1",
        title: "Effective bandwidth",
        panels: &[
            Panel {
                ranks: Ranks::All,
                ..panel('a', "Latency of ping-pong, ring, random rings", &["b_eff_latency"], "Latency")
            },
            Panel {
                ranks: Ranks::All,
                ..panel('b', "All ranks' bandwidth, alike", &["b_eff_bandwidth"], "Bandwidth")
            },
            Panel {
                program: effective::PROGRAM,
                form: Form::BarsOver(BASE),
                ..panel('c', "The document's, and the ring here", &[effective::TEST], "Bandwidth")
            },
        ],
        claim: "The kernel's copy (limic) improves the effective bandwidth of two processes on a node by 61 % on cluster A and by 31 % on B; the more processes, the less (12 and 5 % on 16). (Here: more than \
                shared memory in the ring.)",
        holds: |all| {
            let here = |path| {
                let own =
                    all.iter().filter(|one| one.program == effective::PROGRAM && one.of == effective::HERE);
                own.filter(|one| one.transport == path).map(|one| one.value).next()
            };
            Some(here("limic")? > here(BASE)?)
        },
    },
    Drawn {
        number: "table-4.2",
        title: "Message sizes of an integer sort by ranks",
        panels: &[of_profiles('a', "Messages from 1 KiB on", &[profiles::SORT])],
        claim: "The more processes share the sort, the shorter its long messages: 4 MB and more on two, 32 to 256 KB on sixteen. (Here: the bundled sort of as many keys as class A has; counts are shares, \
                since that of NAS sorts eleven times, and counts its keys by messages of 4 KB.)",
        holds: profiles::shrinks,
    },
    Drawn {
        number: "4.3",
        title: "Latency and bandwidth by kernel copy",
        panels: &[
            panel('a', "Half round trip", &["latency"], "Latency"),
            panel('b', "Window of messages", &["bw"], "Bandwidth"),
        ],
        claim: "One copy by the kernel (limic2) beats two through shared memory for large messages.",
        holds: |all| is_below(all, "latency", ["limic2", "shm-basic"], &[262_144, 1 << 20, 4 << 20]),
    },
    Drawn {
        number: "4.4",
        title: "Cost breakdown of the kernel's copy",
        panels: &[
            parts('a', "A message, by time", &[breakdown::MESSAGE]),
            parts('b', "Describing a buffer, by time", &[breakdown::POST]),
            parts('c', "A message, by instructions", &[breakdown::INSTRUCTIONS]),
        ],
        claim: "At 4 KB the trap takes 55 % (3 us), queues and locks 12 % (0.5 us), and mapping and copy the rest; the longer the message, the more the copy prevails. Describing a buffer is mapping its pages, \
                more of them the longer it is. (Here nothing is mapped; both calls are limic2's.)",
        holds: breakdown::copying_prevails,
    },
    Drawn {
        number: "4.5",
        title: "Time of an integer sort",
        panels: &[of_applications('a', "IS by keys", &[applications::SORT_LIMIC], "Time", Form::Lines)],
        claim: "With the kernel's copy (limic) IS takes 10, 8 and 5 % less time for classes A, B and C on 16 processes. (Here: the bundled sort, by MPI_Alltoallv over messages between ranks that are apart.)",
        holds: |all| applications::is_better(all, applications::SORT_LIMIC, "limic"),
    },
    Drawn {
        number: "4.6",
        title: "Improvement of an integer sort",
        panels: &[of_applications(
            'a',
            "IS by keys",
            &[applications::SORT_LIMIC],
            "Time",
            Form::BarsOver(BASE),
        )],
        claim: "The kernel's copy (limic) improves IS by up to 10 %.",
        holds: |all| applications::is_better(all, applications::SORT_LIMIC, "limic"),
    },
    Drawn {
        number: "4.7",
        title: "Integer sort over the second generation of the kernel's copy",
        panels: &[of_applications(
            'a',
            "IS by keys",
            &[applications::SORT_LIMIC2],
            "Time",
            Form::BarsOver(BASE),
        )],
        claim: "LiMIC2 improves IS by up to 18 %.",
        holds: |all| applications::is_better(all, applications::SORT_LIMIC2, "limic2"),
    },
    Drawn {
        number: "5.3",
        title: "Latency and bandwidth of asynchronous copies",
        panels: &[
            panel('a', "Half round trip", &["latency"], "Latency"),
            panel('b', "Window of messages", &["bw"], "Bandwidth"),
        ],
        claim: "Above 32 KB a copy by a worker (mcni) beats two through shared memory. (By a copy engine, mci, latency is up to 72 % better; here the engine is a model in software, so only mcni is judged.)",
        holds: |all| is_below(all, "latency", ["mcni", "shm-basic"], &[262_144, 1 << 20, 4 << 20]),
    },
    Drawn {
        number: "5.4",
        title: "Integer sort over asynchronous copies",
        panels: &[of_applications(
            'a',
            "IS by keys",
            &[applications::SORT_ENGINES],
            "Time",
            Form::BarsOver(BASE),
        )],
        claim: "Asynchronous copies improve IS by up to 12 %, and PSTSWM, which is not bundled, by up to 7 %. (Here the engine is a model in software, so only mcni is judged.)",
        holds: |all| applications::is_better(all, applications::SORT_ENGINES, "mcni"),
    },
    Drawn {
        number: "table-5.3",
        title: "Message sizes of an integer sort",
        panels: &[of_profiles('a', "Messages", &[profiles::SORT_SHARES])],
        claim: "Of IS's messages 32 % on two processes and 29 % on four have above 1 MB, in classes A, B and C alike; of PSTSWM's (small; medium is alike) nearly all are large. (Here: the bundled sort of as many \
                keys as class A has, which sorts once and checks the order by short messages; holds if a quarter on two ranks have above 1 MiB.)",
        holds: profiles::sort_is_long,
    },
];
