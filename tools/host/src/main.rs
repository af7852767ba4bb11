//! Jobs on this machine, without an emulator: `cargo lwk run --host` ([`node`], [`nodes`]), nodes that stay up and their jobs ([`up`]), and
//! [`mpiexec`], which translates what users of other MPIs type.
//!
//! The command becomes this program when it is asked for one of these (`lwk::delegate`), so that a boot in QEMU builds neither the host home nor
//! the cryptography of nodes that stay up.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "threads of the command; no ranks")]
// They panic when nobody listens: see `lwk::tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate lwk;

mod mpiexec;
mod node;
mod nodes;
mod up;

use std::ffi::OsString;
use std::process::ExitCode;

use lwk::cli::{Command, StaysCommand};
use lwk::delegate::CALLED;
use lwk::failure::{Failure, Outcome};
use lwk::program::{conclude, own};
use lwk::tree::Tree;
use lwk_abi::runtime::ALONE;

fn main() -> ExitCode {
    if let Some(code) = lwk_home::become_node() {
        return code;
    }
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &words[..] {
        [first, words @ ..] if first == ALONE => {
            conclude("lwk", Tree::find().and_then(|tree| mpiexec::alone(&tree, words)))
        }
        // A launcher is called by what users and scripts know; the rest is ours.
        [first, name, words @ ..] if first == CALLED => {
            let name = name.to_string_lossy();
            conclude(&name, Tree::find().and_then(|tree| mpiexec::run(&tree, &name, words)))
        }
        _ => conclude("lwk", own(words, |tree, command, _| dispatch(tree, command))),
    }
}

fn dispatch(tree: &Tree, command: Command) -> Outcome<i32> {
    match command {
        Command::Run(options) if options.host => node::run(tree, &options),
        Command::Stays(command) => dispatch_stays(tree, command),
        _ => Err(Failure::usage(format!("this is for jobs on this machine; use {}", tree.command()))),
    }
}

fn dispatch_stays(tree: &Tree, command: StaysCommand) -> Outcome<i32> {
    match command {
        StaysCommand::Up(options) => up::up(tree, &options),
        StaysCommand::Launch(options) => up::launch(tree, &options),
        StaysCommand::Ps(options) => up::jobs(tree, &options),
        StaysCommand::Nodes(options) => up::nodes(tree, &options),
        StaysCommand::Kill { at, job } => up::kill(tree, &at, job),
        StaysCommand::Down(options) => up::down(tree, &options),
        StaysCommand::Node(options) => up::node(tree, &options),
        StaysCommand::Stay(options) => up::stay(&options),
    }
}
