//! `cargo lwk run --host --nodes N`: each node is a process of this machine with its ranks, joined by wires (`lwk_home::Wires`).

use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use lwk_home::{Home, Plug, Surroundings, Tools, Volume, Wires};

use lwk::build::Builder;
use lwk::catalog::Named;
use lwk::cli::{RunOptions, Trouble};
use lwk::console::printer::Printer;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::files;
use lwk::nodes::peer;
use lwk::nodes::supervise::{self, Plan, listen, supervise};
use lwk::nodes::{Noise, addresses, first_rank, job_number, ranks_of, refuse};
use lwk::report::Report;
use lwk::reports;
use lwk::run::{ask_runtime, job_of_nodes};
use lwk::switch::{Setup, Switch, command};
use lwk::symbols::Symbols;
use lwk::tree::Tree;

/// Runs a job on several nodes of this machine and gives its status.
///
/// # Errors
/// Wrong use, something that this machine lacks, the time limit, or a node that dies.
pub fn run(tree: &Tree, options: &RunOptions) -> Outcome<i32> {
    refuse(options)?;
    let (nodes, size) = (options.nodes, options.job.ranks);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if size as usize > cores && !options.job.oversubscribe {
        return Err(Failure::usage(format!(
            "{size} ranks need {size} cores, and all nodes together have {cores}; ask for fewer ranks, or let them share cores with \
             --oversubscribe"
        )));
    }
    let mut job = job_of_nodes(&options.job)?;
    job.log = options.log.map(|level| level.of_job());
    job.report = options.report || options.report_json.is_some();
    ask_runtime(&mut job, options);
    let given = files::image(&options.job, None)?;
    let named = Named::find(tree, &options.job.app)?;
    let builder = Builder::new(tree, options.built, options.verbose)?;
    let program = named.build(tree, &builder)?;
    let (wires, switch, idle) = wires(options)?;
    let number = job_number();
    let beyond = beyond(options);
    let (say, hear) = channel();
    let (mut homes, mut volumes, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..nodes {
        job.ranks = ranks_of(node, nodes, size);
        let (nodes, size) = (nodes + beyond, size + beyond);
        job.network = Some(lwk_job::Network { node, nodes, size, job: number });
        let volume = Volume::with_image(&given, options.job.file_space.map(|mib| mib << 20));
        let volume = volume.doing(|| "make a node's file system".into())?;
        let plug = Plug::Wire { wires: wires.clone(), node: node as usize };
        let tools = Tools { plug: Some(plug), ..Tools::default() };
        let mut home = Home::start(&program, &job.encode(), &tools, &volume, &Surroundings::default())
            .doing(|| "start the host home".into())?;
        if options.verbose {
            tell!("lwk: node {node} is process {}", home.process());
        }
        let console = home.console().try_clone().doing(|| "listen to a node".into())?;
        let say = say.clone();
        readers.push(std::thread::spawn(move || listen(node as usize, console, &say)));
        homes.push(Member { home });
        volumes.push(volume);
    }
    drop(say);
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    let symbols = Symbols::of_program(&program, tree.root());
    let mut printer = Printer::new(&mut out, &mut err, options.tag, symbols, Symbols::none());
    let plan = Plan {
        limit: Duration::from_secs(options.timeout.unwrap_or(RunOptions::TIMEOUT)),
        boot_limit: Duration::ZERO,
        gated: false,
        trouble: options.trouble,
        cut: &|| {
            if let Some(switch) = &switch {
                switch.cut(nodes as usize - 1);
            }
        },
        first: &|node| first_rank(node as u32, nodes, size),
    };
    let mut reports = vec![Report::default(); nodes as usize];
    let over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        if options.trouble == Some(Trouble::Flood) {
            scope.spawn(|| flood(&wires, nodes as usize, &over));
        }
        if let (Some(station), Some(count)) = (&idle, options.idle_peers) {
            let over = &over;
            scope.spawn(move || peer::connect_or_tell(station, number, nodes, count, over));
        }
        let ended = supervise(&mut homes, &hear, &mut printer, &mut reports, &plan);
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
    let seen = switch.map(Switch::stop);
    let status = ended.as_ref().map_or_else(|failure| failure.status, |status| *status);
    let of_switch = |node| {
        let port = seen.as_ref().and_then(|seen| seen.ports.get(node));
        port.map_or(String::new(), |port| format!("switch port={node} {port}\n"))
    };
    reports::give(&reports, options, status, of_switch)?;
    let status = ended?;
    seen.map_or(Ok(()), |seen| command::check_capture(&seen))?;
    Ok(status)
}

/// Nodes of a job with idle peers that do not run.
fn beyond(options: &RunOptions) -> u32 {
    options.idle_peers.map_or(0, |_| peer::IDLE_MAX)
}

/// The wires between the nodes: straight ones, or those of a switch if that has something to do; and that of idle peers.
pub fn wires(options: &RunOptions) -> Outcome<(Arc<Wires>, Option<Switch>, Option<UnixDatagram>)> {
    let what = || "make the wires between the nodes".into();
    let settings = command::settings(options.wire.as_deref())?;
    let uplinks: Vec<_> =
        options.uplink.iter().map(|text| command::address("--uplink", text)).collect::<Outcome<_>>()?;
    let capture = command::capture(options.capture.as_ref())?;
    let with_idle = options.idle_peers.is_some();
    let cut = options.trouble == Some(Trouble::Cut);
    if options.wire.is_none() && uplinks.is_empty() && capture.is_none() && !with_idle && !cut {
        return Ok((Wires::new(options.nodes).doing(what)?, None, None));
    }
    if options.trouble == Some(Trouble::Flood) {
        return Err(Failure::usage(
            "--trouble flood is for straight wires; leave --wire, --uplink and --capture away",
        ));
    }
    let pinned = addresses(options.nodes);
    let stations = pinned.len() + usize::from(with_idle);
    let setup = Setup { stations, pinned, settings, listen: None, uplinks, capture };
    let (switch, mut stations) = Switch::start(setup).doing(|| "start the switch".into())?;
    let idle = if with_idle { stations.pop() } else { None };
    let wires = Wires::at_switch(stations, beyond(options) as usize).doing(what)?;
    Ok((wires, Some(switch), idle))
}

/// A node of this machine.
struct Member {
    home: Home,
}

impl supervise::Member for Member {
    fn process(&self) -> u32 {
        self.home.process()
    }

    fn time_is_up(&mut self) {
        // A node that cannot be told has ended.
        let _ = self.home.time_is_up();
    }

    fn begin(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn release(&mut self) -> Outcome<()> {
        self.home.release();
        Ok(())
    }

    fn stop(&mut self) -> Outcome<()> {
        self.home.stop().doing(|| "wait for a node".into())
    }

    /// A node's wires cannot be cut.
    fn link(&mut self, _: bool) -> Outcome<()> {
        Err(Failure::usage("--trouble unplug is for nodes in QEMU; leave --host away"))
    }

    fn last_words(&self) -> String {
        " (was it killed?)".into()
    }
}

/// Puts noise on all wires until the job is over.
fn flood(wires: &Wires, nodes: usize, over: &AtomicBool) {
    let mut noise = Noise::new();
    // Relaxed: a flag and nothing else.
    while !over.load(Ordering::Relaxed) {
        for node in (0..nodes).cycle().take(16 * nodes) {
            // A full wire takes no more for now.
            let _ = wires.inject(node, noise.frame(node));
        }
        // The wires are for the job as well.
        std::thread::park_timeout(Duration::from_millis(1));
    }
}
