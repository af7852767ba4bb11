//! The node's process: takes the job from its standard input, makes the ranks, and stands between them and the host tool
//! until all have ended.
//!
//! It plays the part of a node's console: standard output carries records as a node's serial line does. Standard input
//! first carries the job file, then commands of one byte; its end means that the host tool is gone, and the job goes with
//! it. Ranks are this process's children and die with it, so that nothing is left behind whoever is killed.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, RawFd};
use std::path::Path;
use std::process::ExitCode;

use lwk_abi::console as kind;
use lwk_job::Job;
use lwk_machine::add_symbols;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::personality::{self, Persona};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{ForkResult, Pid, fork, getpid, pipe2};

use crate::board::Board;
use crate::console::record;
use crate::files::Volume;
use crate::network::Network;
use crate::rank::{self, Start};
use crate::setup::{HOST_LACKS, Setup, SetupError};
use crate::supervise::{Child, Supervisor};
use crate::tool::Valgrind;

/// Bytes that a job file may have: as long as a command line can be, and room.
const JOB_BYTES_MAX: u64 = 16 << 20;
/// The host tool's command to a gated node: the ranks of all nodes are set up.
pub const BEGIN: u8 = b'B';
/// Level of an error, and of a note, in kernel messages.
const ERROR: u32 = 1;
const INFO: u32 = 3;

/// What a node is started with, besides the job that standard input brings.
#[derive(Clone, Copy, Debug)]
pub struct Orders<'a> {
    pub program: &'a Path,
    /// Ranks stop at their start.
    pub hold: bool,
    /// Ranks start when the host tool says so.
    pub gated: bool,
    /// The volume, as [`Volume::path`] names it.
    pub files: &'a Path,
    /// The ranks' files are this machine's, and the current folder is theirs.
    pub own_files: bool,
    /// Rank 0's standard input.
    pub input: Option<RawFd>,
    /// The one rank's status is nothing to report.
    pub alone: bool,
    pub valgrind: Option<&'a Valgrind>,
}

/// The whole life of the node's process. Its status says only whether it could do its part.
pub fn main(orders: &Orders<'_>) -> ExitCode {
    if let Err(error) = fixed_addresses() {
        let _ = writeln!(io::stderr(), "margay: error: cannot start the host home again: {error}");
        return ExitCode::from(HOST_LACKS as u8);
    }
    let mut console = standard_stream(1);
    let End { status, has_peers, of_all } = match run(orders, &mut console) {
        Ok(end) => end,
        Err(Failure::Setup(error)) => {
            let told = record(&mut *console, kind::KERNEL, ERROR, error.message.as_bytes());
            if told.is_err() {
                return ExitCode::FAILURE;
            }
            End { status: error.status, has_peers: false, of_all: false }
        }
        // The host tool is gone: nobody is left to tell.
        Err(Failure::Console) => return ExitCode::FAILURE,
    };
    let text = if of_all { kind::END_OF_ALL } else { "" };
    if record(&mut *console, kind::END, status as u32, text.as_bytes()).is_err() {
        return ExitCode::FAILURE;
    }
    if has_peers && status == 0 {
        // Other nodes may wait for what this one has sent and they have not, or for an answer. The interrupt looks after that.
        let _ = wait_for_input();
    }
    ExitCode::SUCCESS
}

/// Until the host tool says something, or is gone.
fn wait_for_input() -> io::Result<()> {
    let control = standard_stream(0);
    let mut polled = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
    loop {
        match poll(&mut polled, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            outcome => return outcome.map(|_| ()).map_err(io::Error::from),
        }
    }
}

