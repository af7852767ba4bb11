//! What a receive costs with few and with many connected peers (O2G slides): the crates that match and deliver, `lwk-portals` and `lwk-frames`, on frames that
//! are handed to them one by one. No card, no wire, no other process: only what could grow with the number of peers.

use std::time::{Duration, Instant};

use bytemuck::allocation::zeroed_box;
use lwk_abi::portals::{self as abi, ANY, NONE, PRIORITY_LIST, entry, interface, operation};
use lwk_abi::syscall::portals as call;
use lwk_frames::{FRAME_BYTES_MAX, Identity, NodeId, checksum};
use lwk_portals::{HomeCounts, Memory, Nic, Node, Settings, Span};

/// Memory of each rank, and where it begins.
const MEMORY: usize = 1 << 16;
const BASE: u64 = 0x10_0000;
/// Messages between two looks at the clock, and such looks for each figure.
const MESSAGES: u32 = 64;
const LOOKS: usize = 41;
/// Frames as Ethernet has them.
const ETHERNET_BYTES: usize = 1_514;

/// The memory of a node's rank, and the frames that it sends.
struct Home {
    memory: Vec<u8>,
    sent: Vec<(u16, Vec<u8>)>,
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
    fn send(&mut self, to: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let mut frame = [head, middle].concat();
        for span in body {
            frame.extend_from_slice(&self.memory[Home::range(span)]);
        }
        self.sent.push((to.0, frame));
        true
    }

    fn counts(&self) -> HomeCounts {
        HomeCounts::default()
    }
}

/// A node with one rank.
struct Machine {
    node: Box<Node>,
    home: Home,
    interface: u64,
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn longs(longs: &[u64]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
}

impl Machine {
    fn new(node: u16, nodes: u16) -> Result<Machine, String> {
        let mut it: Box<Node> = zeroed_box();
        let frame_bytes = ETHERNET_BYTES.min(FRAME_BYTES_MAX);
        let identity = Identity { node: NodeId(node), nodes, job: 1, epoch: 1, frame_bytes };
        it.start(&Settings { identity, size: nodes.into() });
        let mut machine = Machine { node: it, home: Home::new(), interface: 0 };
        let options = interface::MATCHING | interface::LOGICAL;
        machine.interface = machine.call(call::INTERFACE_OPEN, [options.into(), 0, 0, 0])?;
        Ok(machine)
    }

    fn call(&mut self, number: u64, [a, b, c, d]: [u64; 4]) -> Result<u64, String> {
        let answer = self.node.call(&mut self.home, 0, number, [a, b, c, d, 0, 0], 1);
        u64::try_from(answer).map_err(|_| format!("Portals' call {number:#x} answers {answer}"))
    }

    /// Puts a structure of the contract into the rank's memory.
    fn place(&mut self, bytes: &[u8]) -> u64 {
        let at = MEMORY - 256;
        self.home.memory[at..at + bytes.len()].copy_from_slice(bytes);
        BASE + at as u64
    }

    /// Opens the rank's memory to everybody.
    fn open(&mut self) -> Result<(), String> {
        self.call(call::TABLE_ALLOCATE, [self.interface, 0, NONE.into(), 0])?;
        let head = words(&[NONE, ANY, entry::OP_PUT, ANY, ANY, 0]);
        let entry = [longs(&[BASE, 1 << 15]), head, longs(&[0, 0, 0, 0])].concat();
        let entry = self.place(&entry);
        self.call(call::ENTRY_APPEND, [self.interface, 0, entry, PRIORITY_LIST.into()]).map(drop)
    }

    fn bind(&mut self) -> Result<u32, String> {
        let descriptor = [longs(&[BASE, 1 << 15]), words(&[0, NONE, NONE, 0])].concat();
        let descriptor = self.place(&descriptor);
        Ok(self.call(call::DESCRIPTOR_BIND, [self.interface, descriptor, 0, 0])? as u32)
    }

