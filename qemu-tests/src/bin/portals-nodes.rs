//! Ranks on two nodes put, get and add in each other's memory, and tell how often their cores were interrupted
//!
//! Rank r of the first half works in the memory of rank r plus half the job's ranks, which waits for it without a system call, but for two a second that say so. With an argument
//! it says when it begins, and goes on putting and getting for so many milliseconds; the other half looks by itself then, and does not miss a node that is cut off.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use core::time::Duration;

use lwk_user::abi::syscall::CoreCounters;
use lwk_user::clock::Instant;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TableOptions, ack, atomic, datatype, event, failure, operation,
};
use lwk_user::portals::{Interface, Queue, Result};
use lwk_user::wait::give_way;
use lwk_user::{Env, eprintln, job, println, start, syscall};

/// What is put and got: many frames, and no whole number of them.
const BYTES: usize = 100_003;
/// Additions to the peer's word.
const ADDITIONS: u64 = 100;
const STEP: u64 = 3;
/// Match bits.
const DATA: u64 = 1;
const WORD: u64 = 2;
const DONE: u64 = 3;

static WORDS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let (me, half) = (job().rank().0, job().size() / 2);
    let milliseconds = env.args().nth(1).and_then(|text| text.parse().ok());
    match run(me < half, if me < half { me + half } else { me - half }, milliseconds) {
        Ok(()) => 0,
        Err(error) => fail(&format_args!("{error}")),
    }
}

fn fail(message: &dyn core::fmt::Display) -> ! {
    eprintln!("rank {}: {message}", job().rank());
    start::exit(1)
}

fn memory() -> Vec<AtomicU8> {
    (0..BYTES).map(|_| AtomicU8::new(0)).collect()
}

fn address<T>(memory: &[T]) -> u64 {
    memory.as_ptr().expose_provenance() as u64
}

fn pattern(at: usize) -> u8 {
    (at * 7 + (at >> 8)) as u8
}

fn check(what: &str, memory: &[AtomicU8]) {
    // Relaxed: the event that told of its arrival was read with acquire.
    if let Some(at) = (0..BYTES).find(|at| memory[*at].load(Ordering::Relaxed) != pattern(*at)) {
        fail(&format_args!("byte {at} of the {what} is wrong"));
    }
}

fn run(active: bool, peer: u32, milliseconds: Option<u64>) -> Result<()> {
    let it = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
    let (done, mut queue) = (it.counter()?, it.queue(16)?);
    let (source, landing) = (memory(), memory());
    it.table(TableOptions::empty(), None, 0)?;
    let open = |bits, start, bytes: usize, counter| Entry {
        start,
        bytes: bytes as u64,
        counter,
        uid: ANY,
        options: EntryOptions::OP_PUT | EntryOptions::OP_GET | EntryOptions::EVENT_CT_COMM,
        node: ANY,
        process: ANY,
        bits,
        ..Entry::default()
    };
    // SAFETY: memory of atomics, which lives as long as the interface.
    unsafe {
        it.append(0, &open(DATA, address(&landing), BYTES, NONE), PRIORITY_LIST)?;
        it.append(0, &open(WORD, address(&WORDS), 8, NONE), PRIORITY_LIST)?;
        // Last: who gets through to it finds the others.
        it.append(0, &open(DONE, address(&WORDS), 0, done.handle()), PRIORITY_LIST)?;
    }
    if active {
        work(&it, &mut queue, peer, &source, &landing, milliseconds)?;
    } else {
        let (before, began) = (counters().syscalls, Instant::now());
        match milliseconds {
            None => {
                done.wait(2);
            }
            Some(_) => {
                while done.get().0 < 2 {
                    give_way();
                }
            }
        }
        let (made, waited) = (counters().syscalls.saturating_sub(before + 1), began.elapsed());
        let said = if milliseconds.is_none() { 2 * waited.as_secs() + 1 } else { 0 };
        check("put", &landing);
        // Relaxed: as above.
        let sum = WORDS[0].load(Ordering::Relaxed);
        if made > said || sum != ADDITIONS * STEP {
            fail(&format_args!("{made} system calls while it waited, and the sum is {sum}"));
        }
    }
    println!("rank {}: {} interrupts", job().rank(), counters().interrupts);
    Ok(())
}

