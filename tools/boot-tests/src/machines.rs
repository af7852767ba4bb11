//! `cargo lwk test machines`: nodes that take more than a test of every day may: 10 GiB a rank, and machines that only a later QEMU emulates. That has x2APIC in
//! its emulation, so there are more than 255 processors and numbers above 255, and the servers' processors of these years.
//!
//! The later QEMU is the one in `PATH`, or Debian's backport, unpacked under `target/` ([`lwk::emulator::find_later_qemu`]).

use std::collections::VecDeque;

use lwk::build::{self, Builder};
use lwk::emulator;
use lwk::failure::{Failure, Outcome};
use lwk::qemu::Firmware;
use lwk::subcommand::{Lwk, Program};
use lwk::tree::Tree;

use super::judge::Expected;
use super::special::{strings, test};
use super::{Test, run_boots};
use crate::cli::TestOptions;

/// The word of the command line.
pub const COMMAND: &str = "machines";
/// Time limit of a job, in seconds.
const LIMIT: u64 = 900;

/// A job, and what must be said of it.
struct Row {
    name: &'static str,
    /// It needs the later QEMU.
    later: bool,
    program: &'static str,
    arguments: &'static [&'static str],
    options: &'static [&'static str],
    status: i32,
    stdout: &'static [&'static str],
    stderr: &'static [&'static str],
    kernel: &'static [&'static str],
}

/// What most rows have: two ranks.
const PLAIN: Row = Row {
    name: "",
    later: true,
    program: "smap-ring",
    arguments: &[],
    options: &["-n", "2", "--mem", "16"],
    status: 0,
    stdout: &[],
    stderr: &[],
    kernel: &[],
};

static ROWS: [Row; 11] = [
    // Its page tables: root, three levels for the job page and the program, directories of the first GiB, of the tenth and of the stack's end.
    Row {
        name: "ten-gibibytes-from-pages-of-one",
        later: false,
        program: "hello",
        options: &["-n", "1", "--mem", "10240", "--report"],
        stderr: &[r"^ +0 +0 +\d+ +\d+ +32768 +10737418240  0$"],
        ..PLAIN
    },
    // Eight directories more.
    Row {
        name: "ten-gibibytes-without-pages-of-one",
        later: false,
        program: "hello",
        options: &["-n", "1", "--mem", "10240", "--report", "--cpu", "max,-pdpe1gb"],
        stderr: &[r"^ +0 +0 +\d+ +\d+ +65536 +10737418240  0$"],
        ..PLAIN
    },
    // Another implementation of UEFI: other tables, another map of memory, no screen.
    Row {
        name: "uefi-by-u-boot",
        later: false,
        options: &["-n", "2", "--mem", "16", "--firmware", "u-boot"],
        stdout: &["0 wrong words"],
        ..PLAIN
    },
    Row {
        name: "nothing-of-u-boot-is-readable",
        later: false,
        program: "test:stale-memory",
        options: &["-n", "2", "--mem", "64", "--firmware", "u-boot"],
        stdout: &["^rank 0: 0 stale words$", "^rank 1: 0 stale words$"],
        ..PLAIN
    },
    Row {
        name: "ranks-on-255-of-260-processors",
        options: &["-n", "255", "--mem", "4", "--qemu", "-smp 260,sockets=260"],
        stdout: &["0 wrong words"],
        kernel: &["5 cores beyond the 255 that the kernel can use stay off"],
        ..PLAIN
    },
    Row {
        name: "a-processor-with-a-number-above-255",
        program: "check",
        arguments: &["--size", "10000"],
        options: &[
            "-n",
            "2",
            "--mem",
            "16",
            "--cores",
            "2",
            "--qemu",
            "-smp 1,sockets=288,cores=1,maxcpus=288 -device max-x86_64-cpu,socket-id=287,core-id=0,thread-id=0",
        ],
        stdout: &["^ +1 +1 +287 ", "^# check: every result is right$"],
        ..PLAIN
    },
    Row {
        name: "a-time-limit-by-x2apic",
        program: "noise",
        arguments: &["--seconds", "1000"],
        options: &["-n", "2", "--mem", "16", "--timeout", "15"],
        status: 124,
        stderr: &["^margay: rank 0 .* apps/src/noise.rs:", "^margay: rank 1 .* apps/src/noise.rs:"],
        ..PLAIN
    },
    Row {
        name: "no-interrupts-by-x2apic",
        program: "noise",
        arguments: &["--seconds", "1"],
        options: &SERVER,
        stdout: &[
            "^rank 0 core [0-9]+ interrupts 0 faults 0 ",
            "^rank 1 core [0-9]+ interrupts 0 faults 0 ",
            "^rank 2 core [0-9]+ interrupts 0 faults 0 ",
            "^rank 3 core [0-9]+ interrupts 0 faults 0 ",
        ],
        ..PLAIN
    },
    Row { name: "sapphire-rapids", options: &SERVER, stdout: &["0 wrong words"], ..PLAIN },
    Row { name: "granite-rapids", options: &LATER_SERVER, stdout: &["0 wrong words"], ..PLAIN },
    Row { name: "epyc-genoa", options: &AMD_SERVER, stdout: &["0 wrong words"], ..PLAIN },
];

