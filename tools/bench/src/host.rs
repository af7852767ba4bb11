//! `cargo lwk bench host`: what the host home costs, beside its targets: the start of a job, a system call, and a peer's memory
//! compared with another thread's.

use std::io::Read;
use std::path::Path;

use lwk_abi::console as kind;
use lwk_home::bench::{Comparison, Operation};
use lwk_home::{Home, Surroundings, Tools, Volume};

use lwk::build::{self, Builder};
use lwk::console::record::Parser;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::job::{AtEnd, ConsoleForm, Job};
use lwk::report::Report;
use lwk::tree::Tree;

/// Pages that the job's files may take.
const FILE_PAGES: u32 = 8192;
/// Starts of each kind of job; the median is printed.
const STARTS: usize = 11;
/// Memory of each rank, in bytes: the default of `run`.
const MEMORY: u64 = 128 << 20;
/// Ranks of a job, and the milliseconds it may take to its first instruction.
const START_TARGETS: [(u32, f64); 2] = [(2, 50.0), (64, 1000.0)];
/// Nanoseconds that a system call may take.
const CALL_TARGET: f64 = 5000.0;
/// What a peer's memory may cost more than another thread's.
const RATIO_TARGET: f64 = 1.05;

/// Measures and prints. Status 0 if all targets are met, else 1.
pub fn run(tree: &Tree, verbose: bool) -> Outcome<i32> {
    let builder = Builder::new(tree, false, verbose)?;
    builder.programs(&[build::APPS, build::BOOT_TESTS])?;
    let mut all_met = true;
    let mut row = |name: &str, figure: f64, target: f64| {
        all_met &= figure <= target;
        show!("{name:<44}{figure:>12.1}{target:>12.0}  {}", verdict(figure, target));
    };
    show!("{:<44}{:>12}{:>12}", "# host home", "figure", "target");
    for (ranks, target) in START_TARGETS {
        let mut starts = Vec::new();
        for _ in 0..STARTS {
            let (_, report) = job(&tree.program("hello"), ranks)?;
            let microseconds = report.number("node", "start_to_user_us");
            starts.push(
                microseconds.ok_or_else(|| Failure::host("the node did not report its start"))? as f64
                    / 1000.0,
            );
        }
        starts.sort_by(f64::total_cmp);
        row(&format!("start of {ranks} ranks, ms"), starts[STARTS / 2], target);
    }
    let (printed, _) = job(&tree.program("syscall-cost"), 1)?;
    let cost = printed.split_whitespace().skip_while(|word| *word != "median").nth(1);
    let cost = cost.and_then(|word| word.parse().ok());
    row(
        "system call, ns",
        cost.ok_or_else(|| Failure::host("syscall-cost did not say its figure"))?,
        CALL_TARGET,
    );

    let compared = lwk_home::bench::compare();
    let (pages, comparisons) =
        compared.map_err(|error| Failure { message: error.message, status: error.status })?;
    show!("# a peer's memory ({pages} huge pages) beside another thread's");
    show!("{:<44}{:>12}{:>12}{:>12}{:>12}", "# operation", "ranks ns", "threads ns", "ratio", "target");
    for comparison in comparisons {
        let Comparison { operation, ranks_ns, threads_ns } = comparison;
        let ratio = comparison.ratio();
        let name = match operation {
            Operation::Store => "store of 8 bytes, one way".into(),
            Operation::Load => "load of 8 bytes, one way".into(),
            Operation::Copy(bytes) => format!("copy of {} KiB just written there", bytes >> 10),
        };
        all_met &= ratio <= RATIO_TARGET;
        let met = verdict(ratio, RATIO_TARGET);
        show!("{name:<44}{ranks_ns:>12.1}{threads_ns:>12.1}{ratio:>12.3}{RATIO_TARGET:>12.2}  {met}");
    }
    Ok(if all_met { 0 } else { 1 })
}

fn verdict(figure: f64, target: f64) -> &'static str {
    if figure <= target { "met" } else { "MISSED" }
}

/// Runs a job to its end: what it printed, and its exit report.
fn job(program: &Path, ranks: u32) -> Outcome<(String, Report)> {
    let job = Job {
        ranks,
        on_each_core: false,
        memory: Some(MEMORY),
        arguments: vec![program.into()],
        environment: Vec::new(),
        log: None,
        oversubscribe: true,
        report: true,
        cores: None,
        bind: None,
        wait: lwk::job::Wait::Pause,
        console: ConsoleForm::Framed,
        at_end: AtEnd::Exit,
        file_space: Some(FILE_PAGES as u64 * 4096),
        folder: None,
        out: false,
        inject: None,
        network: None,
        irq_core: None,
        workers: 0,
        limit: None,
    };
    let files = Volume::new(FILE_PAGES).doing(|| "make the job's file system".into())?;
    let mut home = Home::start(program, &job.encode(), &Tools::default(), &files, &Surroundings::default())
        .doing(|| "start the host home".into())?;
    let mut bytes = Vec::new();
    home.console().read_to_end(&mut bytes).doing(|| "read the node's console".into())?;
    home.stop().doing(|| "wait for the node".into())?;
    let (mut printed, mut report, mut end, mut errors) =
        (String::new(), Report::default(), None, String::new());
    Parser::default().feed(&bytes, |record| {
        let text = String::from_utf8_lossy(&record.text);
        match record.kind {
            kind::STDOUT => printed.push_str(&text),
            kind::REPORT => report.add(&text),
            kind::KERNEL | kind::FAILURE => errors.push_str(&text),
            kind::END => end = Some(record.number),
            _ => {}
        }
    });
    match end {
        Some(0) => Ok((printed, report)),
        _ => Err(Failure::host(format!("{} did not run in the host home: {errors}", program.display()))),
    }
}
