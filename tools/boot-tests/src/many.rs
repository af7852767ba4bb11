//! `cargo lwk test many`: a thousand nodes of one rank each in the host home start, do a barrier and a sum, and end.
//!
//! No part of the everyday test, which has sixty-four: it takes minutes and the memory of a whole machine.

use super::count::Count;
use super::judge::Expected;
use lwk::build::{BOOT_TESTS, Builder};
use lwk::failure::Outcome;
use lwk::progress::Step;
use lwk::subcommand::{Lwk, Program};
use lwk::tree::Tree;

/// What asks for it.
pub const COMMAND: &str = "many";
/// Nodes, of one rank each.
const NODES: u32 = 1000;
/// Time limit, in seconds.
const LIMIT: u64 = 900;

/// Runs it. Status 0 if all ranks have started, added up and ended, else 1.
///
/// # Errors
/// Something does not build or start.
pub fn run(tree: &Tree, verbose: bool) -> Outcome<i32> {
    Builder::new(tree, false, verbose)?.programs(&[BOOT_TESTS])?;
    let lwk = Lwk::new(tree)?;
    let step = Step::begin(format!("running {NODES} nodes"), verbose);
    let outcome = check(&lwk);
    drop(step);
    let mut count = Count::default();
    match outcome {
        Ok(()) => {
            show!("ok    {COMMAND}");
            count.passed = 1;
        }
        Err(why) => {
            show!("FAIL  {COMMAND}: {why}");
            count.fail(COMMAND, &why);
        }
    }
    Ok(count.conclude())
}

fn check(lwk: &Lwk) -> Result<(), String> {
    let (nodes, limit) = (NODES.to_string(), LIMIT.to_string());
    let options =
        ["--host", "--oversubscribe", "--nodes", &nodes, "-n", &nodes, "--mem", "8", "--timeout", &limit];
    let words = lwk.run_words(&Program::Test("mpi-sum".into()), &options.map(String::from), &[]);
    let sum = NODES * (NODES - 1) / 2;
    Expected { stdout: vec![format!("^{NODES} ranks add up to {sum}$")], ..Expected::default() }
        .judge(&lwk.command(&words, LIMIT)?)
}
