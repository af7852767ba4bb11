//! Thread pointers that are no addresses, where the processor lets a program set them: they are the program's, and the kernel's to keep
#![no_std]
#![no_main]

use lwk_boot_tests::arch::{Base, has_base_instructions, set_and_yield};
use lwk_user::barrier::node_barrier;
use lwk_user::{Env, job, println};

lwk_user::entry!(main);

/// How often ranks that share a core set theirs.
const ROUNDS: u64 = 20;
/// Bits that no address has: 47 to 63 are not all alike.
const VALUES: [u64; 4] = [0x8000_0000_0000, 0x1234_5678_9abc_def0, 1 << 63, 0xffff_7fff_ffff_f000];

fn main(_: &Env) -> i32 {
    let rank = u64::from(job().rank().0);
    if !has_base_instructions() {
        println!("rank {rank}: the processor has no instructions for thread pointers");
        return 0;
    }
    let mut wrong = 0;
    node_barrier();
    for round in 0..ROUNDS {
        for value in VALUES {
            // Another one in each rank, so that none is taken for another's.
            let value = value ^ rank << 20 ^ round << 12;
            for base in [Base::Fs, Base::Gs] {
                wrong += usize::from(set_and_yield(base, value) != (value, value));
            }
        }
    }
    println!("rank {rank}: {wrong} wrong thread pointers");
    node_barrier();
    i32::from(wrong > 0)
}
