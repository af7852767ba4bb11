//! The protocol under the model checker: loom fails these if a read of a cell's data can run at the same time as a write.

use crate::{Cell, Consumer, Credit, Producer};
use loom::sync::Arc;
use loom::thread;

/// Threads that the checker may switch at any point, beside waits; enough for two threads, and minutes instead of hours.
const PREEMPTIONS: usize = 3;

struct Ring {
    cells: Vec<Cell>,
    credit: Credit,
}

/// Sends messages of the given lengths in cells through a ring of two cells.
fn carries(lengths: &'static [u64]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(move || {
        let ring = Arc::new(Ring { cells: (0..2).map(|_| Cell::new()).collect(), credit: Credit::new() });
        let shared = ring.clone();
        let sender = thread::spawn(move || {
            // SAFETY: the ring is new and this is its only producer; cells are written after `has_room` and before `publish`.
            unsafe {
                let mut producer = Producer::new(&shared.cells, &shared.credit).unwrap();
                for (number, length) in lengths.iter().enumerate() {
                    while !producer.has_room(*length) {
                        thread::yield_now();
                    }
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
                while !consumer.has_message() {
                    thread::yield_now();
                }
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
