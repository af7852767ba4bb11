//! `cargo lwk test kvm`: a choice of boot tests under KVM, which forgives less than QEMU's emulation.
//!
//! Where `/dev/kvm` can be used they run on this machine; elsewhere KVM runs one level deeper ([`nested`]).

use std::collections::VecDeque;

use lwk::accel::{Accelerator, Choice};
use lwk::emulator;
use lwk::failure::{Failure, Outcome};
use lwk::qemu::Firmware;
use lwk::show;
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::Tree;
use lwk_bench::nested;

use super::judge::Expected;
use super::{Test, case, special};
use crate::cli::TestOptions;

/// The word of the command line.
pub const COMMAND: &str = "kvm";

/// The boot tests that KVM may judge otherwise than the emulation: cores, interrupts of all kinds, yields, time, devices, firmware.
const ROWS: [&str; 22] = [
    "hello-over-uefi",
    "ring-on-eight-cores",
    "ranks-share-a-core-when-asked",
    "registers-are-a-ranks-own",
    "time-is-one-where-counters-differ",
    "time-never-runs-backwards-between-cores",
    "report-counts-the-node",
    "whole-lines-never-interleave",
    "system-calls-see-whole-words",
    "nothing-of-firmware-is-readable",
    "time-limit-tells-where-each-rank-was",
    "a-dying-rank-takes-its-peers-along",
    "all-ranks-die-at-once",
    "crash-null-read",
    "crash-divide",
    "crash-stack-overflow",
    "kernel-panic",
    "kernel-runs-off-its-stack",
    "kernel-fails-on-a-core-that-starts",
    "screen-shows-the-console",
    "files-go-in-and-come-back",
    "no-interrupts-during-noise",
];

/// Those that the Linux guest leaves out unless one is asked for by name. With OVMF in it, the emulated virtualisation of QEMU 7.2 and of 10.0
/// ends with a failed assertion (`tcg_handle_interrupt`): where a guest writes control register 8 while KVM waits for it to take an interrupt, QEMU raises a virtual
/// interrupt without its lock, and OVMF's handlers write that register. With interrupt controllers of QEMU's own (`kernel_irqchip=off`) it does not, and no job ends
/// within ten minutes. UEFI is there by U-Boot, which does not write it. AVX ends with an invalid instruction there now and then; that this is the emulation's doing is likely and has not been
/// shown. 255 ranks on 260 processors do not end within minutes.
const NOT_NESTED: [&str; 4] = [
    "hello-over-uefi",
    "nothing-of-firmware-is-readable",
    "registers-are-a-ranks-own",
    "more-processors-than-255",
];

/// Of the Linux guest: nodes have less than a quarter of it.
const MEMORY_MIB: u64 = 4096;

/// Runs them. Status 0 if all pass, else 1.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let mut tests = tests(tree, options.row.as_deref())?;
    if options.inside && options.row.is_none() {
        tests.retain(|test| !NOT_NESTED.contains(&test.name.as_str()));
        show!("left out here: {}", NOT_NESTED.join(", "));
    }
    if options.list {
        tests.iter().for_each(|test| show!("{}", test.name));
        return Ok(0);
    }
    if tests.is_empty() {
        return Err(Failure::usage("no test under KVM has that in its name; --list shows all"));
    }
    if !options.built {
        super::build_all(tree, options.verbose, &tests)?;
        emulator::firmware(tree, Firmware::UBoot, options.verbose)?;
    }
    if Choice::Auto.settle() == Accelerator::Kvm {
        // One at a time: there they share two emulated cores.
        let tests = VecDeque::from(tests);
        return Ok(super::run_boots(&Lwk::new(tree)?, tests, 1).conclude());
    }
    if options.inside {
        return Err(Failure::host("KVM does not work in the Linux guest"));
    }
    let row = options.row.iter().cloned();
    let words: Vec<String> =
        ["test", COMMAND, "--built", "--inside"].map(str::to_owned).into_iter().chain(row).collect();
    nested::run(tree, &words, MEMORY_MIB, options.verbose).map(|ended| ended.status)
}

type Check = fn(&Lwk) -> Result<(), String>;

/// Tests that there are here only.
const OWN: [(&str, Check); 5] = [
    ("hello-over-u-boot", hello_over_u_boot),
    ("nothing-of-u-boot-is-readable", nothing_of_u_boot),
    ("processors-with-numbers-above-255", numbers_above_255),
    ("more-processors-than-255", more_than_255),
    ("numbers-that-need-x2apic", numbers_without_x2apic),
];

