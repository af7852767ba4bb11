//! `cargo lwk test soak`: two nodes in the host home exchange 10 GB in pieces of random length over a wire that loses one frame in ten and damages another,
//! repeats and reorders some; every byte is compared, and nothing is kept at the end (`qemu-tests/src/bin/portals-soak.rs`).
//!
//! No part of the everyday test, which has a small one: it takes minutes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::count::Count;
use lwk::build::{BOOT_TESTS, Builder};
use lwk::failure::Outcome;
use lwk::progress::Step;
use lwk::subcommand::{Lwk, Program, shown};
use lwk::tree::Tree;

/// What asks for it.
pub const COMMAND: &str = "soak";
/// Million bytes that are transferred unless told otherwise.
pub const MEGABYTES: u64 = 10_000;
/// What happens on the wire.
const WIRE: &str = "loss=0.1,corrupt=0.1,duplicate=0.02,reorder=0.02";
/// Time limit, in seconds: some, and what the slowest machine takes for a million bytes.
const LIMIT: u64 = 60;
const LIMIT_MEGABYTE_MS: u64 = 360;

/// Runs it. Status 0 if all bytes were right, else 1.
///
/// # Errors
/// Something does not build or start.
pub fn run(tree: &Tree, megabytes: u64, verbose: bool) -> Outcome<i32> {
    Builder::new(tree, false, verbose)?.programs(&[BOOT_TESTS])?;
    let lwk = Lwk::new(tree)?;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs().max(1);
    let limit = LIMIT + megabytes * LIMIT_MEGABYTE_MS / 1000;
    let (time, wire) = (limit.to_string(), format!("{WIRE},seed={seed}"));
    let options =
        ["--host", "--nodes", "2", "-n", "2", "--timeout", &time, "--wire", &wire].map(String::from);
    let arguments = ["--megabytes", &megabytes.to_string(), "--seed", &seed.to_string()].map(String::from);
    let program = Program::Test("portals-soak".into());
    let words = lwk.run_words(&program, &options, &arguments);
    let step = Step::begin(format!("transferring {megabytes} MB"), verbose);
    let ended = lwk.command(&words, limit);
    drop(step);
    let mut count = Count::default();
    match ended {
        Ok(ended) if ended.status == Some(0) => {
            show!("{}", ended.stdout.trim_end());
            show!("ok    {COMMAND}");
            count.passed = 1;
        }
        Ok(ended) => {
            let why = format!("status {:?}\n{}", ended.status, shown(&ended));
            show!("FAIL  {COMMAND}: {why}");
            count.fail(COMMAND, &why);
        }
        Err(why) => {
            show!("FAIL  {COMMAND}: {why}");
            count.fail(COMMAND, &why);
        }
    }
    Ok(count.conclude())
}
