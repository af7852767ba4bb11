//! Partitions of one message, round by round.

use super::CHUNKS;
use crate::primitive::{Memory, check, wait};
use crate::{Partitions, Readiness};
use loom::sync::Arc;
use loom::thread;

#[test]
fn partitions_are_copied_when_ready_and_written_again_when_copied() {
    const ROUNDS: u64 = 2;
    struct Channel {
        partitions: Partitions,
        content: [Memory; CHUNKS],
        /// Stands for the words' memory, which the sender takes back.
        words: Memory,
    }
    check(|| {
        let ready = (0..CHUNKS).map(|_| Readiness::new()).collect();
        let content = core::array::from_fn(|_| Memory::new());
        let channel = Arc::new(Channel { partitions: Partitions::new(ready), content, words: Memory::new() });
        let other = channel.clone();
        let receiver = thread::spawn(move || {
            for round in 1..=ROUNDS {
                for (partition, content) in other.content.iter().enumerate() {
                    other.words.load();
                    wait(|| other.partitions.words()[partition].is_ready(round));
                    assert_eq!(content.load(), round * 10 + partition as u64);
                }
                other.partitions.tell_copied(round);
            }
            other.words.load();
            other.partitions.leave();
        });
        for round in 1..=ROUNDS {
            for (partition, content) in channel.content.iter().enumerate().rev() {
                content.store(round * 10 + partition as u64);
                assert!(channel.partitions.mark_ready(partition, round));
            }
            wait(|| channel.partitions.is_copied(round));
        }
        wait(|| channel.partitions.is_left());
        channel.words.store(1);
        receiver.join().unwrap();
    });
}
