//! The command `cargo lwk`: reads the command line, runs the part asked for, and ends with its status.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use lwk::cli::Command;
use lwk::delegate::{BENCH, CALLED, CHECK, HOST, become_built, become_program, become_user};
use lwk::failure::Outcome;
use lwk::loader::LAUNCHERS;
use lwk::program::{conclude, own};
use lwk::tree::Tree;
use lwk::{catalog, cc, install, run, show};
use lwk_abi::runtime::ALONE;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let name = Path::new(&name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let launcher = LAUNCHERS.into_iter().find(|launcher| *launcher == name);
    let mut words: Vec<OsString> = words.collect();
    let alone = words.first().is_some_and(|word| word == ALONE);
    if launcher.is_none() && !alone {
        return conclude("lwk", own(words, dispatch));
    }
    if let Some(name) = launcher.filter(|_| !alone) {
        words.splice(0..0, [CALLED.into(), name.into()]);
    }
    conclude(
        launcher.unwrap_or("lwk"),
        Tree::find().and_then(|tree| match become_built(&tree, HOST, &words)? {}),
    )
}

/// Does what `command` says, of which `words` are all words.
fn dispatch(tree: &Tree, command: Command, words: &[OsString]) -> Outcome<i32> {
    match command {
        Command::Run(options) if !options.host => run::run(tree, &options),
        Command::Run(_) | Command::Stays(_) => match become_program(tree, HOST, None, words)? {},
        Command::Cc(options) => cc::run(tree, cc::Language::C, &options.words),
        Command::Cxx(options) => cc::run(tree, cc::Language::Cxx, &options.words),
        Command::Fc(options) => cc::run(tree, cc::Language::Fortran, &options.words),
        Command::Image(options) => run::write_image(tree, &options),
        Command::Bench(options) => match become_user(tree, BENCH, None, &options.words)? {},
        Command::Test(options) => match become_user(tree, CHECK, Some("test"), &options.words)? {},
        Command::Lint(options) => match become_program(tree, CHECK, Some("lint"), &options.words)? {},
        Command::Doc(options) => match become_program(tree, CHECK, Some("doc"), &options.words)? {},
        Command::Scoreboard(options) => {
            match become_program(tree, CHECK, Some("scoreboard"), &options.words)? {}
        }
        Command::Install(options) => install::run(tree, &options),
        Command::Switch(options) => lwk::switch::command::run(&options),
        Command::List => {
            let mut entries: Vec<_> = catalog::list(tree)?.into_iter().map(|(entry, _)| entry).collect();
            entries.extend(catalog::list_c(tree)?.into_iter().map(|(entry, _)| entry));
            let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            entries.iter().for_each(|entry| show!("{:width$}  {}", entry.name, entry.description));
            Ok(0)
        }
    }
}
