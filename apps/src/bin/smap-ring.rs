//! Each rank fills its neighbour's array directly, then all ranks verify all arrays
//!
//! The smallest program that shows SMARTMAP: no message, no copy through a third place, no system call. Rank `r` stores into the
//! array of rank `r + 1` (the last into that of rank 0); after a barrier every rank loads every array, word by word, where it
//! lies. Works from one rank on: a single rank reaches itself through its own slot.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_apps::cli::{Argument, Cli};
use lwk_apps::json;
use lwk_user::smartmap::{Peer, Symmetric, peers};
use lwk_user::{Env, NodeRank, barrier::node_barrier, println};

const USAGE: &str = "smap-ring [--spoil RANK] [--json]";

/// Words in each rank's array: 8 KiB, two pages.
const WORDS: usize = 1024;

/// A rank's array, written by its left neighbour.
static ARRAY: Symmetric<[u64; WORDS]> = Symmetric::new([0; WORDS]);
/// In each rank: wrong words that all verifiers together have found in its array.
static WRONG: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
/// In rank 0: verifications done, one a rank and array.
static VERIFIED: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));

lwk_user::entry!(main);

struct Options {
    json: bool,
    /// This rank changes one word of its array before the verification, to show that it would be found.
    spoil: Option<Peer>,
}

struct Document {
    program: &'static str,
    ranks: u32,
    words: usize,
    verifications: u64,
    wrong: u64,
    arrays: Vec<Row>,
}
lwk_apps::json_object!(Document { program, ranks, words, verifications, wrong, arrays });

struct Row {
    rank: u32,
    written_by: u32,
    wrong: u64,
}
lwk_apps::json_object!(Row { rank, written_by, wrong });

fn main(env: &Env) -> i32 {
    let options = parse(env);
    let me = Peer::me();
    fill(me);
    node_barrier();
    if options.spoil == Some(me) {
        // SAFETY: between these barriers no other rank touches the array of the spoiling rank.
        unsafe { ARRAY.as_mut()[WORDS / 2] ^= 1 };
    }
    node_barrier();
    for peer in peers() {
        verify(peer);
    }
    node_barrier();
    if me.node_rank() == NodeRank(0) { report(&options) } else { 0 }
}

fn parse(env: &Env) -> Options {
    let mut options = Options { json: false, spoil: None };
    let mut cli = Cli::new(env, USAGE);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("json") => options.json = true,
            Argument::Option("spoil") => {
                options.spoil = Peer::new(NodeRank(cli.number("spoil", 0..=Peer::count() - 1)));
            }
            other => cli.unknown(other),
        }
    }
    options
}

/// The word that `writer` puts at an index: different for every writer and index.
fn word(writer: Peer, index: usize) -> u64 {
    (writer.node_rank().0 as u64 + 1) << 32 | index as u64
}

/// Stores into the right neighbour's array.
fn fill(me: Peer) {
    let target = ARRAY.at(me.right()).as_slice();
    for index in 0..WORDS {
        // SAFETY: until the barrier only its left neighbour, this rank, touches that array.
        unsafe { target.index(index).write(word(me, index)) };
    }
}

/// Loads a peer's array and counts, in that peer, the words that are not what its left neighbour has stored.
fn verify(peer: Peer) {
    let array = ARRAY.at(peer).as_slice();
    // SAFETY: after the barrier nobody writes the arrays any more.
    let wrong = (0..WORDS).filter(|index| unsafe { array.index(*index).read() } != word(peer.left(), *index));
    // Relaxed, both: the barrier that follows orders the counts before rank 0 reads them.
    WRONG.at(peer).get().fetch_add(wrong.count() as u64, Ordering::Relaxed);
    VERIFIED.at(Peer::root()).get().fetch_add(1, Ordering::Relaxed);
}

/// Rank 0 says what was found. The status is 1 if any word was wrong, or any array was not verified by every rank.
fn report(options: &Options) -> i32 {
    let arrays: Vec<Row> = peers()
        .map(|peer| Row {
            rank: peer.node_rank().0,
            written_by: peer.left().node_rank().0,
            // Relaxed: ordered by the barrier.
            wrong: WRONG.at(peer).get().load(Ordering::Relaxed),
        })
        .collect();
    let wrong = arrays.iter().map(|row| row.wrong).sum();
    // Relaxed: ordered by the barrier.
    let verifications = VERIFIED.here().load(Ordering::Relaxed);
    let ranks = Peer::count();
    if options.json {
        json::print(&Document { program: "smap-ring", ranks, words: WORDS, verifications, wrong, arrays });
    } else {
        println!("# smap-ring: {ranks} ranks, {WORDS} words each, every array verified by every rank");
        println!("# {:>6} {:>12} {:>12}", "rank", "written_by", "wrong_words");
        for row in &arrays {
            println!("{:>8} {:>12} {:>12}", row.rank, row.written_by, row.wrong);
        }
        println!("# {verifications} verifications, {wrong} wrong words");
    }
    let complete = verifications == ranks as u64 * ranks as u64;
    if wrong == 0 && complete { 0 } else { 1 }
}
