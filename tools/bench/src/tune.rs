//! `cargo lwk bench tune`: where `hybrid` should switch between its two ways on the machine at hand, for peers at each distance, written to a file that
//! `run --tuning FILE` takes (section 6.3.1 of Chai's dissertation, which has found its switch points by figure 6.2).
//!
//! `mpi-bench distances` runs by the one way for all sizes and by the other, in turn; figures are medians of the rounds. A switch point is the size for which
//! the product of all times is least: one size that was disturbed hardly moves it.
//!
//! `--decide overlap` measures what a message adds to a computation, the other of the two decisions of section 7.2.2: `mpi-bench distances_busy`.

use std::collections::BTreeMap;
use std::fs;

use lwk::accel::{Accelerator, Choice};
use lwk::build;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::progress::Step;
use lwk::run::host_cores;
use lwk::subcommand::{Lwk, Program};
use lwk::tree::Tree;
use lwk_abi::runtime::{DISTANCES, HYBRID_ABOVE, HYBRID_MOST};
use serde::Deserialize;

use crate::cli::{Decide, TuneOptions};

const PROGRAM: &str = "mpi-bench";
/// The dissertation's switch points in bytes, by distance from the second of [`DISTANCES`] on.
const PAPER: [u64; HYBRID_ABOVE.len()] = [32 << 10, 2 << 10, 1 << 10];
/// MiB of each rank.
const MEMORY: u32 = 64;

/// A line of `mpi-bench distances`.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    distance: String,
    bytes: u64,
    microseconds: f64,
}

/// Microseconds of a message by each way, of a size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    bytes: u64,
    copied_twice: f64,
    by_kernel: f64,
}

/// Measures, prints, and writes the file.
pub fn run(tree: &Tree, options: &TuneOptions) -> Outcome<i32> {
    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench/tuning.toml"));
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    }
    options.place.prepare(tree, &[build::MPI_APPS])?;
    let lwk = Lwk::new(tree)?;
    let Found { table, file } = measure(&lwk, options)?;
    table.iter().for_each(|line| show!("{line}"));
    fs::write(&out, file).doing(|| format!("write {}", out.display()))?;
    show!("# {} is for `cargo lwk run --transport hybrid --tuning {0}`", out.display());
    Ok(0)
}

/// What has been measured.
pub struct Found {
    /// Lines for a person.
    pub table: Vec<String>,
    /// The file that `--tuning` takes.
    pub file: String,
}

/// Measures with programs that have been built. Errors: a run fails.
pub fn measure(lwk: &Lwk, options: &TuneOptions) -> Outcome<Found> {
    let mut runs: [Vec<Row>; 2] = Default::default();
    for round in 1..=options.rounds {
        let _step =
            Step::begin(format!("measuring, round {round} of {}", options.rounds), options.place.verbose);
        for (rows, switch_at) in runs.iter_mut().zip([HYBRID_MOST, 0]) {
            rows.extend(once(lwk, options, switch_at).map_err(Failure::host)?);
        }
    }
    let place = whereabouts(options);
    let rounds = options.rounds;
    let what = match options.decide {
        Decide::Latency => "a message of a window",
        Decide::Overlap => "a message each way and what both ranks compute meanwhile",
    };
    let head = format!("# {place}, medians of {rounds} rounds; microseconds for {what}");
    let mut table = vec![head];
    let points = switch_points(&runs, &mut table);
    Ok(Found { table, file: file(&format!("{place}, by {what}"), &points) })
}

/// The switch point of each distance that was measured, and in `table` what it follows from.
fn switch_points(runs: &[Vec<Row>; 2], table: &mut Vec<String>) -> [Option<u64>; PAPER.len()] {
    let mut points = [None; PAPER.len()];
    for ((point, paper), distance) in points.iter_mut().zip(PAPER).zip(&DISTANCES[1..]) {
        let times = medians(runs, distance);
        if times.is_empty() {
            table.push(format!(
                "# no two ranks are as far apart as `{distance}` here: the dissertation's {paper} bytes stay"
            ));
            continue;
        }
        table.push(format!("# {distance:<13} {:>9} {:>13} {:>10}", "bytes", "copied twice", "by kernel"));
        let best = switch_point(&times);
        for Times { bytes, copied_twice, by_kernel } in times {
            let chosen = if bytes <= best { "copied twice" } else { "by kernel" };
            table.push(format!(
                "  {distance:<13} {bytes:>9} {copied_twice:>13.3} {by_kernel:>10.3}  {chosen}"
            ));
        }
        table.push(format!(
            "# {distance}: up to {best} bytes through shared memory (the dissertation: {paper})"
        ));
        *point = Some(best);
    }
    points
}

