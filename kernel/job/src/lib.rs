//! Reads the job file ([`lwk_abi::job_file`]): `key=value` records, each ended by a NUL byte.
//!
//! The file is checked as a whole by [`Job::parse`]; nothing is copied, so arguments and environment are read from the
//! file's bytes when asked for. No input makes this crate panic; a wrong file gets a [`JobError`] that names the key.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

use core::fmt;

use lwk_abi::address::MAX_RANKS;
use lwk_abi::job_file;

/// The least severe kernel messages that are shown; ordered from [`LogLevel::Error`] up, with the console's numbers
/// ([`lwk_abi::console::KERNEL`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Error = 1,
    Warn = 2,
    Info = 3,
    Debug = 4,
    Trace = 5,
}

/// Which cores ranks get ([`job_file::BIND`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind<'a> {
    Scatter,
    Compact,
    Smt,
    List(CoreList<'a>),
}

/// Numbers of cores as they are written: numbers and ranges, apart by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreList<'a>(&'a [u8]);

/// The most cores that a list names: more than a node uses.
const LISTED_MAX: usize = 1024;

impl<'a> CoreList<'a> {
    /// Reads a list. None if it is none: a part that is neither a number nor a range, a range that runs backwards, or more than 1024 cores.
    pub fn parse(text: &'a [u8]) -> Option<CoreList<'a>> {
        let mut count = 0usize;
        for part in text.split(|byte| *byte == b',') {
            let (first, last) = Self::range(part)?;
            count += usize::try_from(last.checked_sub(first)?).ok()?.checked_add(1)?;
            if count > LISTED_MAX {
                return None;
            }
        }
        Some(CoreList(text))
    }

    /// The numbers in their order.
    pub fn cores(self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        let parts = self.0.split(|byte| *byte == b',').filter_map(Self::range);
        parts.flat_map(|(first, last)| first..=last).map(|core| core as usize)
    }

    fn range(part: &[u8]) -> Option<(u32, u32)> {
        let (first, last) = match part.iter().position(|byte| *byte == b'-') {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, part),
        };
        Some((core_number(first)?, core_number(last)?))
    }
}

/// A core's number: up to five digits.
fn core_number(text: &[u8]) -> Option<u32> {
    let is_number = (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

impl<'a> Bind<'a> {
    /// Reads one of [`BINDINGS`]; none if it is none of them.
    pub fn parse(value: &'a [u8]) -> Option<Bind<'a>> {
        match value {
            b"scatter" => Some(Bind::Scatter),
            b"compact" => Some(Bind::Compact),
            b"smt" => Some(Bind::Smt),
            list => CoreList::parse(list).map(Bind::List),
        }
    }
}

/// The form of console lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// Every line is a record of [`lwk_abi::console`].
    Framed,
    /// Bare text for a person.
    Plain,
}

/// What the node does when the job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Writes to the debug-exit device.
    Exit,
    /// Waits for a byte on the serial line, then as [`End::Exit`].
    Wait,
    /// Stops the processors.
    Halt,
}

/// How the kernel is made to fail, for tests of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inject {
    /// A broken invariant.
    Panic,
    /// An access to unmapped memory.
    PageFault,
    /// Running off the kernel stack.
    StackOverflow,
    /// An instruction that does not exist.
    InvalidInstruction,
    /// An access to unmapped memory, by the boot core before it has its structure.
    EarlyPageFault,
    /// The same by every other core as soon as it starts.
    CorePageFault,
    /// No failure: segments hold an earlier job's bytes before they are cleared.
    StaleMemory,
}

/// A node's place in a job of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// This node, below `nodes`.
    pub node: u32,
    /// Nodes of the job, at least 2 and at most as many as ranks.
    pub nodes: u32,
    /// Ranks of the job on all nodes.
    pub size: u32,
    /// The job's number, not 0.
    pub job: u64,
}

/// A job, borrowed from the file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<'a> {
    /// Ranks on this node, 1 to 255.
    pub ranks: u32,
    /// Bytes of memory for each rank, at least 1; not rounded.
    pub memory: u64,
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
    /// The form of console lines.
    pub console: Console,
    /// What follows the job's end.
    pub end: End,
    /// Bytes that files may take beside those the job is given, at least 1; not rounded.
    pub file_space: u64,
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
    file: &'a [u8],
}

