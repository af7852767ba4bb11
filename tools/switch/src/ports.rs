//! Where a switch's wires end: sockets of stations on this machine, and other machines' addresses behind one UDP socket.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

use rustix::event::{PollFd, PollFlags};

use super::line::Line;
use super::options::Wire;

/// Most ports behind the UDP socket: whoever can reach it may take one.
const REMOTES_MAX: usize = 64;

/// What a port leads to.
#[derive(Debug)]
pub enum End {
    Station(UnixDatagram),
    Remote(SocketAddr),
}

#[derive(Debug)]
pub struct Port {
    pub end: End,
    pub line: Line,
    /// Its station is gone.
    pub gone: bool,
    /// Frames of its station's wait to be taken.
    pub ready: bool,
    /// It takes no more for now.
    full: bool,
    /// Pauses that its station was asked for.
    pub pauses: u64,
}

#[derive(Debug)]
pub struct Ports {
    pub all: Vec<Port>,
    wire: Wire,
    udp: Option<UdpSocket>,
    /// Datagrams of addresses that there was no port for.
    pub strangers: u64,
}

/// What has come.
pub enum Came {
    Frame(usize, usize),
    /// A port more than before.
    New,
    Nothing,
}

impl Ports {
    pub fn new(
        stations: Vec<UnixDatagram>,
        uplinks: &[SocketAddr],
        udp: Option<UdpSocket>,
        wire: Wire,
    ) -> Ports {
        let ends = stations.into_iter().map(End::Station);
        let ends = ends.chain(uplinks.iter().map(|address| End::Remote(*address)));
        let all = ends.map(|end| port(end, wire)).collect();
        Ports { all, wire, udp, strangers: 0 }
    }

    /// What is to be waited for, the UDP socket last, if there is one.
    pub fn polled(&self) -> Vec<PollFd<'_>> {
        let stations = self.all.iter().filter_map(|port| match &port.end {
            End::Station(socket) if !port.gone => Some((socket.as_fd(), port.full)),
            End::Station(_) | End::Remote(_) => None,
        });
        let remote_full = self.all.iter().any(|port| matches!(port.end, End::Remote(_)) && port.full);
        let udp = self.udp.iter().map(|udp| (udp.as_fd(), remote_full));
        let wanted = |full| if full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        stations.chain(udp).map(|(fd, full)| PollFd::from_borrowed_fd(fd, wanted(full))).collect()
    }

    /// Takes note of stations that have sent and of such that have gone, by what was seen of [`Ports::polled`].
    pub fn note(&mut self, seen: &[PollFlags]) {
        let stations = self.all.iter_mut().filter(|port| matches!(port.end, End::Station(_)) && !port.gone);
        for (port, flags) in stations.zip(seen) {
            port.ready = flags.contains(PollFlags::IN);
            port.gone = flags.intersects(PollFlags::HUP | PollFlags::ERR) && !port.ready;
        }
    }

    /// Asks other machines for nothing, so that they know of this switch.
    pub fn announce(&self) {
        for port in &self.all {
            if let (End::Remote(address), Some(udp)) = (&port.end, &self.udp) {
                // Nobody may be there yet.
                let _ = udp.send_to(&[], address);
            }
        }
    }

    pub fn has_remotes(&self) -> bool {
        self.udp.is_some()
    }

    /// The next frame of a station's: its bytes in `buffer`.
    pub fn receive(&mut self, number: usize, buffer: &mut [u8]) -> Came {
        let port = &mut self.all[number];
        let End::Station(socket) = &port.end else { return Came::Nothing };
        match socket.recv(buffer) {
            Ok(length) => Came::Frame(number, length),
            Err(error) => {
                port.gone |= !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
                port.ready = false;
                Came::Nothing
            }
        }
    }

    /// The next frame of another machine's.
    pub fn receive_remote(&mut self, buffer: &mut [u8]) -> Came {
        let Some(udp) = &self.udp else { return Came::Nothing };
        // An address that does not answer is told of as an error, and may answer yet.
        let Ok((length, from)) = udp.recv_from(buffer) else { return Came::Nothing };
        let known = |port: &Port| matches!(port.end, End::Remote(address) if address == from);
        if let Some(number) = self.all.iter().position(known) {
            return Came::Frame(number, length);
        }
        let remotes = self.all.iter().filter(|port| matches!(port.end, End::Remote(_))).count();
        if remotes >= REMOTES_MAX {
            self.strangers += 1;
            // It is taken as one too short to be a frame.
            return Came::New;
        }
        self.all.push(port(End::Remote(from), self.wire));
        Came::Frame(self.all.len() - 1, length)
    }

    /// Hands over what has arrived at its port, and tells `see` of each frame.
    pub fn deliver(&mut self, now: u64, mut see: impl FnMut(usize, &[u8])) {
        for (number, port) in self.all.iter_mut().enumerate() {
            port.full = false;
            while let Some(frame) = port.line.arrived(now) {
                if !sends(&port.end, self.udp.as_ref(), frame) {
                    port.full = true;
                    break;
                }
                see(number, frame);
                port.line.taken();
            }
        }
    }

    /// Asks a port's station for a pause.
    pub fn ask_for_pause(&mut self, number: usize, quanta: u16) {
        let port = &mut self.all[number];
        port.pauses += 1;
        // If its wire is full it hears of the next one.
        let _ = sends(&port.end, self.udp.as_ref(), &super::line::pause_frame(quanta));
    }

    /// When something happens next if nobody sends.
    pub fn next(&self) -> Option<u64> {
        self.all.iter().filter(|port| !port.full).filter_map(|port| port.line.next()).min()
    }
}

fn port(end: End, wire: Wire) -> Port {
    Port { end, line: Line::new(wire), gone: false, ready: false, full: false, pauses: 0 }
}

/// Whether a frame need not wait: it is gone, or nobody is there any more.
fn sends(end: &End, udp: Option<&UdpSocket>, frame: &[u8]) -> bool {
    let sent = match (end, udp) {
        (End::Station(socket), _) => socket.send(frame),
        (End::Remote(address), Some(udp)) => udp.send_to(frame, address),
        (End::Remote(_), None) => return true,
    };
    match sent {
        Ok(_) => true,
        Err(error) => {
            let full = [ErrorKind::WouldBlock, ErrorKind::Interrupted, ErrorKind::OutOfMemory];
            let no_buffers = error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error());
            !full.contains(&error.kind()) && !no_buffers
        }
    }
}

/// A UDP socket for other machines.
///
/// # Errors
/// The address cannot be had.
pub fn udp(listen: Option<SocketAddr>, uplinks: &[SocketAddr]) -> io::Result<Option<UdpSocket>> {
    let any = |address: &SocketAddr| {
        let ip = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        ip.parse().ok()
    };
    let Some(address) = listen.or_else(|| uplinks.first().and_then(any)) else { return Ok(None) };
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    Ok(Some(socket))
}
