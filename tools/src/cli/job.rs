//! Options of what makes a job: on a node, on this machine, in an image.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use lwk_abi::engine::WORKERS_MOST;
use lwk_abi::runtime::{LOOPBACK, NEED_WORKERS, TRANSPORT, TRANSPORTS};
use lwk_job::LogLevel;

use super::Launched;
use crate::accel;
use crate::qemu::{CardKind, Firmware};

/// The names that `--transport` takes.
fn transports() -> clap::builder::PossibleValuesParser {
    use lwk_abi::runtime::TEST_TRANSPORTS;
    clap::builder::PossibleValuesParser::new(TRANSPORTS.into_iter().chain(TEST_TRANSPORTS))
}

/// What makes a job, on any machine.
#[derive(Clone, Debug, Args)]
pub struct JobOptions {
    /// Ranks of the job
    #[arg(short = 'n', long = "ranks", value_name = "N", default_value_t = 1)]
    pub ranks: u32,
    /// Memory of each rank, in MiB [default: the ranks share what the node or this machine has free; a node in QEMU has 128 MiB for each]
    #[arg(long, value_name = "MIB")]
    pub mem: Option<u64>,
    /// Cores to use [default: as many as ranks and workers]
    #[arg(long, value_name = "N")]
    pub cores: Option<u32>,
    /// Let ranks share cores if there are more ranks than cores
    #[arg(long)]
    pub oversubscribe: bool,
    /// Which cores ranks get: scatter (whole cores first, in turn over packages and caches), compact (whole cores by number), smt (second
    /// hardware threads right after their first ones), or numbers of cores, as in 0,2,4-7 [default: scatter]
    #[arg(long, value_name = "HOW")]
    pub bind: Option<String>,
    /// How ranks wait for each other: pause (they poll), mwait (their cores sleep, if the processor has WAITPKG or MONITORX), halt (the core of a node's
    /// only rank sleeps until the network interrupts it), or auto (halt where it can be, else pause) [default: pause]
    #[arg(long, value_enum, value_name = "HOW", default_value = "pause", hide_default_value = true)]
    pub wait: Wait,
    /// Set a variable in the environment of every rank; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// Move messages between ranks by this path; the last four are for tests [default: smartmap]
    #[arg(long, visible_alias = "path", value_name = "NAME", value_parser = transports())]
    pub transport: Option<String>,
    /// Let every rank count as a node of its own, so that collectives, windows and files go by messages over --transport, as between nodes
    #[arg(long)]
    pub apart: bool,
    /// Cores without ranks that copy for the ranks [default: one with a transport that needs it, else none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(WORKERS_MOST)))]
    pub workers: Option<u32>,
    /// Where `--transport hybrid` switches between its ways, as `cargo lwk bench tune` has measured it [default: the dissertation's]
    #[arg(long, value_name = "FILE")]
    pub tuning: Option<PathBuf>,
    /// Let the ranks read a local file, or a folder with all that is in it, as /NAME [default: its last name]; may be given
    /// more than once
    #[arg(long, value_name = "LOCAL[=NAME]")]
    pub file: Vec<String>,
    /// Memory that files may take beside those given, in MiB [default: half of what is free on this machine, with --host, or 64 with
    /// --valgrind; an eighth of a node's]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub file_space: Option<u64>,
    /// A bundled program (see `cargo lwk list`), or the path of any static ELF file
    #[arg(value_name = "APP")]
    pub app: String,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

impl JobOptions {
    /// Whether messages between ranks of the node leave it and come back.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.transport.as_deref() == Some(LOOPBACK)
    }

    /// The transport: that of `--transport`, else of the environment, of whose variables of one name the first counts, else the default.
    #[must_use]
    pub fn transport_named(&self) -> Cow<'_, str> {
        if let Some(name) = &self.transport {
            return name.into();
        }
        let mut set = self.env.iter().filter_map(|variable| {
            variable.as_bytes().strip_prefix(TRANSPORT.as_bytes())?.strip_prefix(b"=")
        });
        set.next().map_or(TRANSPORTS[0].into(), String::from_utf8_lossy)
    }

    /// Cores without ranks that copy for the ranks.
    #[must_use]
    pub fn workers(&self) -> u32 {
        let needs = self.transport.as_deref().is_some_and(|name| NEED_WORKERS.contains(&name));
        self.workers.unwrap_or(needs.into())
    }
}

