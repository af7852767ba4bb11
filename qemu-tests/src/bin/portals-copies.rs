//! Payload between two nodes is copied once, by the node that receives it, and not at all by the one that sends it: as the nodes' kernels count
//!
//! Rank 0 puts into the memory of rank 1, and gets from it. Each rank then looks at what its node has counted.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec::Vec;
use core::sync::atomic::AtomicU8;

use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, InterfaceOptions, NONE, NodeCounts, Operation,
    PRIORITY_LIST, TableOptions, ack, event, failure, operation,
};
use lwk_user::portals::{Interface, Queue, Result};
use lwk_user::{Env, eprintln, job, println, start};

/// Bytes of each message.
const BYTES: usize = 300_001;
/// Puts, and gets.
const PUTS: u64 = 3;
const GETS: u64 = 2;
/// Bytes of a frame's and a message's heads, and of an answer without data, at most.
const HEADS: u64 = 256;
/// Bytes of the longest frame, of any card or wire.
const LONGEST: u64 = 65_536;
/// Match bits.
const DATA: u64 = 1;
const READY: u64 = 2;
const DONE: u64 = 3;

lwk_user::entry!(main);

fn main(_: &Env) -> i32 {
    match run() {
        Ok(()) => 0,
        Err(error) => fail(&format_args!("{error}")),
    }
}

fn fail(message: &dyn core::fmt::Display) -> ! {
    eprintln!("rank {}: {message}", job().rank());
    start::exit(1)
}

fn address(memory: &[AtomicU8]) -> u64 {
    memory.as_ptr().expose_provenance() as u64
}

fn run() -> Result<()> {
    let it = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
    let (done, mut queue) = (it.counter()?, it.queue(16)?);
    let memory: Vec<AtomicU8> = (0..BYTES).map(|at| AtomicU8::new(at as u8)).collect();
    it.table(TableOptions::empty(), None, 0)?;
    let open = |bits, bytes: usize, counter| Entry {
        start: address(&memory),
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
        it.append(0, &open(DATA, BYTES, NONE), PRIORITY_LIST)?;
        it.append(0, &open(DONE, 0, done.handle()), PRIORITY_LIST)?;
    }
    let whole = Descriptor {
        start: address(&memory),
        bytes: BYTES as u64,
        options: DescriptorOptions::EVENT_SEND_DISABLE,
        queue: queue.handle(),
        counter: NONE,
        reserved: 0,
    };
    // SAFETY: as above.
    let whole = unsafe { it.bind(&whole)? }.0;
    let active = job().rank().0 == 0;
    let mut before = it.node_counts()?;
    // The peer begins when it finds this.
    // SAFETY: as above.
    unsafe { it.append(0, &open(READY, 0, NONE), PRIORITY_LIST)? };
    let put = Operation {
        kind: operation::PUT,
        put: whole,
        get: NONE,
        ack: ack::FULL,
        node: 1,
        trigger: NONE,
        ..Operation::default()
    };
    if active {
        let mut operate = |asked: Operation| end_of(&it, &mut queue, &asked);
        // Until the peer has come so far.
        while operate(Operation { bits: READY, ..put })? != (event::ACK, failure::OK) {}
        // However often that was.
        before = it.node_counts()?;
        for _ in 0..PUTS {
            expect(operate(Operation { bits: DATA, bytes: BYTES as u64, ..put })?, event::ACK);
        }
        let get = Operation { kind: operation::GET, put: NONE, get: whole, ack: ack::NONE, ..put };
        for _ in 0..GETS {
            expect(operate(Operation { bits: DATA, bytes: BYTES as u64, ..get })?, event::REPLY);
        }
        expect(operate(Operation { bits: DONE, ..put })?, event::ACK);
    } else {
        done.wait(1);
    }
    judge(&before, &it.node_counts()?, if active { GETS } else { PUTS });
    println!("rank {}: each byte was copied once", job().rank());
    Ok(())
}

/// Does an operation: the kind of the event that ends it, and its failure.
fn end_of(it: &Interface, queue: &mut Queue, asked: &Operation) -> Result<(u32, u32)> {
    // SAFETY: memory of atomics, which lives as long as the interface.
    unsafe { it.operate(asked)? };
    let told = queue.wait();
    Ok((told.kind, told.failure))
}

fn expect(told: (u32, u32), kind: u32) {
    if told != (kind, failure::OK) {
        fail(&format_args!("an operation ends with {told:?}"));
    }
}

/// Looks at what the node has done: `messages` messages of [`BYTES`] have come.
fn judge(before: &NodeCounts, after: &NodeCounts, messages: u64) {
    let payload = after.payload - before.payload;
    // The counts before were themselves written, after they were taken.
    let copied = (after.written - before.written) - (after.told - before.told);
    if payload != messages * BYTES as u64 || copied != payload {
        fail(&format_args!("of {payload} bytes of payload {copied} were copied, for {messages} messages"));
    }
    let frames = after.frames_sent - before.frames_sent;
    let sent = after.copied_to_send - before.copied_to_send;
    let data = (PUTS + GETS - messages) * BYTES as u64;
    if sent > frames * HEADS || frames * LONGEST < data || sent * 4 > data {
        fail(&format_args!("{sent} bytes were copied to send {data} bytes in {frames} frames"));
    }
}
