//! The command `cargo lwk`: reads the command line, runs the part asked for, and ends with its status.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use lwk::cli::{self, Cli, Command, Margay};
use lwk::delegate::become_program;
use lwk::failure::Outcome;
use lwk::mpiexec::{self, LAUNCHERS};
use lwk::program::{conclude, refuse};
use lwk::tree::Tree;
use lwk::{build, catalog, cc, host, install, run, show};
use lwk_abi::runtime::ALONE;

/// The program of tests and checks, and that of benchmarks.
const CHECK: &str = "lwk-check";
const BENCH: &str = "lwk-bench";

fn main() -> ExitCode {
    if let Some(code) = lwk_home::become_node() {
        return code;
    }
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let name = Path::new(&name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let launcher = LAUNCHERS.into_iter().find(|launcher| *launcher == name);
    let words: Vec<OsString> = words.collect();
    // A launcher is called by what users and scripts know; the rest is ours.
    conclude(
        launcher.unwrap_or("lwk"),
        match launcher {
            _ if words.first().is_some_and(|word| word == ALONE) => {
                Tree::find().and_then(|tree| mpiexec::alone(&tree, &words[1..]))
            }
            Some(launcher) => Tree::find().and_then(|tree| mpiexec::run(&tree, launcher, &words)),
            None => own(words),
        },
    )
}

/// Runs this command under its own name. Whether it is the tree's or an installation's is clear before its words are read; that there is no
/// tree counts only then.
fn own(words: Vec<OsString>) -> Outcome<i32> {
    let tree = Tree::find();
    let line = cli::words(std::iter::once("lwk".into()).chain(words));
    if tree.as_ref().is_ok_and(Tree::is_installed) {
        let read = Margay::try_parse_from(line).map(|margay| margay.command.into());
        return read.map_or_else(|error| refuse(error, "margay"), |command| dispatch(&tree?, command));
    }
    let read = Cli::try_parse_from(line).map(|cli| cli.command);
    read.map_or_else(|error| refuse(error, "cargo lwk"), |command| dispatch(&tree?, command))
}

fn dispatch(tree: &Tree, command: Command) -> Outcome<i32> {
    match command {
        Command::Run(options) if options.host => host::run(tree, &options),
        Command::Run(options) => run::run(tree, &options),
        Command::Cc(options) => cc::run(tree, cc::Language::C, &options.words),
        Command::Cxx(options) => cc::run(tree, cc::Language::Cxx, &options.words),
        Command::Fc(options) => cc::run(tree, cc::Language::Fortran, &options.words),
        Command::Image(options) => run::write_image(tree, &options),
        Command::Bench(options) => match become_program(tree, BENCH, None, &options.words)? {},
        Command::Test(options) => match become_program(tree, CHECK, Some("test"), &options.words)? {},
        Command::Lint(options) => match become_program(tree, CHECK, Some("lint"), &options.words)? {},
        Command::Doc(options) => match become_program(tree, CHECK, Some("doc"), &options.words)? {},
        Command::Scoreboard(options) => {
            match become_program(tree, CHECK, Some("scoreboard"), &options.words)? {}
        }
        Command::Install(options) => install::run(tree, &options),
        Command::Switch(options) => lwk::switch::command::run(&options),
        Command::List => {
            let mut entries = catalog::list(tree, build::APPS)?;
            entries.extend(catalog::list_c(tree)?.into_iter().map(|(entry, _)| entry));
            let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            entries.iter().for_each(|entry| show!("{:width$}  {}", entry.name, entry.description));
            Ok(0)
        }
    }
}
