//! An Ethernet switch for nodes on this machine and others: learns where stations are, gives each wire a bandwidth, a latency and a queue, and
//! loses, repeats, reorders and damages frames or cuts stations off if it is told to ([`options`]).
//!
//! A station is at the end of a pair of datagram sockets, or behind a UDP address: another switch, or a QEMU of another machine. A thread
//! forwards frames until the switch is stopped. A port whose station does not take its frames has a queue; a frame that comes to a queue which
//! is half full carries a mark, and one that comes to a full queue is lost. There is no spanning tree: switches must not form a ring.

pub mod capture;
pub mod forward;
mod line;
pub mod options;
mod ports;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use capture::{Capture, Direction};
pub use forward::Counts;
use forward::Forwarding;
use line::Taken;
pub use options::{Faults, Settings};
use ports::{Came, End, Ports};

/// Longest frame that is forwarded whole.
const FRAME_BYTES_MAX: usize = 16 << 10;
/// Frames taken from one port before the others have their turn.
const TURN: usize = 32;
/// How often other machines are told of this switch, in nanoseconds.
const ANNOUNCE: u64 = 1_000_000_000;

/// What a switch is to have.
#[derive(Default)]
pub struct Setup {
    /// Ports for stations of this machine.
    pub stations: usize,
    /// Addresses of the first stations: they are nowhere else.
    pub pinned: Vec<[u8; 6]>,
    pub settings: Settings,
    /// Where other machines reach it, and other switches that it reaches.
    pub listen: Option<SocketAddr>,
    pub uplinks: Vec<SocketAddr>,
    pub capture: Option<Capture>,
}

/// A running switch; it ends when it is dropped.
#[derive(Debug)]
pub struct Switch {
    /// Its end wakes the thread: of a stream, since datagram sockets do not tell of the other's end.
    end: Option<UnixStream>,
    thread: Option<JoinHandle<Seen>>,
    cuts: Sender<usize>,
    address: Option<SocketAddr>,
}

/// What a switch has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub ports: Vec<PortCounts>,
    /// Why the capture is not whole.
    pub capture: Option<String>,
}

/// What a port has seen: of the wire to its station, frames lost for want of room and marked ones, the longest queue, bytes that have
/// arrived, and pauses that it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// The other machine there.
    pub remote: Option<SocketAddr>,
    pub frames: Counts,
    pub overrun: u64,
    pub marked: u64,
    pub longest: usize,
    pub bytes: u64,
    pub pauses: u64,
}

impl std::fmt::Display for PortCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { from, to, short, lost, cut, duplicated, reordered, corrupted, flooded, forged } =
            self.frames;
        write!(
            f,
            "from={from} to={to} bytes={} lost={lost} cut={cut} duplicated={duplicated} reordered={reordered} corrupted={corrupted} \
             flooded={flooded} short={short} forged={forged} overrun={} marked={} longest={} pauses={}",
            self.bytes, self.overrun, self.marked, self.longest, self.pauses,
        )?;
        self.remote.map_or(Ok(()), |remote| write!(f, " remote={remote}"))
    }
}

impl Switch {
    /// Starts a switch; gives its stations' ends of their wires.
    ///
    /// # Errors
    /// Linux refuses sockets, an address or a thread.
    pub fn start(setup: Setup) -> io::Result<(Switch, Vec<UnixDatagram>)> {
        let pairs: Vec<_> = (0..setup.stations).map(|_| UnixDatagram::pair()).collect::<io::Result<_>>()?;
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        ours.iter().try_for_each(|socket| socket.set_nonblocking(true))?;
        let udp = ports::udp(setup.listen, &setup.uplinks)?;
        let address = udp.as_ref().map(std::net::UdpSocket::local_addr).transpose()?;
        let Settings { faults, wire, partitions } = setup.settings;
        let ports = Ports::new(ours, &setup.uplinks, udp, wire);
        let mut forwarding = Forwarding::new(ports.all.len(), faults, partitions);
        (0..).zip(&setup.pinned).for_each(|(port, address)| forwarding.pin(*address, port));
        let (end, ended) = UnixStream::pair()?;
        let (cuts, to_cut) = channel();
        let running = Running { ports, forwarding, capture: setup.capture, to_cut, began: Instant::now() };
        let thread = std::thread::Builder::new().name("switch".into()).spawn(move || running.run(&ended))?;
        Ok((Switch { end: Some(end), thread: Some(thread), cuts, address }, theirs))
    }

    /// Where other machines reach it.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Cuts a port off from all others for good: no frame gets through that comes to the switch after this call.
    pub fn cut(&self, port: usize) {
        // A switch that has ended forwards nothing.
        let _ = self.cuts.send(port);
    }