#[derive(Clone, Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub job: JobOptions,
    /// Run on this machine instead of a node in QEMU: a Linux process for each rank, at full speed
    #[arg(long, conflicts_with_all = ["accel", "screen", "firmware", "inject", "cpu", "qemu", "bind"])]
    pub host: bool,
    /// Nodes of the job, each with its part of the ranks; --cores and --mem are those of each node and rank
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub nodes: u32,
    /// Network card of nodes in QEMU [default: virtio]
    #[arg(long, value_enum, value_name = "KIND")]
    pub nic: Option<CardKind>,
    /// Core of each node that takes the interrupts of its network card [default: one without ranks if there is one, else core 0]
    #[arg(long, value_name = "CORE", conflicts_with = "host")]
    pub irq_core: Option<u32>,
    /// What wires between nodes are like, and what happens to frames, as in loss=0.01,seed=7
    ///
    /// Chances from 0 to 1: loss=, duplicate=, reorder=, corrupt=, and their seed=. The wire to each node: bandwidth= in million bits a
    /// second, latency= in microseconds, queue= in frames (512), pause=1 to ask senders to pause when it is three quarters full. Nodes cut off from
    /// the others: apart=2+3@500-1500, in milliseconds after the first frame; without an end it never heals.
    #[arg(long, value_name = "WHAT")]
    pub wire: Option<String>,
    /// Another switch (`cargo lwk switch`) that the one between the nodes joins, where it listens
    #[arg(long, value_name = "HOST:PORT")]
    pub uplink: Option<String>,
    /// Write all frames between the nodes to this file, for Wireshark (tools/wireshark)
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Memory of the node, in MiB [default: what the job needs]
    #[arg(long, value_name = "MIB", conflicts_with = "host", value_parser = clap::value_parser!(u64).range(64..=16_777_216))]
    pub node_mem: Option<u64>,
    /// How QEMU runs the node's cores
    #[arg(long, value_enum, default_value_t = accel::Choice::Auto, value_name = "HOW")]
    pub accel: accel::Choice,
    /// Time limit of the job, in seconds from its start [default: 120; none with --gdb or --valgrind]
    ///
    /// At the limit the kernel reports where each rank is, and the status is 124.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: Option<u64>,
    /// Prefix each line of a rank with the rank
    #[arg(long)]
    pub tag: bool,
    /// Show kernel messages down to this level [default: warn]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub log: Option<Level>,
    /// Print the exit report to standard error: start-up time, memory, interrupts and system calls of each core
    #[arg(long)]
    pub report: bool,
    /// Print at the end how many messages were sent, and how much, by size and by how far apart the cores are
    #[arg(long)]
    pub profile: bool,
    /// Write the exit report to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report_json: Option<PathBuf>,
    /// Write what the ranks leave under /out to this folder, also if the job fails
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run in this folder (the current one, if none is named)
    ///
    /// With --host the job's files are this machine's own then. A node is given a copy of the folder, at the same path, and what the job has
    /// changed there comes back at its end.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub cwd: Option<PathBuf>,
    /// Started by `mpiexec`.
    #[arg(skip)]
    pub launched: Option<Launched>,
    /// Write the node's screen at the end of the job to this file, as PNG
    #[arg(long, value_name = "FILE")]
    pub screen: Option<PathBuf>,
    /// Firmware of the node
    #[arg(long, value_enum, default_value_t = Firmware::Bios, value_name = "KIND")]
    pub firmware: Firmware,
    /// Wait for a debugger before the first instruction, and print the command that starts it
    #[arg(long)]
    pub gdb: bool,
    /// Run ranks under valgrind, with these options (apart by spaces), as in --valgrind='--tool=callgrind'; with --host
    #[arg(long, value_name = "OPTIONS", num_args = 0..=1, require_equals = true, default_missing_value = "", requires = "host", conflicts_with = "gdb")]
    pub valgrind: Option<String>,
    /// Run only this rank under valgrind; may be given more than once
    #[arg(long, value_name = "RANK", requires = "valgrind")]
    pub valgrind_rank: Vec<u32>,
    /// Print what is done and how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
    /// Boot even what cannot run, so that the kernel's own refusal is seen
    #[arg(long, hide = true)]
    pub no_check: bool,
    /// Make the kernel fail in this way once the job runs, for tests of its own end
    #[arg(long, hide = true, value_name = "KIND")]
    pub inject: Option<String>,
    /// Trouble between the nodes of a job on this machine, for tests
    #[arg(long, hide = true, value_enum, value_name = "KIND")]
    pub trouble: Option<Trouble>,
    /// So many nodes more, at the switch alone: each connects to all others and says nothing then. For measurements
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(crate::nodes::peer::IDLE_MAX)))]
    pub idle_peers: Option<u32>,
    /// Processor model of an emulated node, in QEMU's words, for tests of what the kernel needs
    #[arg(long, hide = true, value_name = "MODEL")]
    pub cpu: Option<String>,
    /// More words for QEMU's command line, apart by spaces, for tests of what machines there are; what they say again counts
    #[arg(long, hide = true, value_name = "WORDS", allow_hyphen_values = true, default_value = "")]
    pub qemu: String,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
}