    /// Puts `bytes` bytes into rank 0's memory.
    fn put(&mut self, from: u32, bytes: u64) -> Result<(), String> {
        let operation = [
            words(&[operation::PUT, from, NONE, abi::ack::NONE]),
            longs(&[0, 0, bytes]),
            words(&[0, 0, 0, 0, 0, NONE]),
            longs(&[0; 7]),
            words(&[0, 0]),
        ]
        .concat();
        let operation = self.place(&operation);
        self.call(call::OPERATE, [self.interface, operation, 0, 0]).map(drop)
    }

    fn receive(&mut self, frames: &[(u16, Vec<u8>)], now: u64) {
        for (_, frame) in frames {
            self.node.receive(frame, now, &mut self.home);
        }
        self.node.work(now, &mut self.home);
    }
}

/// A node with a number of connected peers, of which one sends.
struct Network {
    target: Machine,
    sender: Machine,
    from: u32,
    now: u64,
}

impl Network {
    fn new(peers: u16) -> Result<Network, String> {
        let mut target = Machine::new(0, peers + 1)?;
        target.open()?;
        let mut now = 1;
        for peer in 2..=peers {
            let mut idle = Machine::new(peer, peers + 1)?;
            let from = idle.bind()?;
            idle.put(from, 8)?;
            settle(&mut idle, &mut target, &mut now);
        }
        let mut sender = Machine::new(1, peers + 1)?;
        let from = sender.bind()?;
        sender.put(from, 8)?;
        settle(&mut sender, &mut target, &mut now);
        Ok(Network { target, sender, from, now })
    }

    /// Time of the target for a number of messages.
    fn look(&mut self, bytes: u64) -> Result<Duration, String> {
        let mut time = Duration::ZERO;
        for _ in 0..MESSAGES {
            self.sender.put(self.from, bytes)?;
            while !self.sender.home.sent.is_empty() || !self.target.home.sent.is_empty() {
                let frames = std::mem::take(&mut self.sender.home.sent);
                self.now += 5;
                let begun = Instant::now();
                self.target.receive(&frames, self.now);
                time += begun.elapsed();
                let answers = std::mem::take(&mut self.target.home.sent);
                self.sender.receive(&answers, self.now);
            }
        }
        Ok(time)
    }
}

/// Carries frames until nobody has any.
fn settle(one: &mut Machine, other: &mut Machine, now: &mut u64) {
    loop {
        let frames = (std::mem::take(&mut one.home.sent), std::mem::take(&mut other.home.sent));
        if frames.0.is_empty() && frames.1.is_empty() {
            return;
        }
        *now += 5;
        other.receive(&frames.0, *now);
        one.receive(&frames.1, *now);
    }
}

/// Nanoseconds of a receive of each size, for each number of peers, in the order of both. The networks take turns; medians.
///
/// # Errors
/// A call of Portals fails.
pub fn measure(peers: &[u16], sizes: &[u64]) -> Result<Vec<Vec<f64>>, String> {
    let mut networks = peers.iter().map(|peers| Network::new(*peers)).collect::<Result<Vec<_>, _>>()?;
    let mut table = vec![Vec::new(); peers.len()];
    for bytes in sizes {
        let mut looks = vec![Vec::new(); peers.len()];
        for _ in 0..LOOKS {
            for (network, looks) in networks.iter_mut().zip(&mut looks) {
                looks.push(network.look(*bytes)?);
            }
        }
        for (row, looks) in table.iter_mut().zip(&mut looks) {
            looks.sort_unstable();
            row.push(looks[LOOKS / 2].as_nanos() as f64 / f64::from(MESSAGES));
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_and_is_measured() {
        let mut network = Network::new(3).unwrap();
        network.sender.home.memory[..3_000].fill(7);
        assert!(network.look(3_000).unwrap() > Duration::ZERO);
        assert_eq!(network.target.home.memory[..3_000], [7; 3_000]);
        let table = measure(&[2, 4], &[64]).unwrap();
        assert!(table.iter().all(|row| row.len() == 1 && row[0] > 0.0));
    }
}
