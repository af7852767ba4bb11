//! `cargo lwk test slurm`: jobs in steps of Slurm (`cargo lwk node`), whose two nodes are on this machine.
//!
//! Debian's `slurm-wlm` and `munge` are installed if they are missing. Controller and nodes are processes of this test with a configuration of their own, on the
//! loopback address; they end with it.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::TestOptions;
use super::count::Count;
use super::judge::Expected;
use super::special::strings;
use super::up::{processes_of, until};
use lwk::build::{self, Builder};
use lwk::child;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::packages::{self, find_command};
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program};
use lwk::tree::{RunFolder, Tree};

/// What asks for it.
pub const COMMAND: &str = "slurm";
const PACKAGES: [&str; 2] = ["slurm-wlm", "munge"];

type Row = (&'static str, fn(&Slurm<'_>) -> Result<(), String>);

const ROWS: [Row; 5] = [
    ("slurm-a-rank-on-each-node", |slurm| {
        let ended = slurm.step(&["-N2"], &["hello"])?;
        let stdout =
            strings(&["^hello from rank 0 of 2: .* node 0 of 2", "^hello from rank 1 of 2: .* node 1 of 2"]);
        Expected { stdout, stdout_lines: Some(2), ..Expected::default() }.judge(&ended)
    }),
    ("slurm-ranks-are-its-tasks", |slurm| {
        let ended = slurm.step(&["-N2", "-n4"], &["hello"])?;
        let stdout = strings(&["^hello from rank 3 of 4: .* node 1 of 2"]);
        Expected { stdout, stdout_lines: Some(4), ..Expected::default() }.judge(&ended)
    }),
    ("slurm-ends-with-the-jobs-status", |slurm| {
        let ended = slurm.step(&["-N2"], &["crash", "null-read"])?;
        Expected { status: 139, stderr: strings(&["rank [01]"]), ..Expected::default() }.judge(&ended)
    }),
    ("slurm-cancels-everything", cancels),
    ("slurm-refuses-without-it", |slurm| {
        let ended = slurm.lwk.command(&["node".into(), "hello".into()], PATIENCE)?;
        let stderr = strings(&["`node` is for a step of Slurm, .*there is no SLURM_JOB_ID"]);
        Expected { status: 2, stderr, stderr_lines: Some(1), ..Expected::default() }.judge(&ended)
    }),
];

/// Runs every row. Status 0 if all pass, else 1.
///
/// # Errors
/// Slurm cannot be installed or started here.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let wanted = |name: &str| options.row.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let rows: Vec<Row> = ROWS.into_iter().filter(|(name, _)| wanted(name)).collect();
    if options.list {
        rows.iter().for_each(|(name, _)| show!("{name}"));
        return Ok(0);
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::host(
            "Slurm's nodes start tasks for users, which needs root; run this test as root",
        ));
    }
    if ["slurmctld", "slurmd", "srun", "munged"].iter().any(|name| find_command(name).is_none()) {
        packages::install(&PACKAGES, options.verbose)?;
    }
    let builder = Builder::new(tree, false, options.verbose)?;
    builder.programs(&[build::APPS, build::BOOT_TESTS])?;
    let lwk = Lwk::new(tree)?;
    let slurm = Slurm::start(&lwk).map_err(Failure::host)?;
    let mut count = Count::default();
    for (name, check) in rows {
        let begun = Instant::now();
        match check(&slurm) {
            Ok(()) => {
                count.passed += 1;
                show!("ok    {name} ({:.1} s)", begun.elapsed().as_secs_f64());
            }
            Err(why) => {
                count.fail(name, &why);
                show!("FAIL  {name}\n      {}", why.replace('\n', "\n      "));
            }
        }
    }
    Ok(count.conclude())
}

/// Slurm's processes, which end when this is dropped.
struct Slurm<'a> {
    lwk: &'a Lwk,
    folder: RunFolder,
    daemons: Vec<Child>,
}

impl Drop for Slurm<'_> {
    fn drop(&mut self) {
        self.daemons.iter_mut().rev().for_each(child::kill);
    }
}

