//! What is started: each MPI in each of its ways, with a time limit, in a process group of its own of which nothing is left afterwards.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::peers::RANKS;
use crate::peers::install::Found;
use crate::peers::peer::Way;
use crate::peers::samples::{Run, State};
use lwk::child;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::subcommand::{Lwk, Program};
use lwk::tree::RunFolder;

/// How long a command may take to clean up after it has been told to end.
const GRACE: Duration = Duration::from_secs(5);

/// What keeps all ranks to two cores, whatever the machine has: not every starter has an option for that.
const TASKSET: [&str; 3] = ["taskset", "-c", "0,1"];

/// Of how many ranks a job is, and of how many nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub ranks: u32,
    pub nodes: u32,
}

impl Shape {
    pub fn of_one_node(ranks: u32) -> Self {
        Self { ranks, nodes: 1 }
    }

    pub fn has_nodes(self) -> bool {
        self.nodes > 1
    }

    pub fn shares_cores(self) -> bool {
        self.ranks > RANKS
    }

    /// The state of the machine that does not change: of nodes, and where ranks share cores, so that no line is handed over.
    fn state(self) -> Option<State> {
        match (self.has_nodes(), self.shares_cores()) {
            (true, _) => Some(State::Nodes),
            (false, true) => Some(State::Far),
            (false, false) => None,
        }
    }
}

/// How a command ended, and what it printed.
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Nothing if its status is 0, else why it is not, in one line: an error it names, or the first thing it says.
    pub fn complaint(&self) -> Option<String> {
        if self.status.success() {
            return None;
        }
        let lines = || {
            let all = self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
            all.filter(|line| line.chars().any(char::is_alphanumeric))
        };
        let named = lines().find(|line| line.to_lowercase().contains("error"));
        let why = named.or_else(|| lines().next()).unwrap_or("no reason given");
        Some(format!("{}: {why}", self.status))
    }
}

/// Runs a command to its end, in a process group of its own; what it prints goes through files in `folder`.
///
/// # Errors
/// It does not start, or does not end within `limit`: then it is killed with its group.
pub fn to_end(command: &mut Command, folder: &RunFolder, limit: Duration) -> Outcome<Ended> {
    let what = || "keep the output of a command".to_owned();
    let (stdout, stderr) = (folder.file("peer-stdout"), folder.file("peer-stderr"));
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(File::create(&stdout).doing(what)?).stderr(File::create(&stderr).doing(what)?);
    let name = command.get_program().to_owned();
    let mut child = child::spawn_bound(command).doing(|| format!("start {}", name.display()))?;
    let status = child::wait_for_group(&mut child, limit, GRACE).doing(|| "wait for a command".into())?;
    let status =
        status.ok_or_else(|| Failure::host(format!("it did not end within {} s", limit.as_secs())))?;
    let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    Ok(Ended { status, stdout: read(&stdout), stderr: read(&stderr) })
}

/// One MPI in one of its ways: what to start, one after the other, for all its figures.
#[derive(Clone, Debug)]
pub struct Setting {
    /// `mpich best`; Margay's has no second word.
    pub name: String,
    starts: Vec<Start>,
}

/// A program, and the names of the figures that it must print.
#[derive(Clone, Debug)]
pub struct Measuring {
    pub program: PathBuf,
    pub figures: Vec<&'static str>,
}

/// A command to which the program's arguments are added.
#[derive(Clone, Debug)]
struct Start {
    command: PathBuf,
    words: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    figures: Vec<&'static str>,
    shape: Shape,
}

impl Setting {
    /// Margay in the host home, which pins rank r to core r by itself; `limit` is the time limit of each job, in seconds.
    pub fn margay(lwk: &Lwk, shape: Shape, programs: Vec<Measuring>, limit: u64) -> Self {
        let (ranks, nodes) = (shape.ranks.to_string(), shape.nodes.to_string());
        let mut options =
            ["--host", "-n", &ranks, "--timeout", &limit.to_string()].map(str::to_owned).to_vec();
        if shape.shares_cores() {
            options.push("--oversubscribe".into());
        }
        if shape.has_nodes() {
            options.extend(["--nodes".into(), nodes]);
        }
        let start = |it: Measuring| Start {
            command: lwk.binary().into(),
            words: lwk.run_words(&Program::File(it.program), &options, &[]),
            variables: Vec::new(),
            figures: it.figures,
            shape,
        };
        Self { name: "margay".into(), starts: programs.into_iter().map(start).collect() }
    }

    /// A peer in one of its ways.
    pub fn peer(name: &str, way: &Way, found: &Found, shape: Shape, programs: &[Measuring]) -> Self {
        let start = |it: &Measuring| {
            let mut words: Vec<OsString> = way.words.iter().map(OsString::from).collect();
            words.extend(["-n".into(), shape.ranks.to_string().into(), it.program.clone().into()]);
            let mut variables = found.variables();
            variables.extend(way.variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())));
            let (command, figures) = (found.starter.clone(), it.figures.clone());
            Start { command, words, variables, figures, shape }
        };
        Self { name: format!("{name} {}", way.name), starts: programs.iter().map(start).collect() }
    }

    /// The same with the first program alone.
    pub fn of_first(&self) -> Self {
        Self { name: self.name.clone(), starts: self.starts.iter().take(1).cloned().collect() }
    }

    /// Runs everything once, each command within `limit`; failures are in the [`Run`].
    pub fn run(&self, folder: &RunFolder, arguments: &[String], limit: Duration) -> Run {
        let runs = self.starts.iter().map(|start| start.run(folder, arguments, limit));
        runs.reduce(Run::and).unwrap_or(Run::Done(Vec::new()))
    }
}

impl Start {
    fn run(&self, folder: &RunFolder, arguments: &[String], limit: Duration) -> Run {
        let state = self.shape.state();
        let mut command =
            Command::new(if state.is_some() { TASKSET[0].as_ref() } else { self.command.as_path() });
        if state.is_some() {
            command.args(&TASKSET[1..]).arg(&self.command);
        }
        command.args(&self.words).args(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        match to_end(&mut command, folder, limit) {
            Err(failure) => Run::Failed(failure.message),
            Ok(ended) => match ended.complaint() {
                Some(why) => Run::Failed(why),
                None => Run::of(&ended.stdout, &self.figures, state),
            },
        }
    }
}
