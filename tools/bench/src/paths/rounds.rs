//! The runs: each test by each way once a round, so that what is compared stands near in time.

use std::path::Path;

use lwk::progress::Step;
use lwk_abi::runtime::{DISTANCES, HYBRID_MOST, TRANSPORTS};
use serde::Deserialize;

use super::samples::Samples;
use crate::node::figures::MPI;
use crate::node::program::Setting;
use crate::node::results::{self, Started};
use crate::skew;
use crate::tune::switching_at;

/// Tests, as `mpi-bench` names them; messages by distance are filed under the distance.
pub const PARTS: &str = "kernel_copy";
pub const LATENCY: &str = "latency";
pub const WINDOW: &str = "bw";
const BY_DISTANCE: &str = "distances";
/// The way of [`PARTS`].
pub const LIMIC2: &str = "limic2";
/// The ways of messages by distance: the two parts of the hybrid, and itself with the switch points of this run.
pub const TWICE: &str = "copied twice";
pub const KERNEL: &str = "by the kernel";
pub const HYBRID: &str = "hybrid";
/// Bytes: from those that `limic2` has the kernel copy; from those that `smartmap` is to be first at; all.
const PART_SIZES: &str = "8192:4194304";
const LONG_SIZES: &str = "65536:4194304";
const ALL_SIZES: &str = "64:1048576";
/// The same and more in haste.
const PART_SIZES_IN_HASTE: &str = "8192:16384";
const LONG_SIZES_IN_HASTE: &str = "65536:131072";
const ALL_SIZES_IN_HASTE: &str = "512:4096";
const IN_HASTE: [&str; 4] = ["--iterations", "64", "--repetitions", "1"];

