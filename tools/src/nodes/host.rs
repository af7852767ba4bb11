//! `cargo lwk run --host --nodes N`: each node is a process of this machine with its ranks, joined by wires (`lwk_home::Wires`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use lwk_home::{Home, Plug, Surroundings, Tools, Volume, Wires};

use super::supervise::{Member, Plan, listen, supervise};
use super::{Noise, addresses, first_rank, job_number, ranks_of, refuse};
use crate::build::Builder;
use crate::catalog::Named;
use crate::cli::{RunOptions, Trouble};
use crate::console::printer::Printer;
use crate::failure::{Doing, Failure, Outcome};
use crate::files;
use crate::report::Report;
use crate::run::job_of_nodes;
use crate::switch::{Setup, Switch, command};
use crate::symbols::Symbols;
use crate::tree::Tree;

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
    let given = files::image(&options.job, None)?;
    let named = Named::find(tree, &options.job.app)?;
    let builder = Builder::new(tree, options.built, options.verbose)?;
    let program = named.build(tree, &builder)?;
    let (wires, switch) = wires(options)?;
    let number = job_number();
    let (say, hear) = channel();
    let (mut homes, mut volumes, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..nodes {
        job.ranks = ranks_of(node, nodes, size);
        job.network = Some(lwk_job::Network { node, nodes, size, job: number });
        let volume = Volume::with_image(&given, options.job.file_space.map(|mib| mib << 20));
        let volume = volume.doing(|| "make a node's file system".into())?;
        let plug = Plug { wires: wires.clone(), node: node as usize };
        let tools = Tools { plug: Some(plug), ..Tools::default() };
        let mut home = Home::start(&program, &job.encode(), &tools, &volume, &Surroundings::default())
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
    let plan = Plan {
        limit: Duration::from_secs(options.timeout.unwrap_or(RunOptions::TIMEOUT)),
        boot_limit: Duration::ZERO,
        gated: false,
        trouble: options.trouble,
        first: &|node| first_rank(node as u32, nodes, size),
    };
    let mut reports = vec![Report::default(); nodes as usize];
    let over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        if options.trouble == Some(Trouble::Flood) {
            scope.spawn(|| flood(&wires, nodes as usize, &over));
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
    let status = ended?;
    switch.map_or(Ok(()), |switch| command::check_capture(&switch.stop()))?;
    Ok(status)
}

/// The wires between the nodes: straight ones, or those of a switch if that has something to do.
fn wires(options: &RunOptions) -> Outcome<(Arc<Wires>, Option<Switch>)> {
    let what = || "make the wires between the nodes".into();
    let settings = command::settings(options.wire.as_deref())?;
    let uplinks: Vec<_> =
        options.uplink.iter().map(|text| command::address("--uplink", text)).collect::<Outcome<_>>()?;
    let capture = command::capture(options.capture.as_ref())?;
    if options.wire.is_none() && uplinks.is_empty() && capture.is_none() {
        return Ok((Wires::new(options.nodes).doing(what)?, None));
    }
    if options.trouble == Some(Trouble::Flood) {
        return Err(Failure::usage(
            "--trouble flood is for straight wires; leave --wire, --uplink and --capture away",
        ));
    }
    let pinned = addresses(options.nodes);
    let setup = Setup { stations: pinned.len(), pinned, settings, listen: None, uplinks, capture };
    let (switch, stations) = Switch::start(setup).doing(|| "start the switch".into())?;
    Ok((Wires::at_switch(stations).doing(what)?, Some(switch)))
}

impl Member for Home {
    fn process(&self) -> u32 {
        Home::process(self)
    }

    fn time_is_up(&mut self) {
        // A node that cannot be told has ended.
        let _ = Home::time_is_up(self);
    }

    fn begin(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn release(&mut self) -> Outcome<()> {
        Home::release(self);
        Ok(())
    }

    fn stop(&mut self) -> Outcome<()> {
        Home::stop(self).doing(|| "wait for a node".into())
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
