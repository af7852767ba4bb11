//! Copies that ranks order: within memory they can reach, and between two ranks that agree on a number; each as it should be, and nothing else
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};
use lwk_boot_tests::random::Random;
use lwk_user::barrier::node_barrier;
use lwk_user::engine::{
    Copy, Counts, Way, check, copy, counts, fail, icopy, iread, iwrite, look, read, relocate, wait,
    withdraw_read, withdraw_write, workers, write,
};
use lwk_user::limic::Request;
use lwk_user::smartmap::{Peer, Symmetric, peers};
use lwk_user::wait::spin_until;
use lwk_user::{Env, Errno, NodeRank, job, println};

const ROUNDS: u32 = 4;
/// Transfers a round from each rank to each.
const TRANSFERS: usize = 6;
const BYTES_MOST: usize = 40_000;
/// Bytes of a rank's memory that its peers copy to, for each of them.
const SHARE: usize = 4096;
const PEERS_MOST: usize = 8;

/// What peers copy to, in the heap of each rank: its address.
static SHARED: Symmetric<AtomicUsize> = Symmetric::new(AtomicUsize::new(0));

lwk_user::entry!(main);

fn main(_env: &Env) {
    if workers() == 0 {
        return without_workers();
    }
    let mut random = Random::new(1 + u64::from(job().rank().0));
    let ranks: Vec<NodeRank> = (0..job().size()).map(NodeRank).collect();
    for way in [Way::Worker, Way::WorkerAndEngine, Way::Engine] {
        within_a_rank(way, &mut random);
        to_and_from_peers(way);
        for round in 0..ROUNDS {
            exchange(way, &ranks, round, &mut random);
            node_barrier();
        }
        one_after_the_other(way, &ranks);
        taken_back(way);
        node_barrier();
    }
    if job().rank().0 == 0 {
        println!("all copies came on {} ranks with {} workers", job().size(), workers());
    }
    with_faults(&ranks, &mut random);
}

fn without_workers() {
    let (from, mut to) = ([1u8; 8], [0u8; 8]);
    // SAFETY: both are this function's.
    let copied = unsafe { copy(Way::Worker, from.as_ptr(), to.as_mut_ptr(), 8) };
    assert_eq!(copied, Err(Errno::ENODEV));
    assert_eq!(write(Way::Worker, NodeRank(0), 1, &from), Err(Errno::ENODEV));
    println!("nothing is copied without a worker");
}

/// The engine fails in each of its ways, again and again, while all ranks exchange: everything comes as if it had not.
fn with_faults(ranks: &[NodeRank], random: &mut Random) {
    assert_eq!(fail(0, 99), Err(Errno::EINVAL));
    for round in 0..4 * ROUNDS {
        let way = if round % 2 == 0 { Way::Engine } else { Way::WorkerAndEngine };
        if job().rank().0 == 0 {
            assert_eq!(fail(random.below(6), 1 + u64::from(round / 2) % 4), Ok(()));
        }
        exchange(way, ranks, round, random);
        node_barrier();
    }
    if job().rank().0 == 0 {
        let counts = counts();
        let Counts { copied, declined, rescued, halts, lost, descriptors, bytes } = counts;
        assert!(copied > 0 && halts > 0 && rescued > 0 && lost == 0, "{counts:?}");
        assert!(descriptors >= copied && bytes >= copied, "{counts:?}");
        println!(
            "faults of the engine: {halts}; it made {copied} copies, the processor {rescued} after faults and {declined} others, and no copy was lost"
        );
    }
}

fn bytes_of(seed: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (seed * 31 + at + (at >> 8)) as u8).collect()
}

/// Many copies at once, of any length and from any place.
fn within_a_rank(way: Way, random: &mut Random) {
    for round in 0..ROUNDS as usize {
        let source = bytes_of(round, BYTES_MOST);
        let parts: Vec<(usize, usize)> = (0..TRANSFERS)
            .map(|_| {
                let start = random.below(BYTES_MOST as u64 / 2) as usize;
                (start, random.below(BYTES_MOST as u64 / 2) as usize)
            })
            .collect();
        let mut targets = vec![vec![0xeeu8; BYTES_MOST]; TRANSFERS];
        let copies: Vec<Copy> = parts.iter().map(|_| Copy::new()).collect();
        for ((&(start, bytes), copy), target) in parts.iter().zip(&copies).zip(&mut targets) {
            // SAFETY: all of these stay until all copies are done.
            let ordered = unsafe { icopy(copy, way, source[start..].as_ptr(), target.as_mut_ptr(), bytes) };
            assert_eq!(ordered, Ok(()));
        }
        copies.iter().for_each(Copy::wait);
        for (&(start, bytes), target) in parts.iter().zip(&targets) {
            assert!(target[..bytes] == source[start..start + bytes], "another content");
            assert!(target[bytes..].iter().all(|byte| *byte == 0xee), "bytes beside the copy");
        }
    }
    let mut here = [0u8; 8];
    for bad in [16usize, 1 << 47, usize::MAX - 7] {
        let bad = core::ptr::with_exposed_provenance_mut::<u8>(bad);
        // SAFETY: there is no such memory, and the call says so.
        let refused = unsafe { [copy(way, bad, here.as_mut_ptr(), 8), copy(way, here.as_ptr(), bad, 8)] };
        assert_eq!(refused, [Err(Errno::EFAULT); 2]);
    }
}

