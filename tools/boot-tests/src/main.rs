//! The program behind `cargo lwk test`, `lint`, `doc` and `scoreboard`.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use lwk::failure::Outcome;
use lwk::program;
use lwk::tree::Tree;
use lwk_check::cli::{Check, Cli};
use lwk_check::{lint, picture, reference, scoreboard};

fn main() -> ExitCode {
    program::run(dispatch)
}

fn dispatch(cli: Cli) -> Outcome<i32> {
    let tree = Tree::find()?;
    match cli.command {
        Check::Test(options) => lwk_check::run(&tree, &options),
        Check::Scoreboard => scoreboard::run(&tree),
        Check::Lint { verbose } => lint::run(&tree, verbose),
        Check::Doc { picture: true, .. } => picture::write(&tree),
        Check::Doc { verbose, .. } => reference::run(&tree, verbose),
    }
}
