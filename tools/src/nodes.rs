//! `cargo lwk run --host --nodes N`: a job on several nodes, each a process of this machine with its ranks, joined by wires
//! (`lwk_home::Wires`).
//!
//! Promises: as [`crate::host`]. The first node that does not end well ends the others; one whose process is gone is reported by name.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lwk_abi::address::MAX_RANKS;
use lwk_abi::console as kind;
use lwk_abi::exit::{KERNEL_PANIC, TIMEOUT};
use lwk_abi::job_file::NETWORK;
use lwk_home::{Home, Plug, Surroundings, Tools, Volume, Wires};
use rustix::process::{Pid, Signal, kill_process};

use crate::build::Builder;
use crate::catalog::Named;
use crate::cli::{RunOptions, Trouble};
use crate::console::printer::Printer;
use crate::console::record::{Parser, Record};
use crate::failure::{Doing, Failure, Outcome};
use crate::files;
use crate::run::job_of_nodes;
use crate::session::GRACE;
use crate::symbols::Symbols;
use crate::tree::Tree;

/// What a node has to say: a record, or that its console is at its end.
type Said = (usize, Option<Record>);

/// Runs a job on several nodes of this machine and gives its status.
///
/// # Errors
/// Wrong use, something that this machine lacks, the time limit, or a node that dies.
pub fn run(tree: &Tree, options: &RunOptions) -> Outcome<i32> {
    refuse(options)?;
    let (nodes, size) = (options.nodes, options.job.ranks);
    let mut job = job_of_nodes(&options.job)?;
    job.log = options.log.map(|level| level.name());
    let given = files::image(&options.job, None)?;
    let named = Named::find(tree, &options.job.app)?;
    let builder = Builder::new(tree, options.built, options.verbose)?;
    let program = named.build(tree, &builder)?;
    let wires = Wires::new(nodes).doing(|| "make the wires between the nodes".into())?;
    // Any number but 0 that no other job of this machine has now.
    let number = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64 | 1);
    let (say, hear) = channel();
    let (mut homes, mut volumes, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..nodes {
        job.ranks = first_rank(node + 1, nodes, size) - first_rank(node, nodes, size);
        let mut file = job.encode();
        file.extend_from_slice(format!("{NETWORK}={node},{nodes},{size},{number}\0").as_bytes());
        let volume = Volume::with_image(&given, options.job.file_space << 20);
        let volume = volume.doing(|| "make a node's file system".into())?;
        let plug = Plug { wires: wires.clone(), node: node as usize };
        let tools = Tools { plug: Some(plug), ..Tools::default() };
        let mut home = Home::start(&program, &file, &tools, &volume, &Surroundings::default())
            .doing(|| "start the host home".into())?;
        if options.verbose {
            tell!("lwk: node {node} is process {}", home.process());
        }
        let console = home.console().try_clone().doing(|| "listen to a node".into())?;
        let say = say.clone();
        readers.push(std::thread::spawn(move || listen(node as usize, console, &say)));
        homes.push(home);
        volumes.push(volume);
    }
    drop(say);
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    let symbols = Symbols::of_program(&program, tree.root());
    let mut printer = Printer::new(&mut out, &mut err, options.tag, symbols, Symbols::none());
    let limit = Duration::from_secs(options.timeout.unwrap_or(RunOptions::TIMEOUT));
    let first = |node: usize| first_rank(node as u32, nodes, size);
    let over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        if options.trouble == Some(Trouble::Flood) {
            scope.spawn(|| flood(&wires, nodes as usize, &over));
        }
        let kills = options.trouble == Some(Trouble::Kill);
        let ended = supervise(&mut homes, &hear, &mut printer, limit, kills, first);
        // Relaxed: a flag and nothing else.
        over.store(true, Ordering::Relaxed);
        ended
    });
    // Every rank has ended, and the nodes with them; then nobody speaks any more.
    drop(homes);
    for reader in readers {
        // A panic of a reader's has been printed.
        let _ = reader.join();
    }
    printer.finish().doing(|| "write the job's output".into())?;
    ended
}