const SERVER: [&str; 8] =
    ["-n", "4", "--mem", "16", "--cpu", "SapphireRapids", "--qemu", "-smp 4,sockets=2,cores=1,threads=2"];
const LATER_SERVER: [&str; 8] =
    ["-n", "4", "--mem", "16", "--cpu", "GraniteRapids", "--qemu", "-smp 4,sockets=2,cores=1,threads=2"];
const AMD_SERVER: [&str; 8] =
    ["-n", "4", "--mem", "16", "--cpu", "EPYC-Genoa", "--qemu", "-smp 4,sockets=2,cores=1,threads=2"];

/// Runs every row, one at a time. Status 0 if all pass, else 1.
///
/// # Errors
/// What they need cannot be built or fetched.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let wanted =
        |row: &&'static Row| options.row.as_ref().is_none_or(|part| row.name.contains(part.as_str()));
    let rows: Vec<&'static Row> = ROWS.iter().filter(wanted).collect();
    if rows.is_empty() {
        return Err(Failure::usage("no test of machines has that in its name; --list shows all"));
    }
    if options.list {
        rows.iter().for_each(|row| show!("{}", row.name));
        return Ok(0);
    }
    let tests = |rows: &[&'static Row]| -> VecDeque<Test> {
        rows.iter().copied().map(|row| test(row.name.into(), move |lwk| check(row, lwk))).collect()
    };
    let builder = Builder::new(tree, options.built, options.verbose)?;
    builder.kernel()?;
    builder.image_builder(Firmware::Bios)?;
    builder.image_builder(Firmware::UBoot)?;
    builder.programs(&[build::APPS, build::BOOT_TESTS])?;
    emulator::find_qemu(tree, options.verbose)?;
    emulator::firmware(tree, Firmware::UBoot, options.verbose)?;
    let lwk = Lwk::new(tree)?;
    let (later, today): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.later);
    // One at a time: some need most of a machine.
    let mut count = run_boots(&lwk, tests(&today), 1);
    if !later.is_empty() {
        let lwk = lwk.with_commands_of(&emulator::find_later_qemu(tree, options.verbose)?);
        count = count.and(run_boots(&lwk, tests(&later), 1));
    }
    Ok(count.conclude())
}

fn check(row: &Row, lwk: &Lwk) -> Result<(), String> {
    let mut options = strings(row.options);
    options.extend(strings(&["--accel", "tcg"]));
    if !row.options.contains(&"--timeout") {
        options.extend(["--timeout".into(), LIMIT.to_string()]);
    }
    let words = lwk.run_words(&Program::named(row.program), &options, &strings(row.arguments));
    Expected {
        status: row.status,
        stdout: strings(row.stdout),
        stderr: strings(row.stderr),
        kernel: strings(row.kernel),
        ..Expected::default()
    }
    .judge(&lwk.command(&words, LIMIT)?)
}
