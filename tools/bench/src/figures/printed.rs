//! Numbers that the documents print in their text, each beside what was measured here.

use super::applications::{self, BASE};
use super::{apart, distances, levels, node_misses};
use crate::node::figures::{MPI, SHMEM};
use crate::node::results::Measurement;
use crate::peers::page::escaped;

/// One of them.
struct Printed {
    /// Document and figure.
    at: (&'static str, &'static str),
    what: &'static str,
    there: f64,
    unit: &'static str,
    /// The same here; none if it was not measured.
    here: fn(&[Measurement]) -> Option<f64>,
}

/// What is saved, in percent of the time.
const SAVED: &str = "% less time";

const fn printed(
    at: (&'static str, &'static str),
    what: &'static str,
    there: f64,
    unit: &'static str,
    here: fn(&[Measurement]) -> Option<f64>,
) -> Printed {
    Printed { at, what, there, unit, here }
}

/// They, by document and figure.
const PRINTED: [Printed; 25] = [
    printed(("000", "2.1"), "least time of a message within a node (within a chip)", 0.42, "us", |all| {
        least(all, levels::PROGRAM, "latency", levels::WITHIN)
    }),
    printed(("000", "2.1"), "least time of a message between nodes", 2.83, "us", |all| {
        least(all, levels::PROGRAM, "latency", levels::BETWEEN)
    }),
    printed(("000", "2.1"), "bandwidth within a node (within a chip)", 6684.0, "MB/s", |all| {
        most(all, levels::PROGRAM, "bw", levels::WITHIN)
    }),
    printed(("000", "2.1"), "bandwidth between nodes", 1532.0, "MB/s", |all| {
        most(all, levels::PROGRAM, "bw", levels::BETWEEN)
    }),
    printed(("000", "3.9"), "barrier by shm-advanced", 17.0, SAVED, |all| {
        saved(all, apart::PROGRAM, "barrier", ["shm-advanced", BASE])
    }),
    printed(("000", "3.10"), "alltoall by shm-advanced, at most", 25.0, SAVED, |all| {
        saved(all, apart::PROGRAM, "alltoall", ["shm-advanced", BASE])
    }),
    printed(("000", "3.12"), "bandwidth on a chip", 6684.0, "MB/s", |all| {
        most(all, distances::PROGRAM, distances::RATE, &distances::line(BASE, "shared-cache"))
    }),
    printed(("000", "4.6"), "IS by limic, at most", 10.0, SAVED, |all| {
        saved(all, applications::PROGRAM, applications::SORT_LIMIC, ["limic", BASE])
    }),
    printed(("000", "4.7"), "IS by limic2, at most", 18.0, SAVED, |all| {
        saved(all, applications::PROGRAM, applications::SORT_LIMIC2, ["limic2", BASE])
    }),
    printed(("000", "5.3"), "latency by mci, at most", 72.0, SAVED, |all| {
        saved(all, MPI, "latency", ["mci", BASE])
    }),
    printed(("000", "5.3"), "bandwidth by mci, at most", 170.0, "% more", |all| {
        // As many times the rate as the base's time is of the other's.
        saved(all, MPI, "bw", [BASE, "mci"]).map(|saved| 100.0 * (100.0 / (100.0 - saved) - 1.0))
    }),
    printed(("000", "5.4"), "IS by a copy engine, at most", 12.0, SAVED, |all| {
        saved(all, applications::PROGRAM, applications::SORT_ENGINES, ["mci", BASE])
    }),
    printed(("000", "6.4"), "misses above 16 KB by the kernel's copy, at most", 7.0, "% fewer", |all| {
        let long = all.iter().filter(|one| one.of.parse().is_ok_and(|bytes: u64| bytes > 16 << 10));
        let long: Vec<Measurement> = long.cloned().collect();
        saved(&long, node_misses::PROGRAM, node_misses::WINDOWS, ["limic2", BASE])
    }),
    printed(("000", "6.9"), "alltoall by hybrid, at most", 60.0, SAVED, |all| {
        saved(all, apart::PROGRAM, "alltoall", ["hybrid", BASE])
    }),
    printed(("000", "6.9"), "allgather by hybrid, at most", 28.0, SAVED, |all| {
        saved(all, apart::PROGRAM, "allgather", ["hybrid", BASE])
    }),
    printed(("000", "6.9"), "allreduce by hybrid, at most", 21.0, SAVED, |all| {
        saved(all, apart::PROGRAM, "allreduce", ["hybrid", BASE])
    }),
    printed(("000", "6.10"), "IS by hybrid", 17.0, SAVED, |all| {
        let sort = of_sort(all);
        saved(&sort, applications::PROGRAM, applications::PROGRAMS, ["hybrid", BASE])
    }),
    printed(("000", "7.1"), "a look by shared memory", 0.06, "us", |all| least(all, MPI, "polling", BASE)),
    printed(("000", "7.1"), "a look by the network's queue of all", 0.3, "us", |all| {
        least(all, MPI, "polling", "loopback")
    }),
    printed(("001", "4"), "least time of a put", 0.23, "us", |all| {
        least_in(all, SHMEM, "netpipe", "smartmap", "us")
    }),
    printed(("001", "5"), "least half of a round trip", 0.63, "us", |all| {
        least(all, MPI, "latency", "smartmap")
    }),
    printed(("001", "5"), "bandwidth by smartmap", 9400.0, "MB/s", |all| most(all, MPI, "bw", "smartmap")),
    printed(("001", "5"), "bandwidth by the system", 5700.0, "MB/s", |all| most(all, MPI, "bw", "limic2")),
    printed(("001", "6"), "messages of a pair through shared memory", 3.5, "million a second", |all| {
        most(all, MPI, "mbw_mr", BASE)
    }),
    printed(("001", "6"), "messages of a pair by smartmap", 2.4, "million a second", |all| {
        most(all, MPI, "mbw_mr", "smartmap")
    }),
];

