//! What the tests of the host home share: the probe program, runs of the `lwk-home` command, and a look at what is left.

#![allow(dead_code)] // each test binary uses its part

use std::fs;
use std::io::{PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lwk_home::Volume;

/// Nothing in these tests takes nearly as long, on a slow and busy machine either.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The probe, built once.
pub fn probe() -> &'static Path {
    static PROBE: OnceLock<PathBuf> = OnceLock::new();
    PROBE.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/probe.rs");
        // Tests run side by side in several processes.
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("probe-{}", std::process::id()));
        // GNU ld, which comes with the C compiler that links for Rust: its default address is the one programs have here.
        let link = "link-args=-nostartfiles -nostdlib -static -no-pie -fuse-ld=bfd -Wl,-z,separate-code";
        let built = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
            .args(["--edition=2024", "-Cpanic=abort", "-Copt-level=1", "-Crelocation-model=static"])
            .args(["-Cforce-frame-pointers=yes", "-C", link, "-o"])
            .arg(&program)
            .arg(&source)
            .status()
            .unwrap();
        assert!(built.success(), "the probe does not build");
        program
    })
}

/// A run of the probe: `what` it does, in how many ranks, and further records of the job file.
pub fn job(what: &str, ranks: u32, records: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lwk-home"));
    command.arg(probe()).args(["arg=probe", &format!("arg={what}"), &format!("ranks={ranks}")]);
    if !records.iter().any(|record| record.starts_with("mem=")) {
        command.arg("mem=16777216");
    }
    // Machines differ in cores; the tests do not.
    if !records.iter().any(|record| record.starts_with("oversubscribe=")) {
        command.arg("oversubscribe=1");
    }
    command.args(records).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A record of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: char,
    pub number: u32,
    pub text: String,
}

/// What a run said.
#[derive(Debug)]
pub struct Said {
    pub records: Vec<Record>,
}

impl Said {
    /// The records of an ended run.
    pub fn of(output: &Output) -> Said {
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "on standard error");
        Said::parse(&String::from_utf8_lossy(&output.stdout))
    }

    fn parse(text: &str) -> Said {
        let records = text.lines().map(|line| {
            let (header, text) = line.strip_prefix('\x1e').unwrap().split_once('\x1f').unwrap();
            Record {
                kind: header.chars().next().unwrap(),
                number: header[1..].parse().unwrap(),
                text: text.into(),
            }
        });
        Said { records: records.collect() }
    }

    /// The texts of one kind, in order, with their numbers.
    pub fn texts(&self, kind: char) -> Vec<(u32, &str)> {
        self.records.iter().filter(|record| record.kind == kind).map(|r| (r.number, &r.text[..])).collect()
    }

    /// The job's status.
    pub fn status(&self) -> u32 {
        let last = self.records.last().expect("silence");
        assert_eq!((last.kind, self.texts('x').len()), ('x', 1), "{:?}", self.records);
        last.number
    }
}

/// Runs a job to its end.
pub fn run(mut command: Command) -> Said {
    let started = Instant::now();
    let said = Said::of(&command.output().unwrap());
    assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
    said
}

/// A node of one rank without a host tool: [`Node::release`] is what that would do.
pub struct Node {
    pub process: Child,
    /// What the rank reads.
    pub input: PipeWriter,
    _files: Volume,
}

impl Node {
    /// Starts it with the probe, which does `what`.
    pub fn start(what: &str) -> Node {
        let files = Volume::new(64).unwrap();
        let (read, input) = std::io::pipe().unwrap();
        // The node inherits it.
        nix::fcntl::fcntl(&read, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lwk-home"));
        command.arg("--margay-host-node").arg(probe()).arg("go").arg(files.path());
        command.args(["own-files", &read.as_raw_fd().to_string(), "0"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let job = ["arg=probe", &format!("arg={what}"), "ranks=1", "mem=16777216"]
            .map(|record| format!("{record}\0"))
            .concat();
        let control = process.stdin.as_mut().unwrap();
        control.write_all(&0u64.to_ne_bytes()).unwrap();
        control.write_all(&(job.len() as u64).to_ne_bytes()).unwrap();
        control.write_all(job.as_bytes()).unwrap();
        Node { process, input, _files: files }
    }

    /// The next record that it says.
    pub fn next(&mut self) -> String {
        let (mut line, mut byte) = (String::new(), [0]);
        while !line.ends_with('\n') {
            self.process.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
            line.push(byte[0].into());
        }
        line
    }

    /// Closes its control: it ends. What it still says.
    pub fn release(mut self) -> String {
        drop(self.process.stdin.take());
        let mut said = String::new();
        signal(self.process.id(), nix::sys::signal::Signal::SIGCONT);
        self.process.stdout.as_mut().unwrap().read_to_string(&mut said).unwrap();
        self.process.wait().unwrap();
        said
    }
}

/// Waits for a condition that must come true.
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::yield_now();
    }
}

/// The processes that descend from `root`, itself left out, by number.
pub fn descendants(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|process: u32| Some((process, parent(process)?)))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let of = found[next];
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(process, _)| *process));
        next += 1;
    }
    found.split_off(1)
}

fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may hold anything: state, parent.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn is_called(process: u32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|its| its.trim_end() == name)
}

/// Whether a process still runs; one that is dead but not waited for does not.
pub fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// A job whose ranks all spin in the program.
pub struct Spinning {
    pub home: Child,
    pub node: u32,
    pub ranks: Vec<u32>,
    heard: String,
}

impl Spinning {
    /// Starts it and waits until every rank has said so.
    pub fn start(ranks: u32) -> Spinning {
        // A shell without job control starts what it puts in the background with SIGINT ignored, and children inherit it.
        // SAFETY: no handler is installed, only the default restored.
        unsafe { nix::sys::signal::signal(nix::sys::signal::SIGINT, nix::sys::signal::SigHandler::SigDfl) }
            .unwrap();
        let mut home = job("spin", ranks, &[]).spawn().unwrap();
        let (mut heard, mut byte) = (String::new(), [0]);
        while heard.matches("spinning\n").count() < ranks as usize {
            home.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
            heard.push(byte[0].into());
        }
        // By their names: process numbers need not ascend.
        let all = descendants(home.id());
        let named = |name: String| all.iter().copied().find(|process| is_called(*process, &name));
        let ranks: Vec<u32> = (0..ranks).map(|rank| named(format!("margay-rank{rank}")).unwrap()).collect();
        let node = all.into_iter().find(|process| !ranks.contains(process)).unwrap();
        Spinning { home, node, ranks, heard }
    }

    /// Waits for the end of the host tool.
    pub fn wait(&mut self) {
        wait_for("the end of the host tool", || self.home.try_wait().unwrap().is_some());
    }

    /// The node and its ranks.
    pub fn processes(&self) -> Vec<u32> {
        [&[self.node], &self.ranks[..]].concat()
    }

    /// All that the job says until its end.
    pub fn said(&mut self) -> Said {
        self.home.stdout.as_mut().unwrap().read_to_string(&mut self.heard).unwrap();
        self.home.wait().unwrap();
        Said::parse(&self.heard)
    }
}

/// Sends a signal to a process of the test's own.
pub fn signal(process: u32, signal: nix::sys::signal::Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process as i32), signal).unwrap();
}

/// No process of these is left, nor a process that has a segment of theirs mapped.
pub fn assert_nothing_left(processes: &[u32]) {
    wait_for("the end of all processes", || !processes.iter().any(|&process| runs(process)));
    for process in processes {
        // A memory object lives as long as someone maps it, and only these did.
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        assert!(!maps.contains("margay-segment"), "process {process} still has a segment");
    }
}