/// What a job of several nodes cannot have, or not on this machine.
fn refuse(options: &RunOptions) -> Outcome<()> {
    let (nodes, ranks) = (options.nodes, options.job.ranks);
    let not_yet = [
        (options.gdb, "--gdb"),
        (options.valgrind.is_some(), "--valgrind"),
        (options.cwd.is_some(), "--cwd"),
        (options.out.is_some(), "--out"),
        (options.report, "--report"),
        (options.report_json.is_some(), "--report-json"),
        (options.profile, "--profile"),
    ];
    if let Some((_, option)) = not_yet.iter().find(|(asked, _)| *asked) {
        return Err(Failure::usage(format!("{option} is for a job of one node; leave it away, or --nodes")));
    }
    if nodes > ranks {
        return Err(Failure::usage(format!(
            "{nodes} nodes need at least {nodes} ranks, not {ranks}; ask for more with -n"
        )));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if ranks as usize > cores && !options.job.oversubscribe {
        return Err(Failure::usage(format!(
            "{ranks} ranks need {ranks} cores, and all nodes together have {cores}; ask for fewer ranks, or let them share cores with \
             --oversubscribe"
        )));
    }
    if ranks.div_ceil(nodes) > MAX_RANKS as u32 {
        return Err(Failure::usage(format!("a node holds at most {MAX_RANKS} ranks; ask for more nodes")));
    }
    Ok(())
}

/// The first rank of a node: ranks are spread in their order, as evenly as it goes (`lwk_portals::Ranks`, which the nodes go by).
fn first_rank(node: u32, nodes: u32, size: u32) -> u32 {
    (u64::from(node) * u64::from(size) / u64::from(nodes)) as u32
}

/// Hands on what a node says, until it says no more.
fn listen(node: usize, mut console: UnixStream, say: &Sender<Said>) {
    let mut parser = Parser::default();
    let mut bytes = [0; 16 << 10];
    loop {
        match console.read(&mut bytes) {
            // A node that was killed with bytes unread on its side resets its console.
            Ok(0) => break,
            Ok(length) => parser.feed(&bytes[..length], |record| {
                // Nobody is left to hear it only when the command ends.
                let _ = say.send((node, Some(record)));
            }),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = say.send((node, None));
}

/// Listens to all nodes until they have ended; the status of the job. `first` is the first rank of a node.
fn supervise(
    homes: &mut [Home],
    hear: &Receiver<Said>,
    printer: &mut Printer<'_>,
    limit: Duration,
    mut kills: bool,
    first: impl Fn(usize) -> u32,
) -> Outcome<i32> {
    let mut deadline = Instant::now() + limit;
    let mut asked = false;
    let mut ends: Vec<Option<i32>> = vec![None; homes.len()];
    let mut open = homes.len();
    let mut outcome = None;
    let mut failing = None;
    while open > 0 {
        let (node, record) = match hear.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(said) => said,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if asked => break,
            Err(RecvTimeoutError::Timeout) => {
                for home in &mut *homes {
                    // A node that cannot be told has ended.
                    let _ = home.time_is_up();
                }
                (asked, deadline) = (true, Instant::now() + GRACE);
                continue;
            }
        };
        let Some(record) = record else {
            open -= 1;
            if ends[node].is_none() && outcome.is_none() && !asked {
                let message = format!(
                    "the process of node {node} ended before the job had (was it killed?), which ends the job on all nodes"
                );
                outcome = Some(Err(Failure { message, status: KERNEL_PANIC }));
                end_all(homes)?;
            }
            continue;
        };
        if record.kind == kind::END {
            let status = i32::try_from(record.number).unwrap_or(KERNEL_PANIC);
            ends[node] = Some(status);
            if status != 0 && outcome.is_none() && !asked {
                outcome = Some(Ok(status));
                end_all(homes)?;
            }
            continue;
        }
        if kills && node == 0 && record.kind == kind::STDOUT {
            kills = false;
            kill(homes)?;
        }
        let tells = tells_of_failure(record.kind);
        // Only the first node to fail reports: what the others die of may be a consequence.
        if tells && outcome.is_none() {
            failing.get_or_insert(node);
        }
        if !tells || failing == Some(node) {
            printer.record(&of_job(record, node, first(node))).doing(|| "write the job's output".into())?;
        }
    }
    if asked {
        let message = format!("the job ran into its time limit of {} s and was ended", limit.as_secs());
        return Err(Failure { message, status: TIMEOUT });
    }
    outcome.unwrap_or(Ok(0))
}

/// Kills the last node's process.
fn kill(homes: &[Home]) -> Outcome<()> {
    let process = homes.last().and_then(|home| Pid::from_raw(home.process() as i32));
    let killed = process.map_or(Ok(()), |process| kill_process(process, Signal::KILL));
    killed.map_err(std::io::Error::from).doing(|| "kill a node".into())
}

/// Puts noise on all wires until the job is over. The same in every run.
fn flood(wires: &Wires, nodes: usize, over: &AtomicBool) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut frame = vec![0; 10_000];
    // Relaxed: a flag and nothing else.
    while !over.load(Ordering::Relaxed) {
        for node in (0..nodes).cycle().take(16 * nodes) {
            let length = next() as usize % frame.len();
            for byte in frame.iter_mut().take(128) {
                *byte = next() as u8;
            }
            if next() % 2 == 0 {
                // Of this protocol, from a node of the job to this one.
                frame[12..16].copy_from_slice(&[0x88, 0xb5, 1, 0]);
                frame[16..22].copy_from_slice(&[next() as u8 & 31, 0, next() as u8 % 4, 0, node as u8, 0]);
            }
            // A full wire takes no more for now.
            let _ = wires.inject(node, &frame[..length]);
        }
        // The wires are for the job as well.
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn end_all(homes: &mut [Home]) -> Outcome<()> {
    homes.iter_mut().try_for_each(|home| home.stop().doing(|| "wait for a node".into()))
}

fn tells_of_failure(record: u8) -> bool {
    matches!(record, kind::FAILURE | kind::FRAME)
}

/// A node's record as one of the job: ranks by their number in the job, and the node's name where it speaks of itself.
fn of_job(record: Record, node: usize, first: u32) -> Record {
    let number = match record.kind {
        kind::STDOUT | kind::STDOUT_PART | kind::STDERR | kind::STDERR_PART | kind::FAILURE | kind::FRAME => {
            record.number + first
        }
        _ => record.number,
    };
    let text = match record.kind {
        kind::FAILURE | kind::KERNEL => [format!("node {node}: ").into_bytes(), record.text].concat(),
        _ => record.text,
    };
    Record { kind: record.kind, number, text }
}
