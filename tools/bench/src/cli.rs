//! The command line of `cargo lwk bench`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lwk::accel;

/// Measures Margay, and prints figures beside their targets
#[derive(Debug, Parser)]
#[command(name = "cargo lwk bench", bin_name = "cargo lwk bench", version, subcommand_required = true)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Bench,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Bench {
    /// Size of the kernel, its memory and page tables, and the time from its entry to the first user instruction
    ///
    /// The status is 0 if all targets are met, else 1.
    Boot {
        /// Print how long each step takes
        #[arg(short, long)]
        verbose: bool,
    },
    /// The host home: the start of a job, a system call, and a peer's memory beside another thread's
    ///
    /// The status is 0 if all targets are met, else 1.
    Host {
        /// Print how long each step takes
        #[arg(short, long)]
        verbose: bool,
    },
    /// Instructions of a short message and of a put, counted by valgrind's callgrind in the host home
    ///
    /// Counts do not depend on what else the machine does. The status is 0 if all targets are met, else 1.
    Instructions(BenchInstructionsOptions),
    /// The bundled MPI and SHMEM benchmarks on every transport: one table, a JSON file, and plots after the SMARTMAP paper's
    ///
    /// Figures 4 (SHMEM put), 5 (MPI point to point), 6 (message rate) and 8 (collectives), as far as the benchmarks measure
    /// them. The status is 0 if every benchmark ended well, else 1.
    Node(BenchNodeOptions),
    /// A node beside Debian's cloud kernel with MPICH, in the same QEMU with the same cores, memory and processor
    ///
    /// Downloads the packages of the Linux guest once, into target/; needs no rights. The status is 0 if both ran, whatever the
    /// figures.
    LinuxGuest(LinuxGuestOptions),
    /// What interrupts a program that computes: fixed work, fixed time and selfish detours on every core, with pictures
    ///
    /// Beside a guest that has nothing but the loops, and a Linux guest if asked for. The status is 0 if the node took no interrupt, and had no detour of
    /// 1 us or more by a clock that counts instructions; else 1.
    Noise(NoiseOptions),
    /// Margay's MPI beside Open MPI, MPICH and Intel MPI, on the same two cores of this machine, interleaved in one run
    ///
    /// Installs the others under target/, from the Python package index; Debian's take part where they are installed. Prints a table
    /// with ratios to the best of them and to the physical limit, and writes JSON and a page with plots. The status is 0 unless Margay's own part
    /// fails; with --strict it is 1 if Margay is slower than another in any row, by more than the spread of the rounds.
    Peers(BenchPeersOptions),
    /// Portals between two nodes beside raw frames of the same driver, and what a receive costs with few and with many peers
    ///
    /// Prints ratios of one run beside their targets, and writes JSON and plots. The status is 0 if every run ended well, whatever the figures.
    Portals(BenchPortalsOptions),
    /// The figures of a source document that one node can answer, drawn on every transport, each with whether the document's conclusion holds here
    ///
    /// 000 is Chai's dissertation, 001 the SMARTMAP paper. Writes a page, JSON and SVG. What cannot be drawn says what is missing. The status is 0 if every benchmark ended
    /// well, whatever holds.
    Figures(FiguresOptions),
    /// Ways to move a message on a node beside what they should cost: `limic2` beside its parts, `smartmap` and `hybrid` beside other paths, a sender whose
    /// receiver is late
    ///
    /// Prints ratios of one run beside their targets, and writes a page, JSON and SVG. The status is 0 if every run ended well, whatever the figures.
    Paths(PathsOptions),
    /// Where `--transport hybrid` should switch between its two ways here, for peers at each distance
    ///
    /// Writes a small file for `cargo lwk run --tuning FILE`.
    Tune(TuneOptions),
}

/// Where to measure, and how long: options of every benchmark that runs in both homes.
#[derive(Clone, Debug, Args)]
pub struct PlaceOptions {
    /// Measure on this machine instead of in QEMU
    #[arg(long)]
    pub host: bool,
    /// Few sizes and rounds, to see that everything works; the figures mean nothing
    #[arg(long)]
    pub quick: bool,
    /// Time limit of each run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Clone, Debug, Args)]
pub struct PathsOptions {
    /// Runs of each; they take turns, and figures are medians
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// Folder for paths.json, paths.html and paths.svg [default: target/lwk/bench/paths]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceOptions,
}

#[derive(Clone, Debug, Args)]
pub struct FiguresOptions {
    /// 000 or 001
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// Only these, as 6.8 [default: all]
    #[arg(value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// Most ranks
    #[arg(short = 'n', long, value_name = "N", default_value_t = lwk::run::host_cores().clamp(2, 4), value_parser = clap::value_parser!(u32).range(2..=255))]
    pub ranks: u32,
    /// Folder for the page, the JSON and the pictures [default: target/lwk/bench/figures]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceOptions,
}

/// What decides where to switch (section 7.2.2 of Chai's dissertation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Decide {
    /// Microbenchmarks.
    Latency,
    /// Use of the processor.
    Overlap,
}

#[derive(Clone, Debug, Args)]
pub struct TuneOptions {
    /// Ranks, of which rank 0 and the first at each distance measure
    #[arg(short = 'n', long, value_name = "N", default_value_t = lwk::run::host_cores().clamp(2, 64), value_parser = clap::value_parser!(u32).range(2..=255))]
    pub ranks: u32,
    /// What decides: how long a message takes, or how much it adds to a computation, for programs that compute meanwhile
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Decide::Latency)]
    pub decide: Decide,
    /// Runs by each way; they take turns, and figures are medians
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// The file to write [default: target/lwk/bench/tuning.toml]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceOptions,
}

