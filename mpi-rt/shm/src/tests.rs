use crate::{BLOCK, Block, Cells, Consumer, Mark, Pool, Producer, Total};

fn blocks(count: usize) -> Vec<Block> {
    (0..count).map(|_| Block::new()).collect()
}

fn marks(count: usize) -> Vec<Mark> {
    (0..count).map(|_| Mark::new()).collect()
}

/// Writes a packet of bytes that follow from `seed`.
///
/// # Safety
/// There is room for it.
unsafe fn send(producer: &mut Producer, seed: u64, bytes: usize) {
    // SAFETY: the FIFO has room for `8 + bytes` (this function's contract); each piece is as long as it says.
    unsafe {
        producer.write(0, 8, |piece, offset, length| {
            let head = ((seed << 32) | bytes as u64).to_le_bytes();
            piece.copy_from(head.as_ptr().add(offset), length);
        });
        producer.write(8, bytes, |piece, offset, length| {
            for index in 0..length {
                piece.add(index).write((seed as usize + offset + index) as u8);
            }
        });
        producer.publish(8 + bytes);
    }
}

/// Reads one and checks it; its length.
///
/// # Safety
/// There is one.
unsafe fn receive(consumer: &mut Consumer, seed: u64) -> usize {
    let mut head = [0u8; 8];
    // SAFETY: there is a packet (this function's contract): eight bytes, and as many more as these say.
    unsafe {
        consumer.read(0, 8, |piece, offset, length| piece.copy_to(head.as_mut_ptr().add(offset), length));
        let head = u64::from_le_bytes(head);
        assert_eq!(head >> 32, seed);
        let bytes = head as u32 as usize;
        consumer.read(8, bytes, |piece, offset, length| {
            for index in 0..length {
                assert_eq!(piece.add(index).read(), (seed as usize + offset + index) as u8);
            }
        });
        consumer.advance(8 + bytes);
        bytes
    }
}

#[test]
fn packets_of_every_length_wrap_around_and_nothing_is_lost() {
    let (memory, total_in, total_out) = (blocks(8), Total::new(), Total::new());
    // SAFETY: a new FIFO, one end each; `send` runs after `has_room`, `receive` after `has_packet`.
    unsafe {
        let mut producer = Producer::new(&memory, &total_in, &total_out).unwrap();
        let mut consumer = Consumer::new(&memory, &total_in, &total_out).unwrap();
        assert!(!consumer.has_packet());
        assert!(!producer.has_room(8 * BLOCK + 1));
        for bytes in 0..=8 * BLOCK - 8 {
            assert!(producer.has_room(8 + bytes), "{bytes}");
            send(&mut producer, bytes as u64, bytes);
            assert!(consumer.has_packet());
            assert_eq!(receive(&mut consumer, bytes as u64), bytes);
            assert!(!consumer.has_packet());
        }
    }
}

#[test]
fn a_full_fifo_has_no_room_until_something_is_read() {
    let (memory, total_in, total_out) = (blocks(4), Total::new(), Total::new());
    // SAFETY: a new FIFO, one end each; `send` runs after `has_room`, `receive` after `has_packet`.
    unsafe {
        let mut producer = Producer::new(&memory, &total_in, &total_out).unwrap();
        let mut consumer = Consumer::new(&memory, &total_in, &total_out).unwrap();
        for number in 0..4 {
            assert!(producer.has_room(9));
            send(&mut producer, number, 1);
        }
        assert!(!producer.has_room(1));
        assert_eq!(producer.room(), 0);
        assert!(consumer.has_packet());
        receive(&mut consumer, 0);
        assert!(producer.has_room(1) && !producer.has_room(BLOCK + 1));
        assert!(Producer::new(&[], &total_in, &total_out).is_none());
    }
}

#[test]
fn two_threads_keep_order_and_content() {
    const PACKETS: u64 = 20_000;
    let (memory, total_in, total_out) = (blocks(16), Total::new(), Total::new());
    // SAFETY: a new FIFO, one end each; `send` runs after `has_room`, `receive` after `has_packet`.
    unsafe {
        let mut producer = Producer::new(&memory, &total_in, &total_out).unwrap();
        let mut consumer = Consumer::new(&memory, &total_in, &total_out).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..PACKETS {
                    let bytes = (number * 37 % 500) as usize;
                    while !producer.has_room(8 + bytes) {
                        std::thread::yield_now();
                    }
                    send(&mut producer, number, bytes);
                }
            });
            for number in 0..PACKETS {
                while !consumer.has_packet() {
                    std::thread::yield_now();
                }
                assert_eq!(receive(&mut consumer, number), (number * 37 % 500) as usize);
            }
        });
    }
}

#[test]
fn cells_come_back_only_when_they_are_marked_and_swept() {
    let (marks, blocks) = (marks(3), blocks(6));
    let cells = Cells::new(&marks, &blocks).unwrap();
    assert_eq!((cells.cell_bytes(), cells.count()), (2 * BLOCK, 3));
    // SAFETY: new cells, one owner; the peers are told by this thread itself.
    unsafe {
        let mut pool = Pool::new(cells, 2);
        let load = |pool: &mut Pool, peer: usize, value: u8| {
            pool.load(peer, 100, |piece, _, length| piece.write_bytes(value, length))
        };
        let all: Vec<_> =
            [(0, 10), (1, 11), (0, 12)].map(|(peer, value)| load(&mut pool, peer, value)).into();
        assert!(all.iter().all(Option::is_some));
        assert_eq!(pool.available(1), 0);
        assert_eq!(load(&mut pool, 1, 13), None);
        // Out of order: the newest of peer 0's first.
        let newest = all[2].unwrap();
        assert!(cells.empty(newest, 100, |piece, _, _| assert_eq!(piece.read(), 12)));
        assert_eq!(load(&mut pool, 1, 13), None, "not swept yet");
        assert_eq!(pool.available(1), 1);
        assert_eq!(load(&mut pool, 1, 13), Some(newest));
        assert!(cells.empty(newest, 100, |piece, _, _| assert_eq!(piece.read(), 13)));
        assert!(cells.empty(all[0].unwrap(), 100, |piece, _, _| assert_eq!(piece.read(), 10)));
        assert_eq!(pool.available(2), 2);
        assert_eq!(pool.load(0, 2 * BLOCK + 1, |_, _, _| ()), None);
        assert!(!cells.empty(7, 1, |_, _, _| ()), "there is no such cell");
    }
}

#[test]
fn blocks_that_do_not_divide_make_no_cells() {
    let (marks, blocks) = (marks(4), blocks(6));
    assert!(Cells::new(&marks, &blocks).is_none());
    assert!(Cells::new(&[], &blocks).is_none());
    assert!(Cells::new(&marks, &[]).is_none());
}