/// Why there is no status.
enum Failure {
    Setup(SetupError),
    Console,
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Failure {
        Failure::Setup(error)
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Failure {
        Failure::Console
    }
}

/// Without address randomisation the loader's own memory lies where slots are empty, the same in every run. Where it
/// cannot be switched off, a collision is still found, but it may come and go.
fn fixed_addresses() -> io::Result<()> {
    let Ok(persona) = personality::get() else { return Ok(()) };
    if persona.contains(Persona::ADDR_NO_RANDOMIZE) {
        return Ok(());
    }
    if personality::set(persona | Persona::ADDR_NO_RANDOMIZE).is_err() {
        return Ok(());
    }
    use std::os::unix::process::CommandExt;
    Err(std::process::Command::new("/proc/self/exe").args(std::env::args_os().skip(1)).exec())
}

/// A standard stream without a buffer, left open when dropped.
fn standard_stream(fd: i32) -> ManuallyDrop<File> {
    // SAFETY: never closed through this value, and the process has no other use for it.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}

/// The job's end on this node.
struct End {
    status: i32,
    /// The job has other nodes.
    has_peers: bool,
    /// A rank has ended it well on all nodes, whatever others do.
    of_all: bool,
}

fn run(orders: &Orders<'_>, console: &mut File) -> Result<End, Failure> {
    let Orders { program, hold, files, valgrind, .. } = *orders;
    let mut control = standard_stream(0);
    let (started_ns, file) = read_job(&mut control)?;
    let job = Job::parse(&file).map_err(|error| SetupError::usage(error.to_string()))?;
    // Exceeding the limit on file sizes is then an error, not a death.
    ignore(Signal::SIGXFSZ)?;
    raise_file_limit(job.ranks)?;
    let setup = Setup::new(&job, program, valgrind.is_some())?;
    let sites = valgrind.map(|valgrind| valgrind.check(&setup, program)).transpose()?.unwrap_or_default();
    let children = SigSet::from(Signal::SIGCHLD);
    children.thread_block().map_err(lacking)?;
    let ended =
        SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map_err(lacking)?;
    let (board, board_object) = Board::new().map_err(lacking)?;
    board.engine.expect(setup.worker_cores.len() as u32);
    let null = File::open("/dev/null")
        .map_err(|error| SetupError::host(format!("cannot open /dev/null: {error}")))?;
    let (reports, report) = pipe2(OFlag::O_CLOEXEC).map_err(lacking)?;
    let volume = Volume::open(files)
        .map_err(|error| SetupError::host(format!("cannot take over the job's files: {error}")))?;
    // For as long as this process and its ranks live.
    let volume: &'static Volume = Box::leak(Box::new(volume));
    if valgrind.is_some() && job.network.is_some() {
        return Err(SetupError::usage("ranks under valgrind have no network; run a job of one node").into());
    }
    let network = Network::new(&job, &setup.layout, setup.ticks).map_err(|error| {
        SetupError::host(format!(
            "cannot set up the network: {error}; see whether limits (ulimit -v, -f, -n) are too small"
        ))
    })?;
    if orders.gated {
        record(console, kind::START, 0, b"")?;
        // Whatever it says but this means that the job is not to be.
        let mut command = [0];
        control.read_exact(&mut command)?;
        if command != [BEGIN] {
            return Err(Failure::Console);
        }
    }
    let mut ranks = Vec::new();
    for rank in 0..job.ranks {
        let (output, write_output) = pipe2(OFlag::O_CLOEXEC).map_err(lacking)?;
        let (error, write_error) = pipe2(OFlag::O_CLOEXEC).map_err(lacking)?;
        let input = orders.input.filter(|_| rank == 0).unwrap_or(null.as_raw_fd());
        let streams = [input, write_output.as_raw_fd(), write_error.as_raw_fd()];
        let report = report.as_raw_fd();
        let valgrind =
            valgrind.filter(|valgrind| valgrind.takes(rank)).map(|valgrind| (valgrind, &sites[..]));
        let board_object = board_object.as_raw_fd();
        let start = Start {
            setup: &setup,
            board,
            board_object,
            rank,
            node: getpid(),
            streams,
            report,
            hold,
            volume,
            network,
            own_files: orders.own_files.then_some(program),
            valgrind,
        };
        let process = spawn(start)?;
        if hold {
            let note = format!(
                "rank {rank} is process {process}, stopped before its first instruction: gdb -p {process} -ex \
                 '{}' -ex 'handle SIGSTOP SIGSYS nostop noprint' -ex 'break lwk_main', or kill -CONT {process}",
                add_symbols(program, setup.bias)
            );
            record(console, kind::KERNEL, INFO, note.as_bytes())?;
        }
        ranks.push(Child::new(process, setup.places[rank as usize].core, output, error));
    }
    drop(report);
    // Threads, after the last fork: a forked process has but one.
    for (number, core) in (0..).zip(setup.worker_cores.iter().copied()) {
        std::thread::Builder::new()
            .name(format!("margay-worker{number}"))
            .spawn(move || board.engine.work(number, core))
            .map_err(|error| SetupError::host(format!("cannot start a worker: {error}")))?;
    }
    if job.network.is_some() {
        let cores = setup.network_cores.clone();
        std::thread::Builder::new()
            .name("margay-network".into())
            .spawn(move || network.interrupts(&cores))
            .map_err(|error| SetupError::host(format!("cannot start the network: {error}")))?;
    }
    let mut supervisor = Supervisor::new(ranks, board, console, orders.alone);
    let status = supervisor.watch(control.as_fd(), &ended, reports)?;
    let of_all = supervisor.has_ended_all();
    if job.report {
        supervisor.exit_report(&setup, network, started_ns)?;
    }
    Ok(End { status, has_peers: job.network.is_some_and(|it| !it.is_loop()), of_all })
}

/// A system call of the set-up failed.
fn lacking(error: Errno) -> SetupError {
    match error {
        Errno::EMFILE | Errno::ENFILE => {
            SetupError::usage("too many open files for so many ranks; raise ulimit -n")
        }
        error => SetupError::host(format!("cannot set up the node: {}", error.desc())),
    }
}

/// When the host tool began (`CLOCK_MONOTONIC` in nanoseconds, eight bytes), and the job file: its length in eight bytes,
/// then itself.
fn read_job(control: &mut File) -> Result<(u64, Vec<u8>), Failure> {
    let mut word = || {
        let mut bytes = [0; 8];
        control.read_exact(&mut bytes).map(|()| u64::from_ne_bytes(bytes))
    };
    let (started_ns, length) = (word()?, word()?);
    if length > JOB_BYTES_MAX {
        return Err(SetupError::usage("arguments and environment are too long").into());
    }
    let mut file = vec![0; length as usize];
    control.read_exact(&mut file)?;
    Ok((started_ns, file))
}

/// The other end of [`read_job`]. Errors: the node is gone.
pub fn write_job(control: &mut impl Write, started_ns: u64, file: &[u8]) -> io::Result<()> {
    control.write_all(&started_ns.to_ne_bytes())?;
    control.write_all(&(file.len() as u64).to_ne_bytes())?;
    control.write_all(file)
}

fn ignore(signal: Signal) -> Result<(), SetupError> {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: ignoring a signal runs no code.
    unsafe { sigaction(signal, &action) }.map(|_| ()).map_err(lacking)
}

/// Makes room for the descriptors of so many ranks.
fn raise_file_limit(ranks: u32) -> Result<(), SetupError> {
    // Two memory objects and the read ends of two pipes each; two write ends, the reports' pipe and a handful more.
    let needed = u64::from(ranks) * 4 + 40;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(lacking)?;
    if soft >= needed {
        return Ok(());
    }
    if hard < needed {
        return Err(SetupError::usage(format!(
            "{ranks} ranks need {needed} open files, and the limit is {hard}; raise ulimit -n or ask for fewer ranks"
        )));
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard).map_err(lacking)
}

/// Forks a rank's process.
fn spawn(start: Start<'_>) -> Result<Pid, SetupError> {
    // SAFETY: this process has one thread, so the child may go on as it likes.
    match unsafe { fork() } {
        Ok(ForkResult::Parent { child }) => Ok(child),
        Ok(ForkResult::Child) => {
            let Err(message) = rank::run(start).map(|never: Infallible| match never {});
            let mut report = standard_stream(start.report);
            let text = format!("rank {}: {message}", start.rank);
            // If that fails too, the status still says that the rank did not start.
            let _ = record(&mut *report, kind::KERNEL, ERROR, text.as_bytes());
            // SAFETY: ends the process without running what belongs to the parent.
            unsafe { libc::_exit(HOST_LACKS) }
        }
        Err(error) => Err(SetupError::host(format!("cannot make a process for each rank: {}", error.desc()))),
    }
}
