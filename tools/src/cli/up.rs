//! Options of nodes that stay up and of their jobs.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::JobOptions;

/// Which nodes are meant.
#[derive(Clone, Debug, Args)]
pub struct AtOptions {
    /// Folder with the nodes' key and address [default: what MARGAY_NODES names, else target/lwk/nodes, or ~/.margay/nodes of an installation]
    #[arg(long, value_name = "DIR")]
    pub at: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct UpOptions {
    #[command(flatten)]
    pub at: AtOptions,
    /// Jobs are processes of this machine; without it each boots machines in QEMU
    #[arg(long)]
    pub host: bool,
    /// A node on each machine that this file names by ssh, one a line, each perhaps with a number of cores
    ///
    /// This command's file is at the same path there. All machines know each other by these names.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["host", "nodes", "cores", "oversubscribe"])]
    pub hosts: Option<PathBuf>,
    /// Command that starts another on a machine, as ssh does
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts")]
    pub ssh: String,
    /// How many nodes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub nodes: u32,
    /// Cores of each node for ranks [default: this machine's, in equal parts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Let nodes share cores if there are more nodes than cores
    #[arg(long)]
    pub oversubscribe: bool,
    /// Print how long it takes
    #[arg(short, long)]
    pub verbose: bool,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
}

#[derive(Clone, Debug, Args)]
pub struct LaunchOptions {
    #[command(flatten)]
    pub at: AtOptions,
    #[command(flatten)]
    pub job: JobOptions,
    /// Nodes of the job [default: as few as have the cores; with --oversubscribe all that have one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub nodes: Option<u32>,
    /// Time limit of the job, in seconds from its start [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: Option<u64>,
    /// Prefix each line of a rank with the rank
    #[arg(long)]
    pub tag: bool,
    /// Write what the ranks leave under /out to this folder, also if the job fails; of a job of several nodes to node-0, node-1, … in it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// End when the job is under way, and leave it; what it prints goes to a file beside the nodes' key
    #[arg(long)]
    pub detach: bool,
    /// Started by a launcher with --detach, with this file for its output.
    #[arg(long, hide = true, value_name = "FILE")]
    pub background: Option<PathBuf>,
    /// Print what is done and how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
    /// Take everything as it was built last
    #[arg(long, hide = true)]
    pub built: bool,
}

/// What `up` tells a node.
#[derive(Clone, Debug, Args)]
pub struct StayOptions {
    #[arg(long)]
    pub node: u32,
    #[arg(long)]
    pub nodes: u32,
    #[arg(long, value_delimiter = ',')]
    pub cores: Vec<u16>,
    /// Of all that there are, if none are named.
    #[arg(long)]
    pub core_count: Option<usize>,
    #[arg(long)]
    pub listen: SocketAddr,
    #[arg(long)]
    pub join: Option<String>,
    /// QEMU, what makes disk images, and the kernel, if jobs boot.
    #[arg(long, num_args = 3)]
    pub boots: Vec<PathBuf>,
    #[arg(long)]
    pub log: PathBuf,
    /// The node itself.
    #[arg(long)]
    pub here: bool,
}
