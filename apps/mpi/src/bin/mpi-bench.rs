//! MPI benchmarks by OSU's names: messages, bandwidth, rates, collectives; with floors measured in the same run
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
use bench::collective::Form;
use bench::moving::{Movement, Style};
use bench::neighbours::Gift;
use bench::one_sided::{Operation, Synchronisation};
use bench::reducing::Reduction;
use bench::{
    Bench, Table, asynchronous, collective, effective, memory, moving, neighbours, one_sided, patterns,
    point_to_point, posted, reducing,
};
use lwk_apps::cli::{Argument, Cli};
use lwk_apps::json;
use lwk_mpi::Mpi;
use lwk_user::abi::runtime::TRANSPORTS;
use lwk_user::{Env, job, println};

const USAGE: &str = "mpi-bench TEST|all|list|transports|algorithms|instructions|reductions|kernel_copy|distances|distances_busy [--sizes MIN:MAX] [--iterations N] [--repetitions N] [--json]";

/// A test: its name, the least ranks it needs, and the program.
type Test = (&'static str, u32, fn(&Bench) -> lwk_mpi_rt::Result<Table>);

/// Tests of one function of a few parameters.
macro_rules! collectives {
    ($($name:literal: $run:path, $($argument:expr),+;)*) => {
        [$(($name, 1, |bench| $run(bench, $name, $($argument),+))),*]
    };
}

const MESSAGES: [Test; 25] = [
    ("latency", 2, point_to_point::latency),
    ("pingping", 2, patterns::ping_ping),
    ("sendrecv", 2, patterns::sendrecv),
    ("exchange", 2, patterns::exchange),
    ("bw", 2, point_to_point::bandwidth),
    ("bibw", 2, patterns::both_ways),
    ("mbw_mr", 2, point_to_point::message_rate),
    ("n_half", 2, patterns::half_length),
    ("multi_lat", 2, patterns::multi_latency),
    ("mbw_reuse", 2, patterns::pairs_reusing),
    ("mbw_no_reuse", 2, patterns::pairs_without_reuse),
    ("mbw_rewritten", 2, patterns::pairs_rewriting),
    ("halo", 1, patterns::halo),
    ("overlap", 2, asynchronous::overlap),
    ("copy_overlap", 2, asynchronous::copy_overlap),
    ("send_overlap", 2, asynchronous::send_overlap),
    ("irecv_overlap", 2, posted::irecv_overlap),
    ("busy_short", 2, asynchronous::busy_short),
    ("busy_long", 2, asynchronous::busy_long),
    ("skew", 2, asynchronous::skew),
    ("skew_by_computing", 2, asynchronous::skew_by_computing),
    ("discovery", 3, asynchronous::discovery),
    ("polling", 2, asynchronous::polling),
    ("b_eff_latency", 2, effective::latency),
    ("b_eff_bandwidth", 2, effective::bandwidth),
];

const BARRIERS: [Test; 5] = [
    ("memory", 1, memory::memory),
    ("barrier", 1, collective::barrier),
    ("ibarrier", 1, collective::nonblocking_barrier),
    ("allreduce", 1, collective::allreduce),
    ("allreduce_traffic", 1, collective::allreduce_traffic),
];

const MOVEMENTS: [Test; 20] = collectives! {
    "bcast": moving::run, Movement::Broadcast, Style::Equal, Form::Blocking;
    "gather": moving::run, Movement::Gather, Style::Equal, Form::Blocking;
    "gatherv": moving::run, Movement::Gather, Style::Varying, Form::Blocking;
    "scatter": moving::run, Movement::Scatter, Style::Equal, Form::Blocking;
    "scatterv": moving::run, Movement::Scatter, Style::Varying, Form::Blocking;
    "allgather": moving::run, Movement::Allgather, Style::Equal, Form::Blocking;
    "allgatherv": moving::run, Movement::Allgather, Style::Varying, Form::Blocking;
    "alltoall": moving::run, Movement::Alltoall, Style::Equal, Form::Blocking;
    "alltoallv": moving::run, Movement::Alltoall, Style::Varying, Form::Blocking;
    "alltoallw": moving::run, Movement::Alltoall, Style::Typed, Form::Blocking;
    "ibcast": moving::run, Movement::Broadcast, Style::Equal, Form::Nonblocking;
    "igather": moving::run, Movement::Gather, Style::Equal, Form::Nonblocking;
    "igatherv": moving::run, Movement::Gather, Style::Varying, Form::Nonblocking;
    "iscatter": moving::run, Movement::Scatter, Style::Equal, Form::Nonblocking;
    "iscatterv": moving::run, Movement::Scatter, Style::Varying, Form::Nonblocking;
    "iallgather": moving::run, Movement::Allgather, Style::Equal, Form::Nonblocking;
    "iallgatherv": moving::run, Movement::Allgather, Style::Varying, Form::Nonblocking;
    "ialltoall": moving::run, Movement::Alltoall, Style::Equal, Form::Nonblocking;
    "ialltoallv": moving::run, Movement::Alltoall, Style::Varying, Form::Nonblocking;
    "ialltoallw": moving::run, Movement::Alltoall, Style::Typed, Form::Nonblocking;
};

const REDUCTIONS: [Test; 11] = collectives! {
    "reduce": reducing::run, Reduction::Reduce, Form::Blocking;
    "reduce_scatter": reducing::run, Reduction::Scatter, Form::Blocking;
    "reduce_scatter_block": reducing::run, Reduction::ScatterBlock, Form::Blocking;
    "scan": reducing::run, Reduction::Scan, Form::Blocking;
    "exscan": reducing::run, Reduction::Exscan, Form::Blocking;
    "ireduce": reducing::run, Reduction::Reduce, Form::Nonblocking;
    "iallreduce": reducing::run, Reduction::Allreduce, Form::Nonblocking;
    "ireduce_scatter": reducing::run, Reduction::Scatter, Form::Nonblocking;
    "ireduce_scatter_block": reducing::run, Reduction::ScatterBlock, Form::Nonblocking;
    "iscan": reducing::run, Reduction::Scan, Form::Nonblocking;
    "iexscan": reducing::run, Reduction::Exscan, Form::Nonblocking;
};

const NEIGHBOURS: [Test; 8] = collectives! {
    "neighbor_allgather": neighbours::run, Gift::Same, Style::Equal, Form::Blocking;
    "neighbor_allgatherv": neighbours::run, Gift::Same, Style::Varying, Form::Blocking;
    "neighbor_alltoall": neighbours::run, Gift::Own, Style::Equal, Form::Blocking;
    "neighbor_alltoallv": neighbours::run, Gift::Own, Style::Varying, Form::Blocking;
    "ineighbor_allgather": neighbours::run, Gift::Same, Style::Equal, Form::Nonblocking;
    "ineighbor_allgatherv": neighbours::run, Gift::Same, Style::Varying, Form::Nonblocking;
    "ineighbor_alltoall": neighbours::run, Gift::Own, Style::Equal, Form::Nonblocking;
    "ineighbor_alltoallv": neighbours::run, Gift::Own, Style::Varying, Form::Nonblocking;
};

/// Tests of two ranks, or of one with itself.
const ONE_SIDED: [Test; 17] = collectives! {
    "put_latency": one_sided::latency, Operation::Put, Synchronisation::Flush;
    "put_latency_lock": one_sided::latency, Operation::Put, Synchronisation::Lock;
    "put_latency_lock_all": one_sided::latency, Operation::Put, Synchronisation::LockAll;
    "put_latency_fence": one_sided::latency, Operation::Put, Synchronisation::Fence;
    "put_latency_pscw": one_sided::latency, Operation::Put, Synchronisation::General;
    "get_latency": one_sided::latency, Operation::Get, Synchronisation::Flush;
    "get_latency_lock": one_sided::latency, Operation::Get, Synchronisation::Lock;
    "get_latency_lock_all": one_sided::latency, Operation::Get, Synchronisation::LockAll;
    "get_latency_fence": one_sided::latency, Operation::Get, Synchronisation::Fence;
    "get_latency_pscw": one_sided::latency, Operation::Get, Synchronisation::General;
    "acc_latency": one_sided::latency, Operation::Accumulate, Synchronisation::Flush;
    "get_acc_latency": one_sided::latency, Operation::GetAccumulate, Synchronisation::Flush;
    "fop_latency": one_sided::latency, Operation::FetchAndOp, Synchronisation::Flush;
    "cas_latency": one_sided::latency, Operation::CompareAndSwap, Synchronisation::Flush;
    "put_bw": one_sided::bandwidth, Operation::Put, false;
    "put_bibw": one_sided::bandwidth, Operation::Put, true;
    "get_bw": one_sided::bandwidth, Operation::Get, false;
};

/// All tests.
fn tests() -> impl Iterator<Item = &'static Test> {
    MESSAGES.iter().chain(&BARRIERS).chain(&MOVEMENTS).chain(&REDUCTIONS).chain(&NEIGHBOURS).chain(&ONE_SIDED)
}

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
                tests().for_each(|(name, ranks, _)| println!("{name:<22} -n {ranks} or more"));
            }
            return Ok(0);
        }
        Some("algorithms") => {
            if job().rank().0 == 0 {
                for form in lwk_mpi_rt::collective::algorithm::FORMS {
                    println!("{}={:<14} {}", form.variable, form.name, form.limits);
                }
            }
            return Ok(0);
        }
        Some("transports") => {
            if job().rank().0 == 0 {
                TRANSPORTS.iter().for_each(|name| println!("{name}"));
            }
            return Ok(0);
        }
        Some("instructions") => {
            let mpi = Mpi::init()?;
            bench::instructions::run(&Bench::new(&mpi, options)?)?;
            return Ok(0);
        }
        Some("kernel_copy") if job().size() < 2 || job().nodes() > 1 => {
            cli.refuse(&"kernel_copy needs 2 ranks of one node: run it with -n 2")
        }
        Some("kernel_copy") => {
            let mpi = Mpi::init()?;
            bench::kernel_copy::run(&Bench::new(&mpi, options)?, as_json)?;
            return Ok(0);
        }
        Some(name @ ("distances" | "distances_busy")) => {
            let mpi = Mpi::init()?;
            bench::distances::run(&Bench::new(&mpi, options)?, name == "distances_busy", as_json)?;
            return Ok(0);
        }
        Some("reductions") => {
            let mpi = Mpi::init()?;
            return Ok(bench::reductions::run(&Bench::new(&mpi, options)?, as_json)?.into());
        }
        Some("all") => tests().filter(|test| test.1 <= job().size()).copied().collect(),
        Some(name) => match tests().find(|test| test.0 == name) {
            Some(&(name, ranks, _)) if ranks > job().size() => {
                cli.refuse(&format_args!("{name} needs {ranks} ranks: run it with -n {ranks}"))
            }
            Some(test) => [*test].into(),
            None => cli.refuse(&format_args!("there is no test `{name}`; `mpi-bench list` names them")),
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
    if bench.rank == 0 && as_json {
        json::print(&tables);
    }
    Ok(wrong as i32)
}
