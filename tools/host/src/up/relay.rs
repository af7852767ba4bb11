//! Carries frames between the card of a machine in QEMU and the sockets of its job's other nodes.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lwk_frames::{FRAME_BYTES_MAX, NodeId};
use rustix::net::sockopt::set_socket_recv_buffer_size;

/// How soon it sees that it is no longer needed; and how long it waits for a card that takes no frames before it drops one.
const LOOK: Duration = Duration::from_millis(100);
/// What a socket may hold, if Linux allows.
const ARRIVALS_BYTES: usize = 8 << 20;

/// The threads that carry; they end when it is dropped.
pub struct Relay {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    /// Between a wire to the card, and a socket at which others send, for the nodes at these addresses by their numbers.
    ///
    /// # Errors
    /// Linux refuses sockets or threads.
    pub fn start(wire: UnixDatagram, socket: UdpSocket, nodes: Vec<SocketAddr>) -> io::Result<Relay> {
        // Less is slower, and no error.
        let _ = set_socket_recv_buffer_size(&socket, ARRIVALS_BYTES);
        wire.set_read_timeout(Some(LOOK))?;
        wire.set_write_timeout(Some(LOOK))?;
        socket.set_read_timeout(Some(LOOK))?;
        let mut relay = Relay { over: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        let (wire_in, socket_out, nodes_out) = (wire.try_clone()?, socket.try_clone()?, nodes.clone());
        relay.carry(move |frame| {
            let length = wire_in.recv(frame)?;
            if let Some(to) = frame[..length].get(..6).and_then(number).and_then(|to| nodes_out.get(to)) {
                // What is lost on the way is sent again.
                let _ = socket_out.send_to(&frame[..length], to);
            }
            Ok(())
        })?;
        relay.carry(move |frame| {
            let (length, from) = socket.recv_from(frame)?;
            let says = frame[..length].get(6..12).and_then(number).and_then(|from| nodes.get(from));
            // Who is no node of the job, or speaks for another, is not heard.
            if says == Some(&from) {
                let _ = wire.send(&frame[..length]);
            }
            Ok(())
        })?;
        Ok(relay)
    }

    fn carry(&mut self, mut one: impl FnMut(&mut [u8]) -> io::Result<()> + Send + 'static) -> io::Result<()> {
        let over = self.over.clone();
        let thread = thread::Builder::new().name("relay".into()).spawn(move || {
            let mut frame = vec![0; FRAME_BYTES_MAX];
            // Relaxed: a flag and nothing else.
            while !over.load(Ordering::Relaxed) {
                // Nothing came meanwhile, or a peer's socket is gone already: neither ends the job.
                let _ = one(&mut frame);
            }
        })?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Relaxed: a flag and nothing else.
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic of its has been printed.
            let _ = thread.join();
        }
    }
}

/// The node that has this Ethernet address.
fn number(address: &[u8]) -> Option<usize> {
    let number = u16::from_be_bytes(*address.last_chunk()?);
    (NodeId(number).address() == address).then_some(usize::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u16, from: u16, rest: &[u8]) -> Vec<u8> {
        [&NodeId(to).address()[..], &NodeId(from).address(), rest].concat()
    }

    #[test]
    fn frames_go_to_whom_they_name_and_come_only_from_nodes_of_the_job() {
        let socket = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let (mine, other, stranger) = (socket(), socket(), socket());
        let at = |socket: &UdpSocket| socket.local_addr().unwrap();
        let (here, there) = (at(&mine), at(&other));
        let (card, wire) = UnixDatagram::pair().unwrap();
        let relay = Relay::start(wire, mine, vec![here, there]).unwrap();
        let mut bytes = [0; 100];
        card.send(&frame(7, 0, b"to nobody")).unwrap();
        card.send(b"short").unwrap();
        card.send(&frame(1, 0, b"to the other")).unwrap();
        let (length, from) = other.recv_from(&mut bytes).unwrap();
        assert_eq!((&bytes[..length], from), (&frame(1, 0, b"to the other")[..], here));
        stranger.send_to(&frame(0, 1, b"forged"), here).unwrap();
        other.send_to(&frame(0, 0, b"for another"), here).unwrap();
        other.send_to(b"short", here).unwrap();
        other.send_to(&frame(0, 1, b"true"), here).unwrap();
        let length = card.recv(&mut bytes).unwrap();
        assert_eq!(bytes[..length], frame(0, 1, b"true"));
        drop(relay);
        assert!(card.send(&frame(1, 0, b"late")).is_err(), "the wire ends with the relay");
    }
}
