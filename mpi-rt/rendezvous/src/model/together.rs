//! Both sides copy.

use super::{CHUNKS, Message};
use crate::primitive::{check, wait};
use crate::{Helped, Seen};
use loom::thread;

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
