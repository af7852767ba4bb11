//! Rank 0 waits for a message that nobody sends, and says so: for tests of what ends the others
#![no_std]
#![no_main]

use lwk_user::portals::Interface;
use lwk_user::portals::abi::InterfaceOptions;
use lwk_user::{Env, eprintln, job, println, start};

lwk_user::entry!(main);

fn main(_: &Env) {
    let waits = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL).and_then(|it| {
        let counter = it.counter()?;
        println!("rank {} waits", job().rank());
        Ok(counter.wait(1))
    });
    eprintln!("the wait has ended: {waits:?}");
    start::exit(1)
}