/// Each rank copies to the memory of each of its peers, and back from there.
fn to_and_from_peers(way: Way) {
    let me = job().rank().0 as usize;
    let own = vec![0u8; PEERS_MOST * SHARE].leak();
    // Relaxed: the barrier orders it.
    SHARED.here().store(own.as_mut_ptr().expose_provenance(), Ordering::Relaxed);
    node_barrier();
    for peer in peers() {
        let number = peer.node_rank().0 as usize;
        let start = SHARED.at(peer).get().load(Ordering::Relaxed) + me * SHARE;
        let there = peer_address(peer, start);
        let (given, mut back) = (bytes_of(me * 7 + number, SHARE), vec![0u8; SHARE]);
        // SAFETY: this share of the peer's memory is this rank's to use.
        unsafe {
            assert_eq!(copy(way, given.as_ptr(), there, SHARE), Ok(()));
            assert_eq!(copy(way, there, back.as_mut_ptr(), SHARE), Ok(()));
        }
        assert!(given == back, "another content came back");
    }
    node_barrier();
}

fn peer_address(peer: Peer, address: usize) -> *mut u8 {
    let address = lwk_user::abi::address::remote(address as u64, peer.node_rank().0);
    core::ptr::with_exposed_provenance_mut(address as usize)
}

/// What rank `from` writes to `to` under a number, and how many bytes of it are read.
fn content(from: NodeRank, to: NodeRank, number: usize, round: u32) -> (Vec<u8>, usize) {
    let seed = from.0 as usize * 131 + to.0 as usize * 31 + number * 7 + round as usize;
    let bytes = seed * 3701 % BYTES_MOST;
    (bytes_of(seed, bytes), if seed.is_multiple_of(5) { bytes / 2 } else { BYTES_MOST })
}

/// Every rank writes to every rank, itself too, and reads as much, in an order of its own.
fn exchange(way: Way, ranks: &[NodeRank], round: u32, random: &mut Random) {
    let me = NodeRank(job().rank().0);
    let mut posts: Vec<(bool, NodeRank, usize)> = Vec::new();
    for rank in ranks {
        posts.extend((0..TRANSFERS).flat_map(|number| [(true, *rank, number), (false, *rank, number)]));
    }
    for at in (1..posts.len()).rev() {
        posts.swap(at, random.below(at as u64 + 1) as usize);
    }
    let requests: Vec<Request> = posts.iter().map(|_| Request::new()).collect();
    let mut buffers: Vec<Vec<u8>> = posts
        .iter()
        .map(|&(writes, peer, number)| match writes {
            true => content(me, peer, number, round).0,
            false => vec![0xee; BYTES_MOST],
        })
        .collect();
    for ((&(writes, peer, number), request), buffer) in posts.iter().zip(&requests).zip(&mut buffers) {
        let room = content(peer, me, number, round).1;
        // SAFETY: buffers and requests stay until all are done.
        let posted = unsafe {
            match writes {
                true => iwrite(request, way, peer, number as u64, buffer.as_ptr(), buffer.len()),
                false => iread(request, way, peer, number as u64, buffer.as_mut_ptr(), room),
            }
        };
        assert!(posted.is_ok(), "{posted:?}");
    }
    spin_until(|| {
        if way == Way::Engine {
            look();
        }
        requests.iter().all(|request| check(request).is_some())
    });
    for ((&(writes, peer, number), request), buffer) in posts.iter().zip(&requests).zip(&buffers) {
        let (sent, room) =
            if writes { content(me, peer, number, round) } else { content(peer, me, number, round) };
        assert_eq!(wait(request), sent.len());
        let came = sent.len().min(if writes { BYTES_MOST } else { room });
        assert!(buffer[..came] == sent[..came], "rank {peer:?}, number {number}: another content");
        assert!(writes || buffer[came..].iter().all(|byte| *byte == 0xee), "bytes beside it");
    }
}

/// The calls that wait, around the ring.
fn one_after_the_other(way: Way, ranks: &[NodeRank]) {
    let (me, count) = (job().rank().0, ranks.len() as u32);
    if count < 2 {
        return;
    }
    let (right, left) = (NodeRank((me + 1) % count), NodeRank((me + count - 1) % count));
    let (given, mut got) = (bytes_of(me as usize, 5000), vec![0u8; 6000]);
    if me == 0 {
        assert_eq!(write(way, right, 77, &given), Ok(()));
        assert_eq!(read(way, left, 77, &mut got), Ok(5000));
    } else {
        assert_eq!(read(way, left, 77, &mut got), Ok(5000));
        assert_eq!(write(way, right, 77, &given), Ok(()));
    }
    assert!(got[..5000] == bytes_of(left.0 as usize, 5000)[..], "another content");
}

/// Offers and reads that nobody has met can be taken back, and an offer moves with its bytes.
fn taken_back(way: Way) {
    let me = NodeRank(job().rank().0);
    let (old, new, mut got) = (bytes_of(1, 100), bytes_of(2, 100), vec![0u8; 100]);
    let (first, second) = (Request::new(), Request::new());
    // SAFETY: all of these stay until both are done or taken back.
    unsafe {
        assert_eq!(iwrite(&first, way, me, 5, old.as_ptr(), 100), Ok(false));
        assert_eq!((withdraw_write(&first), withdraw_write(&first)), (Ok(true), Ok(false)));
        assert_eq!(iread(&second, way, me, 5, got.as_mut_ptr(), 100), Ok(false));
        assert_eq!((withdraw_read(&second), withdraw_read(&second)), (Ok(true), Ok(false)));
        assert_eq!(iwrite(&first, way, me, 5, old.as_ptr(), 100), Ok(false));
        assert_eq!(relocate(&first, new.as_ptr()), Ok(true));
        assert!(iread(&second, way, me, 5, got.as_mut_ptr(), 100).is_ok());
    }
    assert_eq!((wait(&first), wait(&second)), (100, 100));
    assert!(got == new, "the bytes from before");
    assert_eq!(withdraw_write(&first), Ok(false));
}
