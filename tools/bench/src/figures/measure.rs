//! Runs what the chosen figures show: the benchmarks' tests on every transport, each once, and what other sources give.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use lwk::progress::Step;
use lwk::subcommand::Lwk;

use super::asked::{Asked, Outcomes, file};
use super::list::Drawn;
use super::sources::SOURCES;
use super::{applications, distribution, node_misses, profiles};
use crate::cli::FiguresOptions;
use crate::node::figures::{Panel, Ranks};
use crate::node::program::{BENCHMARKS, Benchmark, Setting};

/// MiB of each rank.
const MEMORY: u64 = 128;

/// Measures; what has come of it, and what failed.
pub fn measure(lwk: &Lwk, options: &FiguresOptions, drawn: &[&Drawn], out: &Path) -> Outcomes {
    let place = Setting::new(lwk, &options.place, MEMORY);
    let mut all = Outcomes::default();
    for benchmark in &BENCHMARKS {
        of_benchmark(&place, options, benchmark, drawn, &mut all);
    }
    for name in distribution::APPLICATIONS.iter().filter(|name| panels(drawn, name).next().is_some()) {
        let _step = Step::begin(format!("counting the messages of {name}"), options.place.verbose);
        file(&mut all, name, distribution::measure(&place, name, options.ranks, out));
    }
    for source in &SOURCES {
        let tests: BTreeSet<&str> =
            panels(drawn, source.program).flat_map(|panel| panel.tests).copied().collect();
        if tests.is_empty() {
            continue;
        }
        let tests = tests.into_iter().collect();
        let asked = Asked { place: &place, ranks: options.ranks, tests, out, verbose: options.place.verbose };
        let (measured, failed) = (source.measure)(&asked);
        all.0.extend(measured);
        all.1.extend(failed);
    }
    all
}

/// The panels that show a program, or a source.
fn panels<'d>(drawn: &'d [&Drawn], program: &'d str) -> impl Iterator<Item = &'static Panel> + 'd {
    drawn.iter().flat_map(|it| it.panels).filter(move |panel| panel.program == program)
}

/// Runs the tests of a benchmark.
fn of_benchmark(
    place: &Setting<'_>,
    options: &FiguresOptions,
    benchmark: &Benchmark,
    drawn: &[&Drawn],
    all: &mut Outcomes,
) {
    if panels(drawn, benchmark.name).next().is_none() {
        return;
    }
    let offer = match benchmark.offer(place) {
        Ok(offer) => offer,
        Err(why) => return file(all, benchmark.name, Err::<Vec<_>, _>(why)),
    };
    // By test and ranks: what is run once.
    let mut jobs: BTreeMap<(String, u32), ()> = BTreeMap::new();
    for panel in panels(drawn, benchmark.name) {
        match panel.test(&offer.tests) {
            Some(test) => {
                jobs.extend(ranks(panel.ranks, options.ranks).map(|ranks| ((test.into(), ranks), ())));
            }
            None => file(all, benchmark.name, Err::<Vec<_>, _>(format!("it has none of {:?}", panel.tests))),
        }
    }
    for (test, ranks) in jobs.keys() {
        for transport in &offer.transports {
            let what = format!("{} {test} over {transport} on {ranks} ranks", benchmark.name);
            let _step = Step::begin(format!("measuring {what}"), options.place.verbose);
            file(all, &what, benchmark.run(place, test, &offer, transport, *ranks));
        }
    }
}

/// The bundled programs in C that the figures need.
pub fn programs(drawn: &[&Drawn]) -> BTreeSet<&'static str> {
    let counted = distribution::APPLICATIONS.into_iter().filter(|name| panels(drawn, name).next().is_some());
    let of_all = [applications::PROGRAM, profiles::PROGRAM, node_misses::PROGRAM];
    let timed = of_all.into_iter().flat_map(|it| panels(drawn, it)).flat_map(|_| applications::NAMES);
    let is_tiled = |panel: &&Panel| panel.tests.contains(&applications::TILES);
    let tiled = panels(drawn, applications::PROGRAM).filter(is_tiled).map(|_| applications::TILING);
    counted.chain(timed).chain(tiled).collect()
}

fn ranks(on: Ranks, all: u32) -> RangeInclusive<u32> {
    match on {
        Ranks::Pair => 2..=2,
        Ranks::All => all..=all,
        Ranks::Each => 2..=all,
    }
}
