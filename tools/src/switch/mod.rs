//! An Ethernet switch for nodes on this machine: learns where stations are, and loses, repeats, reorders and damages frames if it is told to.
//!
//! Each port is a pair of datagram sockets, one end the switch's. A thread forwards frames until the switch is dropped. A port whose station
//! does not take its frames has a queue; a frame that comes to a queue which is half full carries a mark, and one that comes to a full queue is lost.

pub mod forward;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::thread::JoinHandle;

use lwk_frames::frame::{AT_MARK, ETHERTYPE, MARK};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use forward::Forwarding;
pub use forward::{Counts, Faults};

/// Frames that wait for a station, at most.
const QUEUE: usize = 512;
/// From so many on they are marked.
const MARK_FROM: usize = QUEUE / 2;
/// Longest frame that is forwarded whole.
const FRAME_BYTES_MAX: usize = 16 << 10;
/// Frames taken from one port before the others have their turn.
const TURN: usize = 32;
/// How long a frame that is to be overtaken waits for the next one.
const HOLD: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// A running switch; it ends when it is dropped.
#[derive(Debug)]
pub struct Switch {
    /// Its end wakes the thread: of a stream, since datagram sockets do not tell of the other's end.
    end: Option<UnixStream>,
    thread: Option<JoinHandle<Vec<PortCounts>>>,
}

/// What a port has seen, frames lost for want of room and marked ones with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    pub frames: Counts,
    pub overrun: u64,
    pub marked: u64,
}

impl Switch {
    /// Starts a switch with `ports` ports; gives the stations' ends of their wires.
    ///
    /// # Errors
    /// Linux refuses sockets or a thread.
    pub fn start(ports: usize, faults: Faults) -> io::Result<(Switch, Vec<UnixDatagram>)> {
        let pairs: Vec<_> = (0..ports).map(|_| UnixDatagram::pair()).collect::<io::Result<_>>()?;
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        ours.iter().try_for_each(|socket| socket.set_nonblocking(true))?;
        let (end, ended) = UnixStream::pair()?;
        let thread = std::thread::Builder::new().name("switch".into()).spawn(move || {
            let queues = ours.iter().map(|_| Queue::default()).collect();
            let mut wires = Wires { sockets: ours, queues };
            let mut forwarding = Forwarding::new(wires.sockets.len(), faults);
            // A failure of the host's ends the switch: stations then hear nothing, which their job reports.
            let _ = forward_until(&ended, &mut wires, &mut forwarding);
            let counts = forwarding.counts().iter().zip(&wires.queues);
            counts.map(|(frames, queue)| PortCounts { frames: *frames, ..queue.counts }).collect()
        })?;
        Ok((Switch { end: Some(end), thread: Some(thread) }, theirs))
    }

    /// Ends the switch and tells what its ports have seen.
    pub fn stop(mut self) -> Vec<PortCounts> {
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

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    counts: PortCounts,
}

struct Wires {
    sockets: Vec<UnixDatagram>,
    queues: Vec<Queue>,
}

impl Wires {
    /// Sends a frame to a port, or has it wait there.
    fn send(sockets: &[UnixDatagram], queues: &mut [Queue], port: usize, frame: &[u8]) {
        let queue = &mut queues[port];
        if queue.frames.is_empty() && sends(&sockets[port], frame) {
            return;
        }
        if queue.frames.len() >= QUEUE {
            queue.counts.overrun += 1;
            return;
        }
        let mut frame = frame.to_vec();
        let ours = frame.get(12..14) == Some(&ETHERTYPE.to_be_bytes()[..]);
        if queue.frames.len() >= MARK_FROM && ours && frame.len() > AT_MARK {
            frame[AT_MARK] |= MARK;
            queue.counts.marked += 1;
        }
        queue.frames.push_back(frame);
    }