/// One value that a run has given: under which test, at what size.
type Read = (&'static str, u64, f64);

/// A test by a way.
struct Job {
    test: &'static str,
    way: &'static str,
    transport: &'static str,
    options: Vec<String>,
    ranks: u32,
    /// None where the test has its own.
    sizes: Option<[&'static str; 2]>,
    read: fn(&'static str, &str) -> Result<Vec<Read>, String>,
}

/// All jobs of a round. Messages by distance go between so many ranks.
fn jobs(tuning: &str, ranks: u32) -> Vec<Job> {
    let sizes = Some([PART_SIZES, PART_SIZES_IN_HASTE]);
    let mut all = vec![Job {
        test: PARTS,
        way: LIMIC2,
        transport: LIMIC2,
        options: Vec::new(),
        ranks: 2,
        sizes,
        read: parts,
    }];
    for (test, transport) in [LATENCY, WINDOW].into_iter().flat_map(|test| TRANSPORTS.map(|it| (test, it))) {
        let sizes = Some([LONG_SIZES, LONG_SIZES_IN_HASTE]);
        all.push(Job { test, way: transport, transport, options: Vec::new(), ranks: 2, sizes, read: times });
    }
    let tuned = ["--tuning", tuning].map(String::from).into();
    for (way, options) in
        [(TWICE, switching_at(HYBRID_MOST, false)), (KERNEL, switching_at(0, false)), (HYBRID, tuned)]
    {
        let sizes = Some([ALL_SIZES, ALL_SIZES_IN_HASTE]);
        all.push(Job { test: BY_DISTANCE, way, transport: HYBRID, options, ranks, sizes, read: distances });
    }
    for way in skew::WAYS {
        let (transport, options) = skew::options(way);
        all.push(Job { test: skew::TEST, way, transport, options, ranks: 2, sizes: None, read: times });
    }
    all
}

/// Runs all; what has come of it, and what failed, a line each.
pub fn measure(
    place: &Setting<'_>,
    tuning: &Path,
    ranks: u32,
    rounds: u32,
    verbose: bool,
) -> (Samples, Vec<String>) {
    let (mut samples, mut failed) = (Samples::default(), Vec::new());
    let tuning = tuning.to_string_lossy();
    for (round, job) in
        (0..rounds).flat_map(|round| jobs(&tuning, ranks).into_iter().map(move |job| (round, job)))
    {
        let what = format!("{}, {}, round {} of {rounds}", job.test, job.way, round + 1);
        let _step = Step::begin(format!("measuring {what}"), verbose);
        match once(place, &job) {
            Ok(rows) => {
                rows.into_iter().for_each(|(test, at, value)| samples.add((test, job.way), at, value))
            }
            Err(why) => {
                tell!("lwk: {what}: {why}");
                failed.push(format!("{what}: {why}"));
            }
        }
    }
    (samples, failed)
}

fn once(place: &Setting<'_>, job: &Job) -> Result<Vec<Read>, String> {
    let mut arguments = vec![job.test, "--json"];
    if let Some([all, in_haste]) = job.sizes {
        arguments.extend(["--sizes", if place.quick { in_haste } else { all }]);
    }
    if place.quick {
        arguments.extend(IN_HASTE);
    }
    let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
    let options: Vec<&str> = job.options.iter().map(String::as_str).collect();
    let ended = place.run_with(MPI, job.ranks, Some(job.transport), &options, &arguments)?;
    (job.read)(job.test, &ended.stdout).map_err(|why| format!("its JSON is not as expected: {why}"))
}

/// What a message takes of its parts' sum.
fn parts(test: &'static str, text: &str) -> Result<Vec<Read>, String> {
    #[derive(Deserialize)]
    struct Row {
        bytes: u64,
        ratio: f64,
    }
    let rows: Vec<Row> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(rows.iter().map(|row| (test, row.bytes, row.ratio)).collect())
}

/// Microseconds of a message, of a rate, too.
fn times(test: &'static str, text: &str) -> Result<Vec<Read>, String> {
    let started = Started { program: MPI, transport: "", ranks: 2 };
    let one = |it: results::Measurement| {
        let at: u64 = it.of.parse().map_err(|_| format!("{:?} is no size", it.of))?;
        match it.unit.as_str() {
            "us" => Ok((test, at, it.value)),
            "MB/s" => Ok((test, at, at as f64 / it.value)),
            unit => Err(format!("{unit:?} is no unit of time or rate")),
        }
    };
    results::read(text, &started)?.into_iter().map(one).collect()
}

/// Microseconds of a message of a window, by distance.
fn distances(_: &'static str, text: &str) -> Result<Vec<Read>, String> {
    #[derive(Deserialize)]
    struct Row {
        distance: String,
        bytes: u64,
        microseconds: f64,
    }
    let rows: Vec<Row> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let one = |row: &Row| {
        let distance = DISTANCES.into_iter().find(|name| *name == row.distance);
        let distance = distance.ok_or_else(|| format!("{:?} is no distance", row.distance))?;
        Ok((distance, row.bytes, row.microseconds))
    };
    rows.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_print_is_read_as_times() {
        let text = r#"[{"bytes":8192,"trap":null,"check":0.2,"copy":0.5,"post":0.2,"matching":0.3,"loads":0.1,"message":1.7,"ratio":2.5,"calls":null}]"#;
        assert_eq!(parts(PARTS, text), Ok(vec![(PARTS, 8192, 2.5)]));
        let text = r#"[{"test":"bw","ranks":2,"unit":"Bandwidth (MB/s)","floor":"x","wrong":0,"rows":[{"bytes":65536,"value":32768,"floor":1,"ratio":1}]}]"#;
        assert_eq!(times(WINDOW, text), Ok(vec![(WINDOW, 65_536, 2.0)]));
        let text = r#"[{"test":"latency","unit":"Latency (us)","rows":[{"bytes":65536,"value":3.5}]}]"#;
        assert_eq!(times(LATENCY, text), Ok(vec![(LATENCY, 65_536, 3.5)]));
        let text = r#"[{"distance":"package","bytes":64,"microseconds":0.25}]"#;
        assert_eq!(distances(BY_DISTANCE, text), Ok(vec![("package", 64, 0.25)]));
    }

    #[test]
    fn what_is_something_else_is_said() {
        assert!(distances(BY_DISTANCE, r#"[{"distance":"moon","bytes":1,"microseconds":1}]"#).is_err());
        assert!(
            times(LATENCY, r#"[{"test":"latency","unit":"Overlap (%)","rows":[{"bytes":1,"value":1}]}]"#)
                .is_err()
        );
        assert!([parts, times, distances].iter().all(|read| read(PARTS, "no JSON").is_err()));
    }

    #[test]
    fn every_way_takes_its_turn_in_a_round() {
        let all = jobs("t.toml", 2);
        assert_eq!(all.len(), 1 + 2 * TRANSPORTS.len() + 3 + skew::WAYS.len());
        assert!(all.iter().any(|job| job.way == HYBRID && job.options == ["--tuning", "t.toml"]));
    }
}