impl RunOptions {
    /// Default time limit of a job, in seconds.
    pub const TIMEOUT: u64 = 120;

    /// Time limit of the job, if there is one.
    pub fn limit(&self) -> Option<Duration> {
        let patient = self.gdb || self.valgrind.is_some() || self.launched.is_some();
        let seconds = self.timeout.or((!patient).then_some(Self::TIMEOUT));
        seconds.map(Duration::from_secs)
    }
}

#[derive(Clone, Debug, Args)]
pub struct ImageOptions {
    #[command(flatten)]
    pub job: JobOptions,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What the machine does when the job has ended: it stops with all on its screen, switches itself off, or resets itself
    #[arg(long, value_enum, value_name = "HOW", default_value = "halt")]
    pub at_end: MachineEnd,
    /// Time limit of the job, in seconds from its start, kept by the machine itself; at the limit it says where each rank is [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: Option<u32>,
    /// Show kernel messages down to this level [default: warn]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub log: Option<Level>,
    /// Check the machine, in the place of smap-ring: a rank on each core, all about the machine, tests and latency of every pair of cores, noise
    /// and STREAM, with kernel messages down to debug
    #[arg(long, conflicts_with_all = ["ranks", "args", "oversubscribe"])]
    pub check: bool,
    /// Firmware of the machine
    #[arg(long, value_enum, default_value = "uefi", hide = true)]
    pub firmware: Firmware,
    /// Make the kernel fail in this way, for tests
    #[arg(long, hide = true, value_name = "KIND")]
    pub inject: Option<String>,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

/// How ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wait {
    Pause,
    Mwait,
    Halt,
    Auto,
}

impl Wait {
    /// The job file's.
    pub fn of_job(self) -> lwk_job::Wait {
        match self {
            Wait::Pause => lwk_job::Wait::Pause,
            Wait::Mwait => lwk_job::Wait::Mwait,
            Wait::Halt => lwk_job::Wait::Halt,
            Wait::Auto => lwk_job::Wait::Auto,
        }
    }
}

/// What a real machine does at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MachineEnd {
    Halt,
    Off,
    Reset,
}

/// Trouble between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trouble {
    /// The last node's process is killed when a rank of the first has printed a line.
    Kill,
    /// Bytes at random, and frames that look almost right, come in at every node while the job runs.
    Flood,
    /// As flood, as fast as the wire takes it.
    Storm,
    /// The last node's link goes down for a while when a rank of the first has printed a line.
    Unplug,
    /// The switch cuts the last node off for good when a rank of the first has printed a line.
    Cut,
}

/// Levels of kernel messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    /// As the job file has it.
    pub fn of_job(self) -> LogLevel {
        match self {
            Self::Error => LogLevel::Error,
            Self::Warn => LogLevel::Warn,
            Self::Info => LogLevel::Info,
            Self::Debug => LogLevel::Debug,
            Self::Trace => LogLevel::Trace,
        }
    }
}
