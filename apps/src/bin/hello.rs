//! Every rank says who and where it is
//!
//! One line a rank: its number, the ranks of the job, its core and node, and how many arguments it was given.
#![no_std]
#![no_main]

use lwk_user::{Env, job, println};

lwk_user::entry!(main);

fn main(env: &Env) {
    let job = job();
    println!(
        "hello from rank {} of {}: core {}, node {} of {}, {} arguments",
        job.rank(),
        job.size(),
        job.my_place().core,
        job.node(),
        job.nodes(),
        env.args().len().saturating_sub(1)
    );
}
