//! Watching over the ranks: their output into records, their ends into a status, the first failure into the end of all.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lwk_abi::console as kind;
use lwk_abi::exit::{SIGNAL_BASE, TIMEOUT};
use lwk_failure::{Death, Reason};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::board::Board;
use crate::console::{Lines, record};
use crate::memory::killed_for_memory;
use crate::network::Network;
use crate::setup::Setup;

/// The host tool's command, a byte on the node's standard input: the time limit has passed.
pub const TIME_IS_UP: u8 = b'T';
/// How long ranks have to say where they are. They answer in microseconds, on a busy machine when their turn comes, and all of them later if
/// the machine itself stands still; one that is stopped never does.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// How often it is looked whether all have.
const LOOK_TIME: Duration = Duration::from_millis(10);
/// Bytes read from a pipe at a time: what a Linux pipe holds.
const READ_BYTES: usize = 64 << 10;

/// A rank as its node sees it.
pub struct Child {
    process: Pid,
    core: u16,
    /// Standard output and error; gone when closed at the other end.
    streams: [Option<(File, Lines)>; 2],
    /// The exit status, when it has ended.
    status: Option<i32>,
}

impl Child {
    /// A rank's process that runs on `core` (Linux's number), and the ends to read of the pipes that it writes to.
    pub fn new(process: Pid, core: u16, output: OwnedFd, error: OwnedFd) -> Child {
        let stream = |fd: OwnedFd| Some((File::from(fd), Lines::default()));
        Child { process, core, streams: [stream(output), stream(error)], status: None }
    }
}

/// The ranks of a job under way.
pub struct Supervisor<'a> {
    ranks: Vec<Child>,
    board: &'static Board,
    console: &'a mut File,
    /// The job's status so far.
    status: i32,
    /// The ranks are being killed; what they die of now is our doing.
    ending: bool,
    /// A status is nothing to report.
    alone: bool,
    buffer: Vec<u8>,
    /// [`killed_for_memory`] when the ranks began.
    killed_before: u64,
}

