//! `cargo lwk test loss`: every program of the conformance suite on two nodes of the host home, over wires that lose one frame in ten.
//!
//! No part of the everyday test, which has a choice of them and always the same losses; here they are others each time, and the seed is printed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::cli::TestOptions;
use super::{WORKERS, build_all, conformance, run_boots};
use lwk::failure::{Failure, Outcome};
use lwk::subcommand::Lwk;
use lwk::tree::Tree;

/// What asks for it.
pub const COMMAND: &str = "loss";

/// Runs it. Status 0 if all pass, else 1.
///
/// # Errors
/// Something does not build, or no program has the name that is asked for.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let mut tests = conformance::over_loss(tree, seed)?;
    tests.retain(|test| options.row.as_ref().is_none_or(|part| test.name.contains(part.as_str())));
    if tests.is_empty() {
        return Err(Failure::usage("no test has that in its name; `cargo lwk test loss --list` shows all"));
    }
    if options.list {
        tests.iter().for_each(|test| show!("{}", test.name));
        return Ok(0);
    }
    build_all(tree, options.verbose, &tests)?;
    show!("losses by seed {seed}");
    Ok(run_boots(&Lwk::new(tree)?, tests.into(), WORKERS).conclude())
}
