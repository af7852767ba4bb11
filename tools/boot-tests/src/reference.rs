//! `cargo lwk doc`: the reference of all crates, for those who work on them: private items are in it. A link that leads nowhere is an error.

use std::process::Command;

use lwk::build::{KERNEL_TARGET, MPI_LIBRARY, USER_TARGET, guest_options, library_options};
use lwk::failure::{Doing, Outcome};
use lwk::progress::Step;
use lwk::qemu::Firmware;
use lwk::toolchain::Toolchain;
use lwk::tree::Tree;

use super::lint::host_cargo;

/// Words of `cargo`.
const WORDS: [&str; 4] = ["doc", "--no-deps", "--document-private-items", "--keep-going"];
/// A public item may lead to a private one, since both are there.
const FLAGS: &str = "-D warnings -A rustdoc::private-intra-doc-links";
/// Status if something is found.
const FOUND: i32 = 1;

/// Builds it, and says where it is. Status 0 if there was no warning, else 1.
pub fn run(tree: &Tree, verbose: bool) -> Outcome<i32> {
    let mut found = false;
    for (what, mut command) in parts(tree, verbose)? {
        let _step = Step::begin(format!("documenting {what}"), verbose);
        command.env("RUSTDOCFLAGS", FLAGS);
        let output = command.output().doing(|| format!("start {}", command.get_program().display()))?;
        let clean = output.status.success();
        if !clean {
            lwk::tell::result(format_args!("{}", String::from_utf8_lossy(&output.stderr)));
        }
        show!("{}  {what}", if clean { "ok  " } else { "FAIL" });
        found |= !clean;
    }
    if !found {
        show!(
            "target/doc, and target/guest/x86_64-lwk/doc and target/guest/x86_64-lwk-user/doc for what runs on a node"
        );
    }
    Ok(if found { FOUND } else { 0 })
}

/// What is documented together, and the command that does it.
fn parts(tree: &Tree, verbose: bool) -> Outcome<Vec<(&'static str, Command)>> {
    let toolchain = Toolchain::prepare(tree, verbose)?;
    let mut parts = vec![("host crates", host_cargo(tree.root(), &WORDS))];
    let guests: [(&str, &str, &[&str]); 2] = [
        ("the kernel", KERNEL_TARGET, &["margay-kernel"]),
        ("guest programs", USER_TARGET, &["lwk-mpi", "lwk-apps", "lwk-mpi-apps", "lwk-boot-tests"]),
    ];
    for (what, target, packages) in guests {
        let mut command = toolchain.cargo(tree);
        command.args(WORDS);
        for package in packages {
            command.args(["--package", package]);
        }
        guest_options(&mut command, tree, target);
        parts.push((what, command));
    }
    let mut library = toolchain.cargo(tree);
    library.args(WORDS);
    for package in [MPI_LIBRARY, "lwk-shmem-c", "lwk-portals-c"] {
        library.args(["--package", package]);
    }
    library_options(&mut library, tree, USER_TARGET);
    parts.push(("the libraries for C", library));
    let mut boot = toolchain.cargo(tree);
    let firmware = Firmware::Bios;
    boot.args(WORDS).args(["--release", "--features", firmware.name(), "--target-dir"]);
    boot.arg(tree.boot_target(firmware)).current_dir(tree.root().join("boot"));
    parts.push(("the image builder", boot));
    Ok(parts)
}
