//! The protocols under the model checker: loom fails these if memory can be read before it is written, or written while it is read.

use core::mem::take;
use loom::sync::{Arc, Mutex};
use loom::thread;
use lwk_abi::limic::{BYTES, LABEL, STATE};
use lwk_abi::portals::{Event, QUEUE_DROPPED, QUEUE_EVENTS};
use std::vec::Vec;

use crate::counts::{self, Counts};
use crate::events::{self, Head, Ring, Slot};
use crate::primitive::{Memory, check, wait};
use crate::{Copy, Outcome, Request, Sleeper, Sum, Told, Words, describe, finish};

const EVENT_BYTES: u64 = size_of::<Event>() as u64;

struct Queue {
    head: Head,
    slots: Vec<Slot>,
    /// What the first events are about.
    payload: Vec<Memory>,
}

impl Queue {
    fn new(size: usize) -> Arc<Queue> {
        Arc::new(Queue {
            head: Head::default(),
            slots: (0..size).map(|_| Slot::new()).collect(),
            payload: (0..2).map(|_| Memory::new()).collect(),
        })
    }
}

/// The system's way to it.
struct System<'a>(&'a Queue);

impl System<'_> {
    fn slot(&self, place: u64) -> &Slot {
        &self.0.slots[((place - QUEUE_EVENTS) / EVENT_BYTES) as usize]
    }
}

impl Ring for System<'_> {
    fn write(&mut self, place: u64, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        assert!(rest.is_empty() && (place - QUEUE_EVENTS) % EVENT_BYTES == 8);
        let words = core::array::from_fn(|at| u64::from_ne_bytes(words[at]));
        // SAFETY: that the rank does not read meanwhile is what the checker finds out.
        self.slot(place).rest.with_mut(|rest| unsafe { *rest = words });
    }

    fn tell(&mut self, place: u64, word: u64) {
        match place {
            QUEUE_DROPPED => self.0.head.dropped.tell(word),
            place => self.slot(place).number.tell(word),
        }
    }
}

/// An event with that in each of its words.
fn event(value: u8) -> [u8; EVENT_BYTES as usize] {
    [value; EVENT_BYTES as usize]
}

#[test]
fn an_event_is_there_as_a_whole_and_so_is_what_it_tells_of() {
    check(|| {
        let queue = Queue::new(1);
        let there = queue.clone();
        let system = thread::spawn(move || {
            for written in 0..2 {
                // The place is used again when the rank has said that it has taken the event.
                wait(|| events::room(there.head.taken.look(), 1, written) > Some(0));
                there.payload[written as usize].store(written + 1);
                events::post(&mut System(&there), 1, written, &event(written as u8 + 1));
            }
        });
        for number in 1..=2 {
            let mut taken = None;
            wait(|| {
                taken = queue.slots[0].take(&queue.head, number);
                taken.is_some()
            });
            let event = taken.unwrap();
            assert_eq!(event.sequence, number);
            assert_eq!(
                (event.kind, event.data),
                (0x0101_0101 * number as u32, 0x0101_0101_0101_0101 * number)
            );
            assert_eq!(queue.payload[number as usize - 1].load(), number);
        }
        system.join().unwrap();
    });
}

#[test]
fn a_full_queue_drops_and_says_so() {
    check(|| {
        let queue = Queue::new(1);
        let there = queue.clone();
        let system = thread::spawn(move || {
            let (mut written, mut dropped) = (0, 0);
            for _ in 0..2 {
                if events::room(there.head.taken.look(), 1, written) > Some(0) {
                    events::post(&mut System(&there), 1, written, &event(1));
                    written += 1;
                } else {
                    dropped += 1;
                    events::dropped(&mut System(&there), dropped);
                }
            }
            written
        });
        wait(|| queue.slots[0].take(&queue.head, 1).is_some());
        let written = system.join().unwrap();
        // The second is there as a whole, or was dropped.
        assert_eq!(queue.slots[0].take(&queue.head, 2).is_some(), written == 2);
        assert_eq!(queue.head.dropped(), 2 - written);
    });
}

#[test]
fn what_a_count_counts_is_there() {
    check(|| {
        let shared = Arc::new((Counts::default(), Memory::new()));
        let there = shared.clone();
        let system = thread::spawn(move || {
            there.1.store(7);
            counts::tell(1, 3, |offset, word| {
                [&there.0.successes, &there.0.failures][offset as usize / 8].tell(word)
            });
        });
        wait(|| shared.0.get().0 > 0);
        assert_eq!((shared.1.load(), shared.0.get()), (7, (1, 3)));
        system.join().unwrap();
    });
}

/// A request of a rank, and the system's way to it.
struct Posted {
    request: Request,
    buffer: Memory,
}

impl Words for Posted {
    fn write(&self, address: u64, word: u64) {
        let word_of = match address {
            LABEL => &self.request.label,
            BYTES => &self.request.bytes,
            _ => unreachable!("a word that the system writes"),
        };
        word_of.set(word);
    }

    fn tell(&self, address: u64, word: u64) {
        assert_eq!(address, STATE);
        self.request.state.tell(word);
    }
}

