//! `cargo lwk bench node`: the bundled benchmarks on every transport, as one table, a JSON file, and plots that correspond to
//! figures 4, 5, 6 and 8 of the SMARTMAP paper ([`figures`]).
//!
//! Each test on each transport is a job of its own, so that one that fails takes no other with it: it is named, the rest goes
//! on, and the status is 1. What the programs can do is asked of them ([`program`]), never assumed.

mod bars;
pub(crate) mod figures;
pub(crate) mod plot;
pub(crate) mod program;
pub(crate) mod results;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::cli::BenchNodeOptions;
use crate::out::{folder, unwritable, write};
use figures::{FIGURES, Panel, Plot, Ranks, panels};
use lwk::build;
use lwk::failure::{Failure, Outcome};
use lwk::progress::Step;
use lwk::run;
use lwk::subcommand::{Lwk, PATIENCE};
use lwk::tree::Tree;
use program::{BENCHMARKS, Benchmark, Offer, Setting};
use results::Measurement;

/// Ranks if the user names no number: those of the paper's machine, or as many as this one has cores.
const RANKS: u32 = 4;
/// The measurements, in the output folder.
const RESULTS: &str = "results.json";
/// Status if a benchmark failed.
const FAILED: i32 = 1;

/// One job: a test on a number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Job {
    program: &'static str,
    test: String,
    ranks: u32,
}

/// Measures, prints and draws. Status 0 if every benchmark ended well, else 1.
pub fn run(tree: &Tree, options: &BenchNodeOptions) -> Outcome<i32> {
    if let Some(name) =
        options.tests.iter().find(|name| !BENCHMARKS.iter().any(|benchmark| benchmark.may_have(tree, name)))
    {
        return Err(Failure::usage(unknown(name)));
    }
    let out = folder(tree, options.out.as_ref(), "target/lwk/bench")?;
    check_writable(&out)?;
    options.place.prepare(tree, &[build::MPI_APPS])?;
    let lwk = Lwk::new(tree)?;
    let place = Setting::new(&lwk, &options.place, options.mem);
    let ranks = options.ranks.unwrap_or_else(|| place.host_cores.clamp(2, RANKS));

    let mut failed = Vec::new();
    let mut offers = BTreeMap::new();
    for benchmark in &BENCHMARKS {
        let step = Step::begin(format!("asking {} what it offers", benchmark.name), options.place.verbose);
        let offer = benchmark.offer(&place);
        drop(step);
        match offer {
            Ok(offer) => _ = offers.insert(benchmark.name, offer),
            Err(why) => fail(&mut failed, format!("{}: {why}", benchmark.name)),
        }
    }
    let jobs = plan(&offers, &options.tests, ranks).map_err(Failure::usage)?;

    let whereabouts = options.place.whereabouts("node");
    show!("# {whereabouts}\n{}", table::head());
    let mut measurements = Vec::new();
    for benchmark in &BENCHMARKS {
        let Some(offer) = offers.get(benchmark.name) else { continue };
        for job in jobs.iter().filter(|job| job.program == benchmark.name) {
            for transport in &offer.transports {
                let what = format!("{} {} over {transport} on {} ranks", job.program, job.test, job.ranks);
                let measured =
                    measure(benchmark, &place, offer, job, transport, &what, options.place.verbose);
                match measured {
                    Ok(measured) => {
                        measured.iter().for_each(|one| show!("{}", table::line(one)));
                        measurements.extend(measured);
                    }
                    Err(why) => fail(&mut failed, format!("{what}: {why}")),
                }
            }
        }
    }
    let missing = draw(&out, &whereabouts, &measurements)?;
    let slower = table::slower(&measurements);
    if measurements.iter().any(|one| one.transport != measurements[0].transport) {
        show!("# smartmap is slower than another transport at {} measurements", slower.len());
        slower.iter().for_each(|line| show!("#   {line}"));
    }
    let document = json!({
        "place": whereabouts, "quick": options.place.quick, "ranks": ranks,
        "measurements": measurements, "failed": failed, "not_drawn": missing, "slower_than_another": slower,
    });
    write(&out.join(RESULTS), &format!("{document:#}\n"))?;
    if options.tests.is_empty() && !missing.is_empty() {
        show!("# not measured, so not drawn: {}", missing.join("; "));
    }
    show!("# {RESULTS} and the plots are in {}", out.display());
    Ok(if failed.is_empty() { 0 } else { FAILED })
}

fn measure(
    benchmark: &Benchmark,
    place: &Setting<'_>,
    offer: &Offer,
    job: &Job,
    transport: &str,
    what: &str,
    verbose: bool,
) -> Result<Vec<Measurement>, String> {
    let _step = Step::begin(format!("measuring {what}"), verbose);
    benchmark.run(place, &job.test, offer, transport, job.ranks)
}

