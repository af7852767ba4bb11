//! The switch as a command, and what Wireshark makes of what went through one.

use std::ffi::OsString;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use lwk::packages::find_command;
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program, Running, shown};
use lwk::tree::RunFolder;
use rustix::process::{Pid, Signal, kill_process};

use super::{Check, Test};
use crate::needs::Needs;

const DISSECTED: &str = "wireshark-knows-the-frames-between-nodes";
const SWITCH: &str = "a-switch-of-its-own-joins-stations-by-udp";
const JOINED: &str = "two-jobs-that-a-switch-joins-are-strangers";
const DISSECTOR: &str = "tools/wireshark/margay.lua";

/// The tests here; without tshark only those that need none ([`left_out`]).
pub fn all() -> Vec<Test> {
    let test = |name: &str, on_host, run: Box<Check>| Test {
        needs: Needs::Any,
        name: name.into(),
        alone: false,
        on_host,
        sources: Vec::new(),
        run,
    };
    let dissected = find_command("tshark").map(|_| test(DISSECTED, false, Box::new(dissected)));
    let joins = [test(SWITCH, true, Box::new(joins_stations)), test(JOINED, true, Box::new(joins_jobs))];
    dissected.into_iter().chain(joins).collect()
}

/// A line on what is left out because this machine lacks it.
pub fn left_out(tests: &[Test]) -> Option<String> {
    let any = tests.iter().any(|test| test.name == SWITCH);
    (any && find_command("tshark").is_none())
        .then(|| format!("skip  {DISSECTED}: Debian's tshark is not installed"))
}

/// A job on two nodes is captured, and tshark finds its puts in there, each frame whole.
fn dissected(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("wire.pcapng");
    let options = ["-n", "2", "--nodes", "2", "--wire", "apart=1@20-120", "--capture"].map(String::from);
    let options = [&options[..], &[file.display().to_string()]].concat();
    let words = lwk.run_words(&Program::Test("portals-nodes".into()), &options, &[]);
    let ended = lwk.command(&words, PATIENCE)?;
    if ended.status != Some(0) {
        return Err(format!("the job failed\n{}", shown(&ended)));
    }
    let fields = ["source", "destination", "data", "bytes", "job"].map(|name| format!("margay.{name}"));
    let lines = tshark(lwk, &file, &fields)?;
    let mut jobs: Vec<&str> = lines.iter().filter_map(|line| line.split('\t').nth(4)).collect();
    jobs.dedup();
    let of = |from: &str| {
        let line = |line: &&String| line.starts_with(from) && line.split('\t').nth(2) != Some("False");
        let bytes = |line: &String| line.split('\t').nth(3).and_then(|bytes| bytes.parse::<u64>().ok());
        lines.iter().filter(line).filter_map(bytes).sum::<u64>()
    };
    // 100,003 bytes are put and got, and each frame is seen as it comes in and as it goes out.
    let (put, got) = (of("0\t1\t"), of("1\t0\t"));
    if jobs.len() != 1 || put.min(got) < 2 * 100_003 {
        return Err(format!("jobs {jobs:?}, {put} bytes put, {got} got, of {} frames", lines.len()));
    }
    let malformed = tshark(lwk, &file, &["margay.too_short".into(), "_ws.malformed".into()])?;
    match malformed.iter().find(|line| !line.trim().is_empty()) {
        Some(line) => Err(format!("a frame is malformed: {line}")),
        None => Ok(()),
    }
}

/// The fields of each frame of the protocol in a capture, tabs between them.
fn tshark(lwk: &Lwk, file: &Path, fields: &[String]) -> Result<Vec<String>, String> {
    let script = lwk.tree().root().join(DISSECTOR);
    let mut command = Command::new("tshark");
    command.arg("-X").arg(format!("lua_script:{}", script.display())).arg("-r").arg(file);
    command.args(["-Y", "margay", "-T", "fields"]).args(fields.iter().flat_map(|field| ["-e", field]));
    let output = command.output().map_err(|error| format!("cannot start tshark: {error}"))?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    // Whoever is root is told that this is dangerous.
    let complaint = complaints.lines().find(|line| line.contains("Lua") || line.contains(DISSECTOR));
    if let (true, None) = (output.status.success(), complaint) {
        return Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect());
    }
    Err(format!("tshark: {}\n{complaints}", output.status))
}