impl<'a> Slurm<'a> {
    fn start(lwk: &'a Lwk) -> Result<Slurm<'a>, String> {
        let mut it = Slurm { lwk, folder: lwk.folder()?, daemons: Vec::new() };
        let failed = |error: std::io::Error| error.to_string();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        fs::write(it.conf(), configuration(&host, &it.folder.file(""))?).map_err(failed)?;
        for folder in ["state", "spool"] {
            fs::create_dir_all(it.folder.file(folder)).map_err(failed)?;
        }
        let works = || Command::new("munge").arg("-n").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !works().is_ok_and(|status| status.success()) {
            it.quietly(Command::new("install").args(["-d", "-o", "munge", "/run/munge"]))?;
            it.daemon(
                "setpriv",
                &["--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground", "--force"],
            )?;
            until("munge answers", || works().is_ok_and(|status| status.success()))?;
        }
        it.daemon("slurmctld", &["-D"])?;
        for node in ["n1", "n2"] {
            it.daemon("slurmd", &["-D", "-N", node])?;
        }
        let idle = || {
            let listed =
                Command::new("sinfo").args(["-h", "-N", "-o", "%T"]).env("SLURM_CONF", it.conf()).output();
            listed.is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout) == "idle\nidle\n")
        };
        until("Slurm's nodes are idle", idle).map_err(|why| format!("{why}; {}", it.logs()))?;
        Ok(it)
    }

    fn conf(&self) -> PathBuf {
        self.folder.file("slurm.conf")
    }

    fn daemon(&mut self, name: &str, words: &[&str]) -> Result<(), String> {
        let file = find_command(name).ok_or_else(|| format!("there is no {name}"))?;
        let log = File::create(self.folder.file(&format!("{name}-{}.log", self.daemons.len())));
        let log = log.map_err(|error| error.to_string())?;
        let mut command = Command::new(file);
        command.args(words).env("SLURM_CONF", self.conf()).env("PATH", path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let daemon =
            child::spawn_bound(&mut command).map_err(|error| format!("{name} does not start: {error}"))?;
        self.daemons.push(daemon);
        Ok(())
    }

    fn quietly(&self, command: &mut Command) -> Result<(), String> {
        let status = command.stdout(Stdio::null()).status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("{command:?} ends with {status}")) }
    }

    /// The last line of each log.
    fn logs(&self) -> String {
        let logs =
            fs::read_dir(self.folder.file("")).into_iter().flatten().flatten().map(|entry| entry.path());
        let last = |path: PathBuf| {
            let text =
                fs::read_to_string(&path).ok().filter(|_| path.extension().is_some_and(|it| it == "log"))?;
            Some(format!("{}: {}", path.file_name()?.to_string_lossy(), text.lines().last()?))
        };
        logs.filter_map(last).collect::<Vec<_>>().join("; ")
    }

    /// A step of Slurm that runs a program by `cargo lwk node`.
    fn srun(&self, options: &[&str], program: &[&str]) -> Command {
        let mut command = Command::new("srun");
        command.args(options).arg(self.lwk.binary()).args(["node", "--built", "--mem", "16", "--at"]);
        command.arg(self.folder.file("nodes"));
        command.arg(self.lwk.program(&Program::named(program[0]))).arg("--").args(&program[1..]);
        command.env("SLURM_CONF", self.conf()).current_dir(self.lwk.tree().root()).stdin(Stdio::null());
        command
    }

    fn start_step(&self, options: &[&str], program: &[&str], folder: &RunFolder) -> Result<Child, String> {
        let file = |name: &str| File::create(folder.file(name)).map_err(|error| error.to_string());
        let mut command = self.srun(options, program);
        command.stdout(file("stdout")?).stderr(file("stderr")?);
        child::spawn_bound(&mut command).map_err(|error| format!("srun does not start: {error}"))
    }

    fn step(&self, options: &[&str], program: &[&str]) -> Result<Ended, String> {
        let folder = self.lwk.folder()?;
        let mut step = self.start_step(options, program, &folder)?;
        end(&mut step, &folder, &program.join(" "))
    }
}

fn end(step: &mut Child, folder: &RunFolder, command: &str) -> Result<Ended, String> {
    let status =
        child::wait_within(step, Duration::from_secs(PATIENCE)).map_err(|error| error.to_string())?;
    let read = |name: &str| fs::read_to_string(folder.file(name)).unwrap_or_default();
    let stderr = read("stderr");
    // What Slurm itself says of tasks that end is not the job's.
    let own = stderr.lines().filter(|line| !line.starts_with("srun: ") && !line.starts_with("slurmstepd"));
    Ok(Ended {
        command: format!("srun … node {command}"),
        status: status.and_then(|status| status.code()),
        stdout: read("stdout"),
        stderr: own.map(|line| format!("{line}\n")).collect(),
    })
}

/// `scancel` ends the ranks, the nodes and the step.
fn cancels(slurm: &Slurm<'_>) -> Result<(), String> {
    let folder = slurm.lwk.folder()?;
    let mut step = slurm.start_step(&["-N2", "-n2", "--job-name=margay-hang"], &["test:hang"], &folder)?;
    let said = || fs::read_to_string(folder.file("stdout")).unwrap_or_default().lines().count();
    until("both ranks run", || said() == 2 || !matches!(step.try_wait(), Ok(None)))?;
    let program = slurm.lwk.program(&Program::named("test:hang"));
    if processes_of(&slurm.folder.file("nodes")) == 0 {
        return Err(format!("nothing of {} is seen to run", program.display()));
    }
    let mut scancel = Command::new("scancel");
    slurm.quietly(scancel.arg("--name=margay-hang").env("SLURM_CONF", slurm.conf()))?;
    let ended = end(&mut step, &folder, "hang")?;
    if ended.status == Some(0) {
        return Err("a step that was cancelled ends well".into());
    }
    until("nothing of the job is left", || processes_of(&slurm.folder.file("nodes")) == 0)
}

/// Where the administrator's commands are as well.
fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

/// One controller and two nodes on this machine, on ports that are free.
fn configuration(host: &str, folder: &Path) -> Result<String, String> {
    let port = || -> Outcome<u16> {
        let listener = TcpListener::bind("127.0.0.1:0").doing(|| "find a free port".into())?;
        listener.local_addr().map(|address| address.port()).doing(|| "find a free port".into())
    };
    let mut ports = [0; 3];
    for to in &mut ports {
        *to = port().map_err(|failure| failure.message)?;
    }
    let [controller, one, two] = ports;
    let folder = folder.display();
    let node = |name: &str, port: u16| {
        format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=1000\n")
    };
    Ok(format!(
        "ClusterName=margay\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nAuthType=auth/munge\nSlurmUser=root\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nReturnToService=2\nSchedulerType=sched/backfill\n\
         SelectType=select/cons_tres\nStateSaveLocation={folder}state\nSlurmdSpoolDir={folder}spool/%n\n\
         SlurmctldPidFile={folder}ctld.pid\nSlurmdPidFile={folder}slurmd-%n.pid\nKillWait=5\n{}{}\
         PartitionName=p Nodes=n1,n2 Default=YES State=UP MaxTime=60\n",
        node("n1", one),
        node("n2", two)
    ))
}