impl<'a> Supervisor<'a> {
    /// Watches these ranks, by node rank, and writes records to `console`; if the program is `alone`, none of its exit status.
    pub fn new(
        ranks: Vec<Child>,
        board: &'static Board,
        console: &'a mut File,
        alone: bool,
    ) -> Supervisor<'a> {
        Supervisor {
            ranks,
            board,
            console,
            status: 0,
            ending: false,
            alone,
            buffer: vec![0; READ_BYTES],
            killed_before: killed_for_memory(),
        }
    }

    /// Until every rank has ended and all they wrote is on the console; returns the job's status.
    ///
    /// # Errors
    /// The host tool ends the job, or is gone; then all ranks are, too, and what they had written is on the console if somebody still reads it.
    pub fn watch(&mut self, control: BorrowedFd<'_>, ended: &SignalFd, reports: OwnedFd) -> io::Result<i32> {
        let mut reports = File::from(reports);
        let watched = self.watch_all(control, ended, &mut reports);
        if watched.is_err() {
            self.kill_all();
            self.wait_all();
            // Another node's failure may have ended the job: what was said here before that is worth as much as what was said there.
            let _ = self.drain(&mut reports).and_then(|()| self.finish_lines());
        }
        watched.map(|()| self.status)
    }

    fn watch_all(&mut self, control: BorrowedFd<'_>, ended: &SignalFd, reports: &mut File) -> io::Result<()> {
        for (stream, _) in self.ranks.iter().flat_map(|rank| rank.streams.iter().flatten()) {
            set_nonblocking(stream)?;
        }
        set_nonblocking(reports)?;
        let mut deadline: Option<Instant> = None;
        while self.living() > 0 {
            let wait = match deadline {
                Some(at) if self.all_located() || Instant::now() >= at => {
                    deadline = None;
                    self.end(TIMEOUT);
                    continue;
                }
                // A rank is located only after its answer, which wakes the wait below.
                Some(at) => poll_time(at.saturating_duration_since(Instant::now()).min(LOOK_TIME)),
                None => PollTimeout::NONE,
            };
            if self.poll(control, ended, reports, wait)? {
                match read_command(control)? {
                    TIME_IS_UP if deadline.is_none() && !self.ending => {
                        self.ask_all();
                        deadline = Some(Instant::now() + ANSWER_TIME);
                    }
                    _ => {}
                }
            }
            self.drain(reports)?;
            while let Ok(Some(_)) = ended.read_signal() {}
            self.reap(reports)?;
        }
        self.drain(reports)?;
        self.finish_lines()
    }

    /// Waits for anything to happen; true if there is a command.
    fn poll(
        &self,
        control: BorrowedFd<'_>,
        ended: &SignalFd,
        reports: &File,
        wait: PollTimeout,
    ) -> io::Result<bool> {
        let streams = self.ranks.iter().flat_map(|rank| rank.streams.iter().flatten());
        let all = [control, ended.as_fd(), reports.as_fd()]
            .into_iter()
            .chain(streams.map(|(file, _)| file.as_fd()));
        let mut polled: Vec<PollFd<'_>> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut polled, wait) {
            Ok(_) => Ok(polled[0].any().unwrap_or(true)),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves on what ranks have written. Reports are taken first and passed on last: what a rank wrote before its
    /// failure then stands before the report.
    fn drain(&mut self, reports: &mut File) -> io::Result<()> {
        let mut told = Vec::new();
        read_available(reports, &mut self.buffer, |bytes| {
            told.extend_from_slice(bytes);
            Ok(())
        })?;
        for (rank, child) in self.ranks.iter_mut().enumerate() {
            let kinds = [[kind::STDOUT_PART, kind::STDOUT], [kind::STDERR_PART, kind::STDERR]];
            for (slot, [part, whole]) in child.streams.iter_mut().zip(kinds) {
                let Some((file, lines)) = slot else { continue };
                let console = &mut *self.console;
                let mut emit = |text: &[u8], ends: bool| {
                    record(console, if ends { whole } else { part }, rank as u32, text)
                };
                let open = read_available(file, &mut self.buffer, |bytes| lines.feed(bytes, &mut emit))?;
                if !open {
                    lines.finish(&mut emit)?;
                    *slot = None;
                }
            }
        }
        io::Write::write_all(self.console, &told)
    }

    /// Lines that nobody will end.
    fn finish_lines(&mut self) -> io::Result<()> {
        for (rank, child) in self.ranks.iter_mut().enumerate() {
            for (slot, whole) in child.streams.iter_mut().zip([kind::STDOUT, kind::STDERR]) {
                if let Some((_, lines)) = slot {
                    let console = &mut *self.console;
                    lines.finish(|text, _| record(console, whole, rank as u32, text))?;
                }
            }
        }
        Ok(())
    }

    /// Takes note of ranks that have ended. The first that did not end well ends the job.
    fn reap(&mut self, reports: &mut File) -> io::Result<()> {
        loop {
            let (process, status, signal) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(process, status)) => (process, status, None),
                Ok(WaitStatus::Signaled(process, signal, _)) => {
                    (process, SIGNAL_BASE + signal as i32, Some(signal as i32))
                }
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
                Ok(_) | Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let Some(rank) = self.ranks.iter().position(|child| child.process == process) else { continue };
            self.ranks[rank].status = Some(status);
            if self.ending {
                continue;
            }
            if status == 0 {
                // It may have asked for the end of all (`JOB_END`).
                if self.board.ended_first(rank as u32) {
                    self.end(0);
                }
                continue;
            }
            let reported = !self.board.first_to_end(rank as u32);
            if reported && !self.board.ended_first(rank as u32) {
                // Another's failure came first. It may be about to report it, and then ends by itself, and the job by that.
                continue;
            }
            // What it said itself comes before what is said about it.
            self.drain(reports)?;
            self.explain(rank, status, signal, reported)?;
            self.end(status);
        }
    }

    /// The report of a rank that could not, or need not, report itself. `reported`: it has begun to.
    fn explain(&mut self, rank: usize, status: i32, signal: Option<i32>, reported: bool) -> io::Result<()> {
        // Relaxed: the rank has been waited for.
        let said = self.board.rank(rank as u32).said_why.load(Ordering::Relaxed) != 0;
        let reason = match signal {
            Some(signal) if signal == Signal::SIGKILL as i32 && killed_for_memory() > self.killed_before => {
                Reason::OutOfMemory
            }
            Some(signal) => Reason::Signal(signal),
            None if said && self.alone => return Ok(()),
            None if said => Reason::Exit(status),
            // It did not get as far as the program, and has said why.
            None => return Ok(()),
        };
        // A rank that reports its own death ends itself: a signal that ended it is news in any case.
        if reported && signal.is_none() {
            return Ok(());
        }
        let death = Death { rank: rank as u32, core: self.ranks[rank].core.into(), reason };
        record(self.console, kind::FAILURE, rank as u32, death.to_string().as_bytes())
    }

    /// Whether a rank has ended the job well, whatever others do.
    pub fn has_ended_all(&self) -> bool {
        self.ending && self.status == 0
    }

    /// Ends the job with this status.
    fn end(&mut self, status: i32) {
        self.status = status;
        self.kill_all();
    }

    fn kill_all(&mut self) {
        self.ending = true;
        self.signal_all(Signal::SIGKILL);
    }

    fn ask_all(&self) {
        self.signal_all(Signal::SIGQUIT);
    }

    fn signal_all(&self, signal: Signal) {
        for child in self.ranks.iter().filter(|child| child.status.is_none()) {
            // A child that is gone but not waited for still takes signals, so this cannot hit another process.
            let _ = kill(child.process, signal);
        }
    }

    /// Waits for ranks that have been killed.
    fn wait_all(&mut self) {
        for child in self.ranks.iter_mut().filter(|child| child.status.is_none()) {
            while waitpid(child.process, None) == Err(Errno::EINTR) {}
        }
    }

    fn living(&self) -> usize {
        self.ranks.iter().filter(|child| child.status.is_none()).count()
    }

    fn all_located(&self) -> bool {
        let mut living = self.ranks.iter().enumerate().filter(|(_, child)| child.status.is_none());
        // Acquire pairs with the rank's release: its answer is in the pipe.
        living.all(|(rank, _)| self.board.rank(rank as u32).located.load(Ordering::Acquire) != 0)
    }

    /// Writes the exit report, when all ranks have ended. `started_ns` is when the host tool began (`CLOCK_MONOTONIC`); the last rank to enter
    /// the program counts. Errors: the host tool is gone.
    pub fn exit_report(&mut self, setup: &Setup, network: &Network, started_ns: u64) -> io::Result<()> {
        // Relaxed, here and below: the ranks have been waited for.
        let entries = || (0..self.ranks.len()).map(|rank| self.board.rank(rank as u32));
        let huge: u64 = entries().map(|entry| entry.huge_bytes.load(Ordering::Relaxed)).sum();
        let entered = entries().map(|entry| entry.entered_ns.load(Ordering::Relaxed)).max().unwrap_or(0);
        let mut texts = vec![format!(
            "node start_to_user_us={} ranks={} huge_pages={} collapsed_bytes={huge} memory_bytes={}",
            entered.saturating_sub(started_ns) / 1000,
            self.ranks.len(),
            setup.pages.name(),
            setup.layout.segment_bytes.saturating_mul(self.ranks.len() as u64),
        )];
        for (rank, (child, entry)) in self.ranks.iter().zip(entries()).enumerate() {
            texts.push(format!(
                "rank rank={rank} core={} segment_bytes={} status={} syscalls={}",
                child.core,
                setup.layout.segment_bytes,
                child.status.unwrap_or(0),
                entry.syscalls.load(Ordering::Relaxed),
            ));
        }
        texts.extend(network.report());
        let engine = self.board.engine.device.counts();
        texts.extend(engine.is_used().then(|| format!("{engine} device=model")));
        texts.extend(
            self.board
                .unsupported()
                .iter()
                .map(|(number, count)| format!("unsupported number={number} count={count}")),
        );
        texts.iter().try_for_each(|text| record(self.console, kind::REPORT, 0, text.as_bytes()))
    }
}

/// Hands on everything a pipe holds now; false when its other end is closed.
fn read_available(
    file: &mut File,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<bool> {
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => take(buffer.get(..count).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn read_command(control: BorrowedFd<'_>) -> io::Result<u8> {
    let mut command = [0];
    match nix::unistd::read(control, &mut command)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(command[0]),
    }
}

fn set_nonblocking(file: &File) -> nix::Result<()> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    fcntl(file, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(|_| ())
}

fn poll_time(duration: Duration) -> PollTimeout {
    // At least 1 ms, so that waiting for the deadline does not spin.
    PollTimeout::try_from(duration.max(Duration::from_millis(1))).unwrap_or(PollTimeout::MAX)
}