/// Why a job file was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// The last record has no NUL byte: the file is cut off.
    Unterminated,
    /// The record that starts at this byte has no `=`.
    NoValue { offset: usize },
    /// The record that starts at this byte has a key that is none of the job file's.
    UnknownKey { offset: usize },
    /// The key may stand once only.
    Repeated { key: &'static str },
    /// The key is required.
    Missing { key: &'static str },
    /// The key's value is none of those it can have.
    BadValue { key: &'static str, expected: &'static str },
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            JobError::Unterminated => {
                f.write_str("the job file is cut off: its last record does not end with NUL")
            }
            JobError::NoValue { offset } => {
                write!(f, "the job file's record at byte {offset} is not key=value")
            }
            JobError::UnknownKey { offset } => {
                write!(
                    f,
                    "the job file's record at byte {offset} has an unknown key; make image and kernel together"
                )
            }
            JobError::Repeated { key } => write!(f, "the job file gives '{key}' more than once"),
            JobError::Missing { key } => write!(f, "the job file does not give '{key}'"),
            JobError::BadValue { key, expected } => write!(f, "the job file's '{key}' must be {expected}"),
        }
    }
}

impl<'a> Job<'a> {
    /// Reads and checks a whole job file.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn parse(file: &'a [u8]) -> Result<Job<'a>, JobError> {
        let mut ranks = None;
        let mut memory = None;
        let mut log = None;
        let mut oversubscribe = None;
        let mut report = None;
        let mut cores = None;
        let mut bind = None;
        let mut console = None;
        let mut end = None;
        let mut inject = None;
        let mut file_space = None;
        let mut folder = None;
        let mut out = None;
        let mut network_place = None;
        let mut irq_core = None;
        let mut has_argument = false;
        if file.last().is_some_and(|&last| last != 0) {
            return Err(JobError::Unterminated);
        }
        let mut offset = 0;
        for record in records(file) {
            let (key, value) = split(record).ok_or(JobError::NoValue { offset })?;
            match known_key(key).ok_or(JobError::UnknownKey { offset })? {
                key @ job_file::RANKS => {
                    set(&mut ranks, key, number_to(value, MAX_RANKS as u64), RANK_COUNT)?
                }
                key @ job_file::MEMORY => {
                    set(&mut memory, key, number_to(value, u64::MAX), "a number of bytes")?
                }
                key @ job_file::CORES => {
                    set(&mut cores, key, number_to(value, u64::from(u32::MAX)), "a number from 1 up")?;
                }
                key @ job_file::LOG => {
                    set(&mut log, key, log_level(value), "error, warn, info, debug or trace")?;
                }
                key @ job_file::OVERSUBSCRIBE => set(&mut oversubscribe, key, switch(value), "0 or 1")?,
                key @ job_file::REPORT => set(&mut report, key, switch(value), "0 or 1")?,
                key @ job_file::BIND => set(&mut bind, key, Bind::parse(value), BINDINGS)?,
                key @ job_file::CONSOLE => set(&mut console, key, console_form(value), "framed or plain")?,
                key @ job_file::END => set(&mut end, key, end_action(value), "exit, wait or halt")?,
                key @ job_file::FILE_SPACE => {
                    set(&mut file_space, key, number_to(value, u64::MAX), "a number of bytes")?
                }
                key @ job_file::FOLDER => {
                    let whole = value.starts_with(b"/").then_some(value);
                    set(&mut folder, key, whole, "a path that begins with a slash")?;
                }
                key @ job_file::OUT => set(&mut out, key, switch(value), "0 or 1")?,
                key @ job_file::INJECT => {
                    set(
                        &mut inject,
                        key,
                        injection(value),
                        "panic, page-fault, stack-overflow, invalid-instruction, early-page-fault, core-page-fault or stale-memory",
                    )?;
                }
                key @ job_file::NETWORK => {
                    set(&mut network_place, key, network(value), "node, nodes, ranks and number of the job")?
                }
                key @ job_file::IRQ_CORE => set(&mut irq_core, key, core_number(value), "a core's number")?,
                job_file::ARGUMENT => has_argument = true,
                // The environment: the only key left.
                _ => {}
            }
            offset += record.len() + 1;
        }
        if !has_argument {
            return Err(JobError::Missing { key: job_file::ARGUMENT });
        }
        Ok(Job {
            // Fits: at most MAX_RANKS.
            ranks: ranks.ok_or(JobError::Missing { key: job_file::RANKS })? as u32,
            memory: memory.ok_or(JobError::Missing { key: job_file::MEMORY })?,
            log: log.unwrap_or(LogLevel::Warn),
            oversubscribe: oversubscribe.unwrap_or(false),
            report: report.unwrap_or(false),
            // Fits: at most u32::MAX.
            cores: cores.map(|cores| cores as u32),
            bind: bind.unwrap_or(Bind::Scatter),
            console: console.unwrap_or(Console::Framed),
            end: end.unwrap_or(End::Exit),
            file_space: file_space.unwrap_or(job_file::FILE_SPACE_DEFAULT),
            folder,
            out: out.unwrap_or(false),
            inject,
            network: network_place,
            irq_core,
            file,
        })
    }

    /// The program's arguments in order, at least one; any bytes but NUL.
    pub fn arguments(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        values(self.file, job_file::ARGUMENT)
    }

    /// The `NAME=VALUE` strings of the environment in order; any bytes but NUL.
    pub fn environment(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        values(self.file, job_file::ENVIRONMENT)
    }
}

