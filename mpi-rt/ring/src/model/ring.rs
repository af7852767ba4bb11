//! A ring between two threads.

use crate::primitive::{check, wait};
use crate::{Cell, Consumer, Credit, Producer};
use loom::sync::Arc;
use loom::thread;

struct Ring {
    cells: Vec<Cell>,
    credit: Credit,
}

/// Sends messages of the given lengths in cells through a ring of two cells.
fn carries(lengths: &'static [u64]) {
    check(move || {
        let ring = Arc::new(Ring { cells: (0..2).map(|_| Cell::new()).collect(), credit: Credit::new() });
        let shared = ring.clone();
        let sender = thread::spawn(move || {
            // SAFETY: the ring is new and this is its only producer; cells are written after `has_room` and before `publish`.
            unsafe {
                let mut producer = Producer::new(&shared.cells, &shared.credit).unwrap();
                for (number, length) in lengths.iter().enumerate() {
                    wait(|| producer.has_room(*length));
                    for index in 0..*length {
                        producer.write(index, |data| (*data)[6] = number as u64 * 10 + index);
                    }
                    producer.publish(*length);
                }
            }
        });
        // SAFETY: the only consumer; cells are read after `has_message` and before `advance`.
        unsafe {
            let mut consumer = Consumer::new(&ring.cells, &ring.credit).unwrap();
            for (number, length) in lengths.iter().enumerate() {
                wait(|| consumer.has_message());
                for index in 0..*length {
                    assert_eq!(consumer.read(index, |data| (*data)[6]), number as u64 * 10 + index);
                }
                consumer.advance(*length);
            }
        }
        sender.join().unwrap();
    });
}

#[test]
fn single_cells_lap_the_ring() {
    carries(&[1, 1, 1, 1]);
}

#[test]
fn long_messages_wrap_around() {
    carries(&[1, 2, 1]);
}

/// Messages of one cell by the shorter way of either end, which falls back to the other where the producer must look for credit.
#[test]
fn single_cells_pass_the_shorter_way() {
    const MESSAGES: u64 = 4;
    check(|| {
        let ring = Arc::new(Ring { cells: (0..2).map(|_| Cell::new()).collect(), credit: Credit::new() });
        let shared = ring.clone();
        let sender = thread::spawn(move || {
            // SAFETY: the ring is new and this is its only producer; each message is written to the room it
            // was given, before it is published.
            unsafe {
                let mut producer = Producer::new(&shared.cells, &shared.credit).unwrap();
                for number in 0..MESSAGES {
                    let room = loop {
                        match producer.room_for_one() {
                            Some(room) => break room,
                            None => wait(|| producer.has_room(1)),
                        }
                    };
                    (*room.data())[6] = number;
                    producer.publish_one(room);
                }
            }
        });
        // SAFETY: the only consumer; a cell is read after `next_message` and before `advance`.
        unsafe {
            let mut consumer = Consumer::new(&ring.cells, &ring.credit).unwrap();
            for number in 0..MESSAGES {
                let data = loop {
                    match consumer.next_message() {
                        Some(data) => break data,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!((*data)[6], number);
                consumer.advance(1);
            }
        }
        sender.join().unwrap();
    });
}