/// The numbers of a figure, as a table for the page: empty if the document prints none, or none was measured.
pub fn table(document: &str, figure: &str, all: &[Measurement]) -> String {
    let own = PRINTED.iter().filter(|it| it.at == (document, figure));
    let rows: String = own
        .filter_map(|it| {
            let (what, here) = (escaped(it.what), short((it.here)(all)?));
            let there = short(it.there);
            Some(format!("<tr><th>{what}, {}</th><td>{there}</td><td>{here}</td></tr>\n", it.unit))
        })
        .collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<div class=\"wide\"><table>\n<tr><th></th><th>document</th><th>here</th></tr>\n{rows}</table></div>\n"
    )
}

/// Three digits, or all before the point.
pub fn short(value: f64) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// The values of a test by a transport.
fn values<'m>(
    all: &'m [Measurement],
    program: &'m str,
    test: &'m str,
    transport: &'m str,
) -> impl Iterator<Item = &'m Measurement> {
    all.iter().filter(move |one| one.program == program && one.test == test && one.transport == transport)
}

fn least(all: &[Measurement], program: &str, test: &str, transport: &str) -> Option<f64> {
    values(all, program, test, transport).map(|one| one.value).reduce(f64::min)
}

/// Of a test that reports several units.
fn least_in(all: &[Measurement], program: &str, test: &str, transport: &str, unit: &str) -> Option<f64> {
    values(all, program, test, transport).filter(|one| one.unit == unit).map(|one| one.value).reduce(f64::min)
}

fn most(all: &[Measurement], program: &str, test: &str, transport: &str) -> Option<f64> {
    values(all, program, test, transport).map(|one| one.value).reduce(f64::max)
}

/// How much smaller the first one's value is than the second's where that is most, in percent; below 0 if it is larger everywhere.
fn saved(all: &[Measurement], program: &str, test: &str, [first, second]: [&str; 2]) -> Option<f64> {
    let part = |one: &Measurement| {
        let mut others = values(all, program, test, second);
        let other = others.find(|other| other.of == one.of && other.ranks == one.ranks)?;
        Some(100.0 * (1.0 - one.value / other.value))
    };
    values(all, program, test, first).filter_map(part).reduce(f64::max)
}

/// What was measured of the sort.
fn of_sort(all: &[Measurement]) -> Vec<Measurement> {
    all.iter().filter(|one| one.of == applications::NAMES[0]).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::asked::of;
    use crate::figures::list::DOCUMENTS;

    fn one(test: &str, transport: &str, bytes: &str, value: f64) -> Measurement {
        of(MPI, test, transport, 2, ("bytes", bytes.into()), (value, "us"))
    }

    #[test]
    fn every_number_belongs_to_a_figure_that_is_drawn() {
        for it in &PRINTED {
            let (document, figure) = it.at;
            let document = DOCUMENTS.iter().find(|one| one.number == document).unwrap();
            assert!(document.drawn().any(|one| one.number == figure), "{:?}", it.at);
        }
    }

    #[test]
    fn what_is_saved_is_the_most_at_any_size() {
        let all = [
            one("latency", "mci", "8", 2.0),
            one("latency", BASE, "8", 1.0),
            one("latency", "mci", "64", 1.0),
            one("latency", BASE, "64", 4.0),
            one("latency", "mci", "512", 1.0),
        ];
        assert_eq!(saved(&all, MPI, "latency", ["mci", BASE]), Some(75.0));
        assert_eq!(saved(&all[..2], MPI, "latency", ["mci", BASE]), Some(-100.0));
        assert_eq!(saved(&all[4..], MPI, "latency", ["mci", BASE]), None);
    }

    #[test]
    fn the_documents_number_stands_beside_ours() {
        let rates = [
            one("bw", "mci", "64", 300.0),
            one("bw", BASE, "64", 100.0),
            one("latency", "mci", "8", 1.0),
            one("latency", BASE, "8", 2.0),
        ];
        let text = table("000", "5.3", &rates);
        assert!(
            text.contains("<th>latency by mci, at most, % less time</th><td>72.0</td><td>50.0</td>"),
            "{text}"
        );
        assert!(
            text.contains("<th>bandwidth by mci, at most, % more</th><td>170</td><td>200</td>"),
            "{text}"
        );
        assert_eq!(table("000", "5.3", &[]), "");
    }
}
