//! `cargo lwk bench peers`: Margay's MPI beside others', on the same two pinned cores of this machine, interleaved in one run.
//!
//! C programs, `apps/c/bench/compare.c`, `compare-shmem.c` and `compare-types.c`, are compiled unchanged by each MPI's own compiler command
//! and by `margay-cc`. A round starts them once under each MPI in each of its settings, one after the other; a machine whose state changes
//! (a line between two cores takes several times as long as a moment ago) changes for all. The programs measure that line before and after
//! every figure: a figure that straddles a change is dropped, and medians are taken for each state apart. Nothing is carried over from an
//! earlier run, whose results are removed first; a peer that cannot be installed, crashes, hangs or prints what is no figure is shown as
//! such, and the rest goes on.

mod install;
pub(crate) mod page;
mod peer;
mod plot;
pub mod rows;
pub mod samples;
mod start;
mod sweep;
mod table;
mod types;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::cli::BenchPeersOptions;
use crate::peers::install::Found;
use crate::peers::peer::{Measured, Peer, Way};
use crate::peers::rows::ROWS;
use crate::peers::samples::{Run, Samples};
use crate::peers::start::{Measuring, Setting, Shape};
use lwk::build::{self, Builder};
use lwk::cc;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::progress::Step;
use lwk::subcommand::Lwk;
use lwk::tree::{RunFolder, Tree};

/// The programs that all run: MPI's, OpenSHMEM's, and that of MPI's datatypes.
const MPI: &str = "apps/c/bench/compare.c";
const SHMEM: &str = "apps/c/bench/compare-shmem.c";
const TYPES: &str = "apps/c/bench/compare-types.c";
/// Ranks, each on a core of its own.
const RANKS: u32 = 2;
/// Status if `--strict` finds a row that is slower than a peer, or no row that has a peer's figure beside it.
const BEHIND: i32 = 1;
/// What the JSON says it is; another number when its form changes.
const SCHEMA: &str = "margay-bench-peers-1";

/// Measures all and writes table, JSON and page. Status 0; with `--strict` 1 if Margay is behind somewhere, or nothing could be compared.
pub fn run(tree: &Tree, options: &BenchPeersOptions) -> Outcome<i32> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    if cores < RANKS {
        return Err(Failure::usage(format!(
            "the comparison needs {RANKS} cores of this machine, and it may use {cores}"
        )));
    }
    if options.sweep {
        return sweep::run(tree, options);
    }
    if let Some(unknown) =
        options.figures.iter().find(|figure| !rows::all().any(|row| row.name.starts_with(figure.as_str())))
    {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(Failure::usage(format!(
            "no figure begins with {unknown}; there are {}, and of datatypes {}_…",
            names.join(", "),
            types::PREFIX
        )));
    }
    let is_any = |figure: &String| {
        rows::all().any(|row| is_measured(options, row) && row.name.starts_with(figure.as_str()))
    };
    if let Some(other) = options.figures.iter().find(|figure| !is_any(figure)) {
        return Err(Failure::usage(format!("{other} is not measured between nodes: leave out --nodes")));
    }
    let peers = peer::chosen(&options.peers, &options.only)?;
    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench/peers"));
    fs::create_dir_all(&out).doing(|| format!("make the folder {}", out.display()))?;
    let (json, html) = (out.join("peers.json"), out.join("peers.html"));
    for old in [&json, &html].into_iter().filter(|file| file.exists()) {
        fs::remove_file(old).doing(|| format!("remove the earlier {}", old.display()))?;
    }

    if !options.built {
        let builder = Builder::new(tree, false, options.verbose)?;
        builder.programs(&[build::MPI_APPS])?;
        let sources = [MPI, SHMEM, TYPES].map(PathBuf::from);
        cc::build_programs(tree, &builder, &sources.iter().collect())?;
    }
    let folder = RunFolder::new(tree)?;
    let lwk = Lwk::new(tree)?;
    let programs = [MPI, SHMEM, TYPES].map(|source| Measuring {
        program: cc::program(tree, Path::new(source)),
        figures: wanted(options, source),
    });
    let programs = programs.into_iter().filter(|program| !program.figures.is_empty()).collect();
    let shape = Shape { ranks: RANKS, nodes: options.nodes };
    let mut settings = vec![Setting::margay(&lwk, shape, programs, options.timeout)];
    let (mut absent, mut versions) = (Vec::new(), Vec::new());
    // A peer without any of the figures asked for has nothing to do.
    for peer in peers.iter().filter(|peer| !sources(options, peer).is_empty()) {
        let prepared = prepare(tree, peer, options, &folder);
        match prepared.and_then(|(found, programs)| Ok((ways(peer, &found, shape)?, found, programs))) {
            Ok((ways, found, programs)) => {
                settings
                    .extend(ways.iter().map(|way| Setting::peer(&peer.name, way, &found, shape, &programs)));
                versions.push(json!({ "name": peer.name, "version": found.version }));
            }
            Err(failure) => absent.push((peer.name.clone(), failure.message)),
        }
    }
    for (name, why) in &absent {
        tell!("lwk: {name} takes no part: {why}");
    }
    let mut samples = Samples::new(settings.iter().map(|setting| setting.name.clone()).collect());
    let limit = Duration::from_secs(options.timeout);
    for round in 0..options.rounds {
        let _step = Step::begin(format!("round {} of {}", round + 1, options.rounds), options.verbose);
        for (number, setting) in settings.iter().enumerate() {
            samples.add(number, setting.run(&folder, &options.arguments(), limit));
        }
    }
    let result = table::Comparison::of(&samples, absent);
    result.print(options.colour());
    let mut document = result.json(&samples);
    document["schema"] = SCHEMA.into();
    document["options"] =
        json!({ "rounds": options.rounds, "quick": options.quick, "ranks": RANKS, "nodes": options.nodes });
    document["versions"] = versions.into();
    fs::write(&json, format!("{document:#}\n")).doing(|| format!("write {}", json.display()))?;
    fs::write(&html, page::page(&result)?).doing(|| format!("write {}", html.display()))?;
    show!("# JSON: {}\n# page: {}", json.display(), html.display());
    if samples.runs(0).iter().any(|run| matches!(run, Run::Failed(_))) {
        return Err(Failure::host("Margay's own part of the comparison failed; the reason is above"));
    }
    if options.strict && result.compared().next().is_none() {
        tell!("lwk: --strict: no figure of a peer could be compared with Margay's");
        return Ok(BEHIND);
    }
    Ok(if options.strict && result.is_behind() { BEHIND } else { 0 })
}

