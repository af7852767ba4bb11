//! The command `cargo lwk`: reads the command line, runs the part asked for, and ends with its status.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use lwk::cli::{Cli, Command};
use lwk::delegate::become_program;
use lwk::failure::Outcome;
use lwk::tree::Tree;
use lwk::{build, catalog, cc, host, program, run, show};

/// The program of tests and checks, and that of benchmarks.
const CHECK: &str = "lwk-check";
const BENCH: &str = "lwk-bench";

fn main() -> ExitCode {
    program::run(dispatch)
}

fn dispatch(cli: Cli) -> Outcome<i32> {
    let tree = Tree::find()?;
    match cli.command {
        Command::Run(options) if options.host => host::run(&tree, &options),
        Command::Run(options) => run::run(&tree, &options),
        Command::Cc(options) => cc::run(&tree, cc::Language::C, &options.words),
        Command::Cxx(options) => cc::run(&tree, cc::Language::Cxx, &options.words),
        Command::Fc(options) => cc::run(&tree, cc::Language::Fortran, &options.words),
        Command::Image(options) => run::write_image(&tree, &options),
        Command::Bench(options) => match become_program(&tree, BENCH, None, &options.words)? {},
        Command::Test(options) => match become_program(&tree, CHECK, Some("test"), &options.words)? {},
        Command::Lint(options) => match become_program(&tree, CHECK, Some("lint"), &options.words)? {},
        Command::Scoreboard(options) => {
            match become_program(&tree, CHECK, Some("scoreboard"), &options.words)? {}
        }
        Command::List => {
            let mut entries = catalog::list(&tree, build::APPS)?;
            entries.extend(catalog::list_c(&tree)?.into_iter().map(|(entry, _)| entry));
            let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            entries.iter().for_each(|entry| show!("{:width$}  {}", entry.name, entry.description));
            Ok(0)
        }
    }
}