    /// Ends the switch and tells what it has seen.
    pub fn stop(mut self) -> Seen {
        self.end = None;
        // A panic has been printed.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // As above.
            let _ = thread.join();
        }
    }
}

/// The thread's.
struct Running {
    ports: Ports,
    forwarding: Forwarding,
    capture: Option<Capture>,
    to_cut: Receiver<usize>,
    began: Instant,
}

impl Running {
    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Forwards frames until the other end of `ended` is closed.
    fn run(mut self, ended: &UnixStream) -> Seen {
        // A failure of the host's ends the switch: stations then hear nothing, which their job reports.
        let _ = self.forward_until(ended);
        let counts = |(port, frames): (&ports::Port, &Counts)| PortCounts {
            remote: match port.end {
                End::Remote(address) => Some(address),
                End::Station(_) => None,
            },
            frames: *frames,
            overrun: port.line.overrun,
            marked: port.line.marked,
            longest: port.line.longest,
            bytes: port.line.bytes,
            pauses: port.pauses,
        };
        let ports = self.ports.all.iter().zip(self.forwarding.counts()).map(counts).collect();
        Seen { ports, capture: self.capture.and_then(Capture::end) }
    }

    fn forward_until(&mut self, ended: &UnixStream) -> io::Result<()> {
        let mut buffer = vec![0; FRAME_BYTES_MAX];
        let mut announced = None;
        loop {
            if self.ports.has_remotes() && announced.is_none_or(|at| self.now() >= at + ANNOUNCE) {
                announced = Some(self.now());
                self.ports.announce();
            }
            if !self.wait(ended)? {
                return Ok(());
            }
            self.to_cut.try_iter().for_each(|port| self.forwarding.cut(port));
            for port in 0..self.ports.all.len() {
                let turn = if self.ports.all[port].ready { TURN } else { 0 };
                for _ in 0..turn {
                    let came = self.ports.receive(port, &mut buffer);
                    if !self.take(came, &mut buffer) {
                        break;
                    }
                }
            }
            let turn = if self.ports.has_remotes() { TURN } else { 0 };
            for _ in 0..turn {
                let came = self.ports.receive_remote(&mut buffer);
                if !self.take(came, &mut buffer) {
                    break;
                }
            }
            let (now, all) = (self.now(), &mut self.ports.all);
            self.forwarding.release(now, |to, frame| {
                all[to].line.take(now, frame);
            });
            let capture = &mut self.capture;
            self.ports.deliver(now, |port, frame| {
                if let Some(capture) = capture {
                    capture.frame(now, port, Direction::Out, frame);
                }
            });
        }
    }

    /// Takes what has come to a port; false if nothing has.
    fn take(&mut self, came: Came, buffer: &mut [u8]) -> bool {
        let (from, length) = match came {
            Came::Nothing => return false,
            Came::New => return true,
            Came::Frame(from, length) => (from, length),
        };
        while self.forwarding.counts().len() < self.ports.all.len() {
            self.forwarding.add_port();
        }
        let now = self.now();
        let frame = &mut buffer[..length];
        if frame.is_empty() {
            // Another switch has told of itself.
            return true;
        }
        if let Some(capture) = &mut self.capture {
            capture.frame(now, from, Direction::In, frame);
        }
        if let Some(quanta) = lwk_frames::pause::asked(frame) {
            self.ports.all[from].line.pause(now, quanta);
            return true;
        }
        let (all, mut pause) = (&mut self.ports.all, None);
        self.forwarding.take(now, from, frame, |to, frame| {
            if let Taken::Pause(quanta) = all[to].line.take(now, frame) {
                pause = Some(quanta);
            }
        });
        if let Some(quanta) = pause {
            self.ports.ask_for_pause(from, quanta);
        }
        true
    }

    /// Waits until something can be done. False: the switch has been stopped.
    fn wait(&mut self, ended: &UnixStream) -> io::Result<bool> {
        let now = self.now();
        let hold = self.forwarding.next();
        let announce = self.ports.has_remotes().then_some(now + ANNOUNCE);
        let next = self.ports.next().into_iter().chain(hold).chain(announce).min();
        let wait = next.map(|next| {
            let wait = Duration::from_nanos(next.saturating_sub(now));
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() }
        });
        let mut polled = vec![PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN)];
        polled.extend(self.ports.polled());
        match poll(&mut polled, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let seen: Vec<_> = polled.iter().map(PollFd::revents).collect();
        self.ports.note(&seen[1..]);
        Ok(seen[0].is_empty())
    }
}

#[cfg(test)]
mod tests;
