//! `cargo lwk bench peers --sweep`: the whole curve. Every operation of `apps/c/bench/sweep.c` and `sweep-shmem.c` by sizes, on two ranks and on more ranks than cores, under
//! the same MPIs in the same way as the comparison of single figures.

mod curves;
mod heat;
mod operations;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::BenchPeersOptions;
use crate::peers::install;
use crate::peers::peer::{self, Measured, Peer, Way};
use crate::peers::samples::{Run, Samples};
use crate::peers::start::{self, Measuring, Setting, Shape};
use crate::peers::sweep::curves::Section;
use crate::peers::sweep::operations::START_END;
use crate::peers::{BEHIND, RANKS};
use lwk::build::{self, Builder};
use lwk::cc;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::progress::Step;
use lwk::subcommand::Lwk;
use lwk::tree::{RunFolder, Tree};

/// The programs that all run: MPI's, and OpenSHMEM's.
const MPI: &str = "apps/c/bench/sweep.c";
const SHMEM: &str = "apps/c/bench/sweep-shmem.c";
/// What the JSON says it is; another number when its form changes.
const SCHEMA: &str = "margay-bench-sweep-1";
/// Ranks beside two, if nothing else is asked for.
const MORE_RANKS: [u32; 2] = [4, 8];
/// Points that are behind, and cliffs, that the terminal shows; the page shows all.
const SHOWN: usize = 40;
/// Measures all and writes table, JSON and page. Status 0; with `--strict` 1 if Margay is behind at some point, or nothing could be compared.
pub fn run(tree: &Tree, options: &BenchPeersOptions) -> Outcome<i32> {
    if let Some(unknown) =
        options.figures.iter().find(|word| !operations::all().any(|it| it.starts_with(word.as_str())))
    {
        return Err(Failure::usage(format!(
            "no operation begins with {unknown}; there are {}",
            operations::all().collect::<Vec<_>>().join(", ")
        )));
    }
    let peers = peer::chosen(&options.peers, &options.only)?;
    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench/sweep"));
    fs::create_dir_all(&out).doing(|| format!("make the folder {}", out.display()))?;
    let (json, html) = (out.join("sweep.json"), out.join("sweep.html"));
    for old in [&json, &html].into_iter().filter(|file| file.exists()) {
        fs::remove_file(old).doing(|| format!("remove the earlier {}", old.display()))?;
    }
    if !options.built {
        let builder = Builder::new(tree, false, options.verbose)?;
        builder.programs(&[build::MPI_APPS])?;
        let sources = wanted(options).map(PathBuf::from);
        cc::build_programs(tree, &builder, &sources.collect::<Vec<_>>().iter().collect())?;
    }
    let folder = RunFolder::new(tree)?;
    let lwk = Lwk::new(tree)?;
    let mut ready = Vec::new();
    let mut absent = Vec::new();
    for (peer, source) in peers.iter().filter_map(|peer| Some((peer, source(peer, options)?))) {
        match prepare(tree, peer, source, options, &folder) {
            Ok(it) => ready.push(it),
            Err(failure) => absent.push((peer.name.clone(), failure.message)),
        }
    }
    absent.iter().for_each(|(name, why)| tell!("lwk: {name} takes no part: {why}"));
    let mut ranks = options.ranks.clone();
    if ranks.is_empty() {
        ranks = [[RANKS].as_slice(), &MORE_RANKS].concat();
    }
    let mut sections = Vec::new();
    let mut documents = Vec::new();
    let mut has_failed = false;
    for ranks in ranks {
        let samples = measure(tree, &lwk, &ready, ranks, options, &folder)?;
        has_failed |= samples.runs(0).iter().any(|run| matches!(run, Run::Failed(_)));
        let found = Section::all_of(&samples, ranks, &operations::all().collect::<Vec<_>>());
        documents.push(document(ranks, &samples, &found));
        samples
            .failures()
            .for_each(|(name, why, _)| absent.push((format!("{name}, {ranks} ranks"), why.into())));
        sections.extend(found);
    }
    sections.iter().for_each(|section| print(section, options.colour()));
    let versions: Vec<Value> =
        ready.iter().map(|it| json!({ "name": it.peer.name, "version": it.found.version })).collect();
    let all = json!({ "schema": SCHEMA, "rounds": options.rounds, "quick": options.quick, "versions": versions, "sections": documents });
    fs::write(&json, format!("{all:#}\n")).doing(|| format!("write {}", json.display()))?;
    fs::write(&html, page::page(&sections, &absent)?).doing(|| format!("write {}", html.display()))?;
    absent.iter().for_each(|(name, why)| show!("# {name}: {why}"));
    show!("# JSON: {}\n# page: {}", json.display(), html.display());
    if has_failed {
        return Err(Failure::host("Margay's own part of the comparison failed; the reason is above"));
    }
    let compared = sections.iter().any(|section| section.ratios().next().is_some());
    if options.strict && !compared {
        tell!("lwk: --strict: no point of a peer could be compared with Margay's");
        return Ok(BEHIND);
    }
    let is_behind = sections.iter().any(|section| !section.behind().is_empty());
    Ok(if options.strict && is_behind { BEHIND } else { 0 })
}

