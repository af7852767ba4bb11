//! The machine of a report as a picture in text: packages, caches and cores with their ranks, and memory nodes with the segments in them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::report::Report;

/// The records that it is drawn from (`lwk_abi::console::REPORT`), and which the report's table leaves out.
pub const PLACE: &str = "place";
pub const MEMORY: &str = "memory";

/// A core, which is a hardware thread, and what it shares with others.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    core: u64,
    package: u64,
    l3: u64,
    l2: u64,
    unit: u64,
    node: u64,
}

/// The picture; empty if the report says nothing of the machine.
///
/// A package's lines are its last-level caches, theirs its whole cores with the hardware threads of each, a second-level cache that cores share between brackets.
pub fn machine(report: &Report) -> String {
    let places = places(report);
    let mut text = String::new();
    let ranks = ranks_of_cores(report);
    for (number, package) in groups(&places, |place| place.package).iter().enumerate() {
        let _ = writeln!(text, "package {number}");
        for (number, cache) in groups(package, |place| place.l3).iter().enumerate() {
            let caches: Vec<String> =
                groups(cache, |place| place.l2).iter().map(|cores| second_level(cores, &ranks)).collect();
            let _ = writeln!(text, "  last-level cache {number}: {}", caches.join("  "));
        }
    }
    for (node, bytes) in memory(report, &places) {
        let cores = list(places.iter().filter(|place| place.node == node).map(|place| place.core));
        let segments = values(report, "rank", ["segment_node", "rank"]).filter(|[found, _]| *found == node);
        let segments = list(segments.map(|[_, rank]| rank));
        let _ = writeln!(
            text,
            "memory node {node}: {} MiB, near cores {cores}; segments of ranks {segments}",
            bytes >> 20
        );
    }
    text
}

/// Cores that share a second-level cache, each whole core with its threads.
fn second_level(cores: &[Place], ranks: &BTreeMap<u64, Vec<u64>>) -> String {
    let units = groups(cores, |place| place.unit);
    let units: Vec<String> = units.iter().map(|threads| whole_core(threads, ranks)).collect();
    if units.len() > 1 { format!("[{}]", units.join("  ")) } else { units.concat() }
}

/// A whole core: its threads and the ranks on them.
fn whole_core(threads: &[Place], ranks: &BTreeMap<u64, Vec<u64>>) -> String {
    let thread = |place: &Place| match ranks.get(&place.core) {
        Some(ranks) if ranks.len() == 1 => format!("core {} rank {}", place.core, ranks[0]),
        Some(ranks) => format!("core {} ranks {}", place.core, list(ranks.iter().copied())),
        None => format!("core {} free", place.core),
    };
    let threads: Vec<String> = threads.iter().map(thread).collect();
    format!("({})", threads.join(", "))
}

/// Numbers of those keys in the records with that name; records that lack one are left out.
fn values<'a, const N: usize>(
    report: &'a Report,
    record: &'a str,
    keys: [&'a str; N],
) -> impl Iterator<Item = [u64; N]> + 'a {
    report.of(record).filter_map(move |fields| {
        let value = |key: &str| fields.iter().find(|(known, _)| known == key)?.1.parse().ok();
        let found: Vec<u64> = keys.iter().filter_map(|key| value(key)).collect();
        found.try_into().ok()
    })
}

fn places(report: &Report) -> Vec<Place> {
    values(report, PLACE, ["core", "package", "l3", "l2", "unit", "node"])
        .map(|[core, package, l3, l2, unit, node]| Place { core, package, l3, l2, unit, node })
        .collect()
}

fn ranks_of_cores(report: &Report) -> BTreeMap<u64, Vec<u64>> {
    let mut ranks = BTreeMap::<u64, Vec<u64>>::new();
    values(report, "rank", ["core", "rank"])
        .for_each(|[core, rank]| ranks.entry(core).or_default().push(rank));
    ranks
}

/// Bytes of each memory node; all memory in one, if the firmware tells of none.
fn memory(report: &Report, places: &[Place]) -> Vec<(u64, u64)> {
    let told: Vec<(u64, u64)> =
        values(report, MEMORY, ["node", "bytes"]).map(|[node, bytes]| (node, bytes)).collect();
    let all = report.number("node", "memory_bytes").filter(|_| told.is_empty() && !places.is_empty());
    all.map_or(told, |bytes| vec![(0, bytes)])
}

/// The places that share a part, part by part in the order in which they appear.
fn groups(places: &[Place], part: impl Fn(&Place) -> u64) -> Vec<Vec<Place>> {
    let mut groups: Vec<Vec<Place>> = Vec::new();
    for place in places {
        match groups.iter_mut().find(|group| part(&group[0]) == part(place)) {
            Some(group) => group.push(*place),
            None => groups.push(vec![*place]),
        }
    }
    groups
}

/// Numbers in a row; runs of three or more by their ends.
fn list(numbers: impl Iterator<Item = u64>) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): &(u64, u64)| match last - first {
        0 => first.to_string(),
        1 => format!("{first} {last}"),
        _ => format!("{first}-{last}"),
    };
    if runs.is_empty() { "none".into() } else { runs.iter().map(run).collect::<Vec<_>>().join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_drawn_from_its_packages_down_to_its_memory() {
        let mut report = Report::default();
        for (core, package, l3, l2, unit, node) in
            [(0, 7, 70, 1, 1, 0), (1, 7, 70, 1, 1, 0), (2, 7, 70, 2, 2, 0)]
        {
            report
                .add(&format!("place core={core} package={package} l3={l3} l2={l2} unit={unit} node={node}"));
        }
        for (core, unit) in [(3, 5), (4, 6)] {
            report.add(&format!("place core={core} package=9 l3=90 l2=4 unit={unit} node=1"));
        }
        report.add("memory node=0 bytes=1073741824");
        report.add("memory node=1 bytes=2147483648");
        for (rank, core, segment) in [(0, 0, 0), (1, 3, 1), (2, 2, 1)] {
            report.add(&format!("rank rank={rank} core={core} memory_node=0 segment_node={segment}"));
        }
        let drawn = "package 0\n  last-level cache 0: (core 0 rank 0, core 1 free)  (core 2 rank 2)\npackage 1\n  \
                     last-level cache 0: [(core 3 rank 1)  (core 4 free)]\n\
                     memory node 0: 1024 MiB, near cores 0-2; segments of ranks 0\n\
                     memory node 1: 2048 MiB, near cores 3 4; segments of ranks 1 2\n";
        assert_eq!(machine(&report), drawn);
    }

    #[test]
    fn without_memory_nodes_all_memory_is_one() {
        let mut report = Report::default();
        assert_eq!(machine(&report), "");
        report.add("node memory_bytes=536870912");
        report.add("place core=0 package=0 l3=0 l2=0 unit=0 node=0");
        report.add("rank rank=0 core=0 segment_node=0");
        report.add("rank rank=1 core=0 segment_node=0");
        let drawn = "package 0\n  last-level cache 0: (core 0 ranks 0 1)\n\
                     memory node 0: 512 MiB, near cores 0; segments of ranks 0 1\n";
        assert_eq!(machine(&report), drawn);
    }

    #[test]
    fn numbers_in_a_row_are_told_by_their_ends() {
        assert_eq!(list([0, 1, 2, 5, 7, 8].into_iter()), "0-2 5 7 8");
        assert_eq!(list(std::iter::empty()), "none");
    }
}
