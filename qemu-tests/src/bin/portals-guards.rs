//! A rank that guesses, borrows and forges what is another's in Portals gets nothing, and the other notices nothing
//!
//! Rank 0 opens an interface with a queue, a counter, a list entry and a descriptor, and tells its handles to all. Every other rank tries what there is to
//! do with them, and addresses that are not its own. Then rank 0 sends itself a message: all of it still works.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU32, Ordering};

use lwk_user::abi::syscall::portals as call;
use lwk_user::barrier::node_barrier;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, ERROR_BASE, Entry, EntryOptions, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TableOptions, ack, event, operation, status,
};
use lwk_user::portals::{Interface, Result};
use lwk_user::smartmap::{Peer, Symmetric};
use lwk_user::{Env, eprintln, job, println, start, syscall};

/// In rank 0: its handles.
static HANDLES: [Symmetric<AtomicU32>; 5] = [const { Symmetric::new(AtomicU32::new(0)) }; 5];
/// What rank 0 sends itself, and where it lands.
static SOURCE: AtomicU32 = AtomicU32::new(0);
static LANDING: AtomicU32 = AtomicU32::new(0);
/// What rank 0 sends itself.
const WORD: u32 = 0x5eed_5eed;

lwk_user::entry!(main);

fn main(_: &Env) -> i32 {
    let done = if job().node_rank().0 == 0 { owner() } else { thief() };
    match done {
        Ok(()) => {
            println!("rank {}: every guard holds", job().rank());
            0
        }
        Err(error) => fail(&format_args!("{error}")),
    }
}

fn fail(message: &dyn core::fmt::Display) -> ! {
    eprintln!("rank {}: {message}", job().rank());
    start::exit(1)
}

fn address(word: &AtomicU32) -> u64 {
    word.as_ptr().expose_provenance() as u64
}

fn owner() -> Result<()> {
    let it = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
    let (mut queue, counter) = (it.queue(32)?, it.counter()?);
    it.table(TableOptions::empty(), Some(&queue), 0)?;
    let open = Entry {
        start: address(&LANDING),
        bytes: 4,
        counter: counter.handle(),
        uid: ANY,
        options: EntryOptions::OP_PUT | EntryOptions::EVENT_CT_COMM | EntryOptions::EVENT_LINK_DISABLE,
        node: ANY,
        process: ANY,
        ..Entry::default()
    };
    let source = Descriptor {
        start: address(&SOURCE),
        bytes: 4,
        options: DescriptorOptions::empty(),
        queue: queue.handle(),
        counter: NONE,
        reserved: 0,
    };
    // SAFETY: words that nobody else uses, of the program's life.
    let (entry, descriptor) = unsafe { (it.append(0, &open, PRIORITY_LIST)?, it.bind(&source)?) };
    // Handles are no secret: the interface is the first of a rank's, so its own number is as good a guess as any.
    let guess = 1 << 28;
    let handles = [guess, queue.handle(), counter.handle(), descriptor.0, entry.handle()];
    for (place, handle) in HANDLES.iter().zip(handles) {
        // Relaxed: ordered by the barrier.
        place.here().store(handle, Ordering::Relaxed);
    }
    node_barrier();
    node_barrier();
    if queue.get().is_some() || counter.get() != (0, 0) {
        fail(&"somebody has used this rank's handles");
    }
    SOURCE.store(WORD, Ordering::Relaxed);
    let put = Operation {
        kind: operation::PUT,
        put: descriptor.0,
        get: NONE,
        ack: ack::FULL,
        bytes: 4,
        node: job().rank().0,
        trigger: NONE,
        ..Operation::default()
    };
    // SAFETY: as above.
    unsafe { it.operate(&put)? };
    let mut kinds = [0, 1, 2].map(|_| queue.wait().kind);
    kinds.sort_unstable();
    if kinds != [event::PUT, event::SEND, event::ACK] || counter.get() != (1, 0) {
        fail(&format_args!("events {kinds:?}, count {:?}", counter.get()));
    }
    if LANDING.load(Ordering::Relaxed) != WORD {
        fail(&"the message is wrong");
    }
    Ok(())
}

