//! The protocols under the model checker: loom fails these if a read of shared bytes can run at the same time as a write.

use crate::primitive::{check, wait};
use crate::{BLOCK, Block, Cells, Consumer, Mark, Pool, Producer, Total};
use loom::sync::Arc;
use loom::thread;

struct Shared {
    fifo: Vec<Block>,
    total_in: Total,
    total_out: Total,
    marks: Vec<Mark>,
    cells: Vec<Block>,
}

fn with_shared(body: impl Fn(Arc<Shared>) + Sync + Send + 'static) {
    check(move || {
        body(Arc::new(Shared {
            fifo: (0..2).map(|_| Block::new()).collect(),
            total_in: Total::new(),
            total_out: Total::new(),
            marks: (0..1).map(|_| Mark::new()).collect(),
            cells: (0..1).map(|_| Block::new()).collect(),
        }));
    });
}

/// Waits for room and sends a packet, whose every block begins with `value`.
fn send(producer: &mut Producer, value: u8, bytes: usize) {
    wait(|| producer.has_room(bytes));
    // SAFETY: there is room; pieces are as long as they say.
    unsafe {
        producer.write(0, bytes, |piece, _, _| piece.write(value));
        producer.publish(bytes);
    }
}

/// Waits for a packet of so many bytes; its value.
fn receive(consumer: &mut Consumer, bytes: usize) -> u8 {
    wait(|| consumer.has_packet());
    let mut values = Vec::new();
    // SAFETY: there is a packet, of that length.
    unsafe {
        consumer.read(0, bytes, |piece, _, _| values.push(piece.read()));
        consumer.advance(bytes);
    }
    assert!(values.iter().all(|value| *value == values[0]));
    values[0]
}

#[test]
fn packets_lap_the_fifo() {
    const LENGTHS: [usize; 4] = [1, 2 * BLOCK, 1, BLOCK];
    with_shared(|shared| {
        let there = shared.clone();
        let sender = thread::spawn(move || {
            // SAFETY: a new FIFO, and its only producer.
            let mut producer =
                unsafe { Producer::new(&there.fifo, &there.total_in, &there.total_out) }.unwrap();
            LENGTHS.iter().zip(1..).for_each(|(bytes, value)| send(&mut producer, value, *bytes));
        });
        // SAFETY: its only consumer.
        let mut consumer =
            unsafe { Consumer::new(&shared.fifo, &shared.total_in, &shared.total_out) }.unwrap();
        for (bytes, value) in LENGTHS.iter().zip(1..) {
            assert_eq!(receive(&mut consumer, *bytes), value);
        }
        sender.join().unwrap();
    });
}

#[test]
fn a_cell_is_used_again_after_it_is_marked_and_swept() {
    with_shared(|shared| {
        let there = shared.clone();
        let sender = thread::spawn(move || {
            // SAFETY: a new FIFO and new cells; their only producer and owner.
            let (mut producer, mut pool) = unsafe {
                let cells = Cells::new(&there.marks, &there.cells).unwrap();
                let producer = Producer::new(&there.fifo, &there.total_in, &there.total_out).unwrap();
                (producer, Pool::new(cells, 1))
            };
            for value in 1..=2 {
                wait(|| pool.available(1) > 0);
                // SAFETY: pieces are as long as they say.
                let cell = unsafe { pool.load(0, 8, |piece, _, _| piece.write(value)) }.unwrap();
                send(&mut producer, cell as u8, 1);
            }
        });
        // SAFETY: the only consumer.
        let mut consumer =
            unsafe { Consumer::new(&shared.fifo, &shared.total_in, &shared.total_out) }.unwrap();
        let cells = Cells::new(&shared.marks, &shared.cells).unwrap();
        for value in 1..=2 {
            let cell = receive(&mut consumer, 1);
            // SAFETY: the owner has just told it.
            assert!(unsafe { cells.empty(cell.into(), 8, |piece, _, _| assert_eq!(piece.read(), value)) });
        }
        sender.join().unwrap();
    });
}
