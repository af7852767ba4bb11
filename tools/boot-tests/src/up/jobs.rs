//! Jobs on nodes that stay up: one after another, at once, with files, on machines that ssh reaches.

use std::collections::BTreeSet;
use std::fs;

use super::{Up, children, processes_of, until};
use crate::judge::Expected;
use crate::special::strings;
use lwk::subcommand::{Lwk, PATIENCE, shown};

/// Jobs that are run one after another, and after how many of them memory is looked at first.
const JOBS: u32 = 100;
const FIRST_JOBS: u32 = 20;
/// KiB by which a node's process may have grown then: what its allocator and the stacks of its threads have not given back.
const GROWTH_KIB: u64 = 1024;

/// Reads what it is given, and leaves files under `/out`.
pub const IN_AND_OUT: &str = "qemu-tests/c/in-and-out.c";

/// What a process holds: KiB of its own in memory, open files, threads.
fn held(process: u32) -> (u64, usize, usize) {
    let count = |what: &str| fs::read_dir(format!("/proc/{process}/{what}")).map_or(0, Iterator::count);
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    (kib, count("fd"), count("task"))
}

/// One job after another, and nothing is left of any.
pub fn a_hundred_jobs(lwk: &Lwk) -> Result<(), String> {
    let up = Up::start(lwk, 2, 1)?;
    let processes = up.processes()?;
    let mut early = Vec::new();
    for job in 0..JOBS {
        if job == FIRST_JOBS {
            early = processes.iter().map(|process| held(*process)).collect();
        }
        let expected = Expected { stdout_lines: Some(2), stderr_lines: Some(0), ..Expected::default() };
        expected.judge(&up.launch(&["-n", "2"], "hello")?)?;
    }
    // What connections leave behind goes a moment after they have ended.
    let late = || processes.iter().map(|process| held(*process));
    let same = || {
        early
            .iter()
            .zip(late())
            .all(|(early, late)| late.0 <= early.0 + GROWTH_KIB && late.1 <= early.1 && late.2 <= early.2)
    };
    let settled = until("nodes hold no more than before", same);
    settled.map_err(|why| {
        format!("{why}: {early:?} after {FIRST_JOBS} jobs, {:?} after {JOBS}", late().collect::<Vec<_>>())
    })
}

/// The shared memory and the sockets of a process and of those below it, by their names in `/proc`.
fn shared_objects(process: u32) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    for line in maps.lines().filter(|line| line.contains("/memfd:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        found.extend(words.get(4).map(|inode| format!("memory {inode}")));
    }
    for entry in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
        let to = fs::read_link(entry.path()).unwrap_or_default().to_string_lossy().into_owned();
        if to.starts_with("socket:") || to.contains("memfd:") {
            let inode = fs::metadata(entry.path()).map(|data| std::os::unix::fs::MetadataExt::ino(&data));
            found.extend(inode.map(|inode| format!("{to} {inode}")));
        }
    }
    for child in children(process) {
        found.extend(shared_objects(child));
    }
    found
}

