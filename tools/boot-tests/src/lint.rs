//! `cargo lwk lint`: formatting, reasons of unsafe blocks, circles between files, their lengths, and clippy with warnings as errors, for the host crates and for what runs on a node.

use std::path::Path;
use std::process::Command;

use super::{circles, picture, safety, sizes, thresholds};
use lwk::build::{KERNEL_TARGET, MPI_LIBRARY, USER_TARGET, guest_options, library_options};
use lwk::failure::{Doing, Outcome};
use lwk::packages;
use lwk::progress::Step;
use lwk::qemu::Firmware;
use lwk::toolchain::Toolchain;
use lwk::tree::Tree;

/// Status if something is found.
const FOUND: i32 = 1;
/// The crates of fuzz targets, which only `cargo fuzz` links: here they are built as far as that goes without libFuzzer.
const FUZZ_TARGETS: &str = "lwk-*-fuzz";
/// The crate libfuzzer-sys takes a library that is said to be there instead of compiling one, for which it needs a compiler for C++.
const LIBFUZZER: (&str, &str) = ("CUSTOM_LIBFUZZER_PATH", "/nowhere/libfuzzer.a");

/// Checks everything, and says what was found. Status 0 if nothing was, else 1.
pub fn run(tree: &Tree, verbose: bool) -> Outcome<i32> {
    let toolchain = Toolchain::prepare(tree, verbose)?;
    if !toolchain.has_clippy() {
        packages::install(&["rust-web-clippy"], verbose)?;
    }
    let mut found = texts(tree)?;
    for (what, mut command) in commands(tree, &toolchain) {
        let _step = Step::begin(format!("checking {what}"), verbose);
        let output = command.output().doing(|| format!("start {}", command.get_program().display()))?;
        let clean = output.status.success();
        if !clean {
            lwk::tell::result(format_args!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        show!("{}  {what}", if clean { "ok  " } else { "FAIL" });
        found |= !clean;
    }
    Ok(if found { FOUND } else { 0 })
}

/// Reads sources and pictures; whether something was found. Errors: a file cannot be read.
fn texts(tree: &Tree) -> Outcome<bool> {
    let mut found = false;
    let all = safety::sources(tree.root(), "")?;
    let runtime = safety::sources(tree.root(), "mpi-rt")?;
    let thresholds = thresholds::strays(tree.root(), &runtime)?;
    for (what, wrong) in [
        ("reasons of unsafe blocks", safety::empty_comments(tree.root())?),
        ("the table of thresholds", thresholds),
        ("circles between files", circles::strays(tree.root(), &all)?),
        ("lengths of files and functions", sizes::strays(tree.root(), &all)?),
        ("the picture of the crates", picture::strays(tree.root())?),
    ] {
        wrong.iter().for_each(|line| show!("{line}"));
        show!("{}  {what}", if wrong.is_empty() { "ok  " } else { "FAIL" });
        found |= !wrong.is_empty();
    }
    Ok(found)
}

/// What is checked by a command that fails.
fn commands(tree: &Tree, toolchain: &Toolchain) -> Vec<(&'static str, Command)> {
    let boot = tree.root().join("boot");
    let mut checks = vec![
        ("formatting", host_cargo(tree.root(), &["fmt", "--all", "--check"])),
        ("formatting of boot/", host_cargo(&boot, &["fmt", "--check"])),
        ("formatting of boot/uefi/", host_cargo(&boot.join("uefi"), &["fmt", "--check"])),
        ("host crates", host_cargo(tree.root(), &["clippy", "--all-targets", "--", "-D", "warnings"])),
    ];
    let mut fuzz = host_cargo(tree.root(), &["clippy", "--package", FUZZ_TARGETS, "--", "-D", "warnings"]);
    fuzz.env(LIBFUZZER.0, LIBFUZZER.1);
    checks.push(("fuzz targets", fuzz));
    let guests: [(&str, &str, &[&str]); 2] = [
        ("the kernel", KERNEL_TARGET, &["margay-kernel"]),
        ("guest programs", USER_TARGET, &["lwk-user", "lwk-apps", "lwk-mpi-apps", "lwk-boot-tests"]),
    ];
    for (what, target, packages) in guests {
        let mut command = toolchain.cargo(tree);
        command.arg("clippy");
        for package in packages {
            command.args(["--package", package]);
        }
        guest_options(&mut command, tree, target).args(["--", "-D", "warnings"]);
        checks.push((what, command));
    }
    let mut library = toolchain.cargo(tree);
    library.args(["clippy", "--package", MPI_LIBRARY]);
    library_options(&mut library, tree, USER_TARGET).args(["--", "-D", "warnings"]);
    checks.push(("libmpi.a", library));
    for (what, firmware) in
        [("the image builder for BIOS", Firmware::Bios), ("the image builder for UEFI", Firmware::Uefi)]
    {
        let mut boot_loader = toolchain.cargo(tree);
        boot_loader.args(["clippy", "--release", "--features", firmware.name(), "--target-dir"]);
        boot_loader.arg(tree.boot_target(firmware)).args(["--", "-D", "warnings"]).current_dir(&boot);
        checks.push((what, boot_loader));
    }
    let mut uefi = toolchain.cargo(tree);
    uefi.args(["clippy", "--release", "--target", "x86_64-unknown-uefi", "-Zbuild-std=core", "--target-dir"]);
    uefi.arg(tree.boot_target(Firmware::Uefi)).args(["--", "-D", "warnings"]).current_dir(boot.join("uefi"));
    checks.push(("the boot loader for UEFI", uefi));
    checks
}

/// The cargo that runs this command, in `folder`.
pub fn host_cargo(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(folder);
    command
}
