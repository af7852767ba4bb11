//! `cargo lwk run --nodes N`: each node is a QEMU of its own, all on one Ethernet ([`crate::switch`]).
//!
//! A node says when it has booted and waits until all have: who speaks to a node that is not there yet takes it for gone after a while. When its ranks
//! have ended it says so and answers for them until those of all nodes have.

use std::io::Write;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use lwk_abi::exit::{DEBUG_EXIT_ENDED, KERNEL_PANIC};
use lwk_abi::portals::KERNEL_BYTES;
use lwk_files::Page;
use serde_json::json;

use super::supervise::{Member, Plan, listen, supervise};
use super::{Noise, addresses, first_rank, job_number, peer, ranks_of, refuse};
use crate::build::{Builder, Kernel};
use crate::catalog::Named;
use crate::cli::{RunOptions, Trouble};
use crate::console::printer::Printer;
use crate::emulator::{self, find_qemu};
use crate::failure::{Doing, Failure, Outcome};
use crate::job::{AtEnd, Job};
use crate::progress::Step;
use crate::qemu::{Boot, CARD, Card, CardKind, FirmwareFile, Machine, Node};
use crate::report::Report;
use crate::reports;
use crate::run::{ask_runtime, check_program, host_cores, injection, job_of_nodes};
use crate::session::{BOOT_LIMIT, EXIT_LIMIT};
use crate::switch::{Setup, Switch, command};
use crate::symbols::Symbols;
use crate::tree::{RunFolder, Tree};
use crate::{files, image, memory};

/// Pause of a flood between some frames and the next.
const FLOOD_PAUSE: Duration = Duration::from_millis(1);
/// Most nodes: each is a process with memory of its own.
const NODES_MAX: u32 = 64;

/// Runs a job on several nodes in QEMU and gives its status.
///
/// # Errors
/// As [`crate::run::run`].
pub fn run(tree: &Tree, options: &RunOptions) -> Outcome<i32> {
    refuse(options)?;
    let (nodes, size) = (options.nodes, options.job.ranks);
    if nodes > NODES_MAX {
        return Err(Failure::usage(format!("at most {NODES_MAX} nodes run in QEMU here, not {nodes}")));
    }
    let settings = command::settings(options.wire.as_deref())?;
    let uplinks: Vec<_> =
        options.uplink.iter().map(|text| command::address("--uplink", text)).collect::<Outcome<_>>()?;
    let cores = check_cores(options)?;
    let mut job = job_of_each(options)?;
    let given = files::image(&options.job, None)?;
    let built = build(tree, options)?;
    let folder = RunFolder::new(tree)?;
    let given = (!options.job.file.is_empty()).then_some(&given[..]);
    let number = job_number();
    let pause = match options.trouble {
        Some(Trouble::Flood) => Some(FLOOD_PAUSE),
        Some(Trouble::Storm) => Some(Duration::ZERO),
        Some(Trouble::Kill | Trouble::Unplug | Trouble::Cut) | None => None,
    };
    let beyond = options.idle_peers.map_or(0, |_| peer::IDLE_MAX);
    let with_more = pause.is_some() || options.idle_peers.is_some();
    let ports = nodes as usize + usize::from(with_more);
    let capture = command::capture(options.capture.as_ref())?;
    let setup = Setup { stations: ports, pinned: addresses(nodes), settings, listen: None, uplinks, capture };
    let (switch, mut stations) = Switch::start(setup).doing(|| "start the switch".into())?;
    // For noise, or for idle peers.
    let more = if with_more { stations.pop() } else { None };
    let (say, hear) = channel();
    let (mut members, mut readers) = (Vec::new(), Vec::new());
    let ground = Ground { options, built: &built, given, cores, folder: &folder };
    for (node, station) in (0..nodes).zip(stations) {
        job.ranks = ranks_of(node, nodes, size);
        let (nodes, size) = (nodes + beyond, size + beyond);
        job.network = Some(lwk_job::Network { node, nodes, size, job: number });
        let process = ground.boot(node, &job, &station)?;
        let console = process.serial.try_clone().doing(|| "listen to a node".into())?;
        let say = say.clone();
        readers.push(std::thread::spawn(move || listen(node as usize, console, &say)));
        members.push(process);
    }
    drop(say);
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    let of_program = Symbols::of_program(&built.file, tree.root());
    let of_kernel = Symbols::of(&built.kernel.elf, tree.root());
    let mut printer = Printer::new(&mut out, &mut err, options.tag, of_program, of_kernel);
    let plan = Plan {
        limit: Duration::from_secs(options.timeout.unwrap_or(RunOptions::TIMEOUT)),
        boot_limit: BOOT_LIMIT,
        gated: true,
        trouble: options.trouble,
        cut: &|| switch.cut(nodes as usize - 1),
        first: &|node| first_rank(node as u32, nodes, size),
    };
    let mut reports = vec![Report::default(); nodes as usize];
    let over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        let over = &over;
        match (&more, pause, options.idle_peers) {
            (Some(station), Some(pause), _) => {
                scope.spawn(move || flood(station, nodes as usize, pause, over));
            }
            (Some(station), None, Some(count)) => {
                scope.spawn(move || peer::connect_or_tell(station, number, nodes, count, over));
            }
            _ => {}
        }
        let ended = supervise(&mut members, &hear, &mut printer, &mut reports, &plan);
        // Relaxed: a flag and nothing else.
        over.store(true, Ordering::Relaxed);
        ended
    });
    let ended = ended.and_then(|status| if status == 0 { all_ended_well(&mut members) } else { Ok(status) });
    drop(members);
    for reader in readers {
        // A panic of a reader's has been printed.
        let _ = reader.join();
    }
    printer.finish().doing(|| "write the job's output".into())?;
    let seen = switch.stop();
    let status = ended.as_ref().map_or_else(|failure| failure.status, |status| *status);
    let of_switch =
        |node| seen.ports.get(node).map_or(String::new(), |port| format!("switch port={node} {port}\n"));
    reports::give(&reports, options, status, of_switch)?;
    let status = ended?;
    command::check_capture(&seen)?;
    Ok(status)
}

