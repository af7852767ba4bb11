//! Wires in the place of a card: a pair of datagram sockets without a name for each node. A node receives at one end, and whoever sends to it writes into
//! the other, which all nodes have inherited from the host tool. So nobody else can send, and nothing is left behind. Nodes of several machines have UDP sockets
//! ([`Sockets`]) in their place.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;

use lwk_frames::{FRAME_BYTES_MAX, JUMBO_BYTES};
use lwk_job::Job;

/// The environment variable by which a node learns of its wires: bytes of the longest frame, the descriptor to receive at, then those to send to each node.
const WIRES: &str = "MARGAY_HOST_WIRES";
/// What a wire may hold, if Linux allows.
const WIRE_BYTES: libc::c_int = 8 << 20;

/// The wires between the nodes of a job: by node, where it receives, and where others send to it. At a switch both are the node's end of its only wire, and
/// it sends there, whoever is meant.
#[derive(Debug)]
pub struct Wires {
    ends: Vec<(UnixDatagram, UnixDatagram)>,
    at_switch: bool,
    /// Nodes of the job that are at the switch alone.
    beyond: usize,
}

impl Wires {
    /// A wire to each of `nodes` nodes.
    ///
    /// # Errors
    /// Linux refuses the sockets.
    pub fn new(nodes: u32) -> io::Result<Arc<Wires>> {
        let wire = |_| {
            let (receives, sends) = UnixDatagram::pair()?;
            for socket in [&receives, &sends] {
                nonblocking(socket)?;
            }
            widen(&sends);
            Ok((receives, sends))
        };
        let ends = (0..nodes).map(wire).collect::<io::Result<_>>()?;
        Ok(Arc::new(Wires { ends, at_switch: false, beyond: 0 }))
    }

    /// The wires of nodes that a switch joins, by their ends there; the job has `beyond` nodes more, which the switch knows how to reach.
    ///
    /// # Errors
    /// Linux refuses descriptors.
    pub fn at_switch(stations: Vec<UnixDatagram>, beyond: usize) -> io::Result<Arc<Wires>> {
        let wire = |station: UnixDatagram| {
            let same = station.try_clone()?;
            for socket in [&station, &same] {
                nonblocking(socket)?;
            }
            widen(&station);
            Ok((station, same))
        };
        let ends = stations.into_iter().map(wire).collect::<io::Result<_>>()?;
        Ok(Arc::new(Wires { ends, at_switch: true, beyond }))
    }

    /// Puts any bytes on the wire to a node, as a card would: for tests, without a switch. False if the wire is full.
    pub fn inject(&self, node: usize, frame: &[u8]) -> bool {
        self.ends[node].1.send(frame).is_ok()
    }
}

/// Lets a wire hold more, if Linux allows. Less is slower, and no error.
fn widen(sends: &impl AsRawFd) {
    set_room(sends, libc::SO_SNDBUF);
}

/// As [`widen`], where the room is the receiver's.
fn widen_arrivals(receives: &UdpSocket) {
    set_room(receives, libc::SO_RCVBUF);
}

fn set_room(socket: &impl AsRawFd, option: libc::c_int) {
    // SAFETY: the call reads one number.
    unsafe {
        let bytes = std::ptr::from_ref(&WIRE_BYTES).cast();
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, bytes, length);
    }
}

fn nonblocking(socket: &UnixDatagram) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    inherit(socket.as_raw_fd())
}

/// Has processes that are started from now on inherit a descriptor. Makes one system call and nothing else, so that it may be used between
/// fork and exec.
pub(crate) fn inherit(fd: RawFd) -> io::Result<()> {
    // SAFETY: clears the flags of a descriptor, of which there is one.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A node's place at the wires.
#[derive(Clone, Debug)]
pub enum Plug {
    /// Between nodes that this process starts.
    Wire { wires: Arc<Wires>, node: usize },
    /// Between nodes of several processes or machines.
    Sockets(Arc<Sockets>),
}

/// Where a node takes frames, and where it sends those for each node of the job. Only the node that is started with them inherits them.
#[derive(Debug)]
pub struct Sockets {
    receives: UdpSocket,
    sends: Vec<UdpSocket>,
}

impl Sockets {
    /// The node receives at `receives`, and node n of the job at the n-th address.
    ///
    /// # Errors
    /// Linux refuses the sockets.
    pub fn new(receives: UdpSocket, nodes: &[SocketAddr]) -> io::Result<Arc<Sockets>> {
        receives.set_nonblocking(true)?;
        let from = SocketAddr::new(receives.local_addr()?.ip(), 0);
        let wire = |to: &SocketAddr| {
            let sends = UdpSocket::bind(from)?;
            sends.connect(to)?;
            sends.set_nonblocking(true)?;
            widen(&sends);
            Ok(sends)
        };
        let sends = nodes.iter().map(wire).collect::<io::Result<_>>()?;
        widen_arrivals(&receives);
        Ok(Arc::new(Sockets { receives, sends }))
    }
}

impl Plug {
    /// The environment variable that tells the node's process of it.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        let words: Vec<String> = match self {
            Plug::Wire { wires, node } => {
                let Wires { ends, at_switch, beyond } = &**wires;
                let (receives, own) = &ends[*node];
                let ends = ends.iter().map(|(_, sends)| if *at_switch { own } else { sends }.as_raw_fd());
                let ends = ends.chain(std::iter::repeat_n(own.as_raw_fd(), *beyond));
                std::iter::once(receives.as_raw_fd()).chain(ends).map(|fd| fd.to_string()).collect()
            }
            Plug::Sockets(_) => self.to_inherit().iter().map(RawFd::to_string).collect(),
        };
        (WIRES, format!("{},{}", self.frame_bytes(), words.join(",")))
    }

    /// Longest frame. A switch and a network have Ethernet's; straight wires are memory of this machine, and each frame costs two system calls.
    fn frame_bytes(&self) -> usize {
        match self {
            Plug::Wire { wires, .. } if !wires.at_switch => FRAME_BYTES_MAX,
            _ => JUMBO_BYTES,
        }
    }

    /// Descriptors that are closed in every process but the one to be started.
    pub(crate) fn to_inherit(&self) -> Vec<RawFd> {
        match self {
            Plug::Wire { .. } => Vec::new(),
            Plug::Sockets(sockets) => {
                let sends = sockets.sends.iter().map(AsRawFd::as_raw_fd);
                std::iter::once(sockets.receives.as_raw_fd()).chain(sends).collect()
            }
        }
    }
}

/// Wires as a node's process has them.
#[derive(Debug)]
pub(super) struct Named {
    /// Bytes of the longest frame.
    pub frame_bytes: usize,
    /// Where frames come in, and where they go to each node; none in a job of one node.
    pub receives: Option<RawFd>,
    pub sends: Vec<RawFd>,
}

/// The wires that the environment names.
pub(super) fn named(job: &Job<'_>) -> io::Result<Named> {
    let Some(network) = job.network else {
        return Ok(Named { frame_bytes: FRAME_BYTES_MAX, receives: None, sends: Vec::new() });
    };
    let text = std::env::var(WIRES).map_err(io::Error::other)?;
    let words: Vec<RawFd> = text.split(',').filter_map(|word| word.parse().ok()).collect();
    match *words {
        [bytes, receives, ref sends @ ..] if sends.len() == network.nodes as usize => {
            let frame_bytes = usize::try_from(bytes).unwrap_or(0);
            Ok(Named { frame_bytes, receives: Some(receives), sends: sends.to_vec() })
        }
        _ => Err(io::Error::other("the wires are not those of the job")),
    }
}
