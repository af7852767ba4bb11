//! `--transport loopback`: a node that is its own peer. Messages between its ranks go by its card to the switch, which sends back what a station sends to itself
//! (`lwk_switch::forward`), as by the network channel of Chai's dissertation, section 7.2.

use std::os::unix::net::UnixDatagram;

use super::{addresses, job_number};
use crate::cli::RunOptions;
use crate::failure::{Doing, Outcome};
use crate::job::Job;
use crate::qemu::{Card, CardKind};
use crate::switch::{Setup, Switch, command};

/// The wire of a node in QEMU: a switch with nobody else at it.
pub struct Loop {
    switch: Switch,
    station: UnixDatagram,
    kind: CardKind,
}

impl Loop {
    /// The wire that the options ask for, if they do.
    ///
    /// # Errors
    /// They make no sense, or Linux refuses the switch.
    pub fn start(options: &RunOptions) -> Outcome<Option<Loop>> {
        if !options.job.is_loop() {
            return Ok(None);
        }
        let settings = command::settings(options.wire.as_deref())?;
        let capture = command::capture(options.capture.as_ref())?;
        let setup =
            Setup { stations: 1, pinned: addresses(1), settings, listen: None, uplinks: Vec::new(), capture };
        let (switch, stations) = Switch::start(setup).doing(|| "start the switch".into())?;
        let kind = options.nic.unwrap_or(CardKind::Virtio);
        Ok(stations.into_iter().next().map(|station| Loop { switch, station, kind }))
    }

    /// The node's card.
    ///
    /// # Errors
    /// The wire cannot be handed on.
    pub fn card(&self) -> Outcome<Card> {
        Card::new(self.kind, 0, &self.station)
    }

    /// Ends the switch and, if wanted, prints what it has seen.
    ///
    /// # Errors
    /// The capture is not whole.
    pub fn end(self, report: bool) -> Outcome<()> {
        let seen = self.switch.stop();
        if report {
            seen.ports.iter().for_each(|port| crate::tell::error(format_args!("switch port=0 {port}\n")));
        }
        command::check_capture(&seen)
    }
}

/// Tells the node of the job that it is its own peer, if the options say so.
pub fn place(job: &mut Job, options: &RunOptions) {
    if options.job.is_loop() {
        job.network = Some(lwk_job::Network { node: 0, nodes: 1, size: job.ranks, job: job_number() });
        job.irq_core = options.irq_core;
    }
}
