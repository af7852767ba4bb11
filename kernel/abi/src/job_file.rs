//! The job file: how the host tells a node what to run.
//!
//! The boot image's RAM disk is a POSIX (ustar) archive of two or three members. [`PROGRAM`] is the static ELF file. [`FILES`],
//! if it is there, is the image of a file system (crate `lwk-files`) with the files that the job is given. [`JOB`] is a
//! sequence of `key=value` records, each ended by a NUL byte (as in Linux's `/proc/self/environ`, so that any argument
//! can be carried as it is). Keys may repeat only where said. Numbers are decimal.

/// Name of the archive member that holds the job file.
pub const JOB: &str = "job";
/// Name of the archive member that holds the program.
pub const PROGRAM: &str = "program";

/// Name of the archive member that holds the image of the file system.
pub const FILES: &str = "files";

/// Ranks on this node, 1 to 255. Required.
pub const RANKS: &str = "ranks";
/// `1`: one rank on each core in use, however many [`RANKS`] says; `0` (default): as many as it says.
pub const EACH_CORE: &str = "each_core";
/// Bytes of memory for each rank, at least 1; rounded up to pages. If absent, the ranks share what is free.
pub const MEMORY: &str = "mem";
/// One argument of the program; repeats, in order; the first is `argv[0]`. Required.
pub const ARGUMENT: &str = "arg";
/// One `NAME=VALUE` of the environment, any bytes but NUL; repeats, in order. None if absent.
pub const ENVIRONMENT: &str = "env";
/// Level of kernel messages: `error`, `warn` (default), `info`, `debug` or `trace`.
pub const LOG: &str = "log";
/// `1`: more ranks than cores may share cores; `0` (default): they are refused.
pub const OVERSUBSCRIBE: &str = "oversubscribe";
/// `1`: print the exit report ([`crate::console::REPORT`]); `0` (default): do not.
pub const REPORT: &str = "report";
/// Cores to use at most; ranks are pinned to the first ones. All if absent.
pub const CORES: &str = "cores";
/// Which cores ranks get: `scatter` (default: whole cores before second threads, in turn over packages and caches), `compact` (whole cores
/// by number), `smt` (second threads after their first ones), or the cores' own numbers in order, as in `0,2,4-7`.
pub const BIND: &str = "bind";
/// `framed` (default): console lines carry the header of [`crate::console`]; `plain`: bare text for a person.
pub const CONSOLE: &str = "console";
/// What the node does when the job has ended: `exit` (default, the debug-exit device), `wait` (for a byte on the serial
/// line, then as `exit`; used to look at the screen), or on real machines `halt`, `off` (`reset` if that cannot be done) or `reset`.
pub const END: &str = "end";
/// Bytes that files may take beside those the job is given, rounded up to pages. If absent, a part of what is free, [`FILE_SPACE_MIN`] or more.
pub const FILE_SPACE: &str = "file_space";
/// The least bytes that files may take where [`FILE_SPACE`] is absent: 32 MiB.
pub const FILE_SPACE_MIN: u64 = 32 << 20;
/// Folder that the ranks start in, by its whole path on the node; the root if absent.
pub const FOLDER: &str = "folder";
/// `1`: at the end the host tool fetches the files ([`crate::console::FILES`]); `0` (default): it does not.
pub const OUT: &str = "out";
/// The node's place in a job of several: this node from 0, the job's nodes and ranks, and the job's number, with a comma between each. A job of
/// one node if absent.
pub const NETWORK: &str = "network";
/// Core that takes the interrupts of the network card, by its number. If absent: one without ranks if there is one, else the first.
pub const IRQ_CORE: &str = "irq_core";
/// Cores without ranks that copy for the ranks ([`crate::engine`]), 1 to 64. None if absent.
pub const WORKERS: &str = "workers";
/// How ranks wait for each other: `pause` or `mwait`. `pause` if absent.
pub const WAIT: &str = "wait";
/// Seconds from the job's start, at least 1, after which the kernel itself ends it, as the host tool does for a node that it has booted. No limit if
/// absent.
pub const LIMIT: &str = "limit";
/// For tests. Of the kernel's own end: the boot core fails in this way when the job has been set going (`panic`, `page-fault`,
/// `stack-overflow` or `invalid-instruction`) or before it has its structure (`early-page-fault`), or the other cores do as soon as they
/// start (`core-page-fault`). Of what ranks find in their memory: segments are full of an earlier job's bytes before they are cleared
/// (`stale-memory`), the time stamp counters of all cores but the
/// boot core are set ahead (`skewed-counters`), or the firmware interrupts the boot core when its first program begins (`management-interrupt`). None if absent.
pub const INJECT: &str = "inject";