/// The jobs for the figures, or for the tests that the user names. The error says which name nobody knows.
fn plan(offers: &BTreeMap<&'static str, Offer>, names: &[String], ranks: u32) -> Result<Vec<Job>, String> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut add = |program: &'static str, test: &str, on: Ranks| {
        let each = match on {
            Ranks::Pair => 2..=2,
            Ranks::All => ranks..=ranks,
            Ranks::Each => 2..=ranks,
        };
        for ranks in each {
            let job = Job { program, test: test.into(), ranks };
            if !jobs.contains(&job) {
                jobs.push(job);
            }
        }
    };
    if names.is_empty() {
        for panel in panels() {
            if let Some(test) = offers.get(panel.program).and_then(|offer| panel.test(&offer.tests)) {
                add(panel.program, test, panel.ranks);
            }
        }
    }
    for name in names {
        let mut known = false;
        for (program, offer) in offers {
            if offer.tests.contains(name) {
                known = true;
                let is_it =
                    |panel: &&Panel| panel.program == *program && panel.tests.contains(&name.as_str());
                add(program, name, panels().find(is_it).map_or(Ranks::All, |panel| panel.ranks));
            }
        }
        if !known {
            return Err(unknown(name));
        }
    }
    Ok(jobs)
}

/// Checks that no name is refused that a program has: the tests that it offers, in the host home, all stand in its source.
///
/// # Errors
/// Which do not, or why it cannot be asked.
pub fn check_names(lwk: &Lwk) -> Result<(), String> {
    let limit = PATIENCE;
    let place = Setting { lwk, on_host: true, host_cores: run::host_cores(), quick: true, mem: 16, limit };
    for benchmark in &BENCHMARKS {
        let tests = benchmark.offer(&place)?.tests;
        let unknown: Vec<_> = tests.iter().filter(|test| !benchmark.may_have(lwk.tree(), test)).collect();
        if !unknown.is_empty() {
            return Err(format!("{unknown:?} do not stand in the source of {}", benchmark.name));
        }
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    let programs = BENCHMARKS.map(|benchmark| benchmark.name).join(" and ");
    format!("there is no benchmark {name:?}; {programs} name theirs when run with `list`")
}

/// Writes the figures. Returns the panels that nothing has been measured for.
fn draw(out: &Path, whereabouts: &str, measurements: &[Measurement]) -> Outcome<Vec<String>> {
    let mut missing = Vec::new();
    for figure in &FIGURES {
        let mut plots: Vec<Plot> = Vec::new();
        for panel in figure.panels {
            match panel.plot(measurements) {
                Some(plot) => plots.push(plot),
                None => missing.push(panel.name()),
            }
        }
        let file = out.join(format!("figure-{}.svg", figure.number));
        if plots.is_empty() {
            // A picture of an earlier run would not belong to the numbers beside it.
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(unwritable(&file, &error));
                }
                _ => continue,
            }
        }
        let title = format!("{} ({})", figure.title, figure.source);
        let svg = plot::figure(&title, whereabouts, &plots)
            .map_err(|error| Failure::host(format!("cannot draw figure {}: {error}", figure.number)))?;
        write(&file, &svg)?;
    }
    Ok(missing)
}

fn fail(failed: &mut Vec<String>, what: String) {
    tell!("lwk: {what}");
    failed.push(what);
}

/// Sees that files can be written to the folder, before an hour is spent on measuring.
fn check_writable(out: &Path) -> Outcome<()> {
    let file = out.join(RESULTS);
    let opened = fs::OpenOptions::new().append(true).create(true).open(&file);
    opened.map(drop).map_err(|error| unwritable(&file, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers() -> BTreeMap<&'static str, Offer> {
        let offer = |tests: &[&str]| Offer {
            tests: tests.iter().map(|test| String::from(*test)).collect(),
            transports: vec!["smartmap".into()],
        };
        [("mpi-bench", offer(&["latency", "barrier", "x"])), ("shmem-bench", offer(&["netpipe", "barrier"]))]
            .into()
    }

    fn planned(names: &[&str], ranks: u32) -> Result<Vec<(&'static str, String, u32)>, String> {
        let names: Vec<String> = names.iter().map(|name| String::from(*name)).collect();
        let jobs = plan(&offers(), &names, ranks)?;
        Ok(jobs.into_iter().map(|job| (job.program, job.test, job.ranks)).collect())
    }

    #[test]
    fn without_names_the_figures_are_planned_and_each_job_once() {
        let expected = [
            ("shmem-bench", "netpipe", 2),
            ("mpi-bench", "latency", 2),
            ("mpi-bench", "barrier", 2),
            ("mpi-bench", "barrier", 3),
        ];
        assert_eq!(
            planned(&[], 3).unwrap(),
            expected.map(|(program, test, ranks)| (program, test.into(), ranks))
        );
    }

    #[test]
    fn a_name_means_every_program_that_has_it() {
        let jobs = planned(&["barrier", "x"], 2).unwrap();
        let expected = [("mpi-bench", "barrier", 2), ("shmem-bench", "barrier", 2), ("mpi-bench", "x", 2)];
        assert_eq!(jobs, expected.map(|(program, test, ranks)| (program, test.into(), ranks)));
    }

    #[test]
    fn a_name_that_nobody_has_is_refused() {
        assert!(planned(&["latency", "nothing"], 2).unwrap_err().contains("\"nothing\""));
    }
}