/// Two stations find each other by a switch that was started as a command; it tells what it has seen when it is ended.
fn joins_stations(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let words: Vec<OsString> = ["switch", "--listen", "127.0.0.1:0"].map(Into::into).into();
    let mut switch = lwk.start(&words, &folder)?;
    let address = address_of(&switch)?;
    let problem = |error: std::io::Error| format!("a station: {error}");
    let station = || -> std::io::Result<UdpSocket> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(address)?;
        socket.set_read_timeout(Some(Duration::from_secs(PATIENCE)))?;
        // The switch learns of it.
        socket.send(&[])?;
        Ok(socket)
    };
    let stations = [station().map_err(problem)?, station().map_err(problem)?];
    let frame =
        |to: u8, from: u8| [&[2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb5][..], &[7; 50]].concat();
    let mut buffer = [0; 100];
    for (from, to) in [(0, 1), (1, 0), (0, 1)] {
        let sent = frame(to as u8, from as u8);
        stations[from].send(&sent).map_err(problem)?;
        // The switch says that it is there each second.
        let came = loop {
            let length = stations[to].recv(&mut buffer).map_err(problem)?;
            if length > 0 {
                break &buffer[..length];
            }
        };
        if came != sent {
            return Err(format!("station {to} got {came:?}"));
        }
    }
    let ended = end(&mut switch)?;
    let tells = |line: &str| ended.stdout.lines().any(|found| found.starts_with(line));
    if ended.status != Some(0)
        || !tells("port=0 from=2 to=1 bytes=64 ")
        || !tells("port=1 from=1 to=2 bytes=128 ")
    {
        return Err(format!("the switch tells something else\n{}", shown(&ended)));
    }
    Ok(())
}

/// Two jobs of two and three nodes, whose switches a third one joins. Each calls nodes that it does not have: nobody answers. The first job's nodes see frames of the other's third node, and
/// drop them. The other's see none: what comes from elsewhere with the addresses of its own nodes ends at its switch.
fn joins_jobs(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let words: Vec<OsString> = ["switch", "--listen", "127.0.0.1:0"].map(Into::into).into();
    let mut switch = lwk.start(&words, &folder)?;
    let address = address_of(&switch)?.to_string();
    let start = |nodes: &str, more: &[&str], folder: &RunFolder| {
        let options = ["--host", "--nodes", nodes, "-n", nodes, "--oversubscribe", "--idle-peers", "0"];
        let options = [&options[..], &["--uplink", &address]].concat();
        let program = Program::Test("portals-strangers".into());
        let strings = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        lwk.start(&lwk.run_words(&program, &strings(&options), &strings(&[&[nodes], more].concat())), folder)
    };
    let folders = [lwk.folder()?, lwk.folder()?];
    let mut first = start("2", &["waits"], &folders[0])?;
    // Then its nodes are there, and stay until they have seen the other's frames.
    let calls = |job: &Running| (0..2).all(|rank| job.stdout().contains(&format!("rank {rank}: calls\n")));
    said(&first, "the first job does not call", |job| calls(job).then_some(()))?;
    let mut other = start("3", &[], &folders[1])?;
    for (job, nodes, who) in [(&mut other, 3, "nobody"), (&mut first, 2, "strangers")] {
        let ended = job.end(PATIENCE)?;
        let told = (0..nodes).all(|rank| ended.stdout.contains(&format!("rank {rank}: {who} came by\n")));
        if ended.status != Some(0) || !ended.stderr.is_empty() || !told {
            return Err(format!("a job ends otherwise\n{}", shown(&ended)));
        }
    }
    let ended = end(&mut switch)?;
    let crossed = |line: &&str| {
        let count =
            |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok());
        count("from=").zip(count("to=")).is_some_and(|(from, to)| from > 0 && to > 0)
    };
    match ended.stdout.lines().filter(crossed).count() {
        2 => Ok(()),
        ports => Err(format!("frames went both ways at {ports} ports, not 2\n{}", shown(&ended))),
    }
}

/// Ends a switch.
fn end(switch: &mut Running) -> Result<Ended, String> {
    let process = Pid::from_child(&switch.child);
    kill_process(process, Signal::TERM).map_err(|error| format!("cannot end the switch: {error}"))?;
    switch.end(PATIENCE)
}

/// Where a switch that has been started listens, by its own word.
fn address_of(switch: &Running) -> Result<SocketAddr, String> {
    let address = said(switch, "the switch does not say where it listens", |switch| {
        let said = switch.stdout();
        let (address, _) = said.strip_prefix("switch at ")?.split_once('\n')?;
        Some(address.to_owned())
    })?;
    address.parse().map_err(|error| format!("{address}: {error}"))
}

/// What a command that has been started says, as soon as it has said it; if it never does, that.
fn said<T>(command: &Running, never: &str, find: impl Fn(&Running) -> Option<T>) -> Result<T, String> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(PATIENCE) {
        if let Some(found) = find(command) {
            return Ok(found);
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    Err(never.into())
}
