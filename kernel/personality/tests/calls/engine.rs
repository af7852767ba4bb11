//! Copies that a rank orders and a worker makes.

use lwk_abi::address::SLOT_BYTES;
use lwk_abi::engine::{BY_ENGINE, BY_WORKER, CHECK, COUNTS, FAULT, ICOPY, IREAD, IWRITE, WORKERS};
use lwk_abi::limic::{DONE, IRECV, READS, RELOCATE, WAITS, WITHDRAW, WRITES};
use lwk_abi::syscall::errno::{EFAULT, EINVAL, ENODEV};
use lwk_engine::Order;

use crate::home::{NOWHERE, Program, RANK, error};

/// Where the rank's slot begins, as every rank sees it.
const SLOT: u64 = (RANK as u64 + 1) * SLOT_BYTES;

/// A program of a job with a worker.
fn program() -> Program {
    let program = Program::new();
    program.node.workers.set(1);
    program
}

/// A write to, or a read from, the rank itself.
fn request(program: &mut Program, number: u64, buffer: u64, bytes: u64) -> u64 {
    program.put_words(&[99, RANK.into(), number, 0, buffer, bytes])
}

#[test]
fn who_finds_the_other_orders_the_copy_and_both_are_to_be_told() {
    for write_first in [true, false] {
        let mut program = program();
        let (text, buffer) = (program.put(b"0123456789"), program.put(&[b'.'; 12]));
        let write = request(&mut program, 7, text, 10);
        let read = request(&mut program, 7, buffer, 4);
        let [first, second] =
            if write_first { [(IWRITE, write), (IREAD, read)] } else { [(IREAD, read), (IWRITE, write)] };
        assert_eq!(program.call(first.0, &[first.1, BY_WORKER]), Ok(0));
        assert!(program.node.orders.borrow().is_empty());
        assert_eq!(program.call(second.0, &[second.1, BY_WORKER]), Ok(0));
        let [told, other] = [second.1, first.1].map(|request| SLOT + request);
        let order =
            Order { from: SLOT + text, to: SLOT + buffer, bytes: 4, told: [told, other], way: BY_WORKER };
        assert_eq!(program.node.orders.take(), [order]);
        for request in [write, read] {
            assert_eq!([0, 16, 40].map(|at| program.word(request + at)), [WAITS, 7, 10]);
        }
        assert_eq!(program.get(buffer, 4), b"....", "that is the worker's");
        assert_eq!(program.call(WITHDRAW, &[write, WRITES]), Ok(0));
    }
}

#[test]
fn reads_meet_writes_of_their_number_and_nothing_else() {
    let mut program = program();
    let text = program.put(b"0123456789");
    let copy = program.put(b"9876543210");
    let write = request(&mut program, 7, text, 10);
    let other = request(&mut program, 1 << 32 | 7, text, 10);
    let receive = request(&mut program, 7, text, 10);
    assert_eq!(program.call(IWRITE, &[write, BY_WORKER]), Ok(0));
    assert_eq!(program.call(IREAD, &[other, BY_WORKER]), Ok(0));
    assert_eq!(program.call(IRECV, &[receive]), Ok(0));
    assert!(program.node.orders.borrow().is_empty());
    assert_eq!(program.call(WITHDRAW, &[other, READS]), Ok(1));
    assert_eq!(program.call(RELOCATE, &[write, copy, READS]), error(EINVAL));
    assert_eq!(program.call(RELOCATE, &[write, copy, WRITES]), Ok(1));
    let read = request(&mut program, 7, text, 10);
    assert_eq!(program.call(IREAD, &[read, BY_WORKER]), Ok(0));
    assert_eq!(program.node.orders.take().first().map(|order| order.from), Some(SLOT + copy));
    assert_eq!(program.call(RELOCATE, &[write, text, WRITES]), Ok(0), "it is being read");
    assert_eq!(program.call(WITHDRAW, &[write, 4]), error(EINVAL));
}

#[test]
fn nothing_is_done_at_once() {
    let mut program = program();
    let write = request(&mut program, 7, 0, 0);
    let read = request(&mut program, 7, 0, 0);
    assert_eq!(program.call(IWRITE, &[write, BY_WORKER]), Ok(0));
    assert_eq!(program.call(IREAD, &[read, BY_WORKER]), Ok(1));
    let copy = program.put_words(&[WAITS, 0, 0, 0]);
    assert_eq!(program.call(ICOPY, &[copy, BY_WORKER]), Ok(1));
    assert_eq!([write, read, copy].map(|at| program.word(at)), [DONE; 3]);
    assert!(program.node.orders.borrow().is_empty());
}

#[test]
fn a_copy_is_ordered_as_it_was_checked() {
    let mut program = program();
    let (text, buffer) = (program.put(b"0123456789"), program.put(&[b'.'; 12]));
    let copy = program.put_words(&[DONE, text, SLOT + buffer, 10]);
    assert_eq!(program.call(ICOPY, &[copy, BY_ENGINE]), Ok(0));
    assert_eq!(program.word(copy), WAITS);
    assert_eq!(program.call(CHECK, &[]), Ok(1));
    let order =
        Order { from: SLOT + text, to: SLOT + buffer, bytes: 10, told: [SLOT + copy, 0], way: BY_ENGINE };
    assert_eq!(program.node.orders.take(), [order]);
    for (from, to, bytes) in [(NOWHERE, buffer, 1), (text, NOWHERE, 1), (text, buffer, u64::MAX)] {
        let bad = program.put_words(&[0, from, to, bytes]);
        assert_eq!(program.call(ICOPY, &[bad, BY_WORKER]), error(EFAULT));
    }
    assert_eq!(program.call(ICOPY, &[copy + 4, BY_WORKER]), error(EINVAL), "not aligned");
    assert_eq!(program.call(ICOPY, &[NOWHERE, BY_WORKER]), error(EFAULT));
    assert!(program.node.orders.borrow().is_empty());
}

#[test]
fn without_a_worker_nothing_is_ordered() {
    let mut program = Program::new();
    let text = program.put(b"0123456789");
    let (write, copy) = (request(&mut program, 7, text, 10), program.put_words(&[0, text, text, 0]));
    assert_eq!(program.call(WORKERS, &[]), Ok(0));
    for (call, at) in [(IWRITE, write), (IREAD, write), (ICOPY, copy)] {
        assert_eq!(program.call(call, &[at, BY_WORKER]), error(ENODEV));
    }
    program.node.workers.set(3);
    assert_eq!(program.call(WORKERS, &[]), Ok(3));
    for (call, at) in [(IWRITE, write), (IREAD, write), (ICOPY, copy)] {
        assert_eq!(program.call(call, &[at, 99]), error(EINVAL), "no way");
    }
    let counts = program.put_words(&[0; 7]);
    assert_eq!(program.call(COUNTS, &[counts]), Ok(0));
    assert_eq!([0, 8, 16, 24, 32, 40, 48].map(|at| program.word(counts + at)), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(program.call(COUNTS, &[NOWHERE]), error(EFAULT));
    assert_eq!((program.call(FAULT, &[7, 2]), program.call(FAULT, &[2, 7])), (Ok(0), error(EFAULT)));
}
