//! Any frames, as they are and with a right checksum, so that the fuzzer gets past it: a link neither panics nor takes more room than it has.
#![no_main]

use bytemuck::allocation::zeroed_box;
use lwk_frames::{HEAD_BYTES, Identity, Link, NodeId, PEERS_MAX, Sender, Upper, bundle, checksum, frame};

/// What belongs above and below the link: nothing is kept but the payload that has been put where it belongs.
#[derive(Default)]
struct Port {
    placed: Vec<u8>,
}

impl Upper<u32> for Port {
    fn checksum(&self, seed: u32, _: &u32, _: u64, bytes: usize) -> u32 {
        checksum::append(seed, &[0; frame::PAYLOAD_BYTES_MAX][..bytes])
    }

    fn is_waited_for(&self, message: &u32) -> bool {
        message & 1 != 0
    }

    fn is_own(&self, message: &u32) -> bool {
        message & 2 != 0
    }

    fn read_own(&self, _: &u32, into: &mut [u8]) {
        into.fill(0);
    }

    fn transmit_bytes(&mut self, _: NodeId, _: &[u8; HEAD_BYTES], bytes: &[u8]) -> bool {
        bundle::is_sound(bytes)
    }

    fn transmit(&mut self, _: NodeId, _: &[u8; HEAD_BYTES], _: Option<(&u32, u64, usize)>) -> bool {
        true
    }

    fn deliver(&mut self, from: Sender, payload: &[u8], _: bool, _: bool) -> bool {
        assert!(!payload.is_empty() && from.place < PEERS_MAX);
        payload[0] & 7 != 0
    }

    fn deliver_placed(&mut self, from: Sender, bytes: usize, _: bool) -> bool {
        assert!(bytes == self.placed.len() && from.place < PEERS_MAX);
        !bytes.is_multiple_of(3)
    }

    fn checksum_placed(&self, seed: u32, _: Sender, bytes: usize) -> u32 {
        checksum::append(seed, &self.placed[..bytes])
    }

    fn completed(&mut self, _: NodeId, _: &u32) {}
    fn failed(&mut self, _: NodeId, _: &u32) {}
    fn broken(&mut self, _: Sender) {}
}

thread_local! {
    /// Made once: it is large.
    static LINK: std::cell::RefCell<Box<Link<u32>>> = std::cell::RefCell::new({
        let mut link: Box<Link<u32>> = zeroed_box();
        link.start(Identity { node: NodeId(1), nodes: 4, job: 1, epoch: 1, frame_bytes: 1514 });
        link
    });
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    LINK.with_borrow_mut(|link| {
        let (mut now, mut port) = (0, Port::default());
        // A byte says how long a frame is, in words, and whether this node sends something meanwhile.
        let mut rest = input;
        while let Some((&length, after)) = rest.split_first() {
            let (bytes, after) = after.split_at(after.len().min(usize::from(length & 63) * 4));
            rest = after;
            now += u64::from(length) * 100;
            if length & 64 != 0 {
                let bytes = if length & 4 == 0 { 3_000 } else { 8 };
                for _ in 0..=length & 16 {
                    let _ = link.send(NodeId(u16::from(length & 3)), bytes, 7, now);
                }
            }
            link.receive(bytes, now, &mut port);
            let mut sealed = bytes.to_vec();
            if let Some((head, payload)) = sealed.split_first_chunk_mut::<HEAD_BYTES>() {
                head[12..15].copy_from_slice(&[0x88, 0xb5, 1]);
                head[18] &= 3;
                head[19] = 0;
                head[20..22].copy_from_slice(&[1, 0]);
                head[22..24].copy_from_slice(&(payload.len() as u16).to_le_bytes());
                head[24..32].copy_from_slice(&1u64.to_le_bytes());
                let sum = checksum::append(frame::head_checksum(head, checksum::append), payload);
                frame::seal(head, sum);
                // Of those whose payload may be put where it belongs at once, some are.
                if length & 32 != 0 && link.continues(head, payload.len()).is_some() {
                    port.placed = payload.to_vec();
                    link.receive_placed(head, payload.len(), now, &mut port);
                } else {
                    link.receive(&sealed, now, &mut port);
                }
            }
            link.work(now, &mut port);
            if length & 8 != 0 {
                // Somebody waits.
                let _ = link.watch(now, &mut port);
            }
            if let Some(answer) = frame::still_here(&sealed) {
                link.receive(&answer, now, &mut port);
            }
            assert!(link.deadline(now).is_none_or(|deadline| deadline >= now));
        }
    });
});
