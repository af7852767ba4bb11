//! Figures of chapters 6 and 7 of Chai's dissertation: the hybrid, and the channels beside each other.

use super::applications::{self, BASE};
use super::list::{Drawn, by_messages, of_applications, of_profiles};
use super::values::{is_above, is_below, value};
use super::{late, node_misses, profiles};
use crate::node::figures::{Form, Panel, Ranks, panel};
use crate::node::results::Measurement;

/// They.
pub const DRAWN: &[Drawn] = &[
    Drawn {
        number: "6.2",
        title: "Multi-pair bandwidth",
        panels: &[Panel {
            ranks: Ranks::All,
            ..panel('a', "All pairs, same buffers", &["mbw_reuse"], "Bandwidth")
        }],
        claim: "Between cores with a common cache, copying twice is better up to 32 KB, beyond it the kernel's copy.",
        holds: |all| {
            let small = is_above(all, "mbw_reuse", ["shm-basic", "limic2"], &[16_384])?;
            Some(small && is_above(all, "mbw_reuse", ["limic2", "shm-basic"], &[1 << 20])?)
        },
    },
    Drawn {
        number: "6.3",
        title: "Impact of buffer reuse",
        panels: &[
            Panel { ranks: Ranks::All, ..panel('a', "Same buffers", &["mbw_reuse"], "Bandwidth") },
            Panel {
                ranks: Ranks::All,
                ..panel('b', "Other buffers each time", &["mbw_no_reuse"], "Bandwidth")
            },
        ],
        claim: "Buffers that are used again make medium messages faster, by shared memory and by the kernel.",
        holds: |all| {
            let faster = |path| {
                let with = value(all, "mbw_reuse", path, Some(65_536))?;
                Some(with > value(all, "mbw_no_reuse", path, Some(65_536))?)
            };
            Some(faster("shm-basic")? && faster("limic2")?)
        },
    },
    Drawn {
        number: "6.4",
        title: "Misses of the second-level cache",
        panels: &[
            Panel {
                program: node_misses::PROGRAM,
                ..panel('a', "All cores", &[node_misses::WINDOWS], "Misses")
            },
            Panel {
                program: node_misses::PROGRAM,
                form: Form::LinesOver(BASE),
                ..panel('b', "Beside shared memory's", &[node_misses::WINDOWS], "Misses")
            },
        ],
        claim: "The kernel's copy (limic2) misses the cache less often at every size from 1 KB on, by about 7 % above 16 KB, since it has no buffer between. (Counted on a node, with a cache of 2 MB for each \
                core, which is a core's part of the document's; a store misses, too, where another core has the line. Windows of 64 messages from buffers that are written anew for each. Here limic2 has the \
                kernel copy all of these.)",
        holds: node_misses::kernel_misses_less,
    },
    Drawn {
        number: "6.5",
        title: "Process skew benchmark",
        panels: &[Panel {
            program: late::PROGRAM,
            ..panel('a', "Producer, by what the consumer computes", &[late::TEST], "Time for a message")
        }],
        claim: "The figure is the benchmark's algorithm: 64 messages of 16 KB, c1 = 1 us. Of it the document expects that by shared memory the producer takes c1 and its sends, by the kernel's copy all receives \
                and the consumer's computation c2 as well. (Here for one message, and with the hybrid switching at 1 KiB, with thresholds by skew and without. Holds if by limic2, and without them, the producer \
                takes nine tenths of c2 or more at 100 us, and with them at most 1.2 times as long as by shared memory at 50 us.)",
        holds: late::skew_is_overcome,
    },
    Drawn {
        number: "6.6",
        title: "Impact of process skew",
        panels: &[panel('a', "Producer, by what the consumer computes", &["skew_by_computing"], "Latency")],
        claim: "By kernel copy (limic2) the producer waits for the consumer's computation, by shared memory it does not.",
        holds: |all| {
            let at_100 = |path| value(all, "skew_by_computing", path, Some(100));
            Some(at_100("limic2")? > 50.0 && at_100("shm-basic")? < 0.5 * at_100("limic2")?)
        },
    },
    Drawn {
        number: "6.7",
        title: "Multi-pair bandwidth with thresholds by topology",
        panels: &[Panel {
            ranks: Ranks::All,
            ..panel('a', "All pairs, same buffers", &["mbw_reuse"], "Bandwidth")
        }],
        claim: "With switch points of 32, 2 and 1 KB by topology the hybrid has the best of both; here: at least 0.95 of the better at 1 KiB and 1 MiB.",
        holds: |all| {
            let sizes = [1024, 1 << 20].map(|size| {
                let at = |path| value(all, "mbw_reuse", path, Some(size));
                Some(at("hybrid")? >= 0.95 * at("shm-basic")?.max(at("limic2")?))
            });
            sizes.into_iter().collect::<Option<Vec<bool>>>().map(|good| good.into_iter().all(|it| it))
        },
    },
    Drawn {
        number: "6.8",
        title: "Impact of thresholds by skew",
        panels: &[panel('a', "Producer, by what the consumer computes", &["skew_by_computing"], "Latency")],
        claim: "With thresholds by skew (hybrid) the producer waits about as long as by shared memory; here: at most 1.2 times at 50 us. (Between cores with a common cache, hybrid copies 16 KiB twice anyway.)",
        holds: |all| {
            let at_50 = |path| value(all, "skew_by_computing", path, Some(50));
            Some(at_50("hybrid")? <= 1.2 * at_50("shm-basic")?)
        },
    },
    Drawn {
        number: "6.9",
        title: "Collectives by messages",
        panels: &[
            by_messages('a', "MPI_Alltoall", &["alltoall"]),
            by_messages('b', "MPI_Allgather", &["allgather"]),
            by_messages('c', "MPI_Allreduce", &["allreduce"]),
        ],
        claim: "With the hybrid, large alltoalls, allgathers and allreduces take up to 60, 28 and 21 % less time. (Here ranks are apart, so that collectives go by messages; judged at 256 KiB.)",
        holds: |all| {
            let each = ["alltoall", "allgather", "allreduce"]
                .map(|test| is_below(all, test, ["hybrid", "shm-basic"], &[1 << 18]));
            each.into_iter().collect::<Option<Vec<bool>>>().map(|better| better.into_iter().all(|it| it))
        },
    },
    Drawn {
        number: "6.10",
        title: "Applications over the hybrid",
        panels: &[of_applications(
            'a',
            "The bundled programs",
            &[applications::PROGRAMS],
            "Time",
            Form::BarsOver(BASE),
        )],
        claim: "The hybrid improves FT by 8, PSTSWM by 14 and IS by 17 %, others by less than 5 %. (Here: IS, CG, heat and MD of the bundled programs, all messages and collectives over the path; IS alone is judged.)",
        holds: |all| {
            let sorts: Vec<Measurement> = all.iter().filter(|one| one.of == "is").cloned().collect();
            applications::is_better(&sorts, applications::PROGRAMS, "hybrid")
        },
    },
    Drawn {
        number: "6.11",
        title: "Misses of the second-level cache in applications",
        panels: &[Panel {
            program: node_misses::PROGRAM,
            ..of_applications(
                'a',
                "The bundled programs",
                &[node_misses::APPLICATIONS],
                "Misses",
                Form::BarsOver(BASE),
            )
        }],
        claim: "Over the hybrid FT, PSTSWM and IS, whose messages are large, miss the cache less often. (Here: IS, CG, heat and MD of the bundled programs on a node, all messages and collectives over the path; \
                caches as in figure 6.4; IS alone is judged.)",
        holds: node_misses::sort_misses_less,
    },
    Drawn {
        number: "table-6.1",
        title: "Message sizes of applications",
        panels: &[
            of_profiles('a', "The document's programs", &[profiles::SIZES_THERE]),
            of_profiles('b', "The bundled programs", &[profiles::SIZES_HERE]),
        ],
        claim: "FT, PSTSWM and IS, which the hybrid improves, send mostly large messages, the others but BT and SP mostly small ones. (Here: holds if IS has the largest share above 32 KiB of the bundled \
                programs on 8 ranks.)",
        holds: profiles::sort_is_longest,
    },
    Drawn {
        number: "6.12",
        title: "Applications on several nodes",
        panels: &[of_applications(
            'a',
            "The bundled programs on two nodes",
            &[applications::CLUSTER],
            "Time",
            Form::BarsOver(BASE),
        )],
        claim: "On 8 nodes of 8 processes, too, the hybrid improves applications, PSTSWM by 6 %. (Here: on two nodes of two ranks, which share this machine's cores; IS alone is judged.)",
        holds: |all| {
            let sorts: Vec<Measurement> = all.iter().filter(|one| one.of == "is").cloned().collect();
            applications::is_better(&sorts, applications::CLUSTER, "hybrid")
        },
    },
    Drawn {
        number: "7.1",
        title: "What a look for messages costs",
        panels: &[Panel {
            ranks: Ranks::Each,
            ..panel('a', "MPI_Iprobe of any source", &["polling"], "Time")
        }],
        claim: "Looks grow with the ranks, those of the network (0.03 us a connection, or 0.3 us for a queue of all) faster than those of shared memory (0.06 us). (Here the network is loopback; judged from 4 ranks on.)",
        holds: |all| {
            let growth = |path: &str| {
                let own = || all.iter().filter(|one| one.test == "polling" && one.transport == path);
                let (few, many) = (own().min_by_key(|one| one.ranks)?, own().max_by_key(|one| one.ranks)?);
                (many.ranks >= 4).then_some(many.value / few.value)
            };
            Some(growth("loopback")? > growth("shm-basic")?)
        },
    },
    Drawn {
        number: "7.5",
        title: "Latency and bandwidth of the channels",
        panels: &[
            panel('a', "Half round trip", &["latency"], "Latency"),
            panel('b', "Window of messages", &["bw"], "Bandwidth"),
            Panel {
                form: Form::LinesOver("smartmap"),
                ..panel('c', "Half round trip beside smartmap's", &["latency"], "Latency")
            },
        ],
        claim: "Below 4 KB the shared-memory channel is better, above it the kernel's. (limic2 takes the former up to 4 KiB; here: at 64 KiB and 1 MiB.)",
        holds: |all| is_below(all, "latency", ["limic2", "shm-basic"], &[65_536, 1 << 20]),
    },
    Drawn {
        number: "7.6",
        title: "Overlap of computation and communication",
        panels: &[
            panel('a', "Total by computing, 4 B", &["busy_short"], "Total"),
            panel('b', "Total by computing, 128 KiB", &["busy_long"], "Total"),
        ],
        claim: "The network's channel (loopback) hides messages of 128 KB behind computing, since nobody's processor moves them; the kernel's channel hides them better than shared memory. Here the processor is the \
                card, too, unless a core is spare: only the second is judged, at 100 us.",
        holds: |all| is_below(all, "busy_long", ["limic2", "shm-basic"], &[100]),
    },
];
