//! The command line of `cargo lwk test`, `lint`, `doc` and `scoreboard`.

use clap::{Args, Parser, Subcommand};

/// Checks Margay
#[derive(Debug, Parser)]
#[command(name = "cargo lwk", bin_name = "cargo lwk", version, subcommand_required = true)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Check,
}

#[derive(Debug, Subcommand)]
pub enum Check {
    /// Run all tests: those of the host crates, and those that boot a node
    ///
    /// The last line counts them; the status is 0 if none failed, else 1.
    Test(TestOptions),
    /// Write docs/mpi-scoreboard.md: every function of MPI, and how far it is
    Scoreboard,
    /// Check formatting, and run clippy with warnings as errors on everything
    Lint {
        /// Print how long each step takes
        #[arg(short, long)]
        verbose: bool,
    },
    /// Build the reference of all crates, private items included, and take warnings for errors
    Doc {
        /// Draw docs/floors.svg instead: floors and crates, and which needs which
        #[arg(long)]
        picture: bool,
        /// Print how long each step takes
        #[arg(short, long)]
        verbose: bool,
    },
}

#[derive(Clone, Debug, Args)]
pub struct TestOptions {
    /// Only tests that have this in their name (`host`: the tests of the host crates); `kvm`: a choice of boot tests under KVM;
    /// `bochs`: jobs in the emulator Bochs on four models of processors; `machines`: 10 GiB a rank, and 260 processors and later models in a later QEMU; `rsmpi`: the examples of
    /// Rust's crate `mpi`; `slurm`: jobs in steps of Slurm; `soak`: 10 GB between two nodes over a bad wire, every byte compared; `loss`: the conformance suite on two nodes, over wires
    /// that lose one frame in ten
    ///
    /// `kvm` runs them on this machine if its /dev/kvm can be used, else in an emulated machine with AMD's virtualisation that boots Debian's
    /// kernel; its packages are unpacked under target/, as is the later QEMU. `rsmpi` fetches the crate, and builds it under target/ against an installation made
    /// there.
    pub filter: Option<String>,
    /// With `kvm`, `bochs`, `machines`, `rsmpi`, `slurm` and `loss`: only those that have this in their name; with `kvm` perhaps several, with commas
    pub row: Option<String>,
    /// With `soak`: million bytes to transfer (10000)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub megabytes: Option<u64>,
    /// Only tests of the host home: no node is booted, and it takes seconds
    #[arg(long)]
    pub host: bool,
    /// List the tests instead
    #[arg(long)]
    pub list: bool,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
    /// This is the Linux guest that `kvm` has booted
    #[arg(long, hide = true)]
    pub inside: bool,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}
