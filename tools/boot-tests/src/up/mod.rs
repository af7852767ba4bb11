//! Tests of nodes that stay up (`cargo lwk up --host`): many jobs, two at once ([`jobs`]), those that boot ([`booted`]), what is refused, and what ends when somebody goes away ([`trouble`]), and
//! what the key is good for ([`key`]).

mod booted;
mod jobs;
mod key;
mod trouble;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Test;
use super::judge::Expected;
use crate::needs::Needs;
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program, Running, shown};
use lwk::tree::RunFolder;

/// How long something that must happen soon may take on a busy machine, and how often it is looked whether it has.
const SOON: Duration = Duration::from_secs(PATIENCE);
const LOOK: Duration = Duration::from_millis(20);

/// The test that boots.
const IN_QEMU: &str = "nodes-that-stay-up-boot-jobs-in-qemu";

type Check = fn(&Lwk) -> Result<(), String>;

/// These tests.
pub fn all() -> Vec<Test> {
    let checks: [(&str, Check); 11] = [
        ("nodes-that-stay-up-run-a-hundred-jobs", jobs::a_hundred_jobs),
        ("nodes-that-stay-up-keep-two-jobs-apart", jobs::two_jobs),
        ("nodes-that-stay-up-refuse-in-a-line", trouble::refusals),
        ("nodes-that-stay-up-end-what-somebody-leaves", trouble::ends),
        ("nodes-that-stay-up-report-one-that-dies", |lwk| trouble::loses(lwk, Signal::KILL)),
        ("nodes-that-stay-up-report-one-that-is-silent", |lwk| trouble::loses(lwk, Signal::STOP)),
        ("nodes-that-stay-up-begin-no-job-by-half", trouble::half_started),
        ("nodes-that-stay-up-carry-files", jobs::files),
        ("nodes-that-stay-up-by-ssh", jobs::by_ssh),
        ("nodes-that-stay-up-obey-a-key", key::obeys_a_key),
        (IN_QEMU, booted::boots_jobs),
    ];
    let test = |(name, check): (&str, Check)| Test {
        name: name.into(),
        alone: false,
        on_host: name != IN_QEMU,
        sources: if name.ends_with("files") { vec![jobs::IN_AND_OUT.into()] } else { Vec::new() },
        needs: Needs::Any,
        run: Box::new(check),
    };
    checks.into_iter().map(test).collect()
}

/// Nodes that are up until this is dropped.
pub struct Up<'a> {
    pub lwk: &'a Lwk,
    folder: RunFolder,
}

impl<'a> Up<'a> {
    /// So many nodes with so many cores each, which they may share.
    pub fn start(lwk: &'a Lwk, nodes: u32, cores: u32) -> Result<Up<'a>, String> {
        let (nodes, cores) = (nodes.to_string(), cores.to_string());
        Up::start_as(lwk, &["--host", "--oversubscribe", "--nodes", &nodes, "--cores", &cores])
    }

    /// With these options of `up`.
    fn start_as(lwk: &'a Lwk, options: &[&str]) -> Result<Up<'a>, String> {
        let it = Up { lwk, folder: lwk.folder()? };
        Expected::default().judge(&it.command("up", options)?)?;
        Ok(it)
    }

    /// The folder of the key.
    pub fn at(&self) -> PathBuf {
        self.folder.file("nodes")
    }

    pub fn words(&self, command: &str, more: &[&str]) -> Vec<OsString> {
        let at = ["--at".into(), self.at().into_os_string()];
        std::iter::once(command.into()).chain(at).chain(more.iter().map(OsString::from)).collect()
    }

    pub fn command(&self, command: &str, more: &[&str]) -> Result<Ended, String> {
        self.lwk.command(&self.words(command, more), PATIENCE)
    }

    /// The words that launch a program, which may have arguments behind it.
    fn launch_words(&self, options: &[&str], program: &str) -> Vec<OsString> {
        let patience = PATIENCE.to_string();
        let mut words = self.words("launch", &["--built"]);
        if !options.contains(&"--mem") {
            words.extend(["--mem".into(), "16".into()]);
        }
        if !options.contains(&"--timeout") {
            words.extend(["--timeout".into(), patience.into()]);
        }
        words.extend(options.iter().map(OsString::from));
        let mut program = program.split(' ');
        let named = Program::named(program.next().unwrap_or_default());
        words.extend([self.lwk.program(&named).into_os_string(), "--".into()]);
        words.extend(program.map(OsString::from));
        words
    }

    pub fn launch(&self, options: &[&str], program: &str) -> Result<Ended, String> {
        self.lwk.command(&self.launch_words(options, program), PATIENCE)
    }

    /// Launches a job that never ends, and waits until it runs.
    fn hang(&self, options: &[&str], folder: &RunFolder) -> Result<Running, String> {
        let running = self.lwk.start(&self.launch_words(options, "test:hang"), folder)?;
        until("a job runs", || running.stdout().contains("hanging") || !running.stderr().is_empty())?;
        match running.stdout().contains("hanging") {
            true => Ok(running),
            false => Err(format!("the job does not run: {}", running.stderr())),
        }
    }

    /// The processes of the nodes, by number.
    pub fn processes(&self) -> Result<Vec<u32>, String> {
        let listed = self.command("nodes", &[])?;
        let process = |line: &str| line.split_whitespace().nth(4).and_then(|word| word.parse().ok());
        let found: Option<Vec<u32>> = listed.stdout.lines().skip(1).map(process).collect();
        found.ok_or_else(|| format!("no table of nodes\n{}", shown(&listed)))
    }

    fn jobs(&self) -> Result<usize, String> {
        Ok(self.command("ps", &[])?.stdout.lines().count().saturating_sub(1))
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        // A test that has ended them is done; one that failed leaves nothing behind.
        let processes = self.processes().unwrap_or_default();
        let _ = self.command("down", &[]);
        processes.into_iter().for_each(|process| drop(signal(process, Signal::KILL)));
    }
}

fn signal(process: u32, signal: Signal) -> Result<(), String> {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or("no process 0")?;
    kill_process(process, signal).map_err(|error| error.to_string())
}

/// Waits until something is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<(), String> {
    let since = Instant::now();
    while !is_so() {
        if since.elapsed() > SOON {
            return Err(format!("not within {} s: {what}", SOON.as_secs()));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Processes whose command line names this folder, but for `srun` itself.
pub fn processes_of(folder: &Path) -> usize {
    let name = folder.to_string_lossy().into_owned();
    let has = |process: &Path| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        !line.starts_with("srun") && line.contains(&name)
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(|process| has(process)).count()
}

fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks
        .flat_map(|task| {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}
