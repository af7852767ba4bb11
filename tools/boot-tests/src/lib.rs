//! `cargo lwk test`: the host crates' tests, then boot tests, each a command of `cargo lwk` and what must come of it. Rows
//! that make sense in the host home run there, too; with `--host`, only there.
//!
//! A boot test is a row of `qemu-tests/cases.toml` ([`case`]) or, where a table cannot say it, a function in
//! [`special`]. Both start the command `lwk` as a user would ([`lwk::subcommand`]), so that everything from the command line to
//! the exit status is tested, and [`judge`] it by what the guest itself has said together with the status.

#![forbid(unsafe_code)]
// They panic when nobody listens: see `lwk::tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate lwk;

mod bochs;
mod capture;
mod case;
mod circles;
pub mod cli;
mod conformance;
mod count;
mod fortran_calls;
mod fortran_names;
mod host;
mod installed;
mod judge;
mod kvm;
pub mod lint;
mod loss;
mod machines;
mod many;
mod needs;
mod odd_firmware;
mod paths;
mod peers;
pub mod picture;
mod rank_memory;
mod real_machine;
pub mod reference;
mod rsmpi;
mod safety;
pub mod scoreboard;
mod screen_text;
mod serial_line;
mod shmem_names;
mod sizes;
mod slow_host;
mod slurm;
mod soak;
mod special;
mod streams;
mod thresholds;
mod tuning;
mod up;
mod wrappers;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use cli::TestOptions;
use count::Count;
use lwk::build::Builder;
use lwk::cc;
use lwk::failure::{Failure, Outcome};
use lwk::foreign;
use lwk::packages::find_command;
use lwk::qemu::Firmware;
use lwk::subcommand::Lwk;
use lwk::tree::Tree;
use needs::Needs;

/// Boots at a time. Two keep two host cores busy, since the start of a node is the work of one core.
const WORKERS: usize = 2;
/// The name under which the host crates' tests are selected.
const HOST_TESTS: &str = "host";
/// The host home's own tests among them.
const HOME_PACKAGE: &str = "lwk-home";

/// What a test does; the error is what was not as expected.
type Check = dyn Fn(&Lwk) -> Result<(), String> + Send + Sync;

/// One boot test.
struct Test {
    name: String,
    /// Needs the machine for itself.
    alone: bool,
    /// Runs in the host home: needs no node.
    on_host: bool,
    /// C and Fortran sources of its programs, relative to the tree. Without a compiler for Fortran there is no test of one.
    sources: Vec<PathBuf>,
    /// What it needs of the guest programs.
    needs: Needs,
    run: Box<Check>,
}

/// Runs all tests whose name contains the filter. Status 0 if all pass, else 1.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    if let Some(outcome) = choice_of_its_own(tree, options) {
        return outcome;
    }
    let mut tests = all(tree)?;
    let wanted = |name: &str| options.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    let compiles =
        |test: &Test| cc::has_fortran() || !test.sources.iter().any(|source| cc::is_fortran(source));
    tests.retain(|test| wanted(&test.name) && (test.on_host || !options.host) && compiles(test));
    let with_host = wanted(HOST_TESTS);
    if options.list {
        let host = with_host.then_some(HOST_TESTS);
        host.into_iter().chain(tests.iter().map(|test| test.name.as_str())).for_each(|name| show!("{name}"));
        return Ok(0);
    }
    if tests.is_empty() && !with_host {
        return Err(Failure::usage("no test has that in its name; `cargo lwk test --list` shows all"));
    }
    let mut count = Count::default();
    if with_host {
        count = host::run(tree, options.host.then_some(HOME_PACKAGE))?;
    }
    if let Some(line) = wrappers::without_header(tree, &mut tests) {
        show!("{line}");
    }
    if !tests.is_empty() {
        if !options.built {
            build_all(tree, options.verbose, &tests)?;
        }
        say_what_is_left_out(&tests, wanted("instructions"));
        let lwk = Lwk::new(tree)?;
        let (alone, together): (VecDeque<_>, VecDeque<_>) = tests.into_iter().partition(|test| test.alone);
        for (tests, workers) in [(together, WORKERS), (alone, 1)] {
            count = count.and(run_boots(&lwk, tests, workers));
        }
    }
    Ok(count.conclude())
}

/// The outcome of tests that run only if they are asked for by their command, if they are.
fn choice_of_its_own(tree: &Tree, options: &TestOptions) -> Option<Outcome<i32>> {
    Some(match options.filter.as_deref()? {
        kvm::COMMAND => kvm::run(tree, options),
        bochs::COMMAND => bochs::run(tree, options),
        machines::COMMAND => machines::run(tree, options),
        rsmpi::COMMAND => rsmpi::run(tree, options.row.as_deref(), options.verbose),
        slurm::COMMAND => slurm::run(tree, options),
        soak::COMMAND => soak::run(tree, options.megabytes.unwrap_or(soak::MEGABYTES), options.verbose),
        many::COMMAND => many::run(tree, options.verbose),
        loss::COMMAND => loss::run(tree, options),
        _ => return None,
    })
}

