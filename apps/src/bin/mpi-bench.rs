//! MPI benchmarks by OSU's names: latency, bw, mbw_mr, barrier, allreduce; with floors measured in the same run
//!
//! Each test verifies its data in a pass of its own that is not timed, then alternates short repetitions of the test and of its
//! floor (the same exchange without the library) and reports the best of each and their ratio: absolute times of a shared
//! machine mean little.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "../mpi_bench/mod.rs"]
mod bench;

use alloc::vec::Vec;
use bench::{Bench, Table, collective, point_to_point};
use lwk_apps::cli::{Argument, Cli};
use lwk_apps::json;
use lwk_mpi_rt::mpi::Mpi;
use lwk_user::{Env, job, println};

const USAGE: &str =
    "mpi-bench TEST|all|list|transports [--sizes MIN:MAX] [--iterations N] [--repetitions N] [--json]";

/// A test: its name, the least ranks it needs, and the program.
type Test = (&'static str, u32, fn(&Bench) -> lwk_mpi_rt::Result<Table>);

const TESTS: [Test; 5] = [
    ("latency", 2, point_to_point::latency),
    ("bw", 2, point_to_point::bandwidth),
    ("mbw_mr", 2, point_to_point::message_rate),
    ("barrier", 1, collective::barrier),
    ("allreduce", 1, collective::allreduce),
];

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32, lwk_mpi_rt::Error> {
    let mut cli = Cli::new(env, USAGE);
    let mut name = None;
    let mut as_json = false;
    let mut options = bench::Options::default();
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("json") => as_json = true,
            Argument::Option("iterations") => options.iterations = cli.number("iterations", 1..=1_000_000),
            Argument::Option("repetitions") => options.repetitions = cli.number("repetitions", 1..=10_000),
            Argument::Option("sizes") => {
                let text = cli.text();
                match bench::sizes(text) {
                    Some(sizes) => options.sizes = Some(sizes),
                    None => cli.refuse(&"--sizes takes two numbers of bytes, as 1:4096, up to 64 MiB"),
                }
            }
            Argument::Word(word) if name.is_none() => name = Some(word),
            other => cli.unknown(other),
        }
    }
    let chosen: Vec<Test> = match name {
        None => cli.refuse(&"which test? `list` shows them"),
        Some("list") => {
            if job().rank().0 == 0 {
                TESTS.iter().for_each(|(name, ranks, _)| println!("{name:<12} {ranks} ranks or more"));
            }
            return Ok(0);
        }
        Some("transports") => {
            let mpi = Mpi::init()?;
            if job().rank().0 == 0 {
                println!("{}", mpi.transport_memory()?.0);
            }
            return Ok(0);
        }
        Some("all") => TESTS.iter().filter(|test| test.1 <= job().size()).copied().collect(),
        Some(name) => match TESTS.iter().find(|test| test.0 == name) {
            Some(test) if test.1 > job().size() => cli.refuse(&"this test needs more ranks: -n"),
            Some(test) => [*test].into(),
            None => cli.refuse(&"there is no such test; `list` shows them"),
        },
    };
    let mpi = Mpi::init()?;
    let bench = Bench::new(&mpi, options)?;
    let mut wrong = false;
    let mut tables = Vec::new();
    for (_, _, test) in chosen {
        let table = test(&bench)?;
        wrong |= table.wrong > 0;
        if bench.rank == 0 && !as_json {
            table.print();
        }
        tables.push(table);
    }
    if bench.rank == 0 && as_json && json::print(&tables).is_err() {
        return Ok(1);
    }
    Ok(wrong as i32)
}