/// What [`Bind::parse`] reads, for messages.
pub const BINDINGS: &str = "scatter, compact, smt, or cores as in 0,2,4-7";
const RANK_COUNT: &str = "a number from 1 to 255";
const _: () = assert!(MAX_RANKS == 255, "RANK_COUNT says 255");

/// Every key of the format.
const KEYS: [&str; 17] = [
    job_file::IRQ_CORE,
    job_file::RANKS,
    job_file::MEMORY,
    job_file::ARGUMENT,
    job_file::ENVIRONMENT,
    job_file::LOG,
    job_file::OVERSUBSCRIBE,
    job_file::REPORT,
    job_file::CORES,
    job_file::BIND,
    job_file::CONSOLE,
    job_file::END,
    job_file::FILE_SPACE,
    job_file::FOLDER,
    job_file::OUT,
    job_file::INJECT,
    job_file::NETWORK,
];

fn known_key(key: &[u8]) -> Option<&'static str> {
    KEYS.into_iter().find(|known| known.as_bytes() == key)
}

/// The records of a file whose last one is complete.
fn records(file: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    file.split_inclusive(|&byte| byte == 0).map(|record| record.strip_suffix(&[0]).unwrap_or(record))
}

/// Key and value of a record; the value may hold further `=`.
fn split(record: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = record.iter().position(|&byte| byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..]))
}

fn values<'a>(file: &'a [u8], wanted: &'static str) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
    records(file).filter_map(split).filter(move |&(key, _)| key == wanted.as_bytes()).map(|(_, value)| value)
}

/// Stores the value of a key that may stand once.
fn set<T>(
    place: &mut Option<T>,
    key: &'static str,
    value: Option<T>,
    expected: &'static str,
) -> Result<(), JobError> {
    let value = value.ok_or(JobError::BadValue { key, expected })?;
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(JobError::Repeated { key }),
    }
}

/// A decimal number from 1 to `most`: digits only, no sign, no blank.
fn number_to(value: &[u8], most: u64) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    let number = value.iter().try_fold(0u64, |sum, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    (1..=most).contains(&number).then_some(number)
}

fn network(value: &[u8]) -> Option<Network> {
    let mut words = value.split(|&byte| byte == b',');
    let mut next = |most: u64| words.next().and_then(|word| number_to(word, most));
    let node = match value {
        [b'0', b',', ..] => next(0).unwrap_or(0),
        _ => next(u64::from(u16::MAX))?,
    };
    let (nodes, size, job) = (next(u64::from(u16::MAX))?, next(u64::from(u32::MAX))?, next(u64::MAX)?);
    let sound = words.next().is_none() && node < nodes && 2 <= nodes && nodes <= size;
    // All fit: `number_to` was told the most.
    sound.then_some(Network { node: node as u32, nodes: nodes as u32, size: size as u32, job })
}

