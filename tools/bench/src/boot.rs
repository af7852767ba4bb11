//! `cargo lwk bench boot`: what a node costs before its first user instruction, beside its targets.
//!
//! Sizes are the same on every run and are also held to their targets by a boot test (`cargo lwk test`); the time is
//! measured here only.

use serde_json::Value;

use lwk::build::{self, Builder};
use lwk::failure::{Doing, Failure, Outcome};
use lwk::qemu::Firmware;
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program};
use lwk::tree::Tree;

/// Most bytes of the kernel's file as it is booted: a choice of ours. (512 KiB until it matched messages, 528 until it had workers, a copy engine's driver and that
/// engine's model, and frames of several messages; 16 KiB more are some milliseconds of a boot.)
const KERNEL_FILE_BYTES: u64 = 560 << 10;
/// Most bytes of memory that the kernel takes: this much, and the second for each core.
const KERNEL_MEMORY_BYTES: u64 = 16 << 20;
const KERNEL_MEMORY_BYTES_PER_CORE: u64 = 128 << 10;
/// Most bytes of page tables of a rank with a segment of 1 GiB, whatever the number of peers.
const PAGE_TABLE_BYTES: u64 = 64 << 10;
/// Most microseconds from kernel entry to the first user instruction, with 4 cores, in emulation.
const ENTRY_MICROSECONDS: u64 = 300_000;
/// Most that clearing a segment costs, in percent of a `memset` of as much memory in the same run.
const CLEAR_PERCENT: u64 = 120;
/// Ranks and MiB of each where that is measured: a core each.
const CLEAR_RANKS: u64 = 2;
const CLEAR_MIB: u64 = 128;
/// Boots of which the time is the median.
const BOOTS: usize = 5;
/// Time limit of each job, in seconds.
const LIMIT: u64 = PATIENCE;
/// Status if a target is missed.
const MISSED: i32 = 1;

/// A figure and the most it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    what: String,
    unit: &'static str,
    value: u64,
    target: u64,
}

impl Figure {
    /// Whether the value is the target or less.
    pub fn is_met(&self) -> bool {
        self.value <= self.target
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.is_met() { "met" } else { "MISSED" };
        write!(f, "{:<58}{:>12}{:>12} {:<6}{verdict}", self.what, self.value, self.target, self.unit)
    }
}

/// Measures and prints everything. Status 0 if all targets are met, else 1.
pub fn run(tree: &Tree, verbose: bool) -> Outcome<i32> {
    let builder = Builder::new(tree, false, verbose)?;
    lwk::emulator::find_qemu(tree, verbose)?;
    builder.programs(&[build::APPS, build::BOOT_TESTS])?;
    builder.kernel()?;
    builder.image_builder(Firmware::Bios)?;
    let lwk = Lwk::new(tree)?;
    let mut figures = sizes(&lwk)?;
    figures.push(entry_time(&lwk)?);
    figures.push(clear_cost(&lwk, false)?);
    figures.push(clear_cost(&lwk, true)?);
    show!("# {:<56}{:>12}{:>12}", "what", "measured", "target");
    figures.iter().for_each(|figure| show!("{figure}"));
    Ok(if figures.iter().all(Figure::is_met) { 0 } else { MISSED })
}

/// What does not depend on time: bytes of the kernel's file and memory and of page tables, with 1 and 4 cores. Needs all that is booted to
/// have been built.
pub fn sizes(lwk: &Lwk) -> Outcome<Vec<Figure>> {
    let kernel = build::kernel_files(lwk.tree()).stripped;
    let bytes = kernel.metadata().doing(|| format!("read {}", kernel.display()))?.len();
    let mut figures = vec![Figure {
        what: "kernel file, stripped".into(),
        unit: "B",
        value: bytes,
        target: KERNEL_FILE_BYTES,
    }];
    for cores in [1, 4] {
        let report = report(lwk, cores, 1024)?;
        figures.push(Figure {
            what: format!("kernel memory, {cores} cores"),
            unit: "B",
            value: number(&report["node"]["kernel_memory_bytes"])?,
            target: KERNEL_MEMORY_BYTES + KERNEL_MEMORY_BYTES_PER_CORE * cores,
        });
        let ranks = report["ranks"].as_array().map_or(&[][..], Vec::as_slice);
        let tables: Outcome<Vec<u64>> = ranks.iter().map(|rank| number(&rank["page_table_bytes"])).collect();
        figures.push(Figure {
            what: format!("page tables of a rank of 1 GiB, {} peers", cores - 1),
            unit: "B",
            value: tables?.into_iter().max().ok_or_else(|| Failure::host("the report has no ranks"))?,
            target: PAGE_TABLE_BYTES,
        });
    }
    Ok(figures)
}

