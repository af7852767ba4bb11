//! The frame of a program of these tools: reads the command line, runs what is asked for, and ends with its status.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, Margay};
use crate::failure::{self, Failure, Outcome};
use crate::tree::Tree;
use crate::{cli, tell};

/// Reads the command line, calls `dispatch` with it, and tells in one line why it failed if so. The process's status is what it answers.
pub fn run<Line: Parser>(dispatch: impl FnOnce(Line) -> Outcome<i32>) -> ExitCode {
    let line = cli::words(std::env::args_os());
    conclude("lwk", Line::try_parse_from(line).map_or_else(|error| refuse(error, "cargo lwk"), dispatch))
}

/// Reads the words of a command under its own name, and calls `dispatch` with them. Whether it is the tree's or an installation's is clear before they are
/// read; that there is no tree counts only then.
///
/// # Errors
/// Wrong use, and those of `dispatch`.
pub fn own(
    words: Vec<OsString>,
    dispatch: impl FnOnce(&Tree, Command, &[OsString]) -> Outcome<i32>,
) -> Outcome<i32> {
    let tree = Tree::find();
    let line = cli::words(std::iter::once("lwk".into()).chain(words.iter().cloned()));
    let (read, name) = if tree.as_ref().is_ok_and(Tree::is_installed) {
        (Margay::try_parse_from(line).map(|margay| margay.command.into()), "margay")
    } else {
        (Cli::try_parse_from(line).map(|cli| cli.command), "cargo lwk")
    };
    read.map_or_else(|error| refuse(error, name), |command| dispatch(&tree?, command, &words))
}

/// The process's status; what has failed is told in one line, by `speaker`.
pub fn conclude(speaker: &str, ended: Outcome<i32>) -> ExitCode {
    let status = ended.unwrap_or_else(|failure| {
        if !failure.message.is_empty() {
            tell!("{speaker}: {failure}");
        }
        failure.status
    });
    let status = match tell::lost() {
        Some(why) if status == 0 => {
            tell!("{speaker}: cannot write to standard output: {why}");
            failure::HOST
        }
        _ => status,
    };
    u8::try_from(status).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Help and version are no errors; everything else is one line, to a user of `command`.
pub fn refuse(error: clap::Error, command: &str) -> Outcome<i32> {
    if error.use_stderr() && error.kind() != clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        return Err(Failure::usage(cli::one_line(&error, command)));
    }
    // Nobody is left to tell if the terminal is gone.
    let _ = error.print();
    Ok(error.exit_code())
}
