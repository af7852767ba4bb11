//! Every rank prints 100 lines at once with the others, each line in six pieces: whole lines must not interleave
#![no_std]
#![no_main]

use lwk_user::barrier::node_barrier;
use lwk_user::{Env, job, print, println};

lwk_user::entry!(main);

fn main(_: &Env) {
    let rank = job().rank().0;
    node_barrier();
    for line in 0..100 {
        print!("rank {rank} ");
        print!("line {line:03} ");
        for _ in 0..3 {
            print!("{rank}{rank}{rank}{rank}{rank}{rank}{rank}{rank}{rank}{rank}");
        }
        println!(" end");
    }
}
