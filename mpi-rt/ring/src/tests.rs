use crate::{Cell, Consumer, Credit, Lines, Pace, Producer};

fn cells(count: usize) -> Vec<Cell> {
    (0..count).map(|_| Cell::new()).collect()
}

#[test]
fn a_full_ring_has_no_room_until_a_quarter_is_free_and_loses_nothing() {
    let (cells, credit) = (cells(8), Credit::new());
    // SAFETY: a new ring, one end each; cells are written after room was found, read after a message was
    // seen.
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
fn the_shorter_way_ends_at_the_credit_that_is_known_and_mixes_with_the_other() {
    let (cells, credit) = (cells(4), Credit::new());
    // SAFETY: a new ring, one end each; cells are written after room was found, read after a message was
    // seen.
    unsafe {
        let mut producer = Producer::new(&cells, &credit).unwrap();
        let mut consumer = Consumer::new(&cells, &credit).unwrap();
        assert!(consumer.next_message().is_none());
        for round in 0..10 {
            // A longer one, then single cells up to the end of the ring.
            assert!(producer.has_room(2));
            producer.write(0, |data| (*data)[0] = round);
            producer.write(1, |data| (*data)[0] = round + 1);
            producer.publish(2);
            for value in [round + 2, round + 3] {
                let room = producer.room_for_one().unwrap();
                (*room.data())[0] = value;
                producer.publish_one(room);
            }
            assert!(producer.room_for_one().is_none());
            assert_eq!((*consumer.next_message().unwrap())[0], round);
            assert_eq!(consumer.read(1, |data| (*data)[0]), round + 1);
            consumer.advance(2);
            for value in [round + 2, round + 3] {
                assert_eq!((*consumer.next_message().unwrap())[0], value);
                consumer.advance(1);
            }
            // The credit is there, but only the longer way looks for it.
            assert!(producer.room_for_one().is_none());
        }
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
    // SAFETY: a new ring, one end each; cells are written after room was found, read after a message was
    // seen.
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

#[test]
fn what_a_member_tells_is_up_to_where_all_operations_have_ended() {
    let (lines, pace) = (Lines::<4, 1>::new(), Pace::<4>::new());
    for number in 1..7 {
        assert_eq!(pace.call(), number);
    }
    for (ends, told) in [(2, 0), (4, 0), (1, 2), (3, 4), (6, 4), (5, 6)] {
        pace.end(&lines, ends);
        assert_eq!((pace.ended(), lines.ended()), (told, told), "after operation {ends}");
    }
    pace.learn(u64::MAX);
    assert!(pace.has_room(10) && !pace.has_room(11));
}

#[test]
fn every_order_of_ending_comes_to_the_same() {
    let (lines, pace) = (Lines::<64, 1>::new(), Pace::<64>::new());
    let mut first = 1u64;
    for stride in [1u64, 3, 7, 31, 63] {
        // A permutation of 64 operations, each at most 63 ahead of the first that has not ended.
        (0..64).for_each(|index| pace.end(&lines, first + index * stride % 64));
        first += 64;
        assert_eq!(pace.ended(), first - 1);
    }
}
