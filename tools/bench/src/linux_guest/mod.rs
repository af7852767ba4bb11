//! `cargo lwk bench linux-guest`: a Margay node beside Debian's cloud kernel with MPICH, in the same QEMU with the same cores, memory and
//! model of processor.
//!
//! One C program, `apps/c/bench/guest.c`, is compiled for both and measures in both; what it cannot see comes from Margay's exit report and from
//! Linux's own files. Everything is measured in this run. Where a figure cannot be taken on both alike, the difference is in Linux's
//! favour: its start is timed by its own clock, which does not count the unpacking of its image, and with an initramfs that holds one small
//! program; the pages of that initramfs are not counted as memory gone.

pub mod figures;
pub mod guest;
pub mod initramfs;
mod kvm;
mod nodes;
pub mod system;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::LinuxGuestOptions;
use crate::linux_guest::figures::{Figure, Row};
use crate::linux_guest::guest::{Guest, Linux};
use crate::linux_guest::system::System;
use lwk::accel;
use lwk::build::{self, Builder};
use lwk::cc;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::memory;
use lwk::packages;
use lwk::qemu::{Boot, Firmware, Machine};
use lwk::subcommand::{Lwk, Program};
use lwk::tree::{RunFolder, Tree};

/// The program that both run.
const PROGRAM: &str = "apps/c/bench/guest.c";
/// The guest's first program.
const INIT: &str = "apps/c/linux/guest-init.c";
/// Memory of each rank, in MiB; the page tables of one GiB are measured.
const RANK_MIB: u64 = 1024;
/// That of the job whose start is timed, which is what ranks have unless asked otherwise: all of it is cleared before.
const START_MIB: u64 = memory::DEFAULT_MIB;
/// What the program is told where cores have others to serve.
const SHORTEST: &str = "shortest";
/// How long the memory of ranks with [`RANK_MIB`] takes to clear: in the JSON, and below the table.
const CLEAR: &str = "clear_us";
/// The emulated processor of both. `rep movsb` is slow in emulation, and Linux would use it for everything.
const CPU: &str = "max,erms=off,fsrm=off";

/// Figures of one system by name.
type Figures = BTreeMap<String, f64>;

/// What was measured, round by round; Margay and Linux take turns.
#[derive(Default)]
struct Rounds {
    margay: Vec<Figures>,
    linux: Vec<Figures>,
}

/// What both boot, besides Margay's own parts.
struct Parts {
    system: System,
    /// The Linux guest's first program, and what it runs under MPICH.
    init: PathBuf,
    program: PathBuf,
}

impl Parts {
    /// Builds what a node needs, downloads the guest's system, and compiles its programs into `folder`.
    fn make(tree: &Tree, options: &LinuxGuestOptions, folder: &Path) -> Outcome<Self> {
        let builder = Builder::new(tree, false, options.verbose)?;
        lwk::emulator::find_qemu(tree, options.verbose)?;
        builder.kernel()?;
        builder.image_builder(Firmware::Bios)?;
        builder.programs(&build::BUNDLED)?;
        cc::build_programs(tree, &builder, &[&PathBuf::from(PROGRAM)].into())?;
        let parts = Self::made(System::fetch(tree, options.verbose)?, folder);
        compile_static(tree, &parts.init)?;
        compile_for_mpich(tree, &parts.system, PROGRAM, &parts.program)?;
        Ok(parts)
    }

    /// Those that have been made.
    fn made(system: System, folder: &Path) -> Self {
        Self { system, init: folder.join("init"), program: folder.join("guest") }
    }
}

/// Measures both and prints them. Status 0 if both ran, whatever the figures.
pub fn run(tree: &Tree, options: &LinuxGuestOptions) -> Outcome<i32> {
    if options.nodes > 1 {
        return nodes::run(tree, options);
    }
    let mib = memory::node_mib(options.ranks, RANK_MIB, options.ranks, 0).ok_or_else(|| {
        Failure::usage(format!("no machine has the memory of {} ranks; ask for fewer", options.ranks))
    })?;
    memory::check_host(mib)?;
    if options.kvm {
        return kvm::run(tree, options, mib);
    }
    let folder = RunFolder::new(tree)?;
    let parts = Parts::make(tree, options, &folder.file(""))?;
    let measured = measure(tree, options, mib, &parts, &folder, words(options.accel.settle()))?;
    keep(tree, options, "linux-guest.json", &measured)?;
    Ok(0)
}

