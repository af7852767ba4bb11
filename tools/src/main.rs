//! The command `cargo lwk`: reads the command line, runs the part asked for, and ends with its status.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use clap::Parser;
use lwk::cli::{self, Bench, Cli, Command};
use lwk::failure::{self, Failure, Outcome};
use lwk::tree::Tree;
use lwk::{bench, boot_tests, build, catalog, cc, host, lint, run, scoreboard, show, tell};

fn main() -> ExitCode {
    if let Some(code) = lwk_home::become_node() {
        return code;
    }
    let status = Cli::try_parse().map_or_else(refuse, dispatch).unwrap_or_else(|failure| {
        if !failure.message.is_empty() {
            tell!("lwk: {failure}");
        }
        failure.status
    });
    let status = match tell::lost() {
        Some(why) if status == 0 => {
            tell!("lwk: cannot write to standard output: {why}");
            failure::HOST
        }
        _ => status,
    };
    u8::try_from(status).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Help and version are no errors; everything else is one line.
fn refuse(error: clap::Error) -> Outcome<i32> {
    if error.use_stderr() && error.kind() != clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        return Err(Failure::usage(cli::one_line(&error)));
    }
    // Nobody is left to tell if the terminal is gone.
    let _ = error.print();
    Ok(error.exit_code())
}

fn dispatch(cli: Cli) -> Outcome<i32> {
    let tree = Tree::find()?;
    match cli.command {
        Command::Run(options) if options.host => host::run(&tree, &options),
        Command::Run(options) => run::run(&tree, &options),
        Command::Cc(options) => cc::run(&tree, cc::Language::C, &options.words),
        Command::Cxx(options) => cc::run(&tree, cc::Language::Cxx, &options.words),
        Command::Fc(options) => cc::run(&tree, cc::Language::Fortran, &options.words),
        Command::Scoreboard => scoreboard::run(&tree),
        Command::Image(options) => run::write_image(&tree, &options),
        Command::Bench(Bench::Boot { verbose }) => bench::boot::run(&tree, verbose),
        Command::Bench(Bench::Host { verbose }) => bench::host::run(&tree, verbose),
        Command::Bench(Bench::Instructions(options)) => bench::instructions::run(&tree, &options),
        Command::Bench(Bench::LinuxGuest(options)) => bench::linux_guest::run(&tree, &options),
        Command::Bench(Bench::Node(options)) => bench::node::run(&tree, &options),
        Command::Bench(Bench::Peers(options)) => bench::peers::run(&tree, &options),
        Command::Lint { verbose } => lint::run(&tree, verbose),
        Command::Test(options) => boot_tests::run(&tree, &options),
        Command::List => {
            let mut entries = catalog::list(&tree, build::APPS)?;
            entries.extend(catalog::list_c(&tree)?.into_iter().map(|(entry, _)| entry));
            let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            entries.iter().for_each(|entry| show!("{:width$}  {}", entry.name, entry.description));
            Ok(0)
        }
    }
}