fn thief() -> Result<()> {
    let it = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
    let (own, waits) = (it.queue(8)?, it.counter()?);
    it.table(TableOptions::empty(), Some(&own), 0)?;
    node_barrier();
    // Relaxed: ordered by the barrier.
    let [interface, queue, counter, descriptor, entry] =
        [0, 1, 2, 3, 4].map(|at: usize| HANDLES[at].at(Peer::root()).get().load(Ordering::Relaxed));
    let mut attempts = 0;
    let mut refused = |what: &str, number: u64, arguments: [u64; 4]| {
        let [a, b, c, d] = arguments;
        // SAFETY: what it would do to memory is what must not happen.
        let answer = unsafe { syscall::raw(number, [a, b, c, d, 0, 0]) };
        attempts += 1;
        if answer != -(ERROR_BASE + i64::from(status::ARG_INVALID)) {
            fail(&format_args!("{what} is answered {answer}"));
        }
    };
    let theirs = [interface, queue, counter, descriptor, entry].map(u64::from);
    for handle in theirs.into_iter().chain([0, u64::MAX, 1 << 32]) {
        for number in call::RANGE {
            // What opens an interface takes options, and not a handle.
            if number != call::INTERFACE_OPEN {
                refused("another's handle", number, [handle, 0, 0, 0]);
            }
        }
    }
    let mine = u64::from(it.handle());
    let describe =
        |start, bytes, queue| Descriptor { start, bytes, queue, counter: NONE, ..Descriptor::default() };
    let stolen = describe(address(&SOURCE), 4, queue);
    refused("a descriptor with another's queue", call::DESCRIPTOR_BIND, [mine, place(&stolen), 0, 0]);
    refused("a table with another's queue", call::TABLE_ALLOCATE, [mine, 0, queue.into(), 1]);
    for bad in [0, 8, 0x20_0000 - 8, 0x7fff_ffff_f000, 0x8000_0000_0000, 0xffff_8000_0000_0000, u64::MAX - 7]
    {
        let wild = describe(bad, 16, NONE);
        refused("wild memory in a descriptor", call::DESCRIPTOR_BIND, [mine, place(&wild), 0, 0]);
        let wild =
            Entry { start: bad, bytes: 16, counter: NONE, options: EntryOptions::OP_PUT, ..Entry::default() };
        refused("wild memory in an entry", call::ENTRY_APPEND, [mine, 0, place(&wild), 0]);
        refused("a wild descriptor", call::DESCRIPTOR_BIND, [mine, bad, 0, 0]);
        refused("a wild entry", call::ENTRY_APPEND, [mine, 0, bad, 0]);
        refused("a wild search", call::ENTRY_SEARCH, [mine, 0, bad, 0]);
        refused("a wild operation", call::OPERATE, [mine, bad, 0, 0]);
        let vectors = [[address(&SOURCE), 4], [bad, 16]];
        let wild = Descriptor { options: DescriptorOptions::IOVEC, ..describe(place(&vectors), 2, NONE) };
        refused("wild vectors in a descriptor", call::DESCRIPTOR_BIND, [mine, place(&wild), 0, 0]);
        let wild = Descriptor { options: DescriptorOptions::IOVEC, ..describe(bad, 2, NONE) };
        refused("a wild list of vectors", call::DESCRIPTOR_BIND, [mine, place(&wild), 0, 0]);
        let wild = Entry {
            start: place(&vectors),
            bytes: 2,
            counter: NONE,
            options: EntryOptions::OP_PUT | EntryOptions::IOVEC,
            ..Entry::default()
        };
        refused("wild vectors in an entry", call::ENTRY_APPEND, [mine, 0, place(&wild), 0]);
        for (entry, told) in [(bad, place(&vectors)), (place(&wild), bad)] {
            let later = Operation {
                kind: operation::ENTRY_APPEND,
                put_offset: entry,
                get_offset: told,
                trigger: waits.handle(),
                threshold: 1,
                ..Operation::default()
            };
            refused("a wild entry for a counter", call::OPERATE, [mine, place(&later), 0, 0]);
        }
        refused("wild counts", call::NODE_COUNTS, [mine, bad, 0, 0]);
        refused("wild frames", call::RAW_FRAMES, [mine, bad, 0, 0]);
        refused("a wild queue", call::QUEUE_ALLOCATE, [mine, bad & !63, 8, 0]);
        refused("a wild counter", call::COUNTER_ALLOCATE, [mine, bad & !15, 0, 0]);
        refused(
            "wild limits",
            call::INTERFACE_OPEN,
            [(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL).bits().into(), bad | 8, 0, 0],
        );
    }
    // The program's code can be read and not written.
    let code = (main as fn(&Env) -> i32) as usize as u64;
    let wild =
        Entry { start: code, bytes: 16, counter: NONE, options: EntryOptions::OP_PUT, ..Entry::default() };
    refused("an entry over code", call::ENTRY_APPEND, [mine, 0, place(&wild), 0]);
    if attempts < 100 {
        fail(&format_args!("only {attempts} attempts"));
    }
    node_barrier();
    Ok(())
}

fn place<T>(value: &T) -> u64 {
    (&raw const *value).expose_provenance() as u64
}