    /// Sends what waits for a port, as far as its station takes it.
    fn drain(&mut self, port: usize) {
        let queue = &mut self.queues[port].frames;
        while let Some(frame) = queue.front()
            && sends(&self.sockets[port], frame)
        {
            queue.pop_front();
        }
    }
}

/// Whether a frame need not wait: it is gone, or nobody is there any more.
fn sends(socket: &UnixDatagram, frame: &[u8]) -> bool {
    match socket.send(frame) {
        Ok(_) => true,
        Err(error) => {
            let full = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted, io::ErrorKind::OutOfMemory];
            !full.contains(&error.kind())
                && error.raw_os_error() != Some(rustix::io::Errno::NOBUFS.raw_os_error())
        }
    }
}

/// Forwards frames until the other end of `ended` is closed.
fn forward_until(ended: &UnixStream, wires: &mut Wires, forwarding: &mut Forwarding) -> io::Result<()> {
    let mut buffer = vec![0; FRAME_BYTES_MAX];
    // Ports whose station is gone.
    let mut gone = vec![false; wires.sockets.len()];
    loop {
        let ready = wait(ended.as_fd(), wires, &gone, forwarding.holds())?;
        let Some(ready) = ready else { return Ok(()) };
        let any = ready.iter().any(|flags| flags.contains(PollFlags::IN));
        for (port, flags) in ready.iter().enumerate() {
            if flags.contains(PollFlags::OUT) {
                wires.drain(port);
            }
            if !flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                continue;
            }
            for _ in 0..TURN {
                let length = match wires.sockets[port].recv(&mut buffer) {
                    Ok(length) => length,
                    Err(error) => {
                        let waits =
                            matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
                        gone[port] |= !waits;
                        break;
                    }
                };
                let Wires { sockets, queues } = &mut *wires;
                forwarding
                    .take(port, &mut buffer[..length], |to, frame| Wires::send(sockets, queues, to, frame));
            }
            gone[port] |= flags.contains(PollFlags::HUP) && !flags.contains(PollFlags::IN);
        }
        if !any {
            let Wires { sockets, queues } = &mut *wires;
            forwarding.release(|to, frame| Wires::send(sockets, queues, to, frame));
        }
    }
}

/// Waits until something can be done; for a moment only if `briefly`. None: the switch has been dropped.
fn wait(
    ended: BorrowedFd<'_>,
    wires: &Wires,
    gone: &[bool],
    briefly: bool,
) -> io::Result<Option<Vec<PollFlags>>> {
    let wanted = |port: usize| match (gone[port], wires.queues[port].frames.is_empty()) {
        (true, _) => PollFlags::empty(),
        (false, true) => PollFlags::IN,
        (false, false) => PollFlags::IN | PollFlags::OUT,
    };
    let ports = (0..wires.sockets.len()).filter(|port| !gone[*port]);
    let mut polled = vec![PollFd::from_borrowed_fd(ended, PollFlags::IN)];
    polled.extend(ports.clone().map(|port| PollFd::new(&wires.sockets[port], wanted(port))));
    match poll(&mut polled, briefly.then_some(&HOLD)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    if !polled[0].revents().is_empty() {
        return Ok(None);
    }
    let mut ready = vec![PollFlags::empty(); wires.sockets.len()];
    for (port, polled) in ports.zip(&polled[1..]) {
        ready[port] = polled.revents();
    }
    Ok(Some(ready))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_reach_their_station_and_a_slow_one_loses_none_that_fit() {
        let (switch, stations) = Switch::start(2, Faults::default()).unwrap();
        let frame = |number: u16| {
            let head = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0xb5, 1, 0];
            [&head[..], &number.to_le_bytes()].concat()
        };
        for number in 0..QUEUE as u16 {
            stations[0].send(&frame(number)).unwrap();
        }
        let mut buffer = [0; 64];
        let mut marked = 0;
        for number in 0..QUEUE as u16 {
            let length = stations[1].recv(&mut buffer).unwrap();
            marked += u64::from(buffer[AT_MARK]);
            buffer[AT_MARK] = 0;
            assert_eq!(buffer[..length], frame(number));
        }
        drop(stations);
        let counts = switch.stop();
        assert_eq!((counts[0].frames.from, counts[1].frames.to), (QUEUE as u64, QUEUE as u64));
        assert_eq!((counts[1].overrun, counts[1].marked), (0, marked));
    }
}
