//! `cargo lwk bench peers`: Margay's MPI beside others', on the same two pinned cores of this machine, interleaved in one run.
//!
//! Two C programs, `apps/c/bench/compare.c` and `apps/c/bench/compare-shmem.c`, are compiled unchanged by each MPI's own compiler command and by `margay-cc`. A round starts it once under
//! each MPI in each of its settings, one after the other; a machine whose state changes (a line between two cores takes several times as
//! long as a moment ago) changes for all. The program measures that line at its beginning and end: what straddles a change is dropped,
//! and medians are taken for each state apart. Nothing is carried over from an earlier run; a peer that cannot be installed, crashes or
//! hangs is shown as such, and the rest goes on.

mod install;
mod page;
mod peer;
mod plot;
mod rows;
mod samples;
mod table;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::bench::peers::install::Found;
use crate::bench::peers::peer::{Measured, Peer, Setting};
use crate::bench::peers::samples::{Run, Samples};
use crate::boot_tests::command::Lwk;
use crate::build::{self, Builder};
use crate::cc;
use crate::cli::BenchPeersOptions;
use crate::failure::{Doing, Failure, Outcome};
use crate::progress::Step;
use crate::tree::{RunFolder, Tree};

/// The programs that all run: MPI's and OpenSHMEM's.
const MPI: &str = "apps/c/bench/compare.c";
const SHMEM: &str = "apps/c/bench/compare-shmem.c";
/// Ranks, each on a core of its own.
const RANKS: u32 = 2;
/// Status if `--strict` finds a row that is slower than a peer, or a run of Margay's fails.
const BEHIND: i32 = 1;

/// Measures all and writes table, JSON and page.
pub fn run(tree: &Tree, options: &BenchPeersOptions) -> Outcome<i32> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    if cores < RANKS {
        return Err(Failure::usage(format!(
            "the comparison needs {RANKS} cores of this machine, and it may use {cores}"
        )));
    }
    let builder = Builder::new(tree, false, options.verbose)?;
    builder.programs(build::APPS)?;
    let sources = [PathBuf::from(MPI), PathBuf::from(SHMEM)];
    cc::build_programs(tree, &builder, &sources.iter().collect())?;
    let folder = RunFolder::new(tree)?;
    let lwk = Lwk::new(tree)?;
    let mut settings =
        vec![Setting::margay(&lwk, &sources.map(|source| cc::program(tree, &source)), options.timeout)];
    let mut absent = Vec::new();
    for peer in peer::all()
        .into_iter()
        .filter(|peer| options.only.is_empty() || options.only.iter().any(|name| name == peer.name))
    {
        match install::find(tree, &peer, options.verbose)
            .and_then(|found| compile(tree, &peer, &found, &folder))
        {
            Ok((found, program)) => settings.extend(peer.settings(&found, &program)),
            Err(failure) => absent.push((peer.name, failure.message)),
        }
    }
    for (name, why) in &absent {
        eprintln!("lwk: {name} takes no part: {why}");
    }
    let mut samples = Samples::new(settings.iter().map(|setting| setting.name.clone()).collect());
    for round in 0..options.rounds {
        let step = Step::begin(format!("round {} of {}", round + 1, options.rounds), options.verbose);
        for (number, setting) in settings.iter().enumerate() {
            samples.add(
                number,
                setting.run(&folder, &options.arguments(), Duration::from_secs(options.timeout))?,
            );
        }
        drop(step);
    }
    for (name, why) in samples.failures() {
        eprintln!("lwk: {name} failed: {why}");
    }
    let result = table::Comparison::of(&samples, absent);
    result.print(options.colour());
    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench/peers"));
    fs::create_dir_all(&out).doing(|| format!("make the folder {}", out.display()))?;
    let (json, html) = (out.join("peers.json"), out.join("peers.html"));
    fs::write(&json, format!("{:#}\n", result.json(&samples)))
        .doing(|| format!("write {}", json.display()))?;
    fs::write(&html, page::page(&result)?).doing(|| format!("write {}", html.display()))?;
    println!("# JSON: {}\n# page: {}", json.display(), html.display());
    if samples.runs(0).iter().any(|run| matches!(run, Run::Failed(_))) {
        return Err(Failure::host("Margay's own part of the comparison failed; the reason is above"));
    }
    Ok(if options.strict && result.is_behind() { BEHIND } else { 0 })
}

/// Compiles a peer's program with its own compiler command.
fn compile(tree: &Tree, peer: &Peer, found: &Found, folder: &RunFolder) -> Outcome<(Found, PathBuf)> {
    let output = folder.file(&format!("compare-{}", peer.name));
    let (source, library) = match peer.program {
        Measured::Mpi => (MPI, None),
        Measured::Shmem(library) => (SHMEM, Some(library)),
    };
    let mut command = found.compiler();
    command.args(["-std=gnu11", "-O2", "-o"]).arg(&output).arg(tree.root().join(source)).args(library);
    let ended = command.output().doing(|| format!("run {}", found.compiler.display()))?;
    if ended.status.success() {
        return Ok((found.clone(), output));
    }
    let text = String::from_utf8_lossy(&ended.stderr).into_owned();
    let why = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(Failure::host(format!("{} cannot compile {source}: {why}", found.compiler.display())))
}
