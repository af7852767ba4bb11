//! `cargo lwk up`: starts nodes and leaves them. And what it starts: the processes of nodes, here or by ssh on other machines.
//!
//! Between `up` and a node stands a process ([`front`]) that ssh can wait for. Until all nodes are ready they live no longer than `up`: it says a last word
//! to each of them ([`STAY`]), and who does not hear it ends. The key comes by standard input, so that no list of processes shows it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lwk_control::Key;
use lwk_control::message::Machine;

use super::booted::Boots;
use super::daemon;
use super::folder::Folder;
use super::stations::{Station, stations_here, stations_of, usable_cores};
use lwk::build::Builder;
use lwk::child::spawn_apart;
use lwk::cli::{StayOptions, UpOptions};
use lwk::emulator::find_qemu;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::progress::Step;
use lwk::qemu::Firmware;
use lwk::tree::Tree;

/// What a node says: where it listens, that it and those below are ready, that it stays.
const LISTENING: &str = "listening ";
const READY: &str = "ready";
const STAYING: &str = "staying";
/// What `up` says when all are ready.
const STAY: &str = "stay";
/// What a front says of a node that has ended: why.
const FAILED: &str = "failed ";

/// `cargo lwk up`.
///
/// # Errors
/// Nodes are up already, or a node does not come up.
pub fn up(tree: &Tree, options: &UpOptions) -> Outcome<i32> {
    let folder = Folder::find(tree, options.at.at.as_deref())?;
    let stations = match &options.hosts {
        Some(file) => stations_of(file)?,
        None => stations_here(options)?,
    };
    refuse_if_up(tree, &folder)?;
    let booting = options.hosts.is_none() && !options.host;
    let boots = if booting { what_boots(tree, options, &folder)? } else { Vec::new() };
    let key = folder.make()?;
    let count = stations.len() as u32;
    let step = Step::begin(format!("starting {count} nodes"), options.verbose);
    let mut fronts: Vec<Front> = Vec::new();
    let mut join = None;
    for (node, station) in (0..).zip(&stations) {
        let mut front =
            Front::start(&folder, options, (node, count, station), join.as_deref(), &boots, &key)?;
        if node == 0 {
            join = Some(station.address(&front.listens()?));
        }
        fronts.push(front);
    }
    fronts.iter_mut().skip(1).try_for_each(|front| front.listens().map(drop))?;
    fronts.iter_mut().try_for_each(|front| front.expect(READY).map(drop))?;
    fronts.iter_mut().try_for_each(Front::stay)?;
    folder.set_address(&join.unwrap_or_default())?;
    drop(step);
    let cores: usize = super::ask::nodes_of(&folder)?.iter().map(|node| node.machine.cores.len()).sum();
    let many = if count == 1 { "a node is".into() } else { format!("{count} nodes are") };
    show!("{many} up, with {cores} cores for ranks; `{} down` ends them", tree.command());
    Ok(0)
}

/// Nodes in the same folder would be lost from sight.
fn refuse_if_up(tree: &Tree, folder: &Folder) -> Outcome<()> {
    let Ok(address) = folder.address() else { return Ok(()) };
    match super::ask::nodes_of(folder) {
        Ok(_) => Err(Failure::usage(format!(
            "nodes are up already (node 0 is at {address}); `{} down` ends them, --at DIR has others beside them",
            tree.command()
        ))),
        // They have been killed.
        Err(_) => {
            folder.clear();
            Ok(())
        }
    }
}

/// What jobs are booted with, as a node's words: QEMU where it is, the others in copies, which no later build changes.
fn what_boots(tree: &Tree, options: &UpOptions, folder: &Folder) -> Outcome<Vec<String>> {
    let builder = Builder::new(tree, options.built, options.verbose)?;
    let qemu = find_qemu(tree, options.verbose)?;
    let (image_builder, kernel) = builder.with_image_builder(Firmware::Bios, || builder.kernel())?;
    folder.make_empty()?;
    let copied = |from: &Path, name: &str| {
        let to = folder.file(name);
        // An earlier one may be at work still, and then cannot be written to.
        let _ = std::fs::remove_file(&to);
        std::fs::copy(from, &to).doing(|| format!("write {}", to.display())).map(|_| to)
    };
    let image_builder = copied(&image_builder, "image-builder")?;
    let kernel = copied(&kernel.stripped, "kernel")?;
    let files = [qemu, image_builder, kernel].map(|file| file.to_string_lossy().into_owned());
    Ok(std::iter::once("--boots".into()).chain(files).collect())
}

