//! The protocols under the model checker: loom fails these if content can be read while it is written, or copied twice.

use crate::primitive::{AtomicU64, Memory, Ordering, check, wait};
use crate::{Descriptor, Helped, Partitions, Seen, is_ready};
use loom::sync::Arc;
use loom::thread;

const CHUNKS: usize = 2;

/// Two ranks' buffers, and what stands for the ring: the number of the last use that has been handed over.
struct Message {
    descriptor: Descriptor,
    source: [Memory; CHUNKS],
    target: [Memory; CHUNKS],
    handed: AtomicU64,
}

impl Message {
    fn new() -> Arc<Message> {
        let memory = || core::array::from_fn(|_| Memory::new());
        let (source, target) = (memory(), memory());
        Arc::new(Message { descriptor: Descriptor::new(), source, target, handed: AtomicU64::new(0) })
    }

    fn hand_over(&self, number: u64) {
        self.handed.store(number, Ordering::Release);
    }

    fn arrives(&self, number: u64) {
        wait(|| self.handed.load(Ordering::Acquire) == number);
    }
}

#[test]
fn a_buffer_is_free_when_it_has_been_copied_whichever_use_it_is() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            for number in 1..=2 {
                other.arrives(number);
                assert_eq!(other.source[0].load(), number * 7);
                other.descriptor.finish(number);
            }
        });
        for number in 1..=2 {
            message.source[0].store(number * 7);
            message.hand_over(number);
            wait(|| message.descriptor.look(number) == Seen::Done);
        }
        message.source[0].store(0);
        receiver.join().unwrap();
    });
}

/// Copies chunks until none is left, telling how many so far.
fn copy_chunks(message: &Message, mut after: impl FnMut(u64)) -> u64 {
    let mut copied = 0;
    loop {
        let chunk = message.descriptor.take_chunk() as usize;
        if chunk >= CHUNKS {
            return copied;
        }
        message.target[chunk].store(message.source[chunk].load());
        copied += 1;
        after(copied);
    }
}

#[test]
fn both_copy_each_chunk_once_and_the_receiver_has_all_of_them() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            other.arrives(1);
            // What the program had in the buffer.
            other.target.iter().for_each(|chunk| chunk.store(1));
            other.descriptor.ask_for_help(1, [5, 6, 7, 8], CHUNKS as u64);
            let copied = copy_chunks(&other, |_| ());
            let rest = CHUNKS as u64 - copied;
            wait(|| other.descriptor.helped(rest) == Helped::All);
            for (index, chunk) in other.target.iter().enumerate() {
                assert_eq!(chunk.load(), 10 + index as u64);
            }
            other.descriptor.finish(1);
        });
        for (index, chunk) in message.source.iter().enumerate() {
            chunk.store(10 + index as u64);
        }
        message.descriptor.renew();
        message.hand_over(1);
        wait(|| match message.descriptor.look(1) {
            Seen::Nothing => false,
            Seen::Help { target, length } => {
                assert_eq!((target, length), ([5, 6, 7, 8], CHUNKS as u64));
                copy_chunks(&message, |copied| message.descriptor.tell_helped(copied, false));
                false
            }
            Seen::Done => true,
        });
        message.source.iter().for_each(|chunk| chunk.store(0));
        receiver.join().unwrap();
    });
}

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
        let ready = (0..CHUNKS).map(|_| AtomicU64::new(0)).collect();
        let content = core::array::from_fn(|_| Memory::new());
        let channel = Arc::new(Channel { partitions: Partitions::new(ready), content, words: Memory::new() });
        let other = channel.clone();
        let receiver = thread::spawn(move || {
            for round in 1..=ROUNDS {
                for (partition, content) in other.content.iter().enumerate() {
                    other.words.load();
                    wait(|| is_ready(&other.partitions.words()[partition], round));
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
