//! How long it takes to set memory to zero that has not been used, and the same once more
#![no_std]
#![no_main]

use lwk_user::barrier::node_barrier;
use lwk_user::clock::Instant;
use lwk_user::smartmap::Peer;
use lwk_user::{Env, println, syscall};

lwk_user::entry!(main);

const BYTES: usize = 64 << 20;

/// Nanoseconds that storing zeros to all of `words` takes, eight bytes at a time.
fn clear(words: &mut [u64]) -> u64 {
    let start = Instant::now();
    for line in words.chunks_exact_mut(8) {
        for word in line {
            // SAFETY: a reference; volatile, so that all is stored each time, and not by string instructions, which emulation is slow at.
            unsafe { core::ptr::from_mut(word).write_volatile(0) };
        }
    }
    start.elapsed().as_nanos() as u64
}

fn main(_: &Env) -> i32 {
    let Ok(memory) = syscall::mmap(BYTES) else { return 1 };
    // SAFETY: fresh memory of so many bytes, page aligned and zero.
    let words = unsafe { core::slice::from_raw_parts_mut(memory.as_ptr().cast::<u64>(), BYTES / 8) };
    node_barrier();
    let first = clear(words);
    node_barrier();
    let again = clear(words);
    node_barrier();
    if Peer::me() == Peer::root() {
        println!("@bytes {BYTES}\n@first_ns {first}\n@again_ns {again}");
    }
    0
}
