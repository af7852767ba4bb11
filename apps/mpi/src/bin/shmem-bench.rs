//! SHMEM benchmarks: latency, bandwidth, rates and collectives, each beside its floor in the same run
//!
//! `shmem-bench TEST`, where TEST is a name that `list` prints, or `all`. Columns are those of the OSU benchmarks, and then the
//! floor: what the same two cores do with bare loads and stores, measured in turns with the library, and the ratio of the two
//! (library by floor: a latency above 1 is slower than the floor, a bandwidth above 1 faster). Every test verifies its data in a
//! pass of its own that is not timed; wrong data is exit status 1.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "shmem-bench/collective.rs"]
mod collective;
#[path = "shmem-bench/instructions.rs"]
mod instructions;
#[path = "shmem-bench/measure.rs"]
mod measure;
#[path = "shmem-bench/point.rs"]
mod point;
#[path = "shmem-bench/rates.rs"]
mod rates;
#[path = "shmem-bench/raw.rs"]
mod raw;
#[path = "shmem-bench/synchronise.rs"]
mod synchronise;

use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_apps::cli::{Argument, Cli, fail};
use lwk_apps::json;
use lwk_shmem::engine;
use lwk_user::abi::exit::USAGE as USAGE_STATUS;
use lwk_user::{Env, job, println};
use measure::{Bench, Table};

const USAGE: &str = "shmem-bench list | transports | instructions | all | TEST… [--min-size BYTES] [--max-size BYTES] [--rounds N] [--json]";

/// A test: its name, what it measures, the PEs it needs, and itself. Collective over all PEs; PE 0 gets the table.
struct Test {
    name: &'static str,
    about: &'static str,
    pes: i32,
    run: fn(&Bench) -> Table,
}

const TESTS: &[Test] = &[
    Test { name: "put_latency", about: "putmem and quiet, by size", pes: 2, run: point::put_latency },
    Test { name: "get_latency", about: "getmem, by size", pes: 2, run: point::get_latency },
    Test {
        name: "put_flag",
        about: "put and flag, one way, by size: half a round trip",
        pes: 2,
        run: point::put_flag,
    },
    Test { name: "put_bw", about: "bandwidth of a window of puts", pes: 2, run: point::put_bandwidth },
    Test { name: "get_bw", about: "bandwidth of a window of gets", pes: 2, run: point::get_bandwidth },
    Test {
        name: "netpipe",
        about: "put and flag, one way, sizes around the powers of two",
        pes: 2,
        run: point::netpipe,
    },
    Test { name: "put_mr", about: "rate of 8-byte puts, by pairs", pes: 2, run: rates::message_rate },
    Test { name: "atomics", about: "each atomic on a peer's word", pes: 2, run: rates::atomics },
    Test { name: "barrier", about: "barrier_all of all PEs", pes: 1, run: synchronise::barrier },
    Test { name: "reduce", about: "sum of doubles to all PEs, by size", pes: 1, run: collective::reduce },
    Test { name: "broadcast", about: "from PE 0 to all, by size", pes: 1, run: collective::broadcast },
    Test {
        name: "fcollect",
        about: "every PE's block to all, by size of a block",
        pes: 1,
        run: collective::fcollect,
    },
    Test {
        name: "alltoall",
        about: "a block from each to each, by size of a block",
        pes: 1,
        run: collective::alltoall,
    },
];

lwk_user::entry!(main);

struct Options {
    json: bool,
    /// Only make the calls whose instructions a tool counts.
    instructions: bool,
    tests: Vec<&'static Test>,
    bench: Bench,
}

struct Document<'a> {
    program: &'static str,
    ranks: i32,
    emulated: bool,
    oversubscribed: bool,
    tests: &'a [Table],
}
lwk_apps::json_object!(Document<'a> { program, ranks, emulated, oversubscribed, tests });

fn main(env: &Env) -> Result<i32, Box<dyn core::error::Error>> {
    let options = parse(env);
    if job().nodes() > 1 {
        fail(
            USAGE_STATUS,
            &"shmem-bench: its floors are loads and stores of a peer's memory: give it one node",
        );
    }
    let _shmem = lwk_shmem::init(env)?;
    if options.instructions {
        return Ok(if instructions::run() { 0 } else { 1 });
    }
    let mut tables = Vec::new();
    let mut wrong = 0;
    for test in &options.tests {
        let table = (test.run)(&options.bench);
        wrong += table.wrong;
        if engine::my_pe() == 0 && !options.json {
            table.print(test.about);
        }
        tables.push(table);
    }
    if engine::my_pe() == 0 && options.json {
        json::print(&Document {
            program: "shmem-bench",
            ranks: engine::n_pes(),
            emulated: job().is_emulated(),
            oversubscribed: job().is_oversubscribed(),
            tests: &tables,
        });
    }
    Ok(if wrong == 0 { 0 } else { 1 })
}

fn parse(env: &Env) -> Options {
    let mut options =
        Options { json: false, instructions: false, tests: Vec::new(), bench: Bench::default() };
    let mut cli = Cli::new(env, USAGE);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("json") => options.json = true,
            Argument::Option("min-size") => {
                options.bench.smallest = cli.number("min-size", 1..=measure::LARGEST)
            }
            Argument::Option("max-size") => {
                options.bench.largest = cli.number("max-size", 1..=measure::LARGEST)
            }
            Argument::Option("rounds") => options.bench.rounds = cli.number("rounds", 1..=1_000_000),
            Argument::Word("all") => options.tests.extend(TESTS.iter().filter(|test| fits(test))),
            Argument::Word("instructions") => options.instructions = true,
            Argument::Word("list") => list(),
            Argument::Word("transports") => transports(),
            Argument::Word(word) => match TESTS.iter().find(|test| test.name == word) {
                Some(test) if fits(test) => options.tests.push(test),
                Some(test) => cli.refuse(&format_args!(
                    "{} needs {pes} PEs: run it with -n {pes}",
                    test.name,
                    pes = test.pes
                )),
                None => cli.refuse(&format_args!("there is no test `{word}`; `shmem-bench list` names them")),
            },
            other => cli.unknown(other),
        }
    }
    if options.bench.smallest > options.bench.largest {
        cli.refuse(&format_args!("--min-size is above --max-size"));
    }
    if options.tests.is_empty() && !options.instructions {
        cli.refuse(&format_args!("name a test"));
    }
    options
}

/// Whether the job has PEs enough for a test.
fn fits(test: &Test) -> bool {
    job().node_size() >= test.pes as u32
}

fn list() -> ! {
    if job().node_rank() == lwk_user::NodeRank(0) {
        for test in TESTS {
            println!("{:<16} {}", test.name, test.about);
        }
    }
    lwk_user::start::exit(0)
}

/// A put is a store or a copy, so there is only one way to another PE.
fn transports() -> ! {
    if job().node_rank() == lwk_user::NodeRank(0) {
        println!("smartmap");
    }
    lwk_user::start::exit(0)
}
