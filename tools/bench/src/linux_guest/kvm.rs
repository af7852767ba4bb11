//! `cargo lwk bench linux-guest --kvm`: both under KVM; on a machine that has none, in the Linux guest of [`nested`], by the same QEMU in it.
//!
//! Everything is built and compiled on this machine first: the guest only boots and measures. It finds the programs in a folder that it can read, and hands out
//! the JSON in a line.

use std::fs;
use std::path::PathBuf;

use lwk::accel::{Accelerator, Choice};
use lwk::failure::{Doing, Failure, Outcome};
use lwk::tree::{RunFolder, Tree};
use serde_json::Value;

use super::system::System;
use super::{Parts, keep, measure};
use crate::cli::LinuxGuestOptions;
use crate::nested::{self, RESULT};

/// The JSON's file.
const FILE: &str = "linux-guest-kvm.json";
/// Memory of the Linux guest beside that of a node, in MiB: its own, QEMU's, and the images in its memory.
const BESIDE_MIB: u64 = 2048;
/// How much longer a boot may take there.
const SLOWER: u64 = 4;

/// Where the Linux guest finds the programs.
fn folder_of_programs(tree: &Tree) -> PathBuf {
    tree.root().join("target/lwk/linux-guest-programs")
}

/// Measures both with `mib` of memory each. Status 0 if both ran, whatever the figures.
pub fn run(tree: &Tree, options: &LinuxGuestOptions, mib: u64) -> Outcome<i32> {
    let works = Choice::Auto.settle() == Accelerator::Kvm;
    let options = &LinuxGuestOptions { accel: Choice::Kvm, ..options.clone() };
    if options.inside {
        if !works {
            return Err(Failure::host("KVM does not work in the Linux guest"));
        }
        let parts = Parts::made(System::fetched(tree), &folder_of_programs(tree));
        let how = "KVM in an emulated machine: counts and ratios mean something, times do not";
        let measured = measure(tree, options, mib, &parts, &RunFolder::new(tree)?, how)?;
        show!("{RESULT}{measured}");
        return Ok(0);
    }
    if works {
        let folder = RunFolder::new(tree)?;
        let parts = Parts::make(tree, options, &folder.file(""))?;
        keep(tree, options, FILE, &measure(tree, options, mib, &parts, &folder, "KVM")?)?;
        return Ok(0);
    }
    let folder = folder_of_programs(tree);
    fs::create_dir_all(&folder).doing(|| format!("make the folder {}", folder.display()))?;
    Parts::make(tree, options, &folder)?;
    let ended = nested::run(tree, &words(options), mib + BESIDE_MIB, options.verbose)?;
    if ended.status != 0 {
        return Ok(ended.status);
    }
    let lacks = || Failure::host("the Linux guest has handed out no figures");
    let document: Value = serde_json::from_str(&ended.result.ok_or_else(lacks)?)
        .doing(|| "read what the Linux guest has measured".into())?;
    keep(tree, options, FILE, &document)?;
    Ok(0)
}

/// The command in the Linux guest.
fn words(options: &LinuxGuestOptions) -> Vec<String> {
    let numbers = [
        ("--ranks", u64::from(options.ranks)),
        ("--rounds", u64::from(options.rounds)),
        ("--timeout", options.timeout * SLOWER),
    ];
    let fixed = ["linux-guest", "--kvm", "--inside"].map(str::to_owned);
    fixed
        .into_iter()
        .chain(numbers.iter().flat_map(|(name, number)| [(*name).into(), number.to_string()]))
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Bench, Cli};

    fn parsed(words: &[&str]) -> Result<LinuxGuestOptions, String> {
        let cli = Cli::try_parse_from(["bench"].iter().chain(words)).map_err(|error| error.to_string())?;
        match cli.command {
            Bench::LinuxGuest(options) => Ok(options),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn the_guest_measures_what_was_asked_for() {
        let asked =
            parsed(&["linux-guest", "--kvm", "-n", "3", "--rounds", "2", "--timeout", "100"]).unwrap();
        assert!(!asked.inside);
        let words = words(&asked);
        let inside = parsed(&words.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        assert!(inside.kvm && inside.inside);
        assert_eq!((inside.ranks, inside.rounds, inside.timeout), (3, 2, 400));
    }

    #[test]
    fn kvm_is_one_node_and_no_choice_besides() {
        assert!(parsed(&["linux-guest", "--kvm", "--nodes", "2"]).is_err());
        assert!(parsed(&["linux-guest", "--kvm", "--accel", "tcg"]).is_err());
    }
}
