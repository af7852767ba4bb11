//! Receives that are begun while messages come, by whatever path, and left alone: which message each of them gets.
//!
//! All ranks derive the same plan from one seed, which is printed: in each round what each rank sends to each other, short and long. A receiver begins as many receives as it
//! will get messages, in an order of its own and between its sends. All receives of a tag name a source, or none does, so every message finds one whatever
//! the order; in some rounds they name a source and no tag. Receives of one pattern, in the order in which they were begun, get each sender's messages in the order in
//! which they were sent (MPI-5.0, section 3.5). Receives that nobody sends to are among them, and are cancelled.

use crate::calls::{engine, receiving};
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::{Random, SEED};
use lwk_mpi::{ANY_SOURCE, ANY_TAG, Communicator};
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::{Error, Handle, Result};
use lwk_user::println;

const ROUNDS: u64 = 60;
/// Messages from each rank to each in a round.
const MESSAGES: u64 = 10;
const TAGS: u64 = 3;
/// Nobody sends with it.
const NEVER: i32 = 99;
/// On both sides of the limits of all paths.
const SIZES: [usize; 8] = [8, 40, 300, 8192, 8193, 20_000, 70_000, 200_000];
const LONGEST: usize = SIZES[SIZES.len() - 1];
/// Room of a receive that some messages are too long for.
const LITTLE: usize = 10_000;

#[derive(Clone, Copy)]
struct Message {
    number: u32,
    tag: i32,
    bytes: usize,
    mode: Mode,
}

/// What a sender sends to a receiver in a round, in order.
fn plan(seed: u64, round: u64, sender: u64, receiver: u64) -> Vec<Message> {
    let mut random = Random::new(seed ^ round << 40 ^ sender << 20 ^ receiver << 8);
    let mut message = |number| Message {
        number,
        tag: random.below(TAGS) as i32,
        bytes: random.one_of(&SIZES),
        mode: if random.once_in(6) { Mode::Synchronous } else { Mode::Standard },
    };
    (0..MESSAGES as u32).map(&mut message).collect()
}

/// The number is in the first bytes.
fn content(sender: u64, message: &Message) -> Vec<u8> {
    let start = sender as usize * 31 + message.number as usize * 7;
    let mut bytes: Vec<u8> = (0..message.bytes).map(|index| (start + index + (index >> 8)) as u8).collect();
    bytes[..4].copy_from_slice(&message.number.to_ne_bytes());
    bytes
}

/// A receive that has been begun.
struct Begun {
    source: i32,
    tag: i32,
    buffer: Vec<u8>,
    request: Handle,
}

impl Begun {
    fn begin(source: i32, tag: i32, room: usize) -> Result<Begun> {
        let mut buffer = vec![0u8; room];
        let arguments = receiving(&mut buffer, source, tag);
        // SAFETY: the buffer's memory stays where it is, and nobody looks at it, until the request has been waited for.
        let request = engine(|engine| unsafe { engine.irecv(&arguments) })?;
        Ok(Begun { source, tag, buffer, request })
    }
}

pub fn run(world: Communicator, seed: Option<u64>) -> Result<()> {
    let mut seed = [seed.unwrap_or(SEED)];
    world.broadcast(&mut seed, 0)?;
    if world.rank()? == 0 {
        println!("seed {}", seed[0]);
    }
    (0..ROUNDS).try_for_each(|round| one_round(world, seed[0], round))
}

/// Patterns of the receives of a round: source and tag of as many as there are messages.
fn patterns(random: &mut Random, common: &mut Random, incoming: &[Vec<Message>]) -> Vec<(i32, i32)> {
    let no_tags = common.once_in(4);
    let from_any: Vec<bool> = (0..TAGS).map(|_| !no_tags && common.once_in(4)).collect();
    let mut all = Vec::new();
    for (source, messages) in incoming.iter().enumerate() {
        for message in messages {
            let source = if from_any[message.tag as usize] { ANY_SOURCE } else { source as i32 };
            all.push((source, if no_tags { ANY_TAG } else { message.tag }));
        }
        if random.once_in(3) && !no_tags {
            all.push((source as i32, NEVER));
        }
    }
    for index in (1..all.len()).rev() {
        all.swap(index, random.below(index as u64 + 1) as usize);
    }
    all
}