fn switch(value: &[u8]) -> Option<bool> {
    match value {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

fn log_level(value: &[u8]) -> Option<LogLevel> {
    match value {
        b"error" => Some(LogLevel::Error),
        b"warn" => Some(LogLevel::Warn),
        b"info" => Some(LogLevel::Info),
        b"debug" => Some(LogLevel::Debug),
        b"trace" => Some(LogLevel::Trace),
        _ => None,
    }
}

fn console_form(value: &[u8]) -> Option<Console> {
    match value {
        b"framed" => Some(Console::Framed),
        b"plain" => Some(Console::Plain),
        _ => None,
    }
}

fn end_action(value: &[u8]) -> Option<End> {
    match value {
        b"exit" => Some(End::Exit),
        b"wait" => Some(End::Wait),
        b"halt" => Some(End::Halt),
        _ => None,
    }
}

fn injection(value: &[u8]) -> Option<Inject> {
    match value {
        b"panic" => Some(Inject::Panic),
        b"page-fault" => Some(Inject::PageFault),
        b"stack-overflow" => Some(Inject::StackOverflow),
        b"invalid-instruction" => Some(Inject::InvalidInstruction),
        b"early-page-fault" => Some(Inject::EarlyPageFault),
        b"core-page-fault" => Some(Inject::CorePageFault),
        b"stale-memory" => Some(Inject::StaleMemory),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    const LEAST: &[u8] = b"ranks=4\0mem=1048576\0arg=hello\0";

    fn with(records: &[u8]) -> Result<(), JobError> {
        Job::parse(&[LEAST, records].concat()).map(|_| ())
    }

    fn bad_value(result: Result<(), JobError>, wanted: &str) {
        match result {
            Err(JobError::BadValue { key, .. }) => assert_eq!(key, wanted),
            other => panic!("{wanted}: {other:?}"),
        }
    }

    #[test]
    fn the_least_job_has_the_defaults() {
        let job = Job::parse(LEAST).expect("a job");
        assert_eq!((job.ranks, job.memory, job.log), (4, 1 << 20, LogLevel::Warn));
        assert_eq!((job.oversubscribe, job.report, job.cores), (false, false, None));
        assert_eq!((job.console, job.end, job.bind), (Console::Framed, End::Exit, Bind::Scatter));
        assert_eq!(job.arguments().collect::<Vec<_>>(), [b"hello"]);
        assert_eq!(job.environment().count(), 0);
    }

    #[test]
    fn every_key_is_read() {
        let file =
            b"env=A=1\0log=trace\0arg=x\0oversubscribe=1\0report=1\0cores=64\0console=plain\0end=wait\0\
                     env=B=\0arg=\0file_space=4096\0folder=/a b\0out=1\0arg=\xff a=b\nc\0mem=18446744073709551615\0ranks=255\0";
        let job = Job::parse(file).expect("a job");
        assert_eq!((job.ranks, job.memory, job.log), (255, u64::MAX, LogLevel::Trace));
        assert_eq!((job.oversubscribe, job.report, job.cores), (true, true, Some(64)));
        assert_eq!((job.console, job.end), (Console::Plain, End::Wait));
        assert_eq!((job.file_space, job.folder, job.out), (4096, Some(&b"/a b"[..]), true));
        let arguments: Vec<&[u8]> = job.arguments().collect();
        assert_eq!(arguments, [&b"x"[..], b"", b"\xff a=b\nc"]);
        assert_eq!(job.environment().collect::<Vec<_>>(), [&b"A=1"[..], b"B="]);
    }

    #[test]
    fn a_node_of_several_knows_its_place() {
        for node in 0..2 {
            let file = [LEAST, std::format!("network={node},2,4,18446744073709551615\0").as_bytes()].concat();
            let expected = Network { node, nodes: 2, size: 4, job: u64::MAX };
            assert_eq!(Job::parse(&file).expect("a job").network, Some(expected));
        }
        assert_eq!(Job::parse(LEAST).expect("a job").network, None);
    }

    #[test]
    fn wrong_files_are_refused_with_their_reason() {
        assert_eq!(Job::parse(b""), Err(JobError::Missing { key: "arg" }));
        assert_eq!(Job::parse(b"arg=a\0mem=1\0"), Err(JobError::Missing { key: "ranks" }));
        assert_eq!(Job::parse(b"arg=a\0ranks=1\0"), Err(JobError::Missing { key: "mem" }));
        assert_eq!(with(b"env=A=1"), Err(JobError::Unterminated));
        assert_eq!(with(b"env\0"), Err(JobError::NoValue { offset: LEAST.len() }));
        assert_eq!(with(b"\0"), Err(JobError::NoValue { offset: LEAST.len() }));
        assert_eq!(with(b"=1\0"), Err(JobError::UnknownKey { offset: LEAST.len() }));
        assert_eq!(with(b"rank=1\0"), Err(JobError::UnknownKey { offset: LEAST.len() }));
        assert_eq!(with(b"ranks=4\0"), Err(JobError::Repeated { key: "ranks" }));
        assert_eq!(with(b"end=exit\0end=exit\0"), Err(JobError::Repeated { key: "end" }));
        for ranks in ["", "0", "256", "-1", "+1", " 1", "1 ", "0x1", "99999999999999999999999"] {
            let file = std::format!("ranks={ranks}\0mem=1\0arg=a\0");
            bad_value(Job::parse(file.as_bytes()).map(|_| ()), "ranks");
        }
        bad_value(Job::parse(b"mem=0\0").map(|_| ()), "mem");
        bad_value(Job::parse(b"mem=18446744073709551616\0").map(|_| ()), "mem");
        bad_value(Job::parse(b"mem=100000000000000000000\0").map(|_| ()), "mem");
        bad_value(with(b"cores=0\0"), "cores");
        bad_value(with(b"cores=4294967296\0"), "cores");
        bad_value(with(b"log=loud\0"), "log");
        bad_value(with(b"oversubscribe=yes\0"), "oversubscribe");
        bad_value(with(b"report=2\0"), "report");
        bad_value(with(b"console=\0"), "console");
        bad_value(with(b"file_space=0\0"), "file_space");
        bad_value(with(b"folder=a\0"), "folder");
        bad_value(with(b"out=yes\0"), "out");
        bad_value(with(b"end=EXIT\0"), "end");
        for network in [
            "",
            "0",
            "0,2,4",
            "2,2,4,9",
            "0,1,4,9",
            "0,5,4,9",
            "0,2,4,0",
            "0,2,4,9,9",
            "00,2,4,9",
            "0,2,4294967296,9",
        ] {
            bad_value(with(std::format!("network={network}\0").as_bytes()), "network");
        }
    }

    #[test]
    fn cores_are_bound_by_name_or_by_number() {
        for (text, wanted) in [("compact", Bind::Compact), ("smt", Bind::Smt), ("scatter", Bind::Scatter)] {
            let file = [LEAST, b"bind=", text.as_bytes(), b"\0"].concat();
            assert_eq!(Job::parse(&file).expect("a job").bind, wanted);
        }
        let cores = |text: &'static str| {
            CoreList::parse(text.as_bytes()).map(|list| list.cores().collect::<Vec<_>>())
        };
        assert_eq!(cores("5"), Some([5].into()));
        assert_eq!(cores("7,0-2,1-1"), Some([7, 0, 1, 2, 1].into()));
        for wrong in ["", ",", "1,", "-1", "1-", "3-2", "1--2", "a", "1 2", "0-1024", "999999", "0x1"] {
            assert_eq!(cores(wrong), None, "{wrong}");
            bad_value(with(&[b"bind=", wrong.as_bytes(), b"\0"].concat()), "bind");
        }
    }

    #[test]
    fn errors_name_the_key_and_what_it_takes() {
        let error = Job::parse(b"ranks=0\0").expect_err("no ranks").to_string();
        assert_eq!(error, "the job file's 'ranks' must be a number from 1 to 255");
    }
}
