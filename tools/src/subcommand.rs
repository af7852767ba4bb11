//! Commands of `cargo lwk` as tests and benchmarks start them, with what they print kept.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::accel;
use crate::cc;
use crate::child;
use crate::delegate;
use crate::failure::Outcome;
use crate::foreign;
use crate::progress::without_steps;
use crate::tree::{RunFolder, Tree};

/// Time limit of a job that has none of its own, in seconds. It ends what hangs and is no measure of speed: nothing that passes here takes a
/// tenth of it, so that it passes on a slow and busy machine, too.
pub const PATIENCE: u64 = 600;
/// What a command may take beyond the time limit of its job, in seconds: the image, the node's start on a busy host, and the graces at the
/// limit and at QEMU's end ([`crate::session`]). A command that takes longer hangs.
const SLACK: u64 = 400;

/// Most of an output that is shown with a failure, in bytes, the end of it.
const SHOWN_BYTES: usize = 4000;

/// The command `lwk`, started in the tree.
pub struct Lwk {
    binary: PathBuf,
    tree: Tree,
    /// Looked in for commands before this machine's own `PATH`.
    first: Option<PathBuf>,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The command line, for messages.
    pub command: String,
    /// Exit status; none if a signal ended it.
    pub status: Option<i32>,
    pub stdout: String,
    /// Without the lines on steps that took long, and on a KVM that cannot be used: what the machine is like, is nothing that a test may judge.
    pub stderr: String,
}

/// A program as tests name it.
pub enum Program {
    Bundled(String),
    /// One of the package of boot tests.
    Test(String),
    /// Relative to the tree, or absolute.
    File(PathBuf),
    /// A C source, relative to the tree, compiled by `cargo lwk cc` before the tests begin.
    C(PathBuf),
}

impl Program {
    /// `test:NAME`, `file:PATH`, `c:SOURCE`, `musl:SOURCE` for the same with musl's C library, `WAY:SOURCE` for a way of [`foreign`] to link,
    /// or the name of a bundled program.
    pub fn named(name: &str) -> Self {
        match name.split_once(':') {
            Some(("test", name)) => Self::Test(name.into()),
            Some(("file", path)) => Self::File(path.into()),
            Some(("c", source)) => Self::C(source.into()),
            Some(("musl", source)) => Self::C(Path::new(cc::MUSL).join(source)),
            Some((way, source)) if foreign::is_way(way) => Self::C(Path::new(way).join(source)),
            _ => Self::Bundled(name.into()),
        }
    }
}

impl Lwk {
    /// Errors: the command's file cannot be found.
    pub fn new(tree: &Tree) -> Outcome<Self> {
        Ok(Self { binary: delegate::sibling("lwk")?, tree: tree.clone(), first: None })
    }

    /// The same with the commands of a folder, instead of this machine's of the same name.
    pub fn with_commands_of(&self, folder: &Path) -> Self {
        Self { binary: self.binary.clone(), tree: self.tree.clone(), first: Some(folder.into()) }
    }

    /// The command's own file.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The tree that it works on.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The file of a program, once it has been built.
    pub fn program(&self, program: &Program) -> PathBuf {
        match program {
            Program::Bundled(name) | Program::Test(name) => self.tree.program(name),
            Program::File(path) => self.tree.root().join(path),
            Program::C(source) => cc::program(&self.tree, source),
        }
    }

    /// The words of a `run` of what has been built: its options, the program, and the program's arguments.
    pub fn run_words(&self, program: &Program, options: &[String], arguments: &[String]) -> Vec<OsString> {
        let app = match program {
            Program::Bundled(name) => name.into(),
            other => self.program(other).into_os_string(),
        };
        let mut words: Vec<OsString> = vec!["run".into(), "--built".into()];
        words.extend(options.iter().map(OsString::from));
        words.extend([app, "--".into()]);
        words.extend(arguments.iter().map(OsString::from));
        words
    }

    /// A folder for the files of a test, removed when dropped.
    pub fn folder(&self) -> Result<RunFolder, String> {
        RunFolder::new(&self.tree).map_err(|failure| failure.message)
    }

    /// Runs a command to its end. `limit` is the time limit of its job, in seconds. Errors: it does not start, or hangs and is killed.
    pub fn command(&self, words: &[OsString], limit: u64) -> Result<Ended, String> {
        let folder = self.folder()?;
        let mut running = self.start(words, &folder)?;
        running.end(limit)
    }

    /// Starts a command whose output goes to the files `stdout` and `stderr` in `folder`.
    pub fn start(&self, words: &[OsString], folder: &RunFolder) -> Result<Running, String> {
        let (stdout, stderr) = (folder.file("stdout"), folder.file("stderr"));
        let create = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
        // A shell has those that it starts in the background ignore interrupts, which is inherited: somebody at a terminal does not.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(&self.binary);
        command.args(words).current_dir(self.tree.root()).stdin(Stdio::null());
        command.stdout(create(&stdout)?).stderr(create(&stderr)?);
        if let Some(first) = &self.first {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = [first.clone()].into_iter().chain(std::env::split_paths(&path));
            let path = std::env::join_paths(folders);
            command.env("PATH", path.map_err(|error| format!("{}: {error}", first.display()))?);
        }
        let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let child = child::spawn_bound(&mut command)
            .map_err(|error| format!("cannot start this command: {error}"))?;
        Ok(Running { child, command: shown.join(" "), stdout, stderr })
    }
}

/// A command under way; killed if this process dies.
pub struct Running {
    pub child: Child,
    command: String,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// What it has printed to standard error so far.
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// What it has printed to standard output so far.
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// Waits for its end. `limit` is the time limit of its job, in seconds. Errors: it hangs long beyond that, and is killed.
    pub fn end(&mut self, limit: u64) -> Result<Ended, String> {
        let limit = limit + SLACK;
        let status = child::wait_within(&mut self.child, Duration::from_secs(limit));
        let status = status.map_err(|error| format!("cannot wait for {}: {error}", self.command))?;
        let ended = Ended {
            command: self.command.clone(),
            status: status.and_then(|status| status.code()),
            stdout: self.stdout(),
            stderr: without_machine(&self.stderr()),
        };
        match status {
            Some(_) => Ok(ended),
            None => Err(format!("it hung for {limit} s and was killed\n{}", shown(&ended))),
        }
    }
}

/// The output of a command, for a person to see why a test failed.
pub fn shown(ended: &Ended) -> String {
    let mut text = format!("command: {}\n", ended.command);
    for (name, stream) in [("out", &ended.stdout), ("err", &ended.stderr)] {
        let mut start = stream.len().saturating_sub(SHOWN_BYTES);
        while !stream.is_char_boundary(start) {
            start += 1;
        }
        for line in stream[start..].lines() {
            text.push_str(&format!("{name}| {line}\n"));
        }
    }
    text
}

/// What a command has said on standard error but for what depends on this machine.
pub fn without_machine(text: &str) -> String {
    let is_fallback = |line: &&str| line.starts_with(accel::FALLBACK);
    without_steps(text).split_inclusive('\n').filter(|line| !is_fallback(line)).collect()
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
