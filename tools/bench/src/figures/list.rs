//! The figures of the source documents that one node can answer: which tests draw each, what the document concludes from it, and whether that holds in what has
//! been measured. Numbers are the documents' own.

use super::distribution::{MESSAGES, VOLUME};
use super::smartmap;
use crate::node::figures::{Panel, Ranks, panel};
use crate::node::results::Measurement;

/// A figure that can be drawn.
#[derive(Debug)]
pub struct Drawn {
    pub number: &'static str,
    pub title: &'static str,
    pub panels: &'static [Panel],
    /// What the document concludes, and the numbers that it prints.
    pub claim: &'static str,
    /// Whether it holds; none if what it is about has not been measured.
    pub holds: fn(&[Measurement]) -> Option<bool>,
}

/// One that cannot, and what is missing.
#[derive(Debug)]
pub struct Missing {
    pub number: &'static str,
    pub why: &'static str,
}

/// The value of a test by a transport: at a size, or the last.
pub fn value(all: &[Measurement], test: &str, transport: &str, of: Option<u64>) -> Option<f64> {
    let of = of.map(|of| of.to_string());
    let is_it = |one: &&Measurement| {
        one.test == test && one.transport == transport && of.as_ref().is_none_or(|of| *of == one.of)
    };
    all.iter().rfind(is_it).map(|one| one.value)
}

/// Whether the first transport's value is below the second's, for every one of these sizes.
fn is_below(all: &[Measurement], test: &str, transports: [&str; 2], sizes: &[u64]) -> Option<bool> {
    let each = sizes.iter().map(|size| {
        let [first, second] = transports.map(|transport| value(all, test, transport, Some(*size)));
        Some(first? < second?)
    });
    each.collect::<Option<Vec<bool>>>().map(|below| below.into_iter().all(|it| it))
}

/// The same for a rate: larger is better.
pub fn is_above(all: &[Measurement], test: &str, transports: [&str; 2], sizes: &[u64]) -> Option<bool> {
    let [first, second] = transports;
    is_below(all, test, [second, first], sizes)
}

/// Ranks from which on the lines of the dissertation's figure 3.5 are apart.
const MANY: u64 = 16;

const NO_IS: &str = "IS sends by MPI_Alltoallv alone, which works in the peers' memory, whatever the path";
const NO_APPLICATIONS: &str = "the document's applications are not bundled";
const NO_COUNTERS: &str = "caches are not counted";
const NO_ENGINE: &str = "IS sends by MPI_Alltoallv alone, which works in the peers' memory, whatever the path; PSTSWM is not bundled";
const NO_LOOKS: &str = "there is no test of what a look costs by the number of peers";

/// Of an application's messages, by size and distance: see [`super::distribution`].
const fn distribution(
    letter: char,
    title: &'static str,
    program: &'static str,
    counted: &'static [&'static str],
) -> Panel {
    Panel { program, ranks: Ranks::All, ..panel(letter, title, counted, "Share") }
}