/// The job as each node has it, but for its part of the ranks.
fn job_of_each(options: &RunOptions) -> Outcome<Job> {
    let mut job = job_of_nodes(&options.job)?;
    job.log = options.log.map(|level| level.of_job());
    job.report = options.report || options.report_json.is_some();
    job.irq_core = options.irq_core;
    job.inject = options.inject.as_deref().map(injection).transpose()?;
    job.at_end = AtEnd::Wait;
    // Nodes may have different numbers of ranks, and all ranks have as much memory.
    job.memory = job.memory.or(Some(memory::DEFAULT_MIB << 20));
    ask_runtime(&mut job, options);
    Ok(job)
}

/// What all nodes boot, and what boots them.
struct Built {
    file: PathBuf,
    program: Vec<u8>,
    kernel: Kernel,
    image_builder: PathBuf,
    qemu: PathBuf,
    firmware: Option<FirmwareFile>,
}

fn build(tree: &Tree, options: &RunOptions) -> Outcome<Built> {
    let named = Named::find(tree, &options.job.app)?;
    let builder = Builder::new(tree, options.built, options.verbose)?;
    let qemu = find_qemu(tree, options.verbose)?;
    let firmware = emulator::firmware(tree, options.firmware, options.verbose)?;
    let (image_builder, (file, program, kernel)) = builder.with_image_builder(options.firmware, || {
        let file = named.build(tree, &builder)?;
        let program = image::read_program(&file)?;
        check_program(&file, &program)?;
        Ok((file, program, builder.kernel()?))
    })?;
    Ok(Built { file, program, kernel, image_builder, qemu, firmware })
}

/// What the nodes of one job have alike.
struct Ground<'a> {
    options: &'a RunOptions,
    built: &'a Built,
    given: Option<&'a [Page]>,
    cores: u32,
    folder: &'a RunFolder,
}

