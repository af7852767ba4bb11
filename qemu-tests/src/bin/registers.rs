//! Vector registers, rounding modes and the thread pointer are a rank's own, also when ranks share a core
#![no_std]
#![no_main]

use lwk_boot_tests::arch::{VECTOR_WORDS, has_avx, yield_with_modes, yield_with_vectors};
use lwk_user::barrier::node_barrier;
use lwk_user::{Env, job, println};

lwk_user::entry!(main);

/// How often each rank fills its registers and yields.
const ROUNDS: u64 = 200;
/// Rounding modes of SSE (bits 13 and 14 of MXCSR) and x87 (bits 10 and 11), all exceptions masked.
const MXCSR_MASKED: u32 = 0x1f80;
const X87_MASKED: u16 = 0x037f;

fn main(_: &Env) -> i32 {
    let rank = u64::from(job().rank().0);
    let mut wrong = 0;
    node_barrier();
    for round in 0..ROUNDS {
        let pattern =
            |word: usize| (rank << 48 | round << 16 | word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut words: [u64; VECTOR_WORDS] = core::array::from_fn(pattern);
        yield_with_vectors(&mut words);
        wrong += words.iter().enumerate().filter(|(index, word)| **word != pattern(*index)).count();

        let mode = (rank + round) % 4;
        let asked = (
            MXCSR_MASKED | (mode as u32) << 13,
            X87_MASKED & !(3 << 10) | (mode as u16) << 10,
            (rank + 1) << 20,
        );
        wrong += usize::from(yield_with_modes(asked.0, asked.1, asked.2) != asked);
    }
    println!("rank {rank}: {wrong} wrong after {ROUNDS} rounds, {} bits", if has_avx() { 256 } else { 128 });
    node_barrier();
    i32::from(wrong > 0)
}