fn entry_time(lwk: &Lwk) -> Outcome<Figure> {
    let one = |_| number(&report(lwk, 4, 128)?["node"]["kernel_entry_to_user_us"]);
    let mut times = (0..BOOTS).map(one).collect::<Outcome<Vec<u64>>>()?;
    times.sort_unstable();
    Ok(Figure {
        what: format!("kernel entry to first user instruction, 4 cores, median of {BOOTS}"),
        unit: "us",
        value: times[BOOTS / 2],
        target: ENTRY_MICROSECONDS,
    })
}

/// What clearing a rank's segment costs beside a `memset` by the rank: of memory that nobody has used since the machine's start, or of `stale`
/// memory. Like with like: the host gives a virtual machine its memory when it is first used, which the first `memset` pays for as well.
fn clear_cost(lwk: &Lwk, stale: bool) -> Outcome<Figure> {
    let inject: &[&str] = if stale { &["--inject", "stale-memory"] } else { &[] };
    let one = |_| -> Outcome<u64> {
        let program = Program::named("test:memset-cost");
        let (ended, report) = job(lwk, &program, CLEAR_RANKS, CLEAR_MIB, inject)?;
        let said = |name: &str| -> Outcome<u64> {
            let value = ended.stdout.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            value.ok_or_else(|| Failure::host(format!("memset-cost does not print {name}")))
        };
        let memset_ns = said(if stale { "@again_ns" } else { "@first_ns" })?;
        let memset_ns = memset_ns * (CLEAR_MIB << 20) / said("@bytes")?.max(1);
        Ok(number(&report["node"]["clear_us"])? * 1000 * 100 / memset_ns.max(1))
    };
    let mut percents = (0..BOOTS).map(one).collect::<Outcome<Vec<u64>>>()?;
    percents.sort_unstable();
    let what = if stale { "full of an earlier job's bytes" } else { "that nobody has used" };
    Ok(Figure {
        what: format!("clearing a segment {what}, by a memset"),
        unit: "%",
        value: percents[BOOTS / 2],
        target: CLEAR_PERCENT,
    })
}

/// The exit report of `hello` with one rank of `mib` MiB on each of `cores` cores.
fn report(lwk: &Lwk, cores: u64, mib: u64) -> Outcome<Value> {
    job(lwk, &Program::named("hello"), cores, mib, &[]).map(|(_, report)| report)
}

/// Runs a program with one rank of `mib` MiB on each of `cores` cores; how it ended, and its exit report.
fn job(lwk: &Lwk, program: &Program, cores: u64, mib: u64, options: &[&str]) -> Outcome<(Ended, Value)> {
    let said = |error: String| Failure::host(error);
    let folder = lwk.folder().map_err(said)?;
    let file = folder.file("report.json");
    let mut words: Vec<String> = vec!["-n".into(), cores.to_string(), "--mem".into(), mib.to_string()];
    words.extend(["--timeout".into(), LIMIT.to_string(), "--report-json".into(), file.display().to_string()]);
    words.extend(options.iter().map(|word| (*word).to_owned()));
    let ended = lwk.command(&lwk.run_words(program, &words, &[]), LIMIT).map_err(said)?;
    if ended.status != Some(0) {
        return Err(Failure::host(format!("the job failed: {}", ended.stderr.trim_end())));
    }
    let text = std::fs::read_to_string(&file).doing(|| format!("read {}", file.display()))?;
    let report = serde_json::from_str(&text).doing(|| "read the exit report".into())?;
    Ok((ended, report))
}

fn number(value: &Value) -> Outcome<u64> {
    value.as_u64().ok_or_else(|| Failure::host("the exit report lacks a number"))
}
