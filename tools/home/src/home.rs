//! The host tool's side: starts a node's process and talks to it.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::net::Shutdown;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

use crate::files::Volume;
use crate::network::{Plug, inherit};
use crate::node::{self, BEGIN, Orders};
use crate::supervise::TIME_IS_UP;
use crate::tool::{self, Valgrind};

/// First argument of the node's process.
const NODE: &str = "--margay-host-node";
/// Its third argument if ranks wait for a debugger; else [`GO`].
const HOLD: &str = "hold";
/// See [`HOLD`].
const GO: &str = "go";
/// Its fifth argument if the ranks' files are this machine's; else [`NO_FILES`].
const OWN_FILES: &str = "own-files";
/// See [`OWN_FILES`].
const NO_FILES: &str = "no-files";

/// The environment variables of [`Tools::cores`], numbers apart by commas, and of [`Tools::gated`].
const CORES: &str = "MARGAY_HOST_CORES";
const GATED: &str = "MARGAY_HOST_GATED";

fn words(cores: &[u16]) -> String {
    let words: Vec<String> = cores.iter().map(u16::to_string).collect();
    words.join(",")
}

/// The cores that this process's environment names as the node's own.
pub(crate) fn named_cores() -> Option<Vec<usize>> {
    let text = std::env::var(CORES).ok()?;
    text.split(',').map(|word| word.parse().ok()).collect()
}

/// How ranks are started, for those who look closer; by default neither.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Ranks stop before their first instruction, for a debugger.
    pub hold: bool,
    /// Ranks run under valgrind.
    pub valgrind: Option<Valgrind>,
    /// The node's place at the wires of a job of several nodes; its job file says which node it is.
    pub plug: Option<Plug>,
    /// Cores of the node's own, by Linux's numbers; without them the nodes of a job share those that this process may use.
    pub cores: Option<Vec<u16>>,
    /// When all is set up the node says so ([`lwk_abi::console::START`]), and its ranks start at [`Home::begin`].
    pub gated: bool,
}

/// What of the caller's surroundings a job has; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Files are this machine's, and this folder is the ranks' current one.
    pub folder: Option<PathBuf>,
    /// Rank 0 has this process's standard input.
    pub input: bool,
    /// The program was started by its file: a status is its answer to its caller, and nothing to report.
    pub alone: bool,
}

impl Surroundings {
    /// As three arguments of the node's process: what files are, a descriptor for standard input that stays open in it, and whether the program
    /// is alone.
    fn arguments(&self) -> io::Result<[OsString; 3]> {
        let files = if self.folder.is_some() { OWN_FILES } else { NO_FILES };
        // The copy stays open in the node's process, and in this one until it ends.
        let input = if self.input { nix::unistd::dup(io::stdin()).ok() } else { None };
        let input = input.map_or(-1, IntoRawFd::into_raw_fd);
        Ok([files.into(), input.to_string().into(), u8::from(self.alone).to_string().into()])
    }
}

/// What the executable's `main` calls before anything else: if this process has been started as a node, or by valgrind as a
/// rank's loader, it lives that life and returns its exit code.
pub fn become_node() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let role = arguments.next()?;
    if role == OsStr::new(tool::RANK) {
        return Some(tool::main(arguments.next()));
    }
    if role != OsStr::new(NODE) {
        return None;
    }
    let (program, mode, files) = (arguments.next()?, arguments.next()?, arguments.next()?);
    let (own_files, input) = (arguments.next()? == OsStr::new(OWN_FILES), arguments.next()?);
    let input = input.to_str()?.parse().ok().filter(|fd| *fd >= 0);
    let alone = arguments.next()? == OsStr::new("1");
    let valgrind = Valgrind::from_arguments(arguments);
    let (program, hold, files) = (Path::new(&program), mode == OsStr::new(HOLD), Path::new(&files));
    let gated = std::env::var_os(GATED).is_some();
    let valgrind = valgrind.as_ref();
    Some(node::main(&Orders { program, hold, gated, files, own_files, input, alone, valgrind }))
}

