use crate::{Cell, Consumer, Credit, Producer};

fn cells(count: usize) -> Vec<Cell> {
    (0..count).map(|_| Cell::new()).collect()
}

#[test]
fn a_full_ring_has_no_room_until_a_quarter_is_free_and_loses_nothing() {
    let (cells, credit) = (cells(8), Credit::new());
    // SAFETY: a new ring, one end each; reads and writes follow the protocol.
    unsafe {
        let mut producer = Producer::new(&cells, &credit).unwrap();
        let mut consumer = Consumer::new(&cells, &credit).unwrap();
        assert!(!consumer.has_message());
        for value in 0..8 {
            assert!(producer.has_room(1));
            producer.write(0, |data| (*data)[0] = value);
            producer.publish(1);
        }
        assert!(!producer.has_room(1));
        for value in 0..8 {
            assert!(consumer.has_message());
            assert_eq!(consumer.read(0, |data| (*data)[0]), value);
            consumer.advance(1);
            assert_eq!(producer.has_room(1), value > 0);
        }
        assert!(!consumer.has_message());
        assert!(!producer.has_room(9));
    }
}

#[test]
fn a_length_that_is_no_power_of_two_is_refused() {
    // SAFETY: new rings, one end each.
    unsafe {
        assert!(Producer::new(&cells(6), &Credit::new()).is_none());
        assert!(Consumer::new(&cells(0), &Credit::new()).is_none());
    }
}

#[test]
fn two_threads_keep_order_and_content() {
    const MESSAGES: u64 = 20_000;
    let (cells, credit) = (cells(16), Credit::new());
    // SAFETY: a new ring, one end each; reads and writes follow the protocol.
    unsafe {
        let mut producer = Producer::new(&cells, &credit).unwrap();
        let mut consumer = Consumer::new(&cells, &credit).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..MESSAGES {
                    let length = number % 5 + 1;
                    while !producer.has_room(length) {
                        std::thread::yield_now();
                    }
                    for index in 0..length {
                        producer.write(index, |data| *data = [number * 8 + index; 7]);
                    }
                    producer.publish(length);
                }
            });
            for number in 0..MESSAGES {
                while !consumer.has_message() {
                    std::thread::yield_now();
                }
                let length = number % 5 + 1;
                for index in 0..length {
                    assert_eq!(consumer.read(index, |data| *data), [number * 8 + index; 7]);
                }
                consumer.advance(length);
            }
        });
    }
}