/// The programs that have operations that are asked for.
fn wanted(options: &BenchPeersOptions) -> impl Iterator<Item = &'static str> {
    let both = [(MPI, &operations::MPI[..]), (SHMEM, &operations::SHMEM[..])];
    both.into_iter().filter(|(_, its)| operations::is_wanted(its, &options.figures)).map(|(source, _)| source)
}

/// The program by which a peer is measured; none if it has nothing that is asked for.
fn source(peer: &Peer, options: &BenchPeersOptions) -> Option<&'static str> {
    let its = if peer.program == Measured::Mpi { MPI } else { SHMEM };
    wanted(options).find(|source| *source == its)
}

/// A peer that is there, and its program.
struct Ready {
    peer: Peer,
    found: install::Found,
    program: PathBuf,
}

impl Ready {
    /// How it is started with so many ranks.
    fn ways(&self, ranks: u32) -> &'static [Way] {
        match self.peer.program {
            Measured::Mpi => peer::ways_of_ranks(&self.found.version, ranks),
            Measured::Shmem(_) => peer::shmem_ways_of_ranks(ranks),
        }
    }
}

fn prepare(
    tree: &Tree,
    peer: &Peer,
    source: &str,
    options: &BenchPeersOptions,
    folder: &RunFolder,
) -> Outcome<Ready> {
    let found = install::find(tree, peer, folder, options.verbose)?;
    let program = folder.file(&format!("sweep-{}", peer.name));
    let mut command = found.compiler();
    command.args(["-std=gnu11", "-O2", "-o"]).arg(&program).arg(tree.root().join(source));
    if let Measured::Shmem(library) = peer.program {
        command.arg(library);
    }
    let ended = start::to_end(&mut command, folder, Duration::from_secs(options.timeout))?;
    match ended.complaint() {
        Some(why) => {
            Err(Failure::host(format!("{} cannot compile {source}: {why}", found.compiler.display())))
        }
        None => Ok(Ready { peer: peer.clone(), found, program }),
    }
}

/// All rounds of all settings with so many ranks.
fn measure(
    tree: &Tree,
    lwk: &Lwk,
    ready: &[Ready],
    ranks: u32,
    options: &BenchPeersOptions,
    folder: &RunFolder,
) -> Outcome<Samples> {
    let measuring = |program: PathBuf| Measuring { program, figures: Vec::new() };
    let own = wanted(options).map(|source| measuring(cc::program(tree, Path::new(source)))).collect();
    let shape = Shape::of_one_node(ranks);
    // Each with whether it has MPI's program, the first.
    let mut settings = vec![(Setting::margay(lwk, shape, own, options.timeout), true)];
    for it in ready {
        for way in it.ways(ranks) {
            let programs = [measuring(it.program.clone())];
            let setting = Setting::peer(&it.peer.name, way, &it.found, shape, &programs);
            settings.push((setting, it.peer.program == Measured::Mpi));
        }
    }
    let mut samples = Samples::new(settings.iter().map(|(setting, _)| setting.name.clone()).collect());
    let limit = Duration::from_secs(options.timeout);
    for round in 0..options.rounds {
        let name = format!("{ranks} ranks, round {} of {}", round + 1, options.rounds);
        let _step = Step::begin(name, options.verbose);
        for (number, (setting, has_mpi)) in settings.iter().enumerate() {
            samples.add(number, one_run(setting, *has_mpi, options, folder, limit));
        }
    }
    Ok(samples)
}

/// One setting once: all curves, and start and end of a job of MPI's that does nothing else.
fn one_run(
    setting: &Setting,
    has_mpi: bool,
    options: &BenchPeersOptions,
    folder: &RunFolder,
    limit: Duration,
) -> Run {
    let wanted = &options.figures;
    if !has_mpi || !(wanted.is_empty() || wanted.iter().any(|word| START_END.starts_with(word.as_str()))) {
        return setting.run(folder, &options.arguments(), limit);
    }
    let mut arguments = options.arguments();
    if !wanted.is_empty() {
        // No operation: with a second word the program does not end at once.
        arguments.push("line".into());
    }
    let run = setting.run(folder, &arguments, limit);
    let begin = Instant::now();
    match setting.of_first().run(folder, &[START_END.to_owned()], limit) {
        Run::Failed(why) => Run::Failed(why),
        Run::Done(_) => run.and_figure(&format!("{START_END}.0"), begin.elapsed().as_secs_f64() * 1e6),
    }
}

/// What was found, for a terminal.
fn print(section: &Section, colour: bool) {
    let (red, end) = if colour { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
    show!("# {}", section.title());
    show!("# {}", section.summary());
    let behind = section.behind();
    for point in behind.iter().take(SHOWN) {
        show!("{red}{point}{end}");
    }
    if behind.len() > SHOWN {
        show!("# and {} more", behind.len() - SHOWN);
    }
    for cliff in section.cliffs().iter().take(SHOWN) {
        show!("# cliff: {cliff}");
    }
}

fn document(ranks: u32, samples: &Samples, sections: &[Section]) -> Value {
    let states: Vec<Value> = sections.iter().map(Section::json).collect();
    json!({ "ranks": ranks, "states": states, "runs": samples.json() })
}