/// How a peer is started.
fn ways(peer: &Peer, found: &Found, shape: Shape) -> Outcome<&'static [Way]> {
    if shape.has_nodes() {
        return peer::ways_by_tcp(&found.version);
    }
    Ok(peer.ways.unwrap_or_else(|| peer::ways_of(&found.version)))
}

/// Between nodes there are only MPI's own figures.
fn is_measured(options: &BenchPeersOptions, row: &rows::Row) -> bool {
    options.nodes == 1 || !(row.is_shmem() || row.is_types())
}

/// Names of the figures that are asked for and that a program prints.
fn wanted(options: &BenchPeersOptions, source: &str) -> Vec<&'static str> {
    let of_it = |row: &&rows::Row| {
        let its = [(row.is_shmem(), SHMEM), (row.is_types(), TYPES)];
        let program = its.into_iter().find(|(is, _)| *is).map_or(MPI, |(_, program)| program);
        program == source && is_measured(options, row) && row.is_wanted(&options.figures)
    };
    rows::all().filter(of_it).map(|row| row.name).collect()
}

/// The sources of the programs by which a peer is measured: those that print figures that are asked for.
fn sources(options: &BenchPeersOptions, peer: &Peer) -> Vec<&'static str> {
    let its: &[&str] = if peer.program == Measured::Mpi { &[MPI, TYPES] } else { &[SHMEM] };
    its.iter().copied().filter(|source| !wanted(options, source).is_empty()).collect()
}

/// Finds or installs a peer, and compiles its programs with its own compiler command.
fn prepare(
    tree: &Tree,
    peer: &Peer,
    options: &BenchPeersOptions,
    folder: &RunFolder,
) -> Outcome<(Found, Vec<Measuring>)> {
    let found = install::find(tree, peer, folder, options.verbose)?;
    let mut programs = Vec::new();
    for (number, source) in sources(options, peer).into_iter().enumerate() {
        let program = folder.file(&format!("compare-{}-{number}", peer.name));
        let mut command = found.compiler();
        command.args(["-std=gnu11", "-O2", "-o"]).arg(&program).arg(tree.root().join(source));
        if let Measured::Shmem(library) = peer.program {
            command.arg(library);
        }
        let ended = start::to_end(&mut command, folder, Duration::from_secs(options.timeout));
        if let Some(why) = ended.map_or_else(|failure| Some(failure.message), |ended| ended.complaint()) {
            let compiler = found.compiler.display();
            return Err(Failure::host(format!("{compiler} cannot compile {source}: {why}")));
        }
        programs.push(Measuring { program, figures: wanted(options, source) });
    }
    Ok((found, programs))
}
