//! All that a program can read and has not been given anything in is zero: its own memory above the break and below its stack, and its peers'
#![no_std]
#![no_main]

use lwk_user::barrier::node_barrier;
use lwk_user::smartmap::{Peer, peers, remote_address};
use lwk_user::{Env, job, println, syscall};

lwk_user::entry!(main);

/// Bytes below this function's frame that calls may have used.
const USED_STACK_BYTES: u64 = 64 << 10;

/// Words from `start` to `end`, addresses of slot 0, of `peer` that are not zero.
fn stale_words(peer: Peer, start: u64, end: u64) -> u64 {
    (start.next_multiple_of(8)..end)
        .step_by(8)
        .filter(|address| {
            let word = remote_address(peer, core::ptr::with_exposed_provenance::<u64>(*address as usize));
            // SAFETY: heap and stack of a peer are mapped, readable, from start to end; volatile, since peers run.
            unsafe { word.read_volatile() != 0 }
        })
        .count() as u64
}

fn main(_: &Env) -> i32 {
    let marker = 0u64;
    let here = (&raw const marker).expose_provenance() as u64;
    let layout = job().page();
    // SAFETY: asks only. Every rank has used as much.
    let heap_start = unsafe { syscall::brk(0) };
    node_barrier();
    let mut stale = 0;
    for peer in peers() {
        stale += stale_words(peer, heap_start, layout.heap_end);
        stale += stale_words(peer, layout.stack_start, here - USED_STACK_BYTES);
    }
    println!("rank {}: {stale} stale words", job().rank().0);
    node_barrier();
    i32::from(stale > 0)
}
