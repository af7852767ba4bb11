//! LiMIC's calls between all ranks: sends and receives in any order, each message to the receive that matches it, and nothing twice
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::Random;
use lwk_user::barrier::node_barrier;
use lwk_user::limic::{Request, iprobe, irecv, isend};
use lwk_user::wait::spin_until;
use lwk_user::{Env, NodeRank, job, println};

const ROUNDS: u32 = 20;
/// Messages a round from each rank to each.
const MESSAGES: usize = 12;
const BYTES_MOST: usize = 9000;
const CONTEXT: u32 = 5;

lwk_user::entry!(main);

fn main(_env: &Env) {
    let ranks: Vec<NodeRank> = (0..job().size()).map(NodeRank).collect();
    let mut random = Random::new(1 + u64::from(job().rank().0));
    for round in 0..ROUNDS {
        exchange(&ranks, round, &mut random);
        node_barrier();
        assert!(ranks.iter().all(|rank| iprobe(*rank, CONTEXT, None) == Ok(None)), "a message is left");
        node_barrier();
    }
    taken_back(&ranks);
    node_barrier();
    if job().rank().0 == 0 {
        println!("all messages came on {} ranks", job().size());
    }
}

/// What rank `from` sends to `to` under a tag.
fn content(from: NodeRank, to: NodeRank, tag: usize, round: u32) -> Vec<u8> {
    let seed = from.0 as usize * 131 + to.0 as usize * 31 + tag * 7 + round as usize;
    (0..seed * 37 % BYTES_MOST).map(|at| (seed + at + (at >> 8)) as u8).collect()
}

/// Every rank sends to every rank, itself too, and receives as much, in an order of its own.
fn exchange(ranks: &[NodeRank], round: u32, random: &mut Random) {
    let me = NodeRank(job().rank().0);
    let mut posts: Vec<(bool, NodeRank, usize)> = Vec::new();
    for rank in ranks {
        posts.extend((0..MESSAGES).flat_map(|tag| [(true, *rank, tag), (false, *rank, tag)]));
    }
    for at in (1..posts.len()).rev() {
        posts.swap(at, random.below(at as u64 + 1) as usize);
    }
    let requests: Vec<Request> = posts.iter().map(|_| Request::new()).collect();
    let mut buffers: Vec<Vec<u8>> = posts
        .iter()
        .map(|&(sends, peer, tag)| if sends { content(me, peer, tag, round) } else { vec![0xee; BYTES_MOST] })
        .collect();
    for ((&(sends, peer, tag), request), buffer) in posts.iter().zip(&requests).zip(&mut buffers) {
        // SAFETY: buffers and requests stay until all are done.
        let posted = unsafe {
            match sends {
                true => isend(request, peer, CONTEXT, tag as i32, buffer.as_ptr(), buffer.len()),
                false => irecv(request, peer, CONTEXT, Some(tag as i32), buffer.as_mut_ptr(), BYTES_MOST),
            }
        };
        // One that was not done when the call returned may be by now.
        assert_eq!(posted.map(|is_done| !is_done || request.message().is_some()), Ok(true));
    }
    spin_until(|| requests.iter().all(|request| request.message().is_some()));
    for ((&(sends, peer, tag), request), buffer) in posts.iter().zip(&requests).zip(&buffers) {
        let sent = if sends { content(me, peer, tag, round) } else { content(peer, me, tag, round) };
        let Some(message) = request.message() else { unreachable!("it was done") };
        assert_eq!((message.tag, message.bytes as usize), (tag as i32, sent.len()));
        assert_eq!(request.wait(), Ok(true));
        assert!(buffer[..sent.len()] == sent, "rank {peer:?}, tag {tag}: another content");
        assert!(sends || buffer[sent.len()..].iter().all(|byte| *byte == 0xee), "bytes beside the message");
    }
}

/// A send that is taken back is received by nobody; receives of any tag take messages in their order.
fn taken_back(ranks: &[NodeRank]) {
    let me = job().rank().0 as usize;
    let (next, previous) = (ranks[(me + 1) % ranks.len()], ranks[(me + ranks.len() - 1) % ranks.len()]);
    let requests = [const { Request::new() }; 3];
    let words = [[1u8; 8], [2; 8], [3; 8]];
    for ((request, word), tag) in requests.iter().zip(&words).zip(1..) {
        // SAFETY: words and requests stay until all are done or taken back.
        let sent = unsafe { isend(request, next, CONTEXT, tag, word.as_ptr(), 8) };
        assert_eq!(sent, Ok(false));
    }
    assert_eq!(requests[1].withdraw_send(), Ok(true));
    node_barrier();
    for (tag, word) in [(1, &words[0]), (3, &words[2])] {
        let (request, mut buffer) = (Request::new(), [0u8; 8]);
        // SAFETY: it is done when this returns.
        let received = unsafe { irecv(&request, previous, CONTEXT, None, buffer.as_mut_ptr(), 8) };
        assert_eq!((received, request.message().map(|message| message.tag)), (Ok(true), Some(tag)));
        assert_eq!(buffer, *word);
    }
    spin_until(|| requests[0].message().is_some() && requests[2].message().is_some());
    assert_eq!(requests[1].message(), None);
}