/// A node of the host home. Dropping it ends its job.
#[derive(Debug)]
pub struct Home {
    node: Child,
    control: Option<ChildStdin>,
    console: UnixStream,
}

impl Home {
    /// Starts a node with a job, given as the bytes of a job file (`lwk_abi::job_file`); the executable's `main` must call
    /// [`become_node`].
    ///
    /// The ranks work on `files`, which the caller keeps until the job has ended, unless the `surroundings` name a folder.
    ///
    /// What is wrong with the job is said on the console, as an error of the kernel and the job's end.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(
        program: &Path,
        job: &[u8],
        tools: &Tools,
        files: &Volume,
        surroundings: &Surroundings,
    ) -> io::Result<Home> {
        let started_ns = crate::rank::monotonic_ns();
        let (console, theirs) = UnixStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        // The node may start in another folder.
        let program = std::path::absolute(program)?;
        command.arg(NODE).arg(program).arg(if tools.hold { HOLD } else { GO }).arg(files.path());
        command.envs(tools.plug.iter().map(Plug::variable));
        command.envs(tools.cores.iter().map(|cores| (CORES, words(cores))));
        command.envs(tools.gated.then_some((GATED, "1")));
        let to_inherit = tools.plug.as_ref().map_or_else(Vec::new, Plug::to_inherit);
        // SAFETY: the closure runs in the child between fork and exec; it makes plain system calls, allocates nothing and takes no lock. What it
        // captures are numbers.
        unsafe { command.pre_exec(move || to_inherit.iter().try_for_each(|fd| inherit(*fd))) };
        command.args(surroundings.arguments()?);
        command.current_dir(surroundings.folder.as_deref().unwrap_or(Path::new(".")));
        command.args(tools.valgrind.iter().flat_map(Valgrind::arguments));
        // A group of its own: an interrupt from the terminal is the host tool's, which takes the node along.
        // Only the terminal's foreground group may read from it: a job that does shares the interrupt.
        if !(surroundings.input && io::stdin().is_terminal()) {
            command.process_group(0);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::from(OwnedFd::from(theirs)));
        let mut node = command.spawn()?;
        // Holds the node's end of the console, whose end must be seen when the node is gone.
        drop(command);
        let control = node.stdin.take();
        let mut home = Home { node, control, console };
        if let Some(control) = &mut home.control {
            node::write_job(control, started_ns, job)?;
        }
        Ok(home)
    }

    /// The console: records as a node writes them on its serial line, ended by the job's end.
    pub fn console(&mut self) -> &mut UnixStream {
        &mut self.console
    }

    /// Process number of the node.
    pub fn process(&self) -> u32 {
        self.node.id()
    }

    /// The time limit has passed: ranks say where they are, then the job ends with status 124.
    ///
    /// # Errors
    /// The node is gone.
    pub fn time_is_up(&mut self) -> io::Result<()> {
        self.control.as_mut().map_or(Ok(()), |control| control.write_all(&[TIME_IS_UP]))
    }

    /// The ranks of a node that was started gated may start.
    ///
    /// # Errors
    /// The node is gone.
    pub fn begin(&mut self) -> io::Result<()> {
        self.control.as_mut().map_or(Ok(()), |control| control.write_all(&[BEGIN]))
    }

    /// Ends the node at once, whatever it does; its ranks die with it.
    pub fn kill(&mut self) {
        self.control = None;
        // It fails only if the node has ended.
        let _ = self.node.kill();
    }

    /// The ranks of all nodes have ended well: the node, which has said so of its own, ends.
    pub fn release(&mut self) {
        self.control = None;
    }

    /// Nobody reads the console any more: what the node still writes there is lost, and keeps it from ending no longer.
    pub fn turn_away(&mut self) {
        // It fails only if the node has ended.
        let _ = self.console.shutdown(Shutdown::Both);
    }

    /// Ends the job, if it still runs, by closing the node's input, and waits for the node. Its ranks' last words come by the console: somebody reads
    /// it, or has it turned away.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn stop(&mut self) -> io::Result<()> {
        self.control = None;
        self.node.wait().map(|_| ())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Nobody is left to be told.
        self.turn_away();
        let _ = self.stop();
    }
}