#[derive(Clone, Debug, Args)]
pub struct BenchPortalsOptions {
    /// Runs, of which the figures are medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// Folder for portals.json and portals.svg [default: target/lwk/bench/portals]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceOptions,
}

#[derive(Clone, Debug, Args)]
pub struct BenchPeersOptions {
    /// Only figures whose name begins with one of these, as `allreduce`; with --sweep operations [default: all]
    #[arg(value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// Whole curves: operations by sizes from 0 B to 4 MiB, on 2 ranks and on 4 that share the 2 cores. The page has a curve an operation, a heat map of
    /// all ratios, the points behind, worst first, and sizes that cost far more for each byte than their neighbours
    #[arg(long)]
    pub sweep: bool,
    /// Nodes of a rank each on this machine, beside MPIs that are kept to TCP; without OpenSHMEM's figures
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "sweep", value_parser = clap::value_parser!(u32).range(1..=2))]
    pub nodes: u32,
    /// With --sweep: so many ranks on the two cores; may be given more than once [default: 2, 4 and 8]
    #[arg(long, value_name = "N", requires = "sweep", value_parser = clap::value_parser!(u32).range(2..=32))]
    pub ranks: Vec<u32>,
    /// Only these peers: mpich, openmpi, impi, debian-mpich, debian-openmpi, debian-openmpi-shmem, or one of --peer; may be given more than
    /// once [default: all]
    #[arg(long, value_name = "PEER")]
    pub only: Vec<String>,
    /// One more peer, from the folder where its bin/mpicc and bin/mpiexec are; may be given more than once. MPICH, Open MPI and Intel MPI
    /// are recognised and started in two ways, as the others; anything else by `mpiexec -n 2`
    #[arg(long = "peer", value_name = "NAME=PREFIX")]
    pub peers: Vec<String>,
    /// Runs of each; they take turns, and figures are medians
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub rounds: u32,
    /// Short repetitions, to see that everything works; the figures mean little
    #[arg(long)]
    pub quick: bool,
    /// End with status 1 if Margay is slower than a peer in any row, by more than the spread of the rounds (the middle halves of both's rounds
    /// do not overlap), or if there was nothing to compare
    #[arg(long)]
    pub strict: bool,
    /// Folder for peers.json and peers.html [default: target/lwk/bench/peers], or sweep.json and sweep.html [default: target/lwk/bench/sweep]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Time limit of one run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

impl BenchPeersOptions {
    /// Arguments for the program that all run.
    pub fn arguments(&self) -> Vec<String> {
        let quick = self.quick.then(|| "-q".to_owned());
        let apart = (self.nodes > 1).then(|| "-a".to_owned());
        quick.into_iter().chain(apart).chain(self.figures.iter().cloned()).collect()
    }

    /// Whether rows on standard output may be coloured.
    pub fn colour(&self) -> bool {
        use std::io::IsTerminal;
        std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
    }
}

#[derive(Clone, Debug, Args)]
pub struct BenchInstructionsOptions {
    /// File for the JSON [default: target/lwk/bench/instructions.json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Clone, Debug, Args)]
pub struct LinuxGuestOptions {
    /// Nodes; two are on one Ethernet, with a rank and a core each, beside two Linux guests with MPICH over TCP
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub nodes: u32,
    /// Ranks of one node, each on a core of its own
    #[arg(short = 'n', conflicts_with = "nodes", long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=64))]
    pub ranks: u32,
    /// How QEMU runs both
    #[arg(long, value_enum, default_value_t = accel::Choice::Auto, value_name = "HOW")]
    pub accel: accel::Choice,
    /// Run both under KVM. Where this machine's cannot be used, an emulated machine with AMD's virtualisation boots Debian's kernel, and both run in that: a
    /// round takes minutes, and each boot has four times its limit
    #[arg(long, conflicts_with_all = ["accel", "nodes"])]
    pub kvm: bool,
    /// This is the Linux guest that `--kvm` has booted
    #[arg(long, hide = true)]
    pub inside: bool,
    /// Boots of each; they take turns, and figures are medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// File for the JSON [default: target/lwk/bench/linux-guest.json, linux-guest-kvm.json or linux-guest-nodes.json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Time limit of each boot, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

/// What a node is measured beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Against {
    /// Debian's cloud kernel with MPICH
    LinuxGuest,
}

#[derive(Clone, Debug, Args)]
pub struct NoiseOptions {
    /// Measure this, too, in the same QEMU with the same cores and processor; downloads its packages once, into target/
    #[arg(long, value_enum, value_name = "WHAT")]
    pub against: Option<Against>,
    /// Cores of each, all of which measure [default: this machine's, at most 8]
    #[arg(long, value_name = "N", default_value_t = lwk::run::host_cores().clamp(1, 8), value_parser = clap::value_parser!(u32).range(1..=8))]
    pub cores: u32,
    /// How QEMU runs them
    #[arg(long, value_enum, default_value_t = accel::Choice::Auto, value_name = "HOW")]
    pub accel: accel::Choice,
    /// Boots of each; they take turns, and figures are medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// Folder for noise.json and the pictures [default: target/lwk/bench/noise]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Time limit of each boot, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Clone, Debug, Args)]
pub struct BenchNodeOptions {
    /// Tests of `mpi-bench` and `shmem-bench` to run [default: all that take part in the figures]
    #[arg(value_name = "TEST")]
    pub tests: Vec<String>,
    /// Folder for results.json and the plots [default: target/lwk/bench]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Most ranks: message rate and collectives [default: this machine's cores, from 2 to 4]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=255))]
    pub ranks: Option<u32>,
    /// Memory of each rank, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    pub mem: u64,
    #[command(flatten)]
    pub place: PlaceOptions,
}
