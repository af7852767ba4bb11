//! Says so, then never ends and makes no system call: what the time limit is for
#![no_std]
#![no_main]

use lwk_user::{Env, println};

lwk_user::entry!(main);

fn main(_: &Env) {
    println!("hanging");
    loop {
        core::hint::spin_loop();
    }
}