/// All other tests, but those of the host crates. Errors: a table of them cannot be read.
fn all(tree: &Tree) -> Outcome<Vec<Test>> {
    let mut tests = case::load(tree)?;
    tests.extend(special::all());
    tests.extend(conformance::all(tree)?);
    tests.push(shmem_names::test());
    tests.push(streams::test());
    tests.push(rank_memory::of_ranks());
    tests.push(Test {
        name: "bench-node-refuses-no-test-that-there-is".into(),
        alone: false,
        on_host: true,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(lwk_bench::node::check_names),
    });
    tests.push(Test {
        name: "bench-figures-draws-what-other-sources-measure".into(),
        alone: false,
        on_host: true,
        sources: lwk_bench::figures::sources(),
        needs: Needs::Any,
        run: Box::new(lwk_bench::figures::check),
    });
    tests.push(Test {
        name: "bench-figures-counts-misses-on-a-node".into(),
        alone: false,
        on_host: false,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(lwk_bench::figures::check_on_node),
    });
    tests.push(fortran_names::test());
    tests.push(fortran_calls::test());
    tests.extend(find_command("valgrind").map(|_| Test {
        name: "instructions-of-short-ways-are-within-their-bounds".into(),
        alone: false,
        on_host: true,
        sources: vec![lwk_bench::instructions::SOURCE.into()],
        needs: Needs::Sources,
        run: Box::new(lwk_bench::instructions::check),
    }));
    tests.extend(wrappers::all());
    tests.push(installed::test());
    tests.extend(paths::all());
    tests.extend(peers::all());
    tests.extend(up::all());
    tests.extend(capture::all());
    tests.extend(tuning::all());
    Ok(tests)
}

/// Says which of these tests do not run, or not as a whole, for want of something on this machine.
fn say_what_is_left_out(tests: &[Test], instructions: bool) {
    for line in conformance::left_out(tests) {
        show!("{line}");
    }
    if instructions && find_command("valgrind").is_none() {
        show!("skip  instruction counts: Debian's valgrind is not installed");
    }
    if tests.iter().any(|test| test.name.starts_with("margay-cc")) {
        wrappers::left_out().iter().for_each(|line| show!("{line}"));
    }
    capture::left_out(tests).iter().for_each(|line| show!("{line}"));
    peers::left_out(tests).iter().for_each(|line| show!("{line}"));
}

/// Builds everything, what boots only if one of the `tests` does, and installs what is missing, so that no test's time limit pays for it.
fn build_all(tree: &Tree, verbose: bool, tests: &[Test]) -> Outcome<()> {
    let builder = Builder::new(tree, false, verbose)?;
    if tests.iter().any(|test| test.on_host) {
        lwk::packages::find_valgrind(verbose)?;
    }
    if tests.iter().any(|test| !test.on_host) {
        lwk::emulator::find_qemu(tree, verbose)?;
        lwk::emulator::find_ovmf(verbose)?;
        builder.kernel()?;
        builder.image_builder(Firmware::Bios)?;
        builder.image_builder(Firmware::Uefi)?;
    }
    let needed: Vec<&Needs> = tests.iter().map(|test| &test.needs).collect();
    needs::build(tree, &builder, &needed)?;
    let sources = tests.iter().flat_map(|test| &test.sources);
    let (foreign, own): (BTreeSet<_>, BTreeSet<_>) = sources.partition(|source| foreign::is_foreign(source));
    foreign::build_programs(tree, &foreign)?;
    cc::build_programs(tree, &builder, &own)
}

fn run_boots(lwk: &Lwk, tests: VecDeque<Test>, workers: usize) -> Count {
    let (queue, count) = (Mutex::new(tests), Mutex::new(Count::default()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                // A poisoned lock means that a test function panicked, which is a bug of the harness: let it show.
                while let Some(test) = { queue.lock().expect("no worker panics").pop_front() } {
                    let started = Instant::now();
                    let result = (test.run)(lwk);
                    let seconds = started.elapsed().as_secs_f64();
                    let mut count = count.lock().expect("no worker panics");
                    match result {
                        Ok(()) => {
                            count.passed += 1;
                            show!("ok    {} ({seconds:.1} s)", test.name);
                        }
                        Err(why) => {
                            count.fail(&test.name, &why);
                            show!("FAIL  {} ({seconds:.1} s)", test.name);
                            why.lines().for_each(|line| show!("      {line}"));
                        }
                    }
                }
            });
        }
    });
    count.into_inner().expect("no worker panics")
}