/// Measures both, prints the table, and gives what the JSON has: what was measured, the rows, and the figures of each round.
fn measure(
    tree: &Tree,
    options: &LinuxGuestOptions,
    mib: u64,
    parts: &Parts,
    folder: &RunFolder,
    how: &str,
) -> Outcome<Value> {
    let cores = options.ranks;
    let qemu = lwk::emulator::find_qemu(tree, options.verbose)?;
    let machine = |initramfs: PathBuf, kernel: PathBuf| Machine {
        boot: Boot::Linux { kernel, initramfs, command_line: guest::COMMAND_LINE.into() },
        firmware: None,
        cores,
        memory_mib: mib,
        accelerator: options.accel.settle(),
        cpu: Some(CPU.into()),
        more: Vec::new(),
        gdb: false,
        host_cores: lwk::run::host_cores(),
        card: None,
    };
    let Parts { system, init, program } = parts;
    let linux = Linux { qemu: &qemu, system, init, folder, limit: options.timeout };
    let mut rounds = Rounds::default();
    for round in 1..=options.rounds {
        // Who boots slowly says where it is.
        let tell = |who: &str| {
            if options.inside {
                show!("# round {round} of {}: {who}", options.rounds);
            }
        };
        tell("Margay");
        rounds.margay.push(margay(tree, options, &cc::program(tree, Path::new(PROGRAM)), mib)?);
        tell("Linux");
        let mut figures = linux.boot(Guest::Bare, &machine)?;
        tell("Linux with MPICH");
        let argument = argument(options);
        figures.extend(linux.boot(Guest::WithMpi { program, argument, ranks: cores }, &machine)?);
        rounds.linux.push(figures);
    }
    let margay = figures::medians(&rounds.margay);
    let rows = figures::rows(&figures::OF_ONE_NODE, &margay, &figures::medians(&rounds.linux));
    show!("# {cores} ranks on {cores} cores, {mib} MiB, medians of {} rounds; {how}", options.rounds);
    show!("{}", Row::HEADER);
    rows.iter().for_each(|row| show!("{row}"));
    show!(
        "# ratio: Linux by Margay. Linux's start is timed by its own clock, which leaves out unpacking its image."
    );
    let clear = margay.get(CLEAR).copied().unwrap_or_default() / 1000.0;
    show!(
        "# Margay's start is that of ranks of {START_MIB} MiB; clearing {RANK_MIB} MiB for each takes {clear:.0} ms."
    );
    Ok(document(json!({ "ranks": cores, "memory_mib": mib, "how": how }), &rows, &rounds))
}

/// What was measured, the rows, and the figures of each round.
fn document(mut what: Value, rows: &[Row], rounds: &Rounds) -> Value {
    what["rows"] = rows.iter().map(Row::json).collect();
    what["rounds"] = json!({ "margay": rounds.margay, "linux": rounds.linux });
    what
}

/// Writes the JSON.
fn keep(tree: &Tree, options: &LinuxGuestOptions, file: &str, document: &Value) -> Outcome<()> {
    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench").join(file));
    if let Some(parent) = out.parent() {
        fs::create_dir_all(parent).doing(|| format!("make the folder {}", parent.display()))?;
    }
    fs::write(&out, format!("{document:#}\n")).doing(|| format!("write {}", out.display()))?;
    show!("# JSON: {}", out.display());
    Ok(())
}

fn words(accelerator: accel::Accelerator) -> &'static str {
    match accelerator {
        accel::Accelerator::Kvm => "KVM",
        accel::Accelerator::Tcg => "QEMU's emulation: counts and ratios mean something, times do not",
    }
}