/// The tests of [`ROWS`] and [`OWN`] that have `row`, or one of its parts between commas, in their names.
fn tests(tree: &Tree, row: Option<&str>) -> Outcome<Vec<Test>> {
    let mut tests = case::load(tree)?;
    tests.extend(special::all());
    tests.retain(|test| ROWS.contains(&test.name.as_str()));
    tests.extend(OWN.map(|(name, check)| special::test(name.into(), check)));
    let asked = |name: &str| row.is_none_or(|row| row.split(',').any(|part| name.contains(part)));
    tests.retain(|test| asked(&test.name));
    Ok(tests)
}

/// A job over UEFI: by the one implementation that runs where KVM is emulated.
fn hello_over_u_boot(lwk: &Lwk) -> Result<(), String> {
    over_u_boot(lwk, "hello", &["^hello from rank 0 of 2", "^hello from rank 1 of 2"])
}

fn nothing_of_u_boot(lwk: &Lwk) -> Result<(), String> {
    over_u_boot(lwk, "test:stale-memory", &["^rank 0: 0 stale words$", "^rank 1: 0 stale words$"])
}

fn over_u_boot(lwk: &Lwk, program: &str, said: &[&str]) -> Result<(), String> {
    let options = ["-n", "2", "--mem", "64", "--timeout", "1000", "--firmware", "u-boot"];
    let words = lwk.run_words(&Program::named(program), &special::strings(&options), &[]);
    Expected { stdout: special::strings(said), ..Expected::default() }.judge(&lwk.command(&words, PATIENCE)?)
}

/// A processor whose number only x2APIC can name, which the emulation of QEMU 7.2 does not have: it is started, runs a rank, and is stopped.
fn numbers_above_255(lwk: &Lwk) -> Result<(), String> {
    const SHAPE: &str =
        "-smp 1,sockets=288,cores=1,maxcpus=288 -device host-x86_64-cpu,socket-id=287,core-id=0,thread-id=0";
    let words = |program: &str, arguments: &[&str]| {
        let options = ["-n", "2", "--mem", "16", "--timeout", "1000", "--qemu", SHAPE];
        lwk.run_words(&Program::named(program), &special::strings(&options), &special::strings(arguments))
    };
    let check = lwk.command(&words("check", &["--size", "10000"]), PATIENCE)?;
    let seen = special::strings(&["^ +1 +1 +287 ", "^# check: every result is right$"]);
    Expected { stdout: seen, ..Expected::default() }.judge(&check)?;
    // Its rank is stopped by an interrupt from the other core.
    let crash = lwk.command(&words("crash", &["--rank", "0", "null-write"]), PATIENCE)?;
    Expected {
        status: 139,
        stderr: special::strings(&["^margay: rank 0 on core 0 died of a write"]),
        ..Expected::default()
    }
    .judge(&crash)
}

/// A machine of 260 processors, of which a job uses 255.
fn more_than_255(lwk: &Lwk) -> Result<(), String> {
    let options = ["-n", "255", "--mem", "4", "--timeout", "1000", "--qemu", "-smp 260,sockets=260"];
    let words = lwk.run_words(&Program::named("hello"), &special::strings(&options), &[]);
    Expected {
        stdout: special::strings(&["^hello from rank 0 of 255", "^hello from rank 254 of 255"]),
        kernel: special::strings(&["5 cores beyond the 255 that the kernel can use stay off"]),
        ..Expected::default()
    }
    .judge(&lwk.command(&words, 1000)?)
}

/// One whose second processor has a number that without x2APIC is another's: it stays off.
fn numbers_without_x2apic(lwk: &Lwk) -> Result<(), String> {
    const SHAPE: &str = "-cpu host,-x2apic -smp 1,sockets=288,cores=1,maxcpus=288 -device host-x86_64-cpu,socket-id=256,core-id=0,thread-id=0";
    let options = ["-n", "1", "--mem", "4", "--timeout", "1000", "--qemu", SHAPE];
    let words = lwk.run_words(&Program::named("hello"), &special::strings(&options), &[]);
    Expected {
        stdout: special::strings(&["^hello from rank 0 of 1"]),
        kernel: special::strings(&["1 cores stay off: without x2APIC their numbers are too high"]),
        ..Expected::default()
    }
    .judge(&lwk.command(&words, PATIENCE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_there() {
        let tree = Tree::find().unwrap();
        let found: Vec<_> = tests(&tree, None).unwrap().into_iter().map(|test| test.name).collect();
        let missing: Vec<_> = ROWS.iter().filter(|row| !found.iter().any(|name| name == *row)).collect();
        assert!(missing.is_empty() && found.len() == ROWS.len() + OWN.len(), "{missing:?}");
    }
}