/// Two jobs of two nodes each at once: no core, no memory, no socket in common; a third finds no core.
pub fn two_jobs(lwk: &Lwk) -> Result<(), String> {
    if lwk_home::usable_cores().map_or(0, |cores| cores.len()) < 2 {
        // One core is nothing to be disjoint on.
        return Ok(());
    }
    let up = Up::start(lwk, 2, 2)?;
    let (one, other) = (lwk.folder()?, lwk.folder()?);
    let mut first = up.hang(&["-n", "2", "--nodes", "2", "--tag"], &one)?;
    let mut second = up.hang(&["-n", "2", "--nodes", "2", "--tag"], &other)?;
    until("all four ranks run", || [&first, &second].iter().all(|job| job.stdout().lines().count() == 2))?;
    for node in up.processes()? {
        let jobs = children(node);
        let [one, other] = jobs[..] else { return Err(format!("node {node} has the jobs {jobs:?}")) };
        let (mine, yours) = (shared_objects(one), shared_objects(other));
        let common: Vec<_> = mine.intersection(&yours).collect();
        if mine.is_empty() || !common.is_empty() {
            return Err(format!("two jobs of node {node} have in common: {common:?}"));
        }
        let core = |job: u32| {
            let rank = children(job).first().copied().unwrap_or(0);
            let status = fs::read_to_string(format!("/proc/{rank}/status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            line.unwrap_or("none").trim().to_owned()
        };
        if core(one) == core(other) {
            return Err(format!("two jobs of node {node} share core {}", core(one)));
        }
    }
    let refused = up.launch(&["-n", "1"], "hello")?;
    Expected {
        status: 2,
        stderr: strings(&["1 ranks need a free core each, and 0 are free"]),
        stderr_lines: Some(1),
        ..Expected::default()
    }
    .judge(&refused)?;
    Expected { stderr_lines: Some(0), ..Expected::default() }.judge(&up.command("kill", &["1"])?)?;
    Expected { status: 137, stderr: strings(&["^lwk: job 1 was killed$"]), ..Expected::default() }
        .judge(&first.end(PATIENCE)?)?;
    if up.jobs()? != 1 {
        return Err("the end of one job ends the other".into());
    }
    // Its cores are free again.
    Expected { stdout_lines: Some(2), ..Expected::default() }.judge(&up.launch(&["-n", "2"], "hello")?)?;
    Expected::default().judge(&up.command("down", &[])?)?;
    Expected { status: 137, stderr: strings(&["^lwk: job 2 was killed$"]), ..Expected::default() }
        .judge(&second.end(PATIENCE)?)
}

/// Nodes on machines that a file names, by a command in ssh's place that stays on this one and notes whom it was to reach; MPI goes between them.
pub fn by_ssh(lwk: &Lwk) -> Result<(), String> {
    let up = Up { lwk, folder: lwk.folder()? };
    let failed = |error: std::io::Error| error.to_string();
    let (ssh, hosts, reached) = (up.folder.file("ssh"), up.folder.file("hosts"), up.folder.file("reached"));
    // ssh's words: -o BatchMode=yes HOST LINE.
    let script = format!("echo $3 >> '{}'; exec sh -c \"$4\"", reached.display());
    fs::write(&ssh, script).map_err(failed)?;
    let hosts_option = hosts.to_str().ok_or("the tree's path is not UTF-8")?;
    let command = format!("sh {}", ssh.display());
    let options = ["--hosts", hosts_option, "--ssh", &command];
    fs::write(&hosts, "me@localhost 1\n127.0.0.1 1 # and a third\nlocalhost 1\n").map_err(failed)?;
    Expected { stdout: strings(&["^3 nodes are up, with 3 cores"]), ..Expected::default() }
        .judge(&up.command("up", &options)?)?;
    let ended =
        up.launch(&["-n", "6", "--nodes", "3", "--oversubscribe", "--mem", "64"], "test:mpi-p2p sizes")?;
    Expected::default().judge(&ended)?;
    Expected::default().judge(&up.command("down", &[])?)?;
    // Node 0 first, the others all at once.
    let reached = fs::read_to_string(&reached).map_err(failed)?;
    let mut lines: Vec<&str> = reached.lines().collect();
    if let [_, others @ ..] = &mut lines[..] {
        others.sort_unstable();
    }
    if lines != ["me@localhost", "127.0.0.1", "localhost"] {
        return Err(format!("other machines were reached than those of the file: {lines:?}"));
    }
    // One that cannot be reached leaves no node behind.
    fs::write(&ssh, "test $3 = localhost || exit 255; exec sh -c \"$4\"").map_err(failed)?;
    fs::write(&hosts, "localhost\nnowhere\n").map_err(failed)?;
    let ended = up.command("up", &options)?;
    let stderr = strings(&["^lwk: node 1 does not come up: its process has ended$"]);
    Expected { status: 69, stderr, stderr_lines: Some(1), ..Expected::default() }.judge(&ended)?;
    until("no node is left of those that came up", || processes_of(&up.at()) == 0)?;
    Expected { status: 2, stderr: strings(&["no nodes are up"]), ..Expected::default() }
        .judge(&up.command("ps", &[])?)
}

/// A folder that is given can be read by every rank of every node, and what they leave comes back from each.
pub fn files(lwk: &Lwk) -> Result<(), String> {
    let up = Up::start(lwk, 2, 2.min(lwk_home::usable_cores().map_or(1, |cores| cores.len() as u32)))?;
    let folder = lwk.folder()?;
    let failed = |error: std::io::Error| error.to_string();
    let given = folder.file("given");
    fs::create_dir_all(given.join("deep")).map_err(failed)?;
    let content: Vec<u8> = (0..200_000u32).map(|index| (index % 251) as u8).collect();
    fs::write(given.join("deep/data"), &content).map_err(failed)?;
    let out = folder.file("out");
    let file = format!("{}=in", given.display());
    let out_option = out.to_str().ok_or("the tree's path is not UTF-8")?;
    let options = ["-n", "2", "--oversubscribe", "--nodes", "1", "--file", &file, "--out", out_option];
    let ended = up.launch(&options, &format!("c:{IN_AND_OUT}"))?;
    Expected { stdout: strings(&["^rank 1 has copied 200000 bytes$"]), ..Expected::default() }
        .judge(&ended)?;
    let copy = fs::read(out.join("copies/of-rank-2")).map_err(failed)?;
    if copy != content {
        return Err(format!("a copy differs\n{}", shown(&ended)));
    }
    // Nothing of it is there for the next job.
    let missing = up.launch(&["-n", "1"], &format!("c:{IN_AND_OUT}"))?;
    Expected { status: 10, ..Expected::default() }.judge(&missing)
}