/// Boots a Margay node twice: for the program's own figures, and for a second of computing alone.
fn margay(tree: &Tree, options: &LinuxGuestOptions, program: &Path, mib: u64) -> Outcome<Figures> {
    let lwk = Lwk::new(tree)?;
    let words = [argument(options)].into_iter().filter(|word| !word.is_empty()).map(str::to_owned);
    let words: Vec<String> = words.collect();
    let (mut figures, first) =
        margay_job(&lwk, options, &Program::File(program.into()), &[("--mem", RANK_MIB)], &words)?;
    let sizes = [("--mem", START_MIB), ("--node-mem", mib)];
    let (_, report) = margay_job(&lwk, options, &Program::named("noise"), &sizes, &[])?;
    let number = |value: &Value| value.as_u64().map(|value| value as f64);
    let lacks = || Failure::host("Margay's exit report lacks a figure");
    let sum = |list: &str, field: &str| -> Option<f64> {
        report[list].as_array()?.iter().map(|entry| number(&entry[field])).sum()
    };
    let tables =
        first["ranks"].as_array().into_iter().flatten().filter_map(|rank| number(&rank["page_table_bytes"]));
    let own = [
        (Figure::ENTRY, number(&report["node"]["kernel_entry_to_user_us"])),
        (CLEAR, number(&first["node"]["clear_us"])),
        (Figure::MEMORY, number(&first["node"]["kernel_memory_bytes"])),
        (Figure::PAGE_TABLES, tables.reduce(f64::max)),
        (Figure::INTERRUPTS, sum("cores", "interrupts")),
        // A core has one rank, and nothing else that it could switch to.
        (Figure::SWITCHES, Some(0.0)),
    ];
    for (name, value) in own {
        figures.insert(name.into(), value.ok_or_else(lacks)?);
    }
    Ok(figures)
}

/// What the program is told.
fn argument(options: &LinuxGuestOptions) -> &'static str {
    if options.inside { SHORTEST } else { "" }
}

/// Runs a job of such sizes, by options, on a node; what it printed as figures, and its exit report.
fn margay_job(
    lwk: &Lwk,
    options: &LinuxGuestOptions,
    program: &Program,
    sizes: &[(&str, u64)],
    arguments: &[String],
) -> Outcome<(Figures, Value)> {
    let said = |error: String| Failure::host(error);
    let folder = lwk.folder().map_err(said)?;
    let report = folder.file("report.json");
    let words = [
        "-n",
        &options.ranks.to_string(),
        "--timeout",
        &options.timeout.to_string(),
        "--cpu",
        CPU,
        "--accel",
        options.accel.settle().name(),
        "--report-json",
        &report.display().to_string(),
    ]
    .map(str::to_owned);
    let sizes = sizes.iter().flat_map(|(option, mib)| [(*option).to_owned(), mib.to_string()]);
    let words: Vec<String> = words.into_iter().chain(sizes).collect();
    let ended = lwk.command(&lwk.run_words(program, &words, arguments), options.timeout).map_err(said)?;
    if ended.status != Some(0) {
        return Err(Failure::host(format!("the job on Margay failed: {}", ended.stderr.trim_end())));
    }
    let text = fs::read_to_string(&report).doing(|| format!("read {}", report.display()))?;
    let report = serde_json::from_str(&text).doing(|| "read the exit report".into())?;
    Ok((figures::read(&ended.stdout), report))
}

/// Compiles the guest's first program.
pub fn compile_static(tree: &Tree, output: &Path) -> Outcome<()> {
    const COMPILER: &str = "musl-gcc";
    if packages::find_command(COMPILER).is_none() {
        packages::install(&["musl-tools"], false)?;
    }
    let compiler = packages::find_command(COMPILER)
        .ok_or_else(|| Failure::host(format!("{COMPILER} is still not in PATH")))?;
    let mut command = Command::new(compiler);
    run_compiler(
        command.args(["-O2", "-static", "-Wall", "-Wextra", "-o"]).arg(output).arg(tree.root().join(INIT)),
    )
}

/// Compiles a program of the tree for the guest's MPICH.
pub fn compile_for_mpich(tree: &Tree, system: &System, source: &str, output: &Path) -> Outcome<()> {
    let compiler = packages::find_command("gcc")
        .ok_or_else(|| Failure::host("gcc is not in PATH; install Debian's gcc"))?;
    let folders = system.libraries();
    let mut command = Command::new(compiler);
    command.args(["-O2", "-Wall", "-Wextra", "-I"]);
    command.arg(system.root().join("usr/include/x86_64-linux-gnu/mpich"));
    command.arg("-o").arg(output).arg(tree.root().join(source));
    for folder in &folders {
        command.arg("-L").arg(folder).arg(format!("-Wl,-rpath-link,{}", folder.display()));
    }
    run_compiler(command.arg("-lmpich"))
}

/// Runs a C compiler. Errors: it is not there, or what it compiles is wrong, which it has said.
pub fn run_compiler(command: &mut Command) -> Outcome<()> {
    let output = command.output().doing(|| "run the C compiler".into())?;
    if output.status.success() {
        return Ok(());
    }
    lwk::tell::error(format_args!("{}", String::from_utf8_lossy(&output.stderr)));
    Err(Failure::host("a program of a guest does not compile; the messages are above"))
}
