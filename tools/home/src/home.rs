//! The host tool's side: starts a node's process and talks to it.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

use crate::files::Volume;
use crate::network::Plug;
use crate::node;
use crate::supervise::TIME_IS_UP;
use crate::tool::{self, Valgrind};

/// First argument of the node's process.
const NODE: &str = "--margay-host-node";
/// Its third argument if ranks wait for a debugger; else [`GO`].
const HOLD: &str = "hold";
/// See [`HOLD`].
const GO: &str = "go";

/// How ranks are started, for those who look closer; by default neither.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Ranks stop before their first instruction, for a debugger.
    pub hold: bool,
    /// Ranks run under valgrind.
    pub valgrind: Option<Valgrind>,
    /// The node's place at the wires of a job of several nodes; its job file says which node it is.
    pub plug: Option<Plug>,
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
    let valgrind = Valgrind::from_arguments(arguments);
    Some(node::main(Path::new(&program), mode == OsStr::new(HOLD), Path::new(&files), valgrind.as_ref()))
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
    /// The ranks work on `files`, which the caller keeps until the job has ended.
    ///
    /// What is wrong with the job is said on the console, as an error of the kernel and the job's end.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(program: &Path, job: &[u8], tools: &Tools, files: &Volume) -> io::Result<Home> {
        let started_ns = crate::rank::monotonic_ns();
        let (console, theirs) = UnixStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(NODE).arg(program).arg(if tools.hold { HOLD } else { GO }).arg(files.path());
        command.envs(tools.plug.iter().map(Plug::variable));
        command.args(tools.valgrind.iter().flat_map(Valgrind::arguments));
        // A group of its own: an interrupt from the terminal is the host tool's, which takes the node along.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::from(OwnedFd::from(theirs)));
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

    /// Ends the job, if it still runs, by closing the node's input, and waits for the node.
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
        let _ = self.stop();
    }
}
