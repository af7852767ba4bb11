//! Ranks call nodes of their job that do not run, and nobody answers, whatever other jobs the switch is joined with
//!
//! The first argument is how many ranks run, each on a node of its own. Each tells the next one that it is there; then each calls the two ranks behind the last one. A switch looks for
//! their nodes everywhere, also in other jobs. With `waits` that goes on until frames of another job have come by, which are dropped; without, none come.
#![no_std]
#![no_main]

use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TableOptions, ack, failure, operation,
};
use lwk_user::portals::{DescriptorHandle, Interface, Queue, Result};
use lwk_user::{Env, eprintln, job, println, start};

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let Some(running) = env.args().nth(1).and_then(|text| text.parse().ok()) else {
        fail(&"the argument is how many ranks run")
    };
    match run(running, env.args().nth(2) == Some("waits")) {
        Ok(()) => 0,
        Err(error) => fail(&error),
    }
}

fn fail(message: &dyn core::fmt::Display) -> ! {
    eprintln!("rank {}: {message}", job().rank());
    start::exit(1)
}

fn run(running: u32, waits: bool) -> Result<()> {
    let it = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
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
    let next = (job().rank().0 + 1) % running;
    // Until the next rank has come so far. It ends only after this has come.
    while call(&it, &mut queue, from, &[next])? != [failure::OK] {}
    come.wait(1);
    println!("rank {}: calls", job().rank());
    let missing = [running, running + 1];
    let strangers = loop {
        let told = call(&it, &mut queue, from, &missing)?;
        if told != [failure::UNDELIVERABLE; 2] {
            fail(&format_args!("calls of ranks {missing:?}, whose nodes do not run, end with {told:?}"));
        }
        let strangers = it.node_counts()?.strangers;
        if strangers > 0 || !waits {
            break strangers;
        }
    };
    if come.get() != (1, 0) {
        fail(&format_args!("one message was to come, and {:?} have", come.get()));
    }
    println!("rank {}: {} came by", job().rank(), if strangers > 0 { "strangers" } else { "nobody" });
    Ok(())
}

/// Puts nothing to each of these ranks; how these puts have ended.
fn call<const COUNT: usize>(
    it: &Interface,
    queue: &mut Queue,
    from: DescriptorHandle,
    ranks: &[u32; COUNT],
) -> Result<[u32; COUNT]> {
    for rank in ranks {
        let put = Operation {
            kind: operation::PUT,
            put: from.0,
            get: NONE,
            ack: ack::FULL,
            node: *rank,
            trigger: NONE,
            ..Operation::default()
        };
        // SAFETY: no memory is involved.
        unsafe { it.operate(&put)? };
    }
    Ok(core::array::from_fn(|_| queue.wait().failure))
}