/// Whether an operation has ended as soon as one on a dead node must: after 6 s, and whatever a busy machine takes.
fn in_time(asked: Instant) -> &'static str {
    if asked.elapsed() < Duration::from_secs(120) { "in time" } else { "after more than 120 s" }
}

/// What the kernel has counted on this core; nothing in a home that does not count.
fn counters() -> CoreCounters {
    syscall::core_counters().unwrap_or_default()
}

fn work(
    it: &Interface,
    queue: &mut Queue,
    peer: u32,
    source: &[AtomicU8],
    landing: &[AtomicU8],
    milliseconds: Option<u64>,
) -> Result<()> {
    for (at, byte) in source.iter().enumerate() {
        // Relaxed: the operation that sends it is a system call behind it.
        byte.store(pattern(at), Ordering::Relaxed);
    }
    let bind = |start, bytes: usize| {
        let descriptor = Descriptor {
            start,
            bytes: bytes as u64,
            options: DescriptorOptions::EVENT_SEND_DISABLE,
            queue: queue.handle(),
            counter: NONE,
            reserved: 0,
        };
        // SAFETY: as for the entries.
        unsafe { it.bind(&descriptor) }
    };
    let (from, into, words) =
        (bind(address(source), BYTES)?, bind(address(landing), BYTES)?, bind(address(&WORDS), 16)?);
    let mut operate = |asked: &Operation| {
        let asked = Operation { node: peer, trigger: NONE, ..*asked };
        // SAFETY: as for the entries.
        unsafe { it.operate(&asked)? };
        Ok(queue.wait())
    };
    let put = |bits, bytes| Operation {
        kind: operation::PUT,
        put: from.0,
        get: NONE,
        ack: ack::FULL,
        bytes,
        bits,
        ..Operation::default()
    };
    // Until the peer has come so far.
    while operate(&put(DONE, 0))?.failure != failure::OK {}
    let begun = Instant::now();
    if milliseconds.is_some() {
        println!("rank {}: begins", job().rank());
    }
    let get =
        Operation { kind: operation::GET, put: NONE, get: into.0, ack: ack::NONE, ..put(DATA, BYTES as u64) };
    loop {
        let asked = Instant::now();
        let told = operate(&put(DATA, BYTES as u64))?;
        if (told.kind, told.failure, told.done) != (event::ACK, failure::OK, BYTES as u64) {
            fail(&format_args!("the put, {}: {told:?}", in_time(asked)));
        }
        let asked = Instant::now();
        let told = operate(&get)?;
        if (told.kind, told.failure, told.done) != (event::REPLY, failure::OK, BYTES as u64) {
            fail(&format_args!("the get, {}: {told:?}", in_time(asked)));
        }
        check("get", landing);
        let limit = Duration::from_millis(milliseconds.unwrap_or(0));
        if begun.elapsed() >= limit {
            break;
        }
    }
    // Relaxed: as above.
    WORDS[1].store(STEP, Ordering::Relaxed);
    let add = Operation {
        kind: operation::FETCH_ATOMIC,
        put: words.0,
        put_offset: 8,
        get: words.0,
        ack: ack::NONE,
        atomic: atomic::SUM,
        datatype: datatype::UINT64,
        ..put(WORD, 8)
    };
    for number in 0..ADDITIONS {
        let told = operate(&add)?;
        // Relaxed: as above.
        let before = WORDS[0].load(Ordering::Relaxed);
        if told.failure != failure::OK || before != number * STEP {
            fail(&format_args!("addition {number} found {before}: {told:?}"));
        }
    }
    operate(&put(DONE, 0)).map(drop)
}
