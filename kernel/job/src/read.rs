//! Reading: a file is checked as a whole, and nothing is copied.

use lwk_abi::address::MAX_RANKS;
use lwk_abi::engine::WORKERS_MOST;
use lwk_abi::job_file;

use crate::bind::{BINDINGS, Bind, core_number};
use crate::option::{Choice, Console, End, INJECTIONS, Inject, LogLevel, Wait};
use crate::{Job, JobError, Network};

impl<'a> Job<'a> {
    /// Reads and checks a whole job file.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn parse(file: &'a [u8]) -> Result<Job<'a>, JobError> {
        let mut ranks = None;
        let mut on_each_core = None;
        let mut memory = None;
        let mut log = None;
        let mut oversubscribe = None;
        let mut report = None;
        let mut cores = None;
        let mut bind = None;
        let mut wait = None;
        let mut console = None;
        let mut end = None;
        let mut inject = None;
        let mut file_space = None;
        let mut folder = None;
        let mut out = None;
        let mut network_place = None;
        let mut irq_core = None;
        let mut workers = None;
        let mut limit = None;
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
                key @ job_file::EACH_CORE => set(&mut on_each_core, key, bool::named(value), "0 or 1")?,
                key @ job_file::MEMORY => {
                    set(&mut memory, key, number_to(value, u64::MAX), "a number of bytes")?
                }
                key @ job_file::CORES => {
                    set(&mut cores, key, number_to(value, u64::from(u32::MAX)), "a number from 1 up")?;
                }
                key @ job_file::LOG => {
                    set(&mut log, key, LogLevel::named(value), "error, warn, info, debug or trace")?;
                }
                key @ job_file::OVERSUBSCRIBE => set(&mut oversubscribe, key, bool::named(value), "0 or 1")?,
                key @ job_file::REPORT => set(&mut report, key, bool::named(value), "0 or 1")?,
                key @ job_file::BIND => set(&mut bind, key, Bind::parse(value), BINDINGS)?,
                key @ job_file::WAIT => {
                    set(&mut wait, key, Wait::named(value), "pause, mwait, halt or auto")?
                }
                key @ job_file::CONSOLE => set(&mut console, key, Console::named(value), "framed or plain")?,
                key @ job_file::END => {
                    set(&mut end, key, End::named(value), "exit, wait, halt, off or reset")?
                }
                key @ job_file::FILE_SPACE => {
                    set(&mut file_space, key, number_to(value, u64::MAX), "a number of bytes")?
                }
                key @ job_file::FOLDER => {
                    let whole = value.starts_with(b"/").then_some(value);
                    set(&mut folder, key, whole, "a path that begins with a slash")?;
                }
                key @ job_file::OUT => set(&mut out, key, bool::named(value), "0 or 1")?,
                key @ job_file::INJECT => {
                    set(&mut inject, key, Inject::named(value), INJECTIONS)?;
                }
                key @ job_file::NETWORK => {
                    set(&mut network_place, key, network(value), "node, nodes, ranks and number of the job")?
                }
                key @ job_file::IRQ_CORE => set(&mut irq_core, key, core_number(value), "a core's number")?,
                key @ job_file::WORKERS => {
                    set(&mut workers, key, number_to(value, WORKERS_MOST.into()), WORKER_COUNT)?
                }
                key @ job_file::LIMIT => {
                    set(&mut limit, key, number_to(value, u64::from(u32::MAX)), "a number of seconds")?
                }
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
            on_each_core: on_each_core.unwrap_or(false),
            memory,
            log: log.unwrap_or(LogLevel::Warn),
            oversubscribe: oversubscribe.unwrap_or(false),
            report: report.unwrap_or(false),
            // Fits: at most u32::MAX.
            cores: cores.map(|cores| cores as u32),
            bind: bind.unwrap_or(Bind::Scatter),
            wait: wait.unwrap_or(Wait::Pause),
            console: console.unwrap_or(Console::Framed),
            end: end.unwrap_or(End::Exit),
            file_space,
            folder,
            out: out.unwrap_or(false),
            inject,
            network: network_place,
            irq_core,
            // Fits: at most WORKERS_MOST.
            workers: workers.unwrap_or(0) as u32,
            // Fits: at most u32::MAX.
            limit: limit.map(|seconds| seconds as u32),
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

const RANK_COUNT: &str = "a number from 1 to 255";
const _: () = assert!(MAX_RANKS == 255, "RANK_COUNT says 255");
const WORKER_COUNT: &str = "a number from 1 to 64";
const _: () = assert!(WORKERS_MOST == 64, "WORKER_COUNT says 64");

/// Every key of the format.
const KEYS: [&str; 21] = [
    job_file::WORKERS,
    job_file::WAIT,
    job_file::EACH_CORE,
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
    job_file::LIMIT,
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
    let sound = words.next().is_none() && node < nodes && nodes <= size;
    // All fit: `number_to` was told the most.
    sound.then_some(Network { node: node as u32, nodes: nodes as u32, size: size as u32, job })
}