/// Figures of Chai's dissertation.
const CHAI: &[Drawn] = &[
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
        number: "2.6",
        title: "Effect of data tiling",
        panels: &[Panel {
            ranks: Ranks::All,
            ..panel('a', "A round, by the bytes of a tile", &["tiling"], "Time")
        }],
        claim: "Tiles of 256 KB are faster than all data at once, by up to 70 % between cores with a common cache (64 MB; here 16 MiB).",
        holds: |all| {
            let whole = value(all, "tiling", "shm-basic", None)?;
            Some(value(all, "tiling", "shm-basic", Some(256 << 10))? < whole)
        },
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
        number: "4.1",
        title: "Effective bandwidth, which is table 4.1",
        panels: &[
            Panel { ranks: Ranks::All, ..panel('a', "Latency by pattern", &["b_eff_latency"], "Latency") },
            Panel {
                ranks: Ranks::All,
                ..panel('b', "All ranks' bandwidth by pattern", &["b_eff_bandwidth"], "Bandwidth")
            },
        ],
        claim: "The kernel's copy (limic) improves the effective bandwidth of two processes on a node by 61 % (here: more than shared memory in rings).",
        holds: |all| is_above(all, "b_eff_bandwidth", ["limic", "shm-basic"], &[2, 3]),
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
        number: "7.5",
        title: "Latency and bandwidth of the channels",
        panels: &[
            panel('a', "Half round trip", &["latency"], "Latency"),
            panel('b', "Window of messages", &["bw"], "Bandwidth"),
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

const CHAI_MISSING: &[Missing] = &[
    Missing {
        number: "2.1",
        why: "a run has two levels of communication at most: within a node, or between nodes",
    },
    Missing { number: "2.4", why: "it is of 256 cores" },
    Missing { number: "2.5", why: NO_APPLICATIONS },
    Missing { number: "2.7", why: NO_APPLICATIONS },
    Missing { number: "3.8", why: NO_COUNTERS },
    Missing { number: "3.9", why: "a barrier works in the peers' memory, whatever the path" },
    Missing { number: "3.10", why: "collectives work in the peers' memory, whatever the path" },
    Missing { number: "3.11", why: "it needs cores of one package and of two" },
    Missing { number: "3.12", why: "it needs cores of one package and of two" },
    Missing { number: "4.4", why: "it is a table: mpi-bench kernel_copy" },
    Missing { number: "4.5", why: NO_IS },
    Missing { number: "4.6", why: NO_IS },
    Missing { number: "4.7", why: NO_IS },
    Missing { number: "4.8", why: NO_APPLICATIONS },
    Missing { number: "5.4", why: NO_ENGINE },
    Missing { number: "6.4", why: NO_COUNTERS },
    Missing { number: "6.5", why: "it is the benchmark of figures 6.6 and 6.8" },
    Missing { number: "6.9", why: "collectives work in the peers' memory, whatever the path" },
    Missing { number: "6.10", why: NO_APPLICATIONS },
    Missing { number: "6.11", why: NO_COUNTERS },
    Missing { number: "6.12", why: NO_APPLICATIONS },
    Missing { number: "7.1", why: NO_LOOKS },
];

/// A source document by the number of its file.
#[derive(Debug)]
pub struct Document {
    pub number: &'static str,
    pub title: &'static str,
    pub drawn: &'static [Drawn],
    pub missing: &'static [Missing],
}

/// Those that have figures one node can answer.
pub const DOCUMENTS: [Document; 2] = [
    Document { number: "000", title: "Chai's dissertation", drawn: CHAI, missing: CHAI_MISSING },
    Document { number: "001", title: "The SMARTMAP paper", drawn: smartmap::DRAWN, missing: &[] },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn one(test: &str, transport: &str, of: u64, value: f64) -> Measurement {
        Measurement {
            program: "mpi-bench".into(),
            test: test.into(),
            transport: transport.into(),
            ranks: 2,
            key: "bytes".into(),
            of: of.to_string(),
            value,
            unit: "us".into(),
            floor: None,
            ratio: None,
        }
    }

    fn figure(number: &str) -> &'static Drawn {
        CHAI.iter().find(|figure| figure.number == number).unwrap()
    }

    #[test]
    fn every_figure_stands_once_and_what_cannot_be_drawn_says_why() {
        for document in &DOCUMENTS {
            let drawn = document.drawn.iter().map(|figure| figure.number);
            let mut numbers: Vec<&str> = drawn.chain(document.missing.iter().map(|it| it.number)).collect();
            numbers.sort_unstable();
            let count = numbers.len();
            numbers.dedup();
            assert_eq!(numbers.len(), count, "{}", document.title);
        }
        assert!(CHAI_MISSING.iter().all(|missing| !missing.why.is_empty()));
    }

    #[test]
    fn a_conclusion_holds_or_does_not_or_cannot_be_said() {
        let skew = |hybrid, basic| {
            [one("skew_by_computing", "hybrid", 50, hybrid), one("skew_by_computing", "shm-basic", 50, basic)]
        };
        let holds = figure("6.8").holds;
        assert_eq!(holds(&skew(2.0, 1.8)), Some(true));
        assert_eq!(holds(&skew(48.0, 1.8)), Some(false));
        assert_eq!(holds(&skew(2.0, 1.8)[..1]), None);
        assert!(DOCUMENTS.iter().flat_map(|it| it.drawn).all(|figure| (figure.holds)(&[]).is_none()));
    }
}
