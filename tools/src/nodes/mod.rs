//! `cargo lwk run --nodes N`: a job on several nodes, in QEMU ([`qemu`]), or as processes of this machine (crate `lwk-host`).
//!
//! Promises: as [`crate::session`]. The first node that does not end well ends the others; one that dies is reported by its number.

pub mod loopback;
pub mod peer;
pub mod qemu;
pub mod supervise;

use std::time::{SystemTime, UNIX_EPOCH};

use lwk_abi::address::MAX_RANKS;
use lwk_abi::console as kind;
use lwk_frames::checksum::append;
use lwk_frames::{NodeId, frame};
use lwk_portals::message::{Message, kind as message_kind};

use crate::cli::{RunOptions, Trouble};
use crate::console::record::Record;
use crate::failure::{Failure, Outcome};

/// Refuses what a job of several nodes cannot have.
///
/// # Errors
/// It is asked for.
pub fn refuse(options: &RunOptions) -> Outcome<()> {
    let (nodes, ranks) = (options.nodes, options.job.ranks);
    let of_one = [
        (options.gdb, "--gdb"),
        (options.valgrind.is_some(), "--valgrind"),
        (options.cwd.is_some(), "--cwd"),
        (options.out.is_some(), "--out"),
        (options.screen.is_some(), "--screen"),
        (options.node_mem.is_some(), "--node-mem"),
        (options.no_check, "--no-check"),
        (options.job.workers.is_some_and(|workers| workers > 0), "--workers"),
        (options.job.workers() > 0, "a transport with workers"),
        (options.job.is_loop(), "--transport loopback"),
    ];
    if let Some((_, option)) = of_one.iter().find(|(asked, _)| *asked) {
        return Err(Failure::usage(format!("{option} is for a job of one node; leave it away, or --nodes")));
    }
    refuse_on_host(options)?;
    if nodes > ranks {
        return Err(Failure::usage(format!(
            "{nodes} nodes need at least {nodes} ranks, not {ranks}; ask for more with -n"
        )));
    }
    if options.idle_peers.is_some() && nodes != ranks {
        return Err(Failure::usage(
            "--idle-peers is for nodes of one rank each; ask for as many ranks as nodes",
        ));
    }
    if ranks.div_ceil(nodes) > MAX_RANKS as u32 {
        return Err(Failure::usage(format!("a node holds at most {MAX_RANKS} ranks; ask for more nodes")));
    }
    Ok(())
}

/// Refuses what only nodes in QEMU can have.
fn refuse_on_host(options: &RunOptions) -> Outcome<()> {
    let in_qemu = [
        (options.nic.is_some(), "--nic"),
        (options.irq_core.is_some(), "--irq-core"),
        (matches!(options.trouble, Some(Trouble::Unplug | Trouble::Storm)), "--trouble unplug or storm"),
    ];
    match in_qemu.iter().find(|(asked, _)| *asked && options.host) {
        Some((_, option)) => {
            Err(Failure::usage(format!("{option} is for nodes in QEMU; leave it away, or --host")))
        }
        None => Ok(()),
    }
}

/// Refuses what only a job of several nodes can have. A node that is its own peer has a wire, but nobody else is there.
///
/// # Errors
/// It is asked for.
pub fn refuse_for_one(options: &RunOptions) -> Outcome<()> {
    let of_peers = [
        (options.trouble.is_some(), "--trouble"),
        (options.uplink.is_some(), "--uplink"),
        (options.idle_peers.is_some(), "--idle-peers"),
    ];
    let of_wires = [
        (options.wire.is_some(), "--wire"),
        (options.capture.is_some(), "--capture"),
        (options.nic.is_some(), "--nic"),
        (options.irq_core.is_some(), "--irq-core"),
    ];
    let of_wires = of_wires.into_iter().filter(|_| !options.job.is_loop());
    match of_wires.chain(of_peers).find(|(asked, _)| *asked) {
        Some((_, option)) => {
            Err(Failure::usage(format!("{option} is for several nodes; ask for them with --nodes")))
        }
        None => refuse_on_host(options),
    }
}

/// The first rank of a node: ranks are spread in their order, as evenly as it goes (`lwk_portals::Ranks`, which the nodes go by).
pub fn first_rank(node: u32, nodes: u32, size: u32) -> u32 {
    (u64::from(node) * u64::from(size) / u64::from(nodes)) as u32
}

/// Ranks of a node.
pub fn ranks_of(node: u32, nodes: u32, size: u32) -> u32 {
    first_rank(node + 1, nodes, size) - first_rank(node, nodes, size)
}

/// Ethernet addresses of all nodes.
pub fn addresses(nodes: u32) -> Vec<[u8; 6]> {
    (0..nodes).map(|node| NodeId(node as u16).address()).collect()
}

/// A number for a job: any but 0 that no other job has now.
pub fn job_number() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64 | 1)
}

