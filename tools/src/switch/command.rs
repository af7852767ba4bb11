//! `cargo lwk switch`: a switch of its own, for nodes and switches on several machines.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use lwk_switch::capture::Capture;

use super::{Seen, Settings, Setup, Switch};
use crate::failure::{Doing, Failure, Outcome};

#[derive(Clone, Debug, Args)]
pub struct SwitchOptions {
    /// Take frames in UDP datagrams here; whoever sends one gets a port: another switch, or a QEMU (-netdev dgram)
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "uplink")]
    pub listen: Option<String>,
    /// Another switch to join, where it listens; may be given more than once. Switches must not form a ring
    #[arg(long, value_name = "HOST:PORT")]
    pub uplink: Vec<String>,
    /// What wires are like and what happens to frames, as for `run --wire`
    #[arg(long, value_name = "WHAT")]
    pub wire: Option<String>,
    /// Write all frames to this file, for Wireshark
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// End after so many seconds [default: when it is interrupted]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub seconds: Option<u64>,
}

/// The settings that `--wire` names.
///
/// # Errors
/// They make no sense.
pub fn settings(wire: Option<&str>) -> Outcome<Settings> {
    let settings = wire.map_or(Ok(Settings::default()), Settings::parse);
    settings.map_err(|problem| Failure::usage(format!("--wire: {problem}")))
}

/// The address behind an option.
///
/// # Errors
/// It is none.
pub fn address(option: &str, text: &str) -> Outcome<SocketAddr> {
    let found = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| Failure::usage(format!("{option} takes HOST:PORT, as 10.0.0.7:4789, not {text:?}")))
}

/// Begins a capture, if there is to be one.
///
/// # Errors
/// Its file cannot be written.
pub fn capture(file: Option<&PathBuf>) -> Outcome<Option<Capture>> {
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let open = |file: &PathBuf| Capture::to(file, began).doing(|| format!("write {}", file.display()));
    file.map(open).transpose()
}

/// Says why a capture is not whole.
///
/// # Errors
/// It is not.
pub fn check_capture(seen: &Seen) -> Outcome<()> {
    match &seen.capture {
        Some(why) => Err(Failure::host(format!("the capture is not whole: {why}"))),
        None => Ok(()),
    }
}

/// Runs a switch until it is interrupted or its time is over; then its ports' statistics are on standard output.
///
/// # Errors
/// Wrong use, or something that this machine refuses.
pub fn run(options: &SwitchOptions) -> Outcome<i32> {
    let listen = options.listen.as_deref().map(|text| address("--listen", text)).transpose()?;
    let uplinks: Vec<_> =
        options.uplink.iter().map(|text| address("--uplink", text)).collect::<Outcome<_>>()?;
    let settings = settings(options.wire.as_deref())?;
    let capture = capture(options.capture.as_ref())?;
    let (say, hear) = channel();
    ctrlc::set_handler(move || {
        // Nobody waits any more only when it ends anyway.
        let _ = say.send(());
    })
    .map_err(|error| Failure::host(format!("cannot wait for an interruption: {error}")))?;
    let setup = Setup { stations: 0, pinned: Vec::new(), settings, listen, uplinks, capture };
    let (switch, _) = Switch::start(setup).doing(|| "start the switch".into())?;
    if let Some(address) = switch.address() {
        show!("switch at {address}");
    }
    match options.seconds {
        // Both an interruption and the end of the time end it.
        Some(seconds) => drop(hear.recv_timeout(Duration::from_secs(seconds))),
        None => drop(hear.recv()),
    }
    let seen = switch.stop();
    seen.ports.iter().enumerate().for_each(|(port, counts)| show!("port={port} {counts}"));
    check_capture(&seen)?;
    Ok(0)
}