fn one_round(world: Communicator, seed: u64, round: u64) -> Result<()> {
    let (rank, size) = (world.rank()? as u64, world.size()? as u64);
    let mut random = Random::new(seed ^ round << 32 ^ rank);
    let mut common = Random::new(seed ^ round);
    let incoming: Vec<Vec<Message>> = (0..size).map(|peer| plan(seed, round, peer, rank)).collect();
    let mut to_begin = patterns(&mut random, &mut common, &incoming);
    let mut outgoing: Vec<(u64, Message, Vec<u8>)> = Vec::new();
    for number in 0..MESSAGES as usize {
        for peer in 0..size {
            let message = plan(seed, round, rank, peer)[number];
            outgoing.push((peer, message, content(rank, &message)));
        }
    }
    let mut begun: Vec<Begun> = Vec::new();
    world.scope(|s| {
        let mut sends = outgoing.iter().peekable();
        while sends.peek().is_some() || !to_begin.is_empty() {
            if random.once_in(2) {
                if let Some((peer, message, bytes)) = sends.next() {
                    s.isend_as(message.mode, bytes, *peer as i32, message.tag)?;
                }
            } else if let Some((source, tag)) = to_begin.pop() {
                let room = if random.once_in(8) { LITTLE } else { LONGEST };
                begun.push(Begun::begin(source, tag, room)?);
            }
            if random.once_in(16) {
                world.iprobe(ANY_SOURCE, NEVER)?;
            }
        }
        check(rank, round, &incoming, &mut begun)
    })?;
    // A receive from any source must not get a message of the next round.
    world.barrier()
}

/// Waits for all receives, and looks at what each has got.
fn check(rank: u64, round: u64, incoming: &[Vec<Message>], begun: &mut [Begun]) -> Result<()> {
    let mut got: Vec<Vec<bool>> = incoming.iter().map(|messages| vec![false; messages.len()]).collect();
    // By pattern and sender, the message that came last.
    let mut last: Vec<((i32, i32), u64, u32)> = Vec::new();
    for it in begun {
        if it.tag == NEVER {
            engine(|engine| engine.cancel(it.request))?;
            assert!(engine(|engine| engine.wait(it.request))?.cancelled, "nobody has sent to it");
            continue;
        }
        let mut status = None;
        let requests = &mut [it.request];
        let waited = engine(|engine| engine.wait_all(requests, |_, outcome| status = Some(*outcome)));
        let Some(status) = status else { panic!("rank {rank}, round {round}: {waited:?}") };
        let number = it.buffer.first_chunk().map_or(u32::MAX, |bytes| u32::from_ne_bytes(*bytes));
        let sender = status.source as u64;
        let message = incoming.get(sender as usize).and_then(|messages| messages.get(number as usize));
        let Some(message) = message else {
            panic!("rank {rank}, round {round}: no such message: {status:?}")
        };
        let whole = message.bytes.min(it.buffer.len());
        let error = (message.bytes > whole).then_some(Error::TRUNCATE);
        assert_eq!(
            (status.tag, status.bytes, status.error),
            (message.tag, whole as u64, error),
            "rank {rank}, round {round}: message {number} of {sender}"
        );
        assert!(it.source == ANY_SOURCE || it.source == status.source, "rank {rank}, round {round}: source");
        assert!(it.tag == ANY_TAG || it.tag == status.tag, "rank {rank}, round {round}: tag");
        assert!(
            it.buffer[..whole] == content(sender, message)[..whole],
            "rank {rank}, round {round}: damaged"
        );
        assert!(it.buffer[whole..].iter().all(|byte| *byte == 0), "rank {rank}, round {round}: beyond");
        assert!(!core::mem::replace(&mut got[sender as usize][number as usize], true), "twice");
        let pattern = (it.source, it.tag);
        match last.iter_mut().find(|(of, from, _)| (*of, *from) == (pattern, sender)) {
            Some((_, _, before)) => {
                assert!(
                    *before < number,
                    "rank {rank}, round {round}: {number} of {sender} overtook {before}"
                );
                *before = number;
            }
            None => last.push((pattern, sender, number)),
        }
    }
    assert!(got.iter().flatten().all(|got| *got), "rank {rank}, round {round}: a message is missing");
    Ok(())
}
