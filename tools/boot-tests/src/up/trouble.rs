//! Trouble on nodes that stay up: what is refused, who goes away, who dies or is silent.

use std::fs;

use rustix::process::{Pid, Signal};

use super::{Up, children, signal, until};
use crate::judge::Expected;
use crate::special::strings;
use lwk::subcommand::{Lwk, PATIENCE, shown};

/// What cannot be is refused in one line that says what to do.
pub fn refusals(lwk: &Lwk) -> Result<(), String> {
    let line = |status, text: &str| Expected {
        status,
        stdout_lines: Some(0),
        stderr: strings(&[text]),
        stderr_lines: Some(1),
        ..Expected::default()
    };
    let nobody = Up { lwk, folder: lwk.folder()? };
    for command in ["ps", "nodes", "down"] {
        line(2, "no nodes are up; start some with `cargo lwk up").judge(&nobody.command(command, &[])?)?;
    }
    line(2, "no nodes are up").judge(&nobody.launch(&[], "hello")?)?;
    line(2, "do not fit on the").judge(&nobody.command("up", &["--host", "--cores", "9999"])?)?;
    drop(nobody);
    let up = Up::start(lwk, 2, 1)?;
    line(2, "nodes are up already").judge(&up.command("up", &["--host"])?)?;
    line(2, "there is no job 7; `cargo lwk ps` lists").judge(&up.command("kill", &["7"])?)?;
    line(2, "3 ranks need a free core each, and 2 are free").judge(&up.launch(&["-n", "3"], "hello")?)?;
    line(2, "3 nodes for 3 ranks, where 2 nodes are up")
        .judge(&up.launch(&["-n", "3", "--nodes", "3"], "hello")?)?;
    line(2, "--bind is for `run`").judge(&up.launch(&["--bind", "compact"], "hello")?)?;
    line(2, "Cargo.toml cannot run on a node").judge(&up.launch(&[], "file:Cargo.toml")?)?;
    line(2, "--file nothing-there").judge(&up.launch(&["--file", "nothing-there"], "hello")?)?;
    line(2, "messages go by smartmap, which has no switch points")
        .judge(&up.launch(&["--tuning", "nothing-there"], "hello")?)?;
    // Nothing of it has touched the nodes.
    Expected { stdout_lines: Some(2), ..Expected::default() }.judge(&up.launch(&["-n", "2"], "hello")?)
}

/// A job ends with its launcher, however that goes, and when its time is over; a detached one stays.
pub fn ends(lwk: &Lwk) -> Result<(), String> {
    let up = Up::start(lwk, 2, 1)?;
    for how in [Signal::KILL, Signal::INT] {
        let folder = lwk.folder()?;
        let mut running = up.hang(&["-n", "2"], &folder)?;
        signal(running.child.id(), how)?;
        running.end(0)?;
        until("the job has ended with its launcher", || up.jobs() == Ok(0))?;
        let nodes = up.processes()?;
        if let Some(left) = nodes.iter().flat_map(|node| children(*node)).next() {
            return Err(format!("process {left} is left of a job"));
        }
    }
    let limited = up.launch(&["-n", "2", "--timeout", "1"], "test:hang")?;
    Expected { status: 124, stderr: strings(&["ran into its time limit of 1 s"]), ..Expected::default() }
        .judge(&limited)?;
    let crashed = up.launch(&["-n", "2"], "crash")?;
    if crashed.status == Some(0) || !crashed.stderr.contains("margay: ") {
        return Err(format!("a job that fails is reported\n{}", shown(&crashed)));
    }
    let detached = up.launch(&["-n", "2", "--detach"], "test:hang")?;
    Expected {
        stdout: strings(&["^job 5: its output goes to "]),
        stderr_lines: Some(0),
        ..Expected::default()
    }
    .judge(&detached)?;
    let log = up.at().join("job-5.log");
    until("a detached job prints", || fs::read_to_string(&log).unwrap_or_default().lines().count() == 2)?;
    Expected::default().judge(&up.command("kill", &["5"])?)?;
    until("a detached job ends", || {
        fs::read_to_string(&log).unwrap_or_default().contains("job 5 was killed")
    })?;
    let refused = up.launch(&["-n", "3", "--detach"], "hello")?;
    Expected {
        status: 2,
        stderr: strings(&["^lwk: 3 ranks need"]),
        stderr_lines: Some(1),
        ..Expected::default()
    }
    .judge(&refused)
}

/// A node that dies or says nothing any more ends its job, with a report; the others stay.
pub fn loses(lwk: &Lwk, how: Signal) -> Result<(), String> {
    let up = Up::start(lwk, 2, 1)?;
    let folder = lwk.folder()?;
    let mut running = up.hang(&["-n", "2", "--tag"], &folder)?;
    until("both ranks run", || running.stdout().lines().count() == 2)?;
    let processes = up.processes()?;
    signal(processes[1], how)?;
    let why = if how == Signal::KILL { "its process has ended" } else { "it has not answered for 8 s" };
    let report = format!(
        r"node 1 ended before the job had \(node 1 on .* is lost: {why}\), which ends the job on all nodes"
    );
    let ended = running.end(PATIENCE);
    signal(processes[1], Signal::KILL).or_else(|why| if how == Signal::KILL { Ok(()) } else { Err(why) })?;
    Expected { status: 70, stderr: vec![report], stderr_lines: Some(1), ..Expected::default() }
        .judge(&ended?)?;
    Expected { stdout: vec![format!("lost: {why}")], ..Expected::default() }
        .judge(&up.command("nodes", &[])?)?;
    Expected { stdout_lines: Some(1), ..Expected::default() }.judge(&up.launch(&["-n", "1"], "hello")?)?;
    let refused = up.launch(&["-n", "2"], "hello")?;
    Expected {
        status: 2,
        stderr: strings(&["node 1 is lost; take the nodes down and up again"]),
        ..Expected::default()
    }
    .judge(&refused)
}

/// A job of which one node cannot set up its part has no rank that starts.
pub fn half_started(lwk: &Lwk) -> Result<(), String> {
    let up = Up::start(lwk, 2, 1)?;
    let process = i32::try_from(up.processes()?[1]).ok().and_then(Pid::from_raw).ok_or("no process 0")?;
    // The node's processes may have no segments of that size.
    let bytes = Some(8 << 20);
    let limit = rustix::process::Rlimit { current: bytes, maximum: bytes };
    rustix::process::prlimit(Some(process), rustix::process::Resource::Fsize, limit)
        .map_err(|error| error.to_string())?;
    let ended = up.launch(&["-n", "2", "--file-space", "1"], "hello")?;
    Expected {
        status: 2,
        stdout_lines: Some(0),
        stderr: strings(&["^margay: error: node 1: Linux refuses 1 segments of 16 MiB"]),
        kernel: strings(&["node 1: Linux refuses"]),
        ..Expected::default()
    }
    .judge(&ended)?;
    Expected { stdout_lines: Some(1), ..Expected::default() }.judge(&up.launch(&["-n", "1"], "hello")?)
}