/// The process that starts a node's, and what goes to and from it.
struct Front {
    node: u32,
    process: Child,
    /// Closed, it ends a node that is not to stay.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Front {
    fn start(
        folder: &Folder,
        options: &UpOptions,
        (node, nodes, station): (u32, u32, &Station),
        join: Option<&str>,
        boots: &[String],
        key: &Key,
    ) -> Outcome<Front> {
        let own = std::env::current_exe().doing(|| "find this command's own file".into())?;
        let log = folder.file(&format!("node-{node}.log"));
        let mut words: Vec<String> =
            [&own.to_string_lossy(), "stay", "--node", &node.to_string(), "--nodes", &nodes.to_string()]
                .map(String::from)
                .to_vec();
        words.extend(["--log".into(), log.to_string_lossy().into_owned()]);
        words.extend(join.iter().flat_map(|join| ["--join".into(), (*join).to_owned()]));
        words.extend_from_slice(boots);
        let mut command = match station {
            Station::Here(cores) => {
                let cores: Vec<String> = cores.iter().map(u16::to_string).collect();
                words.extend(["--listen", "127.0.0.1:0", "--cores", &cores.join(",")].map(String::from));
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
            Station::There { host, cores } => {
                words.extend(["--listen", "0.0.0.0:0"].map(String::from));
                words.extend(cores.iter().flat_map(|cores| ["--core-count".into(), cores.to_string()]));
                let mut ssh = options.ssh.split_whitespace();
                let mut command = Command::new(ssh.next().unwrap_or("ssh"));
                let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                command.args(ssh).args(["-o", "BatchMode=yes"]).arg(host).arg(line.join(" "));
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().doing(|| format!("start node {node}"))?;
        let (Some(mut input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Failure::host("a process that was started with pipes has none"));
        };
        // If it is gone already, that it says nothing tells.
        let _ = writeln!(input, "{}", key.text());
        Ok(Front { node, process, input, output: BufReader::new(output) })
    }

    /// What it says next, which must begin like this; the rest of it.
    fn expect(&mut self, word: &str) -> Outcome<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).doing(|| format!("hear node {}", self.node))?;
        let line = line.trim_end();
        if let Some(rest) = line.strip_prefix(word) {
            return Ok(rest.to_owned());
        }
        let why = line.strip_prefix(FAILED).unwrap_or("its process has ended");
        Err(Failure::host(format!("node {} does not come up: {why}", self.node)))
    }

    fn listens(&mut self) -> Outcome<String> {
        self.expect(LISTENING)
    }

    /// All are ready: the node stays without `up`.
    fn stay(&mut self) -> Outcome<()> {
        // If it is gone it says so next.
        let _ = writeln!(self.input, "{STAY}");
        self.expect(STAYING)?;
        self.process.wait().doing(|| format!("wait for node {}", self.node)).map(drop)
    }
}

/// `cargo lwk stay`, which `up` starts: a front, or with `--here` the node itself.
///
/// # Errors
/// The node does not come up, or does not stay.
pub fn stay(options: &StayOptions) -> Outcome<i32> {
    if options.here { live(options) } else { front(options) }
}

/// Starts a node's process apart from this one, and passes on what `up` and the node say until the node stays.
fn front(options: &StayOptions) -> Outcome<i32> {
    if let Some(folder) = options.log.parent() {
        std::fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    }
    let log = File::create(&options.log).doing(|| format!("write {}", options.log.display()))?;
    let mut command = Command::new(std::env::current_exe().doing(|| "find this command's own file".into())?);
    command.args(std::env::args_os().skip(1)).arg("--here");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
    let mut node = spawn_apart(&mut command).doing(|| "start a node".into())?;
    if let (Some(mut input), Some(output)) = (node.stdin.take(), node.stdout.take()) {
        // Ends with this process; the node then hears no more.
        std::thread::spawn(move || std::io::copy(&mut std::io::stdin(), &mut input));
        for line in BufReader::new(output).lines() {
            let line = line.doing(|| "hear the node".into())?;
            show!("{line}");
            if line == STAYING {
                return Ok(0);
            }
        }
    }
    let _ = node.wait();
    let said = std::fs::read_to_string(&options.log).unwrap_or_default();
    let why =
        said.lines().last().map_or("it has ended without a word", |line| line.trim_start_matches("lwk: "));
    show!("{FAILED}{why}");
    Ok(lwk::failure::HOST)
}

/// The node itself.
fn live(options: &StayOptions) -> Outcome<i32> {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    input.read_line(&mut line).doing(|| "read the key".into())?;
    let key = Key::parse(&line).map_err(|error| Failure::usage(error.to_string()))?;
    let cores = match &options.cores[..] {
        [] => {
            let mut all = usable_cores()?;
            all.truncate(options.core_count.unwrap_or(usize::MAX));
            all
        }
        cores => cores.to_vec(),
    };
    let boots = match <[PathBuf; 3]>::try_from(options.boots.clone()) {
        Err(_) => None,
        Ok(files) => Some(Boots::new(files, options.log.with_extension("jobs"))?),
    };
    let plan = daemon::Plan {
        node: options.node,
        nodes: options.nodes,
        listen: options.listen,
        join: options.join.clone(),
        machine: machine(cores, boots.is_some()),
        boots,
        key,
    };
    std::thread::spawn(move || stay_or_end(input));
    let listening = |address: SocketAddr| show!("{LISTENING}{address}");
    daemon::run(&plan, listening, || show!("{READY}"))?;
    Ok(0)
}

/// Ends the process unless `up` says that it stays. Then nothing of what `up` has opened is held any more.
fn stay_or_end(mut input: BufReader<std::io::Stdin>) {
    let mut line = String::new();
    let heard = input.read_line(&mut line);
    if heard.is_err() || line.trim_end() != STAY {
        tell!("lwk: whoever has started this node has gone before all nodes were ready");
        std::process::exit(lwk::failure::HOST);
    }
    show!("{STAYING}");
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        // A pipe that stays open harms nobody.
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// This machine, with these cores for ranks.
pub fn machine(cores: Vec<u16>, booted: bool) -> Machine {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Machine { name, process: std::process::id(), cores, booted }
}

/// Starts this command once more, apart from the terminal, and ends when its job is under way.
///
/// # Errors
/// It is refused, as by the launcher itself.
pub fn detach(folder: &Folder) -> Outcome<i32> {
    let (mut hear, say) = std::io::pipe().doing(|| "make a pipe".into())?;
    let (early, mut command) =
        (folder.file(&format!("launching-{}.log", std::process::id())), Command::new("/proc/self/exe"));
    folder.make_empty()?;
    let log = File::create(&early).doing(|| format!("write {}", early.display()))?;
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let kept = words.iter().enumerate().filter(|(at, word)| *at >= own || *word != "--detach");
    let mut kept = kept.map(|(_, word)| word);
    command.args(kept.next()).arg("--background").arg(&early).args(kept);
    command.stdin(say).stdout(log.try_clone().doing(|| "share a file".into())?).stderr(log);
    let mut launcher = spawn_apart(&mut command).doing(|| "start the launcher".into())?;
    drop(command);
    let mut line = String::new();
    let mut bytes = [0];
    while !line.ends_with('\n') && matches!(hear.read(&mut bytes), Ok(1)) {
        line.push(char::from(bytes[0]));
    }
    if line.ends_with('\n') {
        show!("{}", line.trim_end());
        return Ok(0);
    }
    let status = launcher.wait().ok().and_then(|status| status.code());
    let said = std::fs::read_to_string(&early).unwrap_or_default();
    // What is shown need not be kept.
    let _ = std::fs::remove_file(&early);
    let why =
        said.lines().last().unwrap_or("it has ended without a word").trim_start_matches("lwk: ").to_owned();
    Err(Failure { message: why, status: status.unwrap_or(lwk::failure::HOST) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_through_a_shell_unchanged() {
        let word = "a 'b' $c \"d\" \\";
        let said = Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), word);
    }
}
