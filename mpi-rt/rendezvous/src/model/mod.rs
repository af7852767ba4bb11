//! The protocols under the model checker: loom fails these if content can be read while it is written, or copied twice.

mod gates;
mod hasty;
mod partitions;
mod together;

use crate::primitive::{AtomicU64, Memory, Ordering, check, wait};
use crate::{Claim, Descriptor, Gate, Passage, Seen};
use loom::sync::Arc;
use loom::thread;

const CHUNKS: usize = 2;

/// Two ranks' buffers, and what stands for the ring: the number of the last use that has been handed over.
struct Message {
    descriptor: Descriptor,
    /// Of both uses.
    gate: Gate,
    source: [Memory; CHUNKS],
    target: [Memory; CHUNKS],
    handed: AtomicU64,
}

impl Message {
    fn new() -> Arc<Message> {
        Arc::new(Message::take())
    }

    fn take() -> Message {
        let memory = || core::array::from_fn(|_| Memory::new());
        let (source, target) = (memory(), memory());
        let (descriptor, gate, handed) = (Descriptor::new(), Gate::new(), AtomicU64::new(0));
        Message { descriptor, gate, source, target, handed }
    }

    /// Where the message of a use comes through.
    fn passage(&self, number: u64) -> Passage<'_> {
        Passage::new(&self.gate, number - 1)
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

/// What the receiver does with a message: takes it, and copies it to `target` from where it is. Whether there was one.
fn receive(message: &Message, number: u64) -> bool {
    copy_claimed(message, number, message.descriptor.claim(number))
}

/// The same with what it has claimed.
fn copy_claimed(message: &Message, number: u64, claim: Claim) -> bool {
    match claim {
        Claim::InPlace => message.target[0].store(message.source[0].load()),
        // The copy lies in the second memory of the sender.
        Claim::Elsewhere(address) => {
            assert_eq!(address, number * 100);
            message.target[0].store(message.source[1].load());
        }
        Claim::Cancelled => return false,
    }
    message.descriptor.finish(number);
    true
}

#[test]
fn a_message_is_received_or_cancelled_and_never_both() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            (1..=2)
                .filter(|number| {
                    other.arrives(*number);
                    let got = receive(&other, *number);
                    if got {
                        assert_eq!(other.target[0].load(), number * 7);
                    }
                    got
                })
                .count()
        });
        let mut cancelled = 0;
        for number in 1..=2 {
            message.source[0].store(number * 7);
            message.hand_over(number);
            if message.descriptor.cancel(number, None) {
                cancelled += 1;
                // The buffer is the program's again, at once; the descriptor when the receiver has been there.
                message.source[0].store(0);
                wait(|| message.descriptor.is_given_up(number, None));
            } else {
                wait(|| message.descriptor.look(number) == Seen::Done);
            }
        }
        assert_eq!(receiver.join().unwrap() + cancelled, 2);
    });
}

#[test]
fn a_buffer_whose_content_has_been_relocated_is_free_at_once() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            for number in 1..=2 {
                other.arrives(number);
                assert!(receive(&other, number));
                assert_eq!(other.target[0].load(), number * 7);
            }
        });
        for number in 1..=2 {
            message.source[0].store(number * 7);
            message.hand_over(number);
            message.source[1].store(number * 7);
            if message.descriptor.relocate(number, number * 100, None) {
                message.source[0].store(0);
            }
            wait(|| message.descriptor.look(number) == Seen::Done);
            // Now neither is read any more.
            message.source.iter().for_each(|it| it.store(0));
        }
        receiver.join().unwrap();
    });
}

#[test]
fn a_message_that_a_probe_has_matched_can_be_relocated_but_not_cancelled() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            other.arrives(1);
            let matched = other.descriptor.reserve(1);
            assert_eq!(receive(&other, 1), matched);
            matched
        });
        message.source.iter().for_each(|it| it.store(7));
        message.hand_over(1);
        let relocated = message.descriptor.relocate(1, 100, None);
        if relocated {
            message.source[0].store(0);
        }
        let cancelled = !relocated && message.descriptor.cancel(1, None);
        if cancelled {
            message.source[0].store(0);
        } else {
            wait(|| message.descriptor.look(1) == Seen::Done);
        }
        assert_eq!(receiver.join().unwrap(), !cancelled);
    });
}

#[test]
fn a_cancel_after_a_matched_probe_is_too_late() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            other.arrives(1);
            let matched = other.descriptor.reserve(1);
            assert_eq!(receive(&other, 1), matched);
            matched
        });
        message.source[0].store(7);
        message.hand_over(1);
        let cancelled = message.descriptor.cancel(1, None);
        if cancelled {
            message.source[0].store(0);
        }
        assert_eq!(receiver.join().unwrap(), !cancelled);
    });
}
