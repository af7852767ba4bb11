//! Connections: who has connected, and a thread for each direction, so that nobody who is slow keeps the node from its work.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lwk_control::message::Hello;
use lwk_control::{Broken, Key, Receiver, Sender, accept, connect};
use serde::Serialize;
use serde::de::DeserializeOwned;

use lwk::failure::{Failure, Outcome};

use super::{PING, SILENCE};

/// How long somebody has to show that he knows the key.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// So many may be at it; others wait for their turn.
const HANDSHAKES_MAX: usize = 64;
/// How long a node is tried that is not there yet, and how long until it is tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// A connection of somebody who knows the key.
pub struct Opened {
    pub hello: Hello,
    pub peer: SocketAddr,
    pub sender: Sender<TcpStream>,
    pub receiver: Receiver<TcpStream>,
}

/// Accepts connections as long as the process lives. Whoever does not know the key is told nothing, and logged.
pub fn open(listener: TcpListener, key: Key, opened: impl Fn(Opened) + Clone + Send + 'static) {
    let busy = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for stream in listener.incoming() {
            // Relaxed: a bound, which nothing depends on.
            if busy.load(Ordering::Relaxed) >= HANDSHAKES_MAX {
                continue;
            }
            let Ok(stream) = stream else { continue };
            let (key, opened, busy) = (key.clone(), opened.clone(), busy.clone());
            busy.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                let peer = stream.peer_addr();
                match (greeted(&key, stream), peer) {
                    (Ok((hello, sender, receiver)), Ok(peer)) => {
                        opened(Opened { hello, peer, sender, receiver });
                    }
                    (Err(why), Ok(peer)) => tell!("lwk: a connection from {peer} is refused: {why}"),
                    _ => {}
                }
                busy.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn greeted(key: &Key, stream: TcpStream) -> Result<(Hello, Sender<TcpStream>, Receiver<TcpStream>), Broken> {
    prepare(&stream, HANDSHAKE)?;
    let (sender, mut receiver) = accept(key, stream.try_clone()?, stream)?;
    let hello = receiver.receive()?;
    // From now on those say something who are there; a launcher has nothing to say for long.
    let silence = if hello == Hello::Launcher { None } else { Some(SILENCE) };
    receiver.stream().set_read_timeout(silence)?;
    sender.stream().set_write_timeout(Some(SILENCE))?;
    Ok((hello, sender, receiver))
}

fn prepare(stream: &TcpStream, limit: Duration) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    rustix::net::sockopt::set_socket_keepalive(stream, true)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))
}

/// Connects to a node and says who this is.
///
/// # Errors
/// There is none, or it has another key.
pub fn reach(address: &str, key: &Key, hello: &Hello) -> Outcome<(Sender<TcpStream>, Receiver<TcpStream>)> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::host(format!("cannot talk to the node at {address}: {why}"));
    let mut stream = Err(std::io::Error::other("no such machine"));
    for address in address.to_socket_addrs().map_err(|error| failed(&error))? {
        stream = TcpStream::connect_timeout(&address, HANDSHAKE);
        if stream.is_ok() {
            break;
        }
    }
    let stream = stream.map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => failed(&"nobody listens there; are the nodes still up?"),
        _ => failed(&error),
    })?;
    let talk = |stream: TcpStream| {
        prepare(&stream, HANDSHAKE)?;
        let (mut sender, receiver) = connect(key, stream.try_clone()?, stream)?;
        sender.send(hello)?;
        receiver.stream().set_read_timeout(Some(SILENCE))?;
        sender.stream().set_write_timeout(Some(SILENCE))?;
        Ok((sender, receiver))
    };
    talk(stream).map_err(|why| match why {
        // A node tells who does not know its key nothing.
        Broken::Closed | Broken::Forged => {
            failed(&"it has another key; is this the key file that the nodes were started with?")
        }
        Broken::Stream(error) if error.kind() == ErrorKind::ConnectionReset => failed(&"it has another key"),
        why => failed(&why),
    })
}

/// As [`reach`], for a node that may not be there yet.
///
/// # Errors
/// It is not there within `limit`.
pub fn reach_within(
    limit: Duration,
    address: &str,
    key: &Key,
    hello: &Hello,
) -> Outcome<(Sender<TcpStream>, Receiver<TcpStream>)> {
    let until = Instant::now() + limit;
    loop {
        match reach(address, key, hello) {
            Err(_) if Instant::now() < until => thread::park_timeout(AGAIN),
            reached => return reached,
        }
    }
}

/// What is sent here is sent there, until this end is dropped; where nothing is to be said for a while, `idle` is.
pub struct Line<M> {
    say: mpsc::Sender<M>,
    writer: JoinHandle<()>,
}

impl<M: Serialize + Clone + Send + 'static> Line<M> {
    pub fn new(mut sender: Sender<TcpStream>, idle: Option<M>) -> Line<M> {
        let (say, hear) = mpsc::channel::<M>();
        let writer = thread::spawn(move || {
            let mut write = || -> Result<(), Broken> {
                loop {
                    match hear.recv_timeout(PING) {
                        Ok(message) => sender.send(&message)?,
                        Err(RecvTimeoutError::Timeout) => {
                            idle.iter().try_for_each(|idle| sender.send(idle))?
                        }
                        Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    }
                }
            };
            // Whoever reads from this connection learns of its end, here and there.
            let how = if write().is_ok() { std::net::Shutdown::Write } else { std::net::Shutdown::Both };
            let _ = sender.stream().shutdown(how);
        });
        Line { say, writer }
    }

    /// Sends a message, some time. If the connection is gone, its reader tells.
    pub fn say(&self, message: M) {
        let _ = self.say.send(message);
    }

    /// Another way to say something.
    pub fn sayer(&self) -> mpsc::Sender<M> {
        self.say.clone()
    }

    /// Until all has been sent, or cannot be.
    pub fn finish(self) {
        drop(self.say);
        let _ = self.writer.join();
    }
}

/// Reads messages on a thread of its own until there are no more, and tells why.
pub fn hear<M: DeserializeOwned + Send + 'static>(
    mut receiver: Receiver<TcpStream>,
    mut heard: impl FnMut(M) + Send + 'static,
    ended: impl FnOnce(String) + Send + 'static,
) {
    thread::spawn(move || {
        let why = loop {
            match receiver.receive() {
                Ok(message) => heard(message),
                Err(why) => break why,
            }
        };
        ended(match why {
            Broken::Stream(error) if lwk::session::is_time_out(error.kind()) => {
                format!("it has not answered for {} s", SILENCE.as_secs())
            }
            Broken::Closed => "its process has ended".into(),
            Broken::Stream(error) if error.kind() == ErrorKind::ConnectionReset => {
                "its process has ended".into()
            }
            why => why.to_string(),
        });
    });
}
