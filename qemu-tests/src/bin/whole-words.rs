//! A system call sees a word that a peer keeps changing as the peer has stored it, never in parts
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU32, Ordering};

use lwk_user::abi::syscall::{errno, linux};
use lwk_user::barrier::node_barrier;
use lwk_user::smartmap::{Peer, Symmetric};
use lwk_user::{Env, println};

lwk_user::entry!(main);

static WORD: Symmetric<AtomicU32> = Symmetric::new(AtomicU32::new(0));
static DONE: Symmetric<AtomicU32> = Symmetric::new(AtomicU32::new(0));

/// What the word never is: parts of the two values that it has, 0 and all ones.
const PARTS: [u32; 6] = [0xff, 0xffff, 0xff_ffff, 0xffff_ff00, 0xffff_0000, 0xff00_0000];
const ROUNDS: usize = 50_000;
const WAIT: u64 = 0;

fn main(_: &Env) -> i32 {
    let word = WORD.at(Peer::root()).get();
    let done = DONE.at(Peer::root()).get();
    node_barrier();
    let mut torn = 0;
    if Peer::me() == Peer::root() {
        let no_time = [0u64; 2];
        for round in 0..ROUNDS {
            let part = PARTS[round % PARTS.len()];
            let address = (&raw const *word).expose_provenance() as u64;
            let limit = (&raw const no_time).expose_provenance() as u64;
            // SAFETY: the call reads the word and the limit.
            let answer =
                unsafe { lwk_user::syscall::raw(linux::FUTEX, [address, WAIT, part.into(), limit, 0, 0]) };
            torn += usize::from(answer != -errno::EAGAIN);
        }
        // Relaxed: the other only has to see it at some time.
        done.store(1, Ordering::Relaxed);
        println!("{torn} of {ROUNDS} words were torn");
    } else {
        // Relaxed, all: the values alone matter.
        while done.load(Ordering::Relaxed) == 0 {
            word.store(u32::MAX, Ordering::Relaxed);
            word.store(0, Ordering::Relaxed);
        }
    }
    node_barrier();
    i32::from(torn > 0)
}
