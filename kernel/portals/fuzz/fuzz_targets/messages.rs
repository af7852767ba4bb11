//! Any messages over a link that works: heads of all kinds, cut and too long bodies, answers that nobody asked for. They touch only memory that has been
//! opened, and the node keeps nothing of them.
#![no_main]

mod home;

use bytemuck::allocation::zeroed_box;
use home::{JOB, Machine};
use lwk_frames::{HEAD_BYTES, Identity, Link, NodeId, Sender, Upper, checksum};
use lwk_portals::message::MESSAGE_BYTES;

/// The other node: its messages, and the frames that it sends.
#[derive(Default)]
struct Port {
    messages: Vec<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

impl Upper<u32> for Port {
    fn checksum(&self, seed: u32, message: &u32, offset: u64, bytes: usize) -> u32 {
        checksum::append(seed, &self.messages[*message as usize][offset as usize..][..bytes])
    }

    fn is_waited_for(&self, _: &u32) -> bool {
        true
    }

    fn transmit(&mut self, _: NodeId, head: &[u8; HEAD_BYTES], piece: Option<(&u32, u64, usize)>) -> bool {
        let body = piece.map_or(&[][..], |(message, offset, bytes)| {
            &self.messages[*message as usize][offset as usize..][..bytes]
        });
        self.sent.push([head, body].concat());
        true
    }

    fn deliver(&mut self, _: Sender, _: &[u8], _: bool, _: bool) -> bool {
        true
    }

    fn completed(&mut self, _: NodeId, _: &u32) {}
    fn failed(&mut self, _: NodeId, _: &u32) {}
    fn broken(&mut self, _: Sender) {}
}

thread_local! {
    /// Made once: they are large.
    static BOTH: std::cell::RefCell<(Machine, Box<Link<u32>>)> = std::cell::RefCell::new({
        let mut link: Box<Link<u32>> = zeroed_box();
        link.start(Identity { node: NodeId(1), nodes: 2, job: JOB, epoch: 1, frame_bytes: 1514 });
        (Machine::new(), link)
    });
}

/// The input as messages: a byte says how long one is, in words of 16 bytes, and whether its head is made to look right.
fn messages(mut rest: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some((&length, after)) = rest.split_first() {
        let (bytes, after) = after.split_at(after.len().min(usize::from(length & 127) * 16));
        rest = after;
        let mut message = bytes.to_vec();
        if length & 128 != 0 && message.len() >= MESSAGE_BYTES {
            // A kind that there is, and matching by rank.
            message[0] = message[0] % 8 + 1;
            (message[1], message[2], message[6], message[7]) = (message[1] & 3, 3, message[6] & 1, 0);
            // From rank 1 to rank 0, table 0.
            message[8..20].copy_from_slice(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
            message[28..32].fill(0);
            // Match bits that are there or nearly; bytes as many as have come, or some more or fewer.
            message[32] &= 7;
            message[33..40].fill(0);
            let more = message[40] % 3;
            let bytes = (message.len() - MESSAGE_BYTES) as u64 + u64::from(more);
            let bytes = bytes.saturating_sub(1);
            message[40..48].copy_from_slice(&bytes.to_le_bytes());
            message[50..56].fill(0);
        }
        if !message.is_empty() {
            all.push(message);
        }
    }
    all
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    BOTH.with_borrow_mut(|(it, link)| {
        let mut port = Port { messages: messages(input), ..Port::default() };
        for (number, message) in (0..).zip(port.messages.clone()) {
            let sent = link.send(NodeId(0), message.len() as u64, number, it.now);
            assert!(sent.is_ok(), "nothing is kept of earlier ones");
        }
        // Until both have nothing to say any more, and then some for acknowledgements.
        for _ in 0..2_000 {
            it.now += 100;
            link.work(it.now, &mut port);
            for frame in std::mem::take(&mut port.sent) {
                it.receive(&frame);
            }
            it.node.work(it.now, &mut it.home);
            for frame in std::mem::take(&mut it.home.sent) {
                link.receive(&frame, it.now, &mut port);
            }
            if link.used() == (0, 0) && it.node.deadline(it.now).is_none() {
                break;
            }
        }
        it.check();
        assert_eq!(link.used(), (0, 0), "all messages have gone");
        let (_, counters) = it.node.counts();
        assert_eq!(counters.failed, 0);
    });
});
