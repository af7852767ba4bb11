//! A node of a job in this process, without a kernel or a program: what its one rank would call is called here, and its frames are handed over. Idle peers of a
//! job are made of them ([`connect`]), and a benchmark that leaves out wires and processes.

use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytemuck::allocation::zeroed_box;
use lwk_abi::portals::{
    self as abi, ANY, EntryOptions, InterfaceOptions, NONE, PRIORITY_LIST, TableOptions, operation,
};
use lwk_frames::{FRAME_BYTES_MAX, HEAD_BYTES, Identity, NodeId, checksum, frame};
use lwk_portals::{Call, HomeCounts, Memory, Nic, Node, Settings, Span};

/// Memory of each rank, and where it begins.
const MEMORY: usize = 1 << 16;
const BASE: u64 = 0x10_0000;
/// Frames as Ethernet has them.
const ETHERNET_BYTES: usize = 1_514;
/// Nodes that a job with idle peers has beside those that run, as many as are connected or more: so all else is the same with few and with many.
pub const IDLE_MAX: u32 = 1_000;
/// Idle peers that are connected at a time: each has the tables of a node.
const TOGETHER: usize = 25;
/// How long they wait for a frame before they look after time.
const PATIENCE: Duration = Duration::from_millis(1);
/// The same when all are connected: until they see that the job is over.
const IDLE_PATIENCE: Duration = Duration::from_millis(100);

/// As [`connect`]; what goes wrong is told, and who waits for the peers is ended by the job's time limit.
pub fn connect_or_tell(station: &UnixDatagram, job: u64, running: u32, idle: u32, over: &AtomicBool) {
    if let Err(why) = connect(station, job, running, idle, over) {
        tell!("lwk: idle peers cannot be connected: {why}");
    }
}

/// Connects idle peers to the nodes below `running` of a job, some at a time: each puts something into the memory of the rank there, which may refuse it, and
/// says nothing any more but that it is there, when it is asked. Ends when the job is over.
///
/// # Errors
/// A call of Portals fails, or the wire.
pub fn connect(
    station: &UnixDatagram,
    job: u64,
    running: u32,
    idle: u32,
    over: &AtomicBool,
) -> Result<(), String> {
    station.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
    let (began, end) = (Instant::now(), running + idle);
    for first in (running..end).step_by(TOGETHER) {
        let nodes = first..end.min(first + TOGETHER as u32);
        let mut peers: Vec<Peer> = nodes
            .map(|node| Peer::new(node as u16, (running + IDLE_MAX) as u16, job))
            .collect::<Result<_, _>>()?;
        let now = || 1 + began.elapsed().as_micros() as u64;
        for peer in &mut peers {
            // Its time begins now: who is asked has not been silent before.
            peer.receive(&[], now());
            let from = peer.bind()?;
            (0..running).try_for_each(|rank| peer.put(from, rank, 8))?;
        }
        // Relaxed: a flag and nothing else.
        while !peers.iter().all(Peer::is_at_rest) && !over.load(Ordering::Relaxed) {
            for frame in peers.iter_mut().flat_map(Peer::sent) {
                // What a full wire does not take is lost, and goes again.
                let _ = station.send(&frame);
            }
            let mut come = vec![Vec::new(); peers.len()];
            while let Some(frame) = next_frame(station) {
                // A node's address ends with its number.
                let node = u32::from(u16::from_be_bytes([frame[4], frame[5]]));
                match come.get_mut(node.wrapping_sub(first) as usize) {
                    Some(frames) => frames.push(frame),
                    None => tell_still_here(station, &frame),
                }
            }
            let now = now();
            peers.iter_mut().zip(&come).for_each(|(peer, frames)| peer.receive(frames, now));
        }
    }
    station.set_read_timeout(Some(IDLE_PATIENCE)).map_err(|error| error.to_string())?;
    // Relaxed: as above.
    while !over.load(Ordering::Relaxed) {
        if let Some(frame) = next_frame(station) {
            tell_still_here(station, &frame);
        }
    }
    Ok(())
}

/// Answers for an idle peer that is asked whether it is there.
fn tell_still_here(station: &UnixDatagram, frame: &[u8]) {
    if let Some(answer) = frame::still_here(frame) {
        // Whoever gets none asks again.
        let _ = station.send(&answer);
    }
}

/// The next frame of a station's, if one comes soon.
fn next_frame(station: &UnixDatagram) -> Option<Vec<u8>> {
    let mut buffer = [0; FRAME_BYTES_MAX];
    let bytes = station.recv(&mut buffer).ok()?;
    Some(buffer[..bytes].to_vec()).filter(|frame| frame.len() >= HEAD_BYTES)
}

/// The memory of a node's rank, and the frames that it sends.
struct Home {
    memory: Vec<u8>,
    sent: Vec<Vec<u8>>,
}

impl Home {
    fn new() -> Home {
        Home { memory: vec![0; MEMORY], sent: Vec::new() }
    }

    fn range(span: &Span) -> std::ops::Range<usize> {
        let start = (span.start() - BASE) as usize;
        start..start + span.bytes() as usize
    }
}

