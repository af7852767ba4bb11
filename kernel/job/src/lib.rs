//! The job file ([`lwk_abi::job_file`]): `key=value` records, each ended by a NUL byte. The host tool writes it ([`Writer`]), the kernel reads it
//! ([`Job`]).
//!
//! The file is checked as a whole by [`Job::parse`]; nothing is copied, so arguments and environment are read from the
//! file's bytes when asked for. No input makes this crate panic; a wrong file gets a [`JobError`] that names the key.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod bind;
mod error;
mod option;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use bind::{BINDINGS, Bind, CoreList};
pub use error::JobError;
pub use option::{Console, End, INJECTIONS, Inject, LogLevel, Wait};
pub use write::Writer;

/// A node's place in a job of several, or of one that is its own peer: its ranks' messages leave it and come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// This node, below `nodes`.
    pub node: u32,
    /// Nodes of the job, at most as many as ranks.
    pub nodes: u32,
    /// Ranks of the job on all nodes.
    pub size: u32,
    /// The job's number, not 0.
    pub job: u64,
}

impl Network {
    /// Whether the node is its own peer.
    pub fn is_loop(&self) -> bool {
        self.nodes == 1
    }
}

/// A job, borrowed from the file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<'a> {
    /// Ranks on this node, 1 to 255.
    pub ranks: u32,
    /// One rank on each core in use, however many `ranks` says.
    pub on_each_core: bool,
    /// Bytes of memory for each rank, at least 1; not rounded. `None`: the ranks share what is free.
    pub memory: Option<u64>,
    /// Level of kernel messages.
    pub log: LogLevel,
    /// More ranks than cores may share cores.
    pub oversubscribe: bool,
    /// Print the exit report.
    pub report: bool,
    /// Cores to use at most, at least 1; `None`: all.
    pub cores: Option<u32>,
    /// Which cores ranks get.
    pub bind: Bind<'a>,
    /// How ranks wait for each other.
    pub wait: Wait,
    /// The form of console lines.
    pub console: Console,
    /// What follows the job's end.
    pub end: End,
    /// Bytes that files may take beside those the job is given, at least 1; not rounded. `None`: a part of what is free.
    pub file_space: Option<u64>,
    /// Folder that the ranks start in, by its whole path; `None`: the root.
    pub folder: Option<&'a [u8]>,
    /// The host tool fetches the files at the end.
    pub out: bool,
    /// How the kernel fails once the job runs.
    pub inject: Option<Inject>,
    /// The node's place in a job of several nodes.
    pub network: Option<Network>,
    /// Core that takes the interrupts of the network card; `None`: the kernel chooses.
    pub irq_core: Option<u32>,
    /// Cores without ranks that copy for the ranks, at most [`lwk_abi::engine::WORKERS_MOST`].
    pub workers: u32,
    /// Seconds, at least 1, after which the kernel itself ends the job; `None`: whoever boots the node sees to that.
    pub limit: Option<u32>,
    file: &'a [u8],
}