#[test]
fn a_receive_that_is_done_has_its_message_and_the_send_its_buffer_back() {
    check(|| {
        let new = || Arc::new(Posted { request: Request::new(), buffer: Memory::new() });
        let (send, receive) = (new(), new());
        let ends = (send.clone(), receive.clone());
        receive.request.set(0, 5, false, 0, 8);
        let sender = thread::spawn(move || {
            let (send, receive) = ends;
            send.request.set(1, 5, false, 0, 8);
            send.buffer.store(42);
            // The system call of the rank that comes later copies, and tells both.
            receive.buffer.store(send.buffer.load());
            finish(&*receive, 0, 5, Ok(8));
            finish(&*send, 0, 5, Ok(8));
        });
        wait(|| receive.request.outcome().is_some());
        assert_eq!(receive.request.outcome(), Some(Outcome::Done { label: 5, bytes: 8 }));
        assert_eq!(receive.buffer.load(), 42);
        sender.join().unwrap();
        assert!(send.request.outcome().is_some());
    });
}

#[test]
fn a_request_that_has_failed_says_why() {
    check(|| {
        let receive = Arc::new(Posted { request: Request::new(), buffer: Memory::new() });
        receive.request.set(0, 5, true, 0, 8);
        let there = receive.clone();
        let system = thread::spawn(move || finish(&*there, 0, 5, Err(14)));
        wait(|| receive.request.outcome().is_some());
        assert_eq!(receive.request.outcome(), Some(Outcome::Failed(14)));
        system.join().unwrap();
    });
}

#[test]
fn a_worker_tells_both_sides_of_a_copy_that_another_has_described() {
    check(|| {
        let new = || Arc::new(Posted { request: Request::new(), buffer: Memory::new() });
        let (send, receive) = (new(), new());
        send.buffer.store(42);
        // Orders are handed over under the system's lock.
        let orders = Arc::new(Mutex::new(false));
        let worker = {
            let (send, receive, orders) = (send.clone(), receive.clone(), orders.clone());
            thread::spawn(move || {
                wait(|| *orders.lock().unwrap());
                receive.buffer.store(send.buffer.load());
                // As `tell` of an order: the states only.
                for end in [send, receive] {
                    end.tell(STATE, lwk_abi::limic::DONE);
                }
            })
        };
        // The call of the rank that comes later describes the message to both.
        for end in [&send, &receive] {
            describe(&**end, 0, 9, 8);
        }
        *orders.lock().unwrap() = true;
        wait(|| receive.request.outcome().is_some());
        assert_eq!(receive.request.outcome(), Some(Outcome::Done { label: 9, bytes: 8 }));
        assert_eq!(receive.buffer.load(), 42);
        // The sender's buffer is its own again.
        wait(|| send.request.outcome().is_some());
        send.buffer.store(1);
        worker.join().unwrap();
    });
}

#[test]
fn a_copy_that_is_done_is_there() {
    check(|| {
        let shared = Arc::new((Copy::new(), Memory::new(), Memory::new()));
        shared.1.store(42);
        shared.0.set(1, 2, 8);
        let there = shared.clone();
        let worker = thread::spawn(move || {
            there.2.store(there.1.load());
            there.0.state.tell(lwk_abi::limic::DONE);
        });
        wait(|| shared.0.is_done());
        assert_eq!(shared.2.load(), 42);
        shared.1.store(43);
        worker.join().unwrap();
    });
}

#[test]
fn what_a_rank_has_stored_before_it_left_is_there() {
    check(|| {
        let shared = Arc::new((Told::new(), Memory::new()));
        let there = shared.clone();
        // The rank stores, and its exit is the system's work on the same core.
        let rank = thread::spawn(move || {
            there.1.store(42);
            there.0.tell(1);
        });
        wait(|| shared.0.look() != 0);
        assert_eq!(shared.1.load(), 42);
        rank.join().unwrap();
    });
}

/// A receiver reads what lies in its ring and says so; the sender looks, and has something else put there.
#[test]
fn what_has_been_told_to_be_free_is_not_read_any_more() {
    check(|| {
        let shared = Arc::new((Sum::new(), Memory::new()));
        let there = shared.clone();
        let receiver = thread::spawn(move || {
            assert_eq!(there.1.load(), 0);
            there.0.add(1);
        });
        wait(|| shared.0.look() == 1);
        shared.1.store(7);
        receiver.join().expect("the receiver");
    });
}

/// A rank halts its core whenever it has found nothing; two messages come. The checker fails if it sleeps for ever.
#[test]
fn a_core_that_sleeps_is_told_of_each_message() {
    check(|| {
        // The interrupt stays until the core takes it.
        let shared = Arc::new((Sleeper::new(), Told::new(), Mutex::new(false)));
        let there = shared.clone();
        let network = thread::spawn(move || {
            for message in 1..=2 {
                there.1.tell(message);
                if there.0.tell() {
                    *there.2.lock().unwrap() = true;
                }
            }
        });
        for message in 1..=2 {
            while shared.1.look() < message {
                if shared.0.may_sleep() {
                    wait(|| take(&mut *shared.2.lock().unwrap()));
                }
                shared.0.wake();
            }
        }
        network.join().expect("the network's core");
    });
}