impl Memory for Home {
    fn check(&self, rank: u32, address: u64, bytes: u64, _: bool) -> bool {
        let end = BASE + self.memory.len() as u64;
        rank == 0 && address >= BASE && address.checked_add(bytes).is_some_and(|it| it <= end)
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        into.copy_from_slice(&self.memory[Home::range(from)]);
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        self.memory[Home::range(to)].copy_from_slice(from);
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        let start = Home::range(to).start;
        self.memory.copy_within(Home::range(from), start);
    }

    fn publish(&mut self, to: &Span, word: u64) {
        self.memory[Home::range(to)].copy_from_slice(&word.to_ne_bytes());
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        checksum::append(seed, &self.memory[Home::range(from)])
    }
}

impl Nic for Home {
    fn send(&mut self, _: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let mut frame = [head, middle].concat();
        for span in body {
            frame.extend_from_slice(&self.memory[Home::range(span)]);
        }
        self.sent.push(frame);
        true
    }

    fn counts(&self) -> HomeCounts {
        HomeCounts::default()
    }
}

/// A node with one rank.
pub struct Peer {
    node: Box<Node>,
    home: Home,
    interface: u32,
    now: u64,
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn longs(longs: &[u64]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
}

impl Peer {
    /// Node `node` of a job with the number `job` and one rank on each of its `nodes` nodes.
    ///
    /// # Errors
    /// A call of Portals fails.
    pub fn new(node: u16, nodes: u16, job: u64) -> Result<Peer, String> {
        let mut it: Box<Node> = zeroed_box();
        let frame_bytes = ETHERNET_BYTES.min(FRAME_BYTES_MAX);
        let identity = Identity { node: NodeId(node), nodes, job, epoch: 1, frame_bytes };
        it.start(&Settings { identity, size: nodes.into(), loops: false });
        let mut peer = Peer { node: it, home: Home::new(), interface: 0, now: 1 };
        let options = InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL;
        peer.interface = peer.call(Call::InterfaceOpen { options, desired: 0, actual: 0 })?;
        Ok(peer)
    }

    fn call(&mut self, call: Call) -> Result<u32, String> {
        let answer = self.node.call(&mut self.home, 0, call, self.now);
        u32::try_from(answer).map_err(|_| format!("Portals' call {call:x?} answers {answer}"))
    }

    /// Puts a structure of the contract into the rank's memory.
    fn place(&mut self, bytes: &[u8]) -> u64 {
        let at = MEMORY - 256;
        self.home.memory[at..at + bytes.len()].copy_from_slice(bytes);
        BASE + at as u64
    }

    /// Opens the rank's memory to everybody.
    ///
    /// # Errors
    /// A call of Portals fails.
    pub fn open(&mut self) -> Result<(), String> {
        let interface = self.interface;
        self.call(Call::TableAllocate { interface, options: TableOptions::empty(), queue: NONE, index: 0 })?;
        let head = words(&[NONE, ANY, EntryOptions::OP_PUT.bits(), ANY, ANY, 0]);
        let entry = [longs(&[BASE, 1 << 15]), head, longs(&[0, 0, 0, 0])].concat();
        let entry = self.place(&entry);
        self.call(Call::EntryAppend { interface, index: 0, entry, list: PRIORITY_LIST }).map(drop)
    }

    /// A descriptor of the rank's memory.
    ///
    /// # Errors
    /// A call of Portals fails.
    pub fn bind(&mut self) -> Result<u32, String> {
        let descriptor = [longs(&[BASE, 1 << 15]), words(&[0, NONE, NONE, 0])].concat();
        let descriptor = self.place(&descriptor);
        self.call(Call::DescriptorBind { interface: self.interface, descriptor })
    }

    /// Puts `bytes` bytes of a descriptor into the memory of a rank.
    ///
    /// # Errors
    /// A call of Portals fails.
    pub fn put(&mut self, from: u32, rank: u32, bytes: u64) -> Result<(), String> {
        let operation = [
            words(&[operation::PUT, from, NONE, abi::ack::NONE]),
            longs(&[0, 0, bytes]),
            words(&[rank, 0, 0, 0, 0, NONE]),
            longs(&[0; 7]),
            words(&[0, 0]),
        ]
        .concat();
        let operation = self.place(&operation);
        self.call(Call::Operate { interface: self.interface, operation }).map(drop)
    }

    /// Takes frames in, and does what is due at `now`, in microseconds.
    pub fn receive(&mut self, frames: &[Vec<u8>], now: u64) {
        self.now = now;
        for frame in frames {
            self.node.receive(frame, now, &mut self.home);
        }
        self.node.work(now, &mut self.home);
    }

    /// The frames that it has sent since it was asked.
    pub fn sent(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.home.sent)
    }

    /// Whether nothing of it is under way, and it owes nothing.
    pub fn is_at_rest(&self) -> bool {
        self.node.deadline(self.now).is_none()
    }

    /// Its rank's memory.
    pub fn memory(&mut self) -> &mut [u8] {
        &mut self.home.memory
    }
}