/// A node's record as one of the job: ranks by their number in the job, and the node's name where it speaks of itself.
fn of_job(record: Record, node: usize, first: u32) -> Record {
    let number = match record.kind {
        kind::STDOUT | kind::STDOUT_PART | kind::STDERR | kind::STDERR_PART | kind::FAILURE | kind::FRAME => {
            record.number + first
        }
        _ => record.number,
    };
    let text = match record.kind {
        kind::FAILURE | kind::KERNEL => [format!("node {node}: ").into_bytes(), record.text].concat(),
        _ => record.text,
    };
    Record { kind: record.kind, number, text }
}

/// Noise for a node's card: bytes at random, a frame that looks almost right, or one of another job's that is right in every byte. The same in every run.
pub struct Noise {
    state: u64,
    frame: Vec<u8>,
}

impl Noise {
    /// Noise from its beginning.
    #[expect(clippy::new_without_default, reason = "it begins where it always does")]
    pub fn new() -> Noise {
        Noise { state: 0x9e37_79b9_7f4a_7c15, frame: vec![0; 10_000] }
    }

    fn next(&mut self) -> u64 {
        // Marsaglia's xorshift64.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// The next frame for a node.
    pub fn frame(&mut self, node: usize) -> &[u8] {
        let length = 14 + self.next() as usize % (self.frame.len() - 14);
        for at in 0..128 {
            self.frame[at] = self.next() as u8;
        }
        let kind = self.next() % 4;
        if kind == 0 || kind == 3 {
            // From an address that is nobody's, or from that of the other node, which the switch must not believe to be here.
            let other = NodeId(1 - node.min(1) as u16);
            return self.of_another_job(node, if kind == 0 { NodeId(u16::MAX) } else { other });
        }
        if kind == 1 {
            // Of this protocol, from a node of the job to this one, whose address it carries.
            let bytes = [self.next() as u8 & 31, 0, self.next() as u8 % 4, 0, node as u8, 0];
            self.frame[..6].copy_from_slice(&NodeId(node as u16).address());
            self.frame[12..16].copy_from_slice(&[0x88, 0xb5, 1, 0]);
            self.frame[16..22].copy_from_slice(&bytes);
        }
        &self.frame[..length]
    }

    /// What a node of another job would send if the wire led here: a put into a rank's memory, whole and with its checksum, from the Ethernet address of
    /// `source`.
    fn of_another_job(&mut self, node: usize, source: NodeId) -> &[u8] {
        /// What the put carries.
        const PAYLOAD: u64 = 512;
        /// The link's flags: data, the first and the last of a message.
        const WHOLE: u8 = 2 | 4 | 8;
        let ranks = [0, 1].map(|rank| if node == 0 { 1 - rank } else { rank });
        let message = Message {
            kind: message_kind::PUT,
            interface: 3,
            source: ranks[0],
            target: ranks[1],
            bits: 1,
            bytes: PAYLOAD,
            ..Message::default()
        };
        let payload = [&message.encode()[..], &[0xee; PAYLOAD as usize]].concat();
        let (from, to) = (NodeId(1 - node.min(1) as u16), NodeId(node as u16));
        let (length, job) = (payload.len() as u16, self.next() | 1 << 63);
        let epochs = [0, 1].map(|_| self.next() % 2);
        // As `lwk_frames::frame` has it.
        let pieces: [&[u8]; 12] = [
            &to.address(),
            &source.address(),
            &frame::ETHERTYPE.to_be_bytes(),
            &[1, 0, WHOLE, 0],
            &from.0.to_le_bytes(),
            &to.0.to_le_bytes(),
            &length.to_le_bytes(),
            &job.to_le_bytes(),
            &epochs[0].to_le_bytes(),
            &epochs[1].to_le_bytes(),
            // The number of the first frame of a stream; no other is expected, none is held, and no checksum yet.
            &[0; 12],
            &[0; 4],
        ];
        let mut head = [0; lwk_frames::HEAD_BYTES];
        for (to, byte) in head.iter_mut().zip(pieces.into_iter().flatten()) {
            *to = *byte;
        }
        let sum = append(frame::head_checksum(&head, append), &payload);
        frame::seal(&mut head, sum);
        let length = head.len() + payload.len();
        self.frame[..head.len()].copy_from_slice(&head);
        self.frame[head.len()..length].copy_from_slice(&payload);
        &self.frame[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_another_job_is_right_in_every_byte() {
        let mut noise = Noise::new();
        for node in [0, 1, 1, 0] {
            let (head, payload) =
                frame::parse(noise.of_another_job(node, NodeId(9)), lwk_frames::checksum::append).unwrap();
            assert_eq!((usize::from(head.destination.0), usize::from(head.source.0)), (node, 1 - node));
            let (message, data) = Message::parse(payload).unwrap();
            assert!(
                head.job != 0 && data.len() as u64 == message.body_bytes() && message.target == node as u32
            );
        }
    }
}
