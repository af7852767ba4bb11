//! Random messages between all ranks, received by random patterns: order and wildcards against a model.
//!
//! All ranks derive the same plan from one seed, which is printed: for each ordered pair of ranks a list of messages with tags and
//! sizes. A receiver picks a pattern that some outstanding message satisfies, and checks that it got the oldest one of its sender that the
//! pattern accepts (non-overtaking order, MPI-4.1, section 3.5).

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, ANY_TAG, Communicator};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::request::Mode;
use lwk_user::{job, println};

/// Messages from each rank to each.
const MESSAGES: usize = 300;
const TAGS: i32 = 4;

/// A linear congruential generator (Knuth's MMIX); its high bits are good enough for a test.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[derive(Clone, Copy)]
struct Message {
    number: u32,
    tag: i32,
    bytes: usize,
    mode: Mode,
}

/// What `sender` sends to `receiver`, in order.
fn plan(seed: u64, sender: u64, receiver: u64) -> Vec<Message> {
    let mut random = Random(seed ^ (sender << 32 | receiver << 8));
    let mut message = |number| {
        let bytes = match random.below(20) {
            0 => random.below(150_000),
            1..=4 => random.below(3000),
            _ => random.below(70),
        };
        let mode = if random.below(8) == 0 { Mode::Synchronous } else { Mode::Standard };
        Message { number, tag: random.below(TAGS as u64) as i32, bytes: bytes as usize + 8, mode }
    };
    (0..MESSAGES as u32).map(&mut message).collect()
}

fn content(sender: u64, message: &Message) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..message.bytes).map(|index| (index * 13 + message.number as usize) as u8).collect();
    bytes[..4].copy_from_slice(&message.number.to_ne_bytes());
    bytes[4..8].copy_from_slice(&(sender as u32).to_ne_bytes());
    bytes
}

pub fn run(world: Communicator, seed: Option<u64>) -> Result<()> {
    let (rank, size) = (world.rank()? as u64, world.size()? as u64);
    let mut seed = [seed.unwrap_or(lwk_boot_tests::random::SEED)];
    world.broadcast(&mut seed, 0)?;
    if rank == 0 {
        println!("seed {}", seed[0]);
    }
    let mut random = Random(seed[0] ^ rank.wrapping_mul(0x9e37_79b9));
    let mut outgoing: Vec<(u64, VecDeque<Message>)> =
        (0..size).map(|peer| (peer, plan(seed[0], rank, peer).into())).collect();
    let mut incoming: Vec<VecDeque<Message>> =
        (0..size).map(|peer| plan(seed[0], peer, rank).into()).collect();
    // Everything is kept until the end: the sends borrow it.
    let sent: Vec<Vec<Vec<u8>>> = outgoing
        .iter()
        .map(|(_, messages)| messages.iter().map(|message| content(rank, message)).collect())
        .collect();
    let mut left = size as usize * MESSAGES;
    world.scope(|s| {
        while left > 0 || outgoing.iter().any(|(_, messages)| !messages.is_empty()) {
            // Some sends, then some receives, in a proportion that varies.
            for _ in 0..random.below(20) {
                let (peer, messages) = &mut outgoing[random.below(size) as usize];
                if let Some(message) = messages.pop_front() {
                    let buffer = &sent[*peer as usize][message.number as usize];
                    s.isend_as(message.mode, buffer, *peer as i32, message.tag)?;
                }
            }
            let all_sent = outgoing.iter().all(|(_, messages)| messages.is_empty());
            for _ in 0..if all_sent { left as u64 } else { 0 } {
                left -= receive_one(world, &mut random, &mut incoming)?;
            }
        }
        Ok(())
    })
}

/// Receives one message by a random pattern.
fn receive_one(
    world: Communicator,
    random: &mut Random,
    incoming: &mut [VecDeque<Message>],
) -> Result<usize> {
    let some = loop {
        let source = random.below(incoming.len() as u64) as usize;
        if !incoming[source].is_empty() {
            break source;
        }
    };
    // A tag that this source still has.
    let tag = incoming[some][random.below(incoming[some].len() as u64) as usize].tag;
    let source = if random.below(3) == 0 { ANY_SOURCE } else { some as i32 };
    let tag = if random.below(3) == 0 { ANY_TAG } else { tag };
    let mut buffer = vec![0u8; 150_100];
    let status = world.receive(&mut buffer, source, tag)?;
    assert!(source == ANY_SOURCE || status.source == source, "rank {}: wrong source", job().rank());
    assert!(tag == ANY_TAG || status.tag == tag, "rank {}: wrong tag", job().rank());
    let queue = &mut incoming[status.source as usize];
    let oldest = queue.iter().position(|message| tag == ANY_TAG || message.tag == tag);
    let Some(message) = oldest.and_then(|place| queue.remove(place)) else {
        panic!("rank {}: a message that was not sent", job().rank());
    };
    assert_eq!((status.tag, status.bytes), (message.tag, message.bytes as u64));
    let bytes = message.bytes;
    assert!(
        buffer[..bytes] == content(status.source as u64, &message)[..],
        "rank {}: message {} overtook another, or is damaged",
        job().rank(),
        message.number
    );
    Ok(1)
}
