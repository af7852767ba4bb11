//! The program behind `cargo lwk bench`.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use lwk::failure::Outcome;
use lwk::program;
use lwk::tree::Tree;
use lwk_bench::cli::{Bench, Cli};
use lwk_bench::{boot, figures, host, instructions, linux_guest, node, noise, paths, peers, portals, tune};

fn main() -> ExitCode {
    // `bench host` starts nodes of the host home itself.
    lwk_home::become_node().unwrap_or_else(|| program::run(dispatch))
}

fn dispatch(cli: Cli) -> Outcome<i32> {
    let tree = Tree::find()?;
    match cli.command {
        Bench::Boot { verbose } => boot::run(&tree, verbose),
        Bench::Figures(options) => figures::run(&tree, &options),
        Bench::Host { verbose } => host::run(&tree, verbose),
        Bench::Instructions(options) => instructions::run(&tree, &options),
        Bench::LinuxGuest(options) => linux_guest::run(&tree, &options),
        Bench::Node(options) => node::run(&tree, &options),
        Bench::Noise(options) => noise::run(&tree, &options),
        Bench::Paths(options) => paths::run(&tree, &options),
        Bench::Peers(options) => peers::run(&tree, &options),
        Bench::Portals(options) => portals::run(&tree, &options),
        Bench::Tune(options) => tune::run(&tree, &options),
    }
}
