//! Writing: a record for each thing that is not as the reader takes it anyway.

use lwk_abi::job_file;

use crate::Network;
use crate::option::{Choice, Console, End, Inject, LogLevel, Wait};

/// Writes a job file to whatever takes bytes, a record a call. What is the reader's default is left out.
///
/// No text holds a NUL byte: records end with one.
pub struct Writer<'o, O> {
    out: &'o mut O,
}

impl<'o, O: Extend<u8>> Writer<'o, O> {
    /// A file for a job of so many ranks on the node, 1 to 255, with so many bytes of memory each; if none are said, they share what is free.
    pub fn new(out: &'o mut O, ranks: u32, memory: Option<u64>) -> Self {
        let mut file = Writer { out };
        file.number(job_file::RANKS, ranks.into());
        if let Some(memory) = memory {
            file.number(job_file::MEMORY, memory);
        }
        file
    }

    /// The next argument of the program, the first of which is its name.
    pub fn argument(&mut self, argument: &[u8]) {
        self.record(job_file::ARGUMENT, argument);
    }

    /// The next `NAME=VALUE` of the environment.
    pub fn variable(&mut self, variable: &[u8]) {
        self.record(job_file::ENVIRONMENT, variable);
    }

    /// Whether there is a rank on each core in use, however many are said.
    pub fn on_each_core(&mut self, on: bool) {
        self.choice(job_file::EACH_CORE, on, false);
    }

    /// Level of kernel messages.
    pub fn log(&mut self, level: LogLevel) {
        self.choice(job_file::LOG, level, LogLevel::Warn);
    }

    /// Whether more ranks than cores may share cores.
    pub fn oversubscribe(&mut self, on: bool) {
        self.choice(job_file::OVERSUBSCRIBE, on, false);
    }

    /// Whether there is an exit report.
    pub fn report(&mut self, on: bool) {
        self.choice(job_file::REPORT, on, false);
    }

    /// Cores to use at most, at least 1.
    pub fn cores(&mut self, cores: u32) {
        self.number(job_file::CORES, cores.into());
    }

    /// Which cores ranks get, as [`crate::Bind::parse`] takes it.
    pub fn bind(&mut self, binding: &[u8]) {
        self.record(job_file::BIND, binding);
    }

    /// How ranks wait for each other.
    pub fn wait(&mut self, how: Wait) {
        self.choice(job_file::WAIT, how, Wait::Pause);
    }

    /// The form of console lines.
    pub fn console(&mut self, form: Console) {
        self.choice(job_file::CONSOLE, form, Console::Framed);
    }

    /// What follows the job's end.
    pub fn end(&mut self, end: End) {
        self.choice(job_file::END, end, End::Exit);
    }

    /// Bytes that files may take beside those the job is given.
    pub fn file_space(&mut self, bytes: u64) {
        self.number(job_file::FILE_SPACE, bytes);
    }

    /// Folder that the ranks start in, by its whole path.
    pub fn folder(&mut self, folder: &[u8]) {
        self.record(job_file::FOLDER, folder);
    }

    /// Whether the host tool fetches the files at the end.
    pub fn out(&mut self, on: bool) {
        self.choice(job_file::OUT, on, false);
    }

    /// The node's place in a job of several nodes.
    pub fn network(&mut self, place: &Network) {
        let Network { node, nodes, size, job } = *place;
        self.numbers(job_file::NETWORK, [node.into(), nodes.into(), size.into(), job]);
    }

    /// Core that takes the interrupts of the network card, by its number.
    pub fn irq_core(&mut self, core: u32) {
        self.number(job_file::IRQ_CORE, core.into());
    }

    /// Cores without ranks that copy for the ranks, at most [`lwk_abi::engine::WORKERS_MOST`].
    pub fn workers(&mut self, workers: u32) {
        if workers > 0 {
            self.number(job_file::WORKERS, workers.into());
        }
    }

    /// Seconds after which the kernel itself ends the job.
    pub fn limit(&mut self, seconds: u32) {
        self.number(job_file::LIMIT, seconds.into());
    }

    /// How the kernel is made to fail.
    pub fn inject(&mut self, how: Inject) {
        self.record(job_file::INJECT, how.name().as_bytes());
    }

    fn choice<C: Choice>(&mut self, key: &str, choice: C, default: C) {
        if choice != default {
            self.record(key, choice.name().as_bytes());
        }
    }

    fn number(&mut self, key: &str, number: u64) {
        self.numbers(key, [number]);
    }

    /// Decimal numbers with a comma between each.
    fn numbers<const N: usize>(&mut self, key: &str, numbers: [u64; N]) {
        /// Digits of the largest number.
        const DIGITS: usize = 20;
        self.out.extend(key.bytes());
        let mut before = b'=';
        for number in numbers {
            let (mut digits, mut first, mut left) = ([0; DIGITS], DIGITS, number);
            loop {
                first -= 1;
                digits[first] = b'0' + (left % 10) as u8;
                left /= 10;
                if left == 0 {
                    break;
                }
            }
            self.out.extend([before]);
            self.out.extend(digits[first..].iter().copied());
            before = b',';
        }
        self.out.extend([0]);
    }

    fn record(&mut self, key: &str, value: &[u8]) {
        self.out.extend(key.bytes());
        self.out.extend([b'=']);
        self.out.extend(value.iter().copied());
        self.out.extend([0]);
    }
}
