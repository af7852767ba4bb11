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
mod nodes;
pub mod system;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
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
use lwk::tree::Tree;

/// The program that both run.
const PROGRAM: &str = "apps/c/bench/guest.c";
/// The guest's first program.
const INIT: &str = "apps/c/linux/guest-init.c";
/// Memory of each rank, in MiB; the page tables of one GiB are measured.
const RANK_MIB: u64 = 1024;
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

/// Measures both and prints them. Status 0 if both ran, whatever the figures.
pub fn run(tree: &Tree, options: &LinuxGuestOptions) -> Outcome<i32> {
    if options.nodes > 1 {
        return nodes::run(tree, options);
    }
    let cores = options.ranks;
    let mib = memory::node_mib(cores, RANK_MIB, cores, 0).ok_or_else(|| {
        Failure::usage(format!("no machine has the memory of {cores} ranks; ask for fewer"))
    })?;
    memory::check_host(mib)?;
    let builder = Builder::new(tree, false, options.verbose)?;
    let qemu = lwk::emulator::find_qemu(tree, options.verbose)?;
    builder.kernel()?;
    builder.image_builder(Firmware::Bios)?;
    builder.programs(&build::BUNDLED)?;
    let source = PathBuf::from(PROGRAM);
    cc::build_programs(tree, &builder, &[&source].into())?;
    let system = System::fetch(tree, options.verbose)?;
    let folder = lwk::tree::RunFolder::new(tree)?;
    let (init, program) = (folder.file("init"), folder.file("guest"));
    compile_static(tree, &init)?;
    compile_for_mpich(tree, &system, PROGRAM, &program)?;

    let machine = |initramfs: PathBuf, kernel: PathBuf| Machine {
        boot: Boot::Linux { kernel, initramfs, command_line: guest::COMMAND_LINE.into() },
        uefi_code: None,
        cores,
        memory_mib: mib,
        accelerator: options.accel.settle(),
        cpu: Some(CPU.into()),
        more: Vec::new(),
        gdb: false,
        host_cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        card: None,
    };
    let linux = Linux { qemu: &qemu, system: &system, init: &init, folder: &folder, limit: options.timeout };
    let mut rounds = Rounds::default();
    for _ in 0..options.rounds {
        rounds.margay.push(margay(tree, options, &cc::program(tree, &source))?);
        let mut figures = linux.boot(Guest::Bare, &machine)?;
        figures.extend(linux.boot(Guest::WithMpi { program: &program, ranks: cores }, &machine)?);
        rounds.linux.push(figures);
    }
    let rows = figures::rows(
        &figures::OF_ONE_NODE,
        &figures::medians(&rounds.margay),
        &figures::medians(&rounds.linux),
    );
    show!(
        "# {cores} ranks on {cores} cores, {mib} MiB, medians of {} rounds; {}",
        options.rounds,
        words(options.accel.settle())
    );
    show!("{}", Row::HEADER);
    rows.iter().for_each(|row| show!("{row}"));
    show!(
        "# ratio: Linux by Margay. Linux's start is timed by its own clock, which leaves out unpacking its image."
    );
    let what = json!({ "ranks": cores, "memory_mib": mib });
    keep(tree, options, "linux-guest.json", what, &rows, &rounds)?;
    Ok(0)
}

/// Writes the JSON: what was measured, the rows, and the figures of each round.
fn keep(
    tree: &Tree,
    options: &LinuxGuestOptions,
    file: &str,
    mut what: Value,
    rows: &[Row],
    rounds: &Rounds,
) -> Outcome<()> {
    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench").join(file));
    if let Some(parent) = out.parent() {
        fs::create_dir_all(parent).doing(|| format!("make the folder {}", parent.display()))?;
    }
    what["rows"] = rows.iter().map(Row::json).collect();
    what["rounds"] = json!({ "margay": rounds.margay, "linux": rounds.linux });
    fs::write(&out, format!("{what:#}\n")).doing(|| format!("write {}", out.display()))?;
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
fn margay(tree: &Tree, options: &LinuxGuestOptions, program: &std::path::Path) -> Outcome<Figures> {
    let lwk = Lwk::new(tree)?;
    let (mut figures, _) = margay_job(&lwk, options, &Program::File(program.into()))?;
    let (_, report) = margay_job(&lwk, options, &Program::named("noise"))?;
    let number = |value: &Value| value.as_u64().map(|value| value as f64);
    let lacks = || Failure::host("Margay's exit report lacks a figure");
    let sum = |list: &str, field: &str| -> Option<f64> {
        report[list].as_array()?.iter().map(|entry| number(&entry[field])).sum()
    };
    let tables =
        report["ranks"].as_array().into_iter().flatten().filter_map(|rank| number(&rank["page_table_bytes"]));
    let own = [
        (Figure::ENTRY, number(&report["node"]["kernel_entry_to_user_us"])),
        (Figure::MEMORY, number(&report["node"]["kernel_memory_bytes"])),
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

/// Runs a job on a node; what it printed as figures, and its exit report.
fn margay_job(lwk: &Lwk, options: &LinuxGuestOptions, program: &Program) -> Outcome<(Figures, Value)> {
    let said = |error: String| Failure::host(error);
    let folder = lwk.folder().map_err(said)?;
    let report = folder.file("report.json");
    let words: Vec<String> = [
        "-n",
        &options.ranks.to_string(),
        "--mem",
        &RANK_MIB.to_string(),
        "--timeout",
        &options.timeout.to_string(),
        "--cpu",
        CPU,
        "--accel",
        options.accel.settle().name(),
        "--report-json",
        &report.display().to_string(),
    ]
    .map(str::to_owned)
    .into();
    let ended = lwk.command(&lwk.run_words(program, &words, &[]), options.timeout).map_err(said)?;
    if ended.status != Some(0) {
        return Err(Failure::host(format!("the job on Margay failed: {}", ended.stderr.trim_end())));
    }
    let text = fs::read_to_string(&report).doing(|| format!("read {}", report.display()))?;
    let report = serde_json::from_str(&text).doing(|| "read the exit report".into())?;
    Ok((figures::read(&ended.stdout), report))
}

/// Compiles the guest's first program.
pub fn compile_static(tree: &Tree, output: &std::path::Path) -> Outcome<()> {
    let compiler = packages::find_command("musl-gcc")
        .ok_or_else(|| Failure::host("musl-gcc is not in PATH; install Debian's musl-tools"))?;
    let mut command = Command::new(compiler);
    run_compiler(
        command.args(["-O2", "-static", "-Wall", "-Wextra", "-o"]).arg(output).arg(tree.root().join(INIT)),
    )
}

/// Compiles a program of the tree for the guest's MPICH.
pub fn compile_for_mpich(
    tree: &Tree,
    system: &System,
    source: &str,
    output: &std::path::Path,
) -> Outcome<()> {
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
