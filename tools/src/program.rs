//! The frame of a program of these tools: reads the command line, runs what is asked for, and ends with its status.

use std::process::ExitCode;

use clap::Parser;

use crate::failure::{self, Failure, Outcome};
use crate::{cli, tell};

/// Reads the command line, calls `dispatch` with it, and tells in one line why it failed if so. The process's status is what it answers; a process that
/// was started to be the node of a job in the host home becomes that instead.
pub fn run<Cli: Parser>(dispatch: impl FnOnce(Cli) -> Outcome<i32>) -> ExitCode {
    if let Some(code) = lwk_home::become_node() {
        return code;
    }
    let line = cli::words(std::env::args_os());
    conclude("lwk", Cli::try_parse_from(line).map_or_else(|error| refuse(error, "cargo lwk"), dispatch))
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
