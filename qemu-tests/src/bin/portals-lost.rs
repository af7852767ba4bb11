//! Rank 0 waits for rank 1, on another node, which computes: for so many seconds, or until the job is ended
//!
//! Both have talked before. Rank 0 says when it begins to wait. Rank 1 never waits: it looks by itself, so its node does not look after the other one.
#![no_std]
#![no_main]

use core::time::Duration;

use lwk_user::clock::Instant;
use lwk_user::portals::abi::{
    ANY, Descriptor, Entry, NONE, Operation, PRIORITY_LIST, ack, entry, failure, interface, operation,
};
use lwk_user::portals::{Interface, Result};
use lwk_user::wait::give_way;
use lwk_user::{Env, eprintln, job, println, start};

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let seconds = env.args().nth(1).and_then(|text| text.parse().ok()).map(Duration::from_secs);
    match run(seconds) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("rank {}: {error}", job().rank());
            start::exit(1)
        }
    }
}

fn run(computes: Option<Duration>) -> Result<()> {
    let (me, it) = (job().rank().0, Interface::open(interface::MATCHING | interface::LOGICAL)?);
    let (come, mut queue) = (it.counter()?, it.queue(16)?);
    it.table(0, None, 0)?;
    let open = Entry {
        counter: come.handle(),
        uid: ANY,
        options: entry::OP_PUT | entry::EVENT_CT_COMM,
        node: ANY,
        process: ANY,
        ..Entry::default()
    };
    let nothing = Descriptor {
        options: lwk_user::portals::abi::descriptor::EVENT_SEND_DISABLE,
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
        let told = come.wait(2);
        println!("rank 0 has waited: {told:?}");
        return Ok(());
    }
    let began = Instant::now();
    while computes.is_none_or(|computes| began.elapsed() < computes) {
        give_way();
    }
    tell().map(drop)
}
