//! All about a machine that nobody has tried: what it says, tests and latency of every pair of cores, noise, STREAM
//!
//! What `cargo lwk image smap-ring --check` boots, with a rank on each core. It prints what the processor says and where ranks are; lets every two
//! ranks test atomic operations, locks, puts, gets and the order of stores in each other's memory; measures the latency of every pair, prints it as
//! numbers and, last, as a picture; and measures `noise` and `stream` in between. The status is 0 if every result is right.
#![no_std]
#![no_main]

use core::time::Duration;
use lwk_apps::check::{latency, machine, self_test};
use lwk_apps::cli::{Argument, Cli};
use lwk_apps::{noise, stream};
use lwk_user::smartmap::Peer;
use lwk_user::{Env, NodeRank, job, println};

const USAGE: &str = "check [--seconds S] [--size ELEMENTS] [--colour] [--spoil RANK]";

struct Options {
    /// Of the noise.
    time: Duration,
    /// Of each of STREAM's arrays; a quarter of the heap for each if nothing is said.
    elements: usize,
    colour: bool,
    /// This rank changes a word in the tests, to show that it is found.
    spoil: Option<Peer>,
}

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let options = parse(env);
    let speaks = Peer::me() == Peer::root();
    if speaks {
        let ranks = Peer::count();
        println!("# check: ranks {ranks}, pairs {}", ranks * (ranks - 1) / 2);
    }
    machine::print();
    let results = self_test::run(options.spoil);
    if speaks {
        println!("# tests on every pair of cores");
        println!("# {:<16} {:>9} {:>9}", "test", "results", "wrong");
        for (name, (made, wrong)) in self_test::NAMES.iter().zip(results) {
            println!("{name:<18} {made:>9} {wrong:>9}");
        }
    }
    let latencies = latency::measure_all();
    if speaks {
        latencies.print();
    }
    let rows = noise::measure_all(options.time, None);
    if speaks {
        noise::print(&rows);
    }
    let measured = stream::measure_all(options.elements);
    let streamed = measured.as_ref().is_some_and(|measured| !measured.wrong);
    let whole =
        results.iter().zip(self_test::complete()).all(|((made, wrong), all)| *made == all && *wrong == 0);
    let good = whole && streamed && latencies.is_complete();
    if speaks {
        measured.as_ref().map_or_else(|| println!("# stream: no memory for three arrays"), stream::print);
        latencies.print_picture(options.colour);
        println!("# check: {}", if good { "every result is right" } else { "SOMETHING IS WRONG" });
    }
    // Rank 0 tells: the others may not end the job before it has.
    if good || !speaks { 0 } else { 1 }
}

fn parse(env: &Env) -> Options {
    /// STREAM's arrays need not be larger than this: 128 MiB each, or 4 MiB where an emulator computes.
    const ELEMENTS_MAX: usize = 1 << 24;
    const EMULATED_MAX: usize = 1 << 19;
    let page = job().page();
    let fitting = ((page.heap_end - page.heap_start) / 4) as usize / size_of::<f64>();
    let most = if job().is_emulated() { EMULATED_MAX } else { ELEMENTS_MAX };
    let mut options =
        Options { time: Duration::from_secs(1), elements: fitting.min(most), colour: false, spoil: None };
    let mut cli = Cli::new(env, USAGE);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("seconds") => {
                options.time = Duration::from_secs(cli.number("seconds", 1..=3600))
            }
            Argument::Option("size") => options.elements = cli.number("size", 1..=1 << 34),
            Argument::Option("colour") => options.colour = true,
            Argument::Option("spoil") => {
                options.spoil = Peer::new(NodeRank(cli.number("spoil", 0..=Peer::count() - 1)));
            }
            other => cli.unknown(other),
        }
    }
    options
}
