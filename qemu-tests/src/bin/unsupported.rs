//! Makes system calls that Margay does not have: fork twice, and one that nobody has
#![no_std]
#![no_main]

use lwk_user::syscall::raw;
use lwk_user::{Env, println};

lwk_user::entry!(main);

/// Linux's number of `fork`, twice, and a number that means nothing.
const CALLS: [u64; 3] = [57, 57, 4000];

fn main(_: &Env) {
    for number in CALLS {
        // SAFETY: neither home knows the call, and it names no memory.
        let answer = unsafe { raw(number, [0; 6]) };
        println!("{number} is answered {answer}");
    }
}