/// The rows of one run in which messages above `switch_at` bytes are copied by the kernel.
fn once(lwk: &Lwk, options: &TuneOptions, switch_at: u64) -> Result<Vec<Row>, String> {
    let mut words: Vec<String> = ["--transport", "hybrid", "-n"].map(String::from).into();
    words.extend([options.ranks.to_string(), "--mem".into(), MEMORY.to_string()]);
    words.extend(["--timeout".into(), options.place.timeout.to_string()]);
    if options.place.host {
        words.push("--host".into());
        if options.ranks > host_cores() {
            words.push("--oversubscribe".into());
        }
    }
    // Who is late has no say.
    words.extend(switching_at(switch_at, false));
    let test = match options.decide {
        Decide::Latency => "distances",
        Decide::Overlap => "distances_busy",
    };
    let mut arguments = vec![test, "--json"];
    if options.place.quick {
        arguments.extend(["--sizes", "512:4096", "--iterations", "10", "--repetitions", "1"]);
    }
    let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
    let words = lwk.run_words(&Program::named(PROGRAM), &words, &arguments);
    let ended = lwk.command(&words, options.place.timeout)?;
    match ended.status {
        Some(0) => serde_json::from_str(&ended.stdout).map_err(|error| format!("{PROGRAM}: {error}")),
        status => {
            let said = ended.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
            Err(format!("{PROGRAM} {test} ended with {status:?} and said: {said}"))
        }
    }
}

/// Options of `run` by which `hybrid` switches at so many bytes, whatever the distance; a peer that is late has a say, or none.
pub fn switching_at(bytes: u64, by_skew: bool) -> Vec<String> {
    let points = HYBRID_ABOVE.into_iter().map(|name| format!("{name}={bytes}"));
    let skew = (!by_skew).then(|| "MARGAY_SHM_SKEW_ABOVE=0".into());
    points.chain(skew).flat_map(|variable| ["--env".into(), variable]).collect()
}

/// Medians of the rounds, by size, of what both ways have.
fn medians(runs: &[Vec<Row>; 2], distance: &str) -> Vec<Times> {
    let [twice, kernel] = runs.each_ref().map(|rows| {
        let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.distance == distance) {
            by_size.entry(row.bytes).or_default().push(row.microseconds);
        }
        by_size
    });
    let median = |mut figures: Vec<f64>| {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    let both =
        twice.into_iter().filter_map(|(bytes, figures)| Some((bytes, figures, kernel.get(&bytes)?.clone())));
    both.map(|(bytes, copied_twice, by_kernel)| Times {
        bytes,
        copied_twice: median(copied_twice),
        by_kernel: median(by_kernel),
    })
    .collect()
}

/// The most bytes to copy through shared memory, by times in the order of sizes; 0 if that is never better.
fn switch_point(times: &[Times]) -> u64 {
    // What the kernel's copy costs more than the other, as a factor; logarithms add up where factors multiply.
    let gain = |it: &Times| (it.by_kernel / it.copied_twice).ln();
    let (mut sum, mut best, mut point) = (0.0, 0.0, 0);
    for each in times {
        sum += gain(each);
        if sum > best {
            (best, point) = (sum, each.bytes);
        }
    }
    point
}

/// The file that `--tuning` takes.
fn file(place: &str, points: &[Option<u64>; PAPER.len()]) -> String {
    let mut text = format!(
        "# Where `hybrid` switches, in bytes: longer messages are copied by the kernel.\n# Measured by `cargo lwk bench tune` {place}.\n[hybrid]\n"
    );
    for (point, distance) in points.iter().zip(&DISTANCES[1..]) {
        match point {
            Some(bytes) => text.push_str(&format!("{distance} = {bytes}\n")),
            None => text.push_str(&format!("# {distance}: no two ranks were that far apart\n")),
        }
    }
    text
}

fn whereabouts(options: &TuneOptions) -> String {
    if options.place.host {
        return format!("on this machine with {} ranks", options.ranks);
    }
    let how = match Choice::Auto.settle() {
        Accelerator::Kvm => "KVM",
        Accelerator::Tcg => "emulation",
    };
    format!("on a node in QEMU by {how} with {} ranks", options.ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(figures: &[(u64, f64, f64)]) -> Vec<Times> {
        figures
            .iter()
            .map(|&(bytes, copied_twice, by_kernel)| Times { bytes, copied_twice, by_kernel })
            .collect()
    }

    #[test]
    fn the_switch_point_is_where_the_kernel_begins_to_win() {
        assert_eq!(switch_point(&times(&[(1, 1.0, 2.0), (2, 1.0, 1.5), (4, 2.0, 1.0), (8, 4.0, 1.0)])), 2);
        assert_eq!(switch_point(&times(&[(1, 2.0, 1.0), (2, 2.0, 1.0)])), 0);
        assert_eq!(switch_point(&times(&[(1, 1.0, 2.0), (2, 1.0, 3.0)])), 2);
        // One size was disturbed.
        assert_eq!(switch_point(&times(&[(1, 1.0, 2.0), (2, 2.1, 2.0), (4, 1.0, 1.4), (8, 4.0, 1.0)])), 4);
    }

    #[test]
    fn figures_are_medians_of_what_both_have() {
        let row = |bytes, microseconds| Row { distance: "package".into(), bytes, microseconds };
        let runs = [vec![row(1, 3.0), row(1, 1.0), row(1, 2.0), row(2, 1.0)], vec![row(1, 5.0)]];
        assert_eq!(medians(&runs, "package"), times(&[(1, 2.0, 5.0)]));
        assert!(medians(&runs, "node").is_empty());
    }
}
