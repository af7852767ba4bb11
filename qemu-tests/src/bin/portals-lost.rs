//! Rank 0 waits for rank 1, on another node, which computes: for so many seconds, or until the job is ended
//!
//! Both have talked before. Rank 0 says when it begins to wait. Rank 1 never waits: it looks by itself, so its node does not look after the other one. With `ends` rank 1
//! ends well as soon as rank 0's message is there, and rank 0 waits for nothing but the clock, longer than a lost node is missed.
#![no_std]
#![no_main]

use core::time::Duration;

use lwk_user::clock::Instant;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TableOptions, ack, failure, operation,
};
use lwk_user::portals::{Interface, Result};
use lwk_user::wait::{self, give_way};
use lwk_user::{Env, eprintln, job, println, start};

/// Longer than a lost node is missed.
const LONG: Duration = Duration::from_secs(12);

/// What rank 1 does when both have talked.
#[derive(Clone, Copy)]
enum Then {
    Computes(Option<Duration>),
    Ends,
}

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let word = env.args().nth(1);
    let then = match word {
        Some("ends") => Then::Ends,
        seconds => Then::Computes(seconds.and_then(|text| text.parse().ok()).map(Duration::from_secs)),
    };
    match run(then) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("rank {}: {error}", job().rank());
            start::exit(1)
        }
    }
}

fn run(then: Then) -> Result<()> {
    let (me, it) = (job().rank().0, Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?);
    let (come, mut queue) = (it.counter()?, it.queue(16)?);
    it.table(TableOptions::empty(), None, 0)?;
    let open = Entry {
        counter: come.handle(),
        uid: ANY,
        options: EntryOptions::OP_PUT | EntryOptions::EVENT_CT_COMM,
        node: ANY,
        process: ANY,
        ..Entry::default()
    };
    let nothing = Descriptor {
        options: DescriptorOptions::EVENT_SEND_DISABLE,
        queue: queue.handle(),
        counter: NONE,
        ..Descriptor::default()
    };
    // SAFETY: no memory is involved.
    let from = unsafe {
        it.append(0, &open, PRIORITY_LIST)?;
        it.bind(&nothing)?
    };
    let tell = Operation {
        kind: operation::PUT,
        put: from.0,
        get: NONE,
        ack: ack::FULL,
        node: 1 - me,
        trigger: NONE,
        ..Operation::default()
    };
    let mut tell = || -> Result<bool> {
        // SAFETY: as above.
        unsafe { it.operate(&tell)? };
        Ok(queue.wait().failure == failure::OK)
    };
    // Until the peer has come so far.
    while !tell()? {}
    if me == 0 {
        come.wait(1);
        println!("rank 0 waits");
        if matches!(then, Then::Ends) {
            wait_for_the_clock();
        } else {
            println!("rank 0 has waited: {:?}", come.wait(2));
        }
        return Ok(());
    }
    let Then::Computes(computes) = then else {
        // A rank that has ended takes no message, and rank 0 would tell it for ever.
        come.wait(1);
        return Ok(());
    };
    let began = Instant::now();
    while computes.is_none_or(|computes| began.elapsed() < computes) {
        give_way();
    }
    tell().map(drop)
}

fn wait_for_the_clock() {
    let began = Instant::now();
    wait::spin_until(|| began.elapsed() >= LONG);
}