impl Ground<'_> {
    /// Makes a node's disk image with its part of the job, and starts its QEMU with the network card at that station.
    fn boot(&self, node: u32, job: &Job, station: &UnixDatagram) -> Outcome<Node> {
        let Ground { options, built, given, cores, folder } = *self;
        let ram_disk = image::ram_disk(job, &built.program, given)?;
        let disk = folder.file(&format!("disk{node}.img"));
        {
            let _step = Step::begin("making a disk image", options.verbose);
            let ram_disk_file = folder.file("ramdisk.tar");
            image::write_file(&ram_disk_file, &ram_disk)?;
            let (builder, kernel) = (&built.image_builder, &built.kernel.stripped);
            image::write(builder, kernel, &ram_disk_file, &disk, &folder.file(""))?;
        }
        let given_bytes = given.map_or(0, |given| given.as_flattened().len() as u64);
        let of_rank = options.job.mem.unwrap_or(memory::DEFAULT_MIB);
        let files = options.job.file_space.unwrap_or_else(|| memory::default_file_mib(job.ranks, of_rank));
        let beside = ram_disk.len() as u64 + given_bytes + (files << 20) + KERNEL_BYTES;
        let memory_mib = memory::node_mib(job.ranks, of_rank, cores, beside)
            .ok_or_else(|| Failure::usage(format!("--mem {of_rank} is more than any machine has")))?;
        if node == 0 {
            memory::check_host(memory_mib * u64::from(options.nodes))?;
        }
        let machine = Machine {
            boot: Boot::Disk(disk),
            firmware: built.firmware.clone(),
            cores,
            memory_mib,
            accelerator: options.accel.settle(),
            cpu: options.cpu.clone(),
            more: options.qemu.split_ascii_whitespace().map(str::to_owned).collect(),
            gdb: false,
            // All nodes share them.
            host_cores: host_cores() / options.nodes,
            card: Some(Card::new(options.nic.unwrap_or(CardKind::Virtio), node as u16, station)?),
        };
        let process = Node::start(&built.qemu, &machine, folder.file(&format!("qemu{node}.log")))?;
        if options.verbose {
            tell!("lwk: node {node} is process {}", process.process());
        }
        Ok(process)
    }
}

/// Cores of each node: as asked for, else one for each rank of the node that has most.
fn check_cores(options: &RunOptions) -> Outcome<u32> {
    let most = options.job.ranks.div_ceil(options.nodes);
    let cores = options.job.cores.unwrap_or(most);
    if cores == 0 || cores > crate::run::CORES_MAX {
        return Err(Failure::usage(format!("a node has 1 to {} cores, not {cores}", crate::run::CORES_MAX)));
    }
    if most > cores && !options.job.oversubscribe {
        return Err(Failure::usage(format!(
            "{most} ranks of a node do not fit on its {cores} cores; give more --cores, or --oversubscribe to share cores"
        )));
    }
    if let Some(core) = options.irq_core.filter(|core| *core >= cores) {
        return Err(Failure::usage(format!("--irq-core {core} is none of a node's {cores} cores")));
    }
    Ok(cores)
}

impl Member for Node {
    fn process(&self) -> u32 {
        Node::process(self)
    }

    fn time_is_up(&mut self) {
        // A node that cannot be asked is killed after a while.
        let _ = self.monitor.command("inject-nmi", json!({}));
    }

    fn begin(&mut self) -> Outcome<()> {
        tell_by_serial(&mut self.serial)
    }

    fn release(&mut self) -> Outcome<()> {
        tell_by_serial(&mut self.serial)
    }

    fn stop(&mut self) -> Outcome<()> {
        self.kill();
        Ok(())
    }

    fn link(&mut self, up: bool) -> Outcome<()> {
        self.monitor.command("set_link", json!({ "name": CARD, "up": up })).map(|_| ())
    }

    fn last_words(&self) -> String {
        match self.last_message() {
            Some(message) => format!(" (QEMU says: {message})"),
            None => " (was it killed?)".into(),
        }
    }
}

/// Tells a node that waits to go on.
fn tell_by_serial(serial: &mut UnixStream) -> Outcome<()> {
    serial.write_all(b"\n").doing(|| "tell a node to go on".into())
}

/// Waits for the end of all nodes, whose ranks have ended well; each must have ended by its own word, unless a rank of one has ended all.
fn all_ended_well(members: &mut [Node]) -> Outcome<i32> {
    for (node, member) in members.iter_mut().enumerate().filter(|(_, member)| !member.is_killed) {
        let status = member.end_within(EXIT_LIMIT)?;
        let code = status.and_then(|status| status.code());
        if code != Some((DEBUG_EXIT_ENDED * 2 + 1) as i32) {
            let how = status.map_or("had to be killed".to_owned(), |status| format!("ended with {status}"));
            let message = format!("the job ended with status 0, but QEMU of node {node} {how}");
            return Err(Failure { message, status: KERNEL_PANIC });
        }
    }
    Ok(0)
}

/// Puts noise on the Ethernet until the job is over, some frames at a time and then a pause.
fn flood(station: &UnixDatagram, nodes: usize, pause: Duration, over: &AtomicBool) {
    let mut noise = Noise::new();
    // The switch may have ended, and then nobody hears.
    let _ = station.set_nonblocking(true);
    // Relaxed: a flag and nothing else.
    while !over.load(Ordering::Relaxed) {
        for node in (0..nodes).cycle().take(4 * nodes) {
            // A full wire takes no more for now.
            let _ = station.send(noise.frame(node));
        }
        std::thread::park_timeout(pause);
    }
}
