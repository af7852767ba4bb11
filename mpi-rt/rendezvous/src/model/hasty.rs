//! Messages that are read without an exchange, and again if their sender has moved them meanwhile.

use super::Message;
use crate::primitive::{AtomicU64, Ordering, check, light_fence, wait};
use crate::{Claim, Pace, Seen};
use loom::sync::Arc;
use loom::thread;

/// A message whose content is read where it is while its sender may have it already.
struct Hasty {
    message: Message,
    pace: Pace,
    /// Two words, since what is half of the one and half of the other must not be taken.
    content: [AtomicU64; 2],
}

impl Hasty {
    fn new() -> Arc<Hasty> {
        let content = core::array::from_fn(|_| AtomicU64::new(0));
        Arc::new(Hasty { message: Message::take(), pace: Pace::new(), content })
    }

    /// Sender.
    fn write(&self, value: u64) {
        self.content.iter().for_each(|word| word.store(value, Ordering::Relaxed));
    }

    fn read(&self) -> [u64; 2] {
        self.content.each_ref().map(|word| word.load(Ordering::Relaxed))
    }

    /// Receiver: what has come, or nothing if it was cancelled.
    fn receive(&self, number: u64) -> Option<[u64; 2]> {
        let (message, gate) = (&self.message, self.message.passage(number));
        let moved = |address| {
            assert_eq!(address, number * 100);
            [message.source[1].load(); 2]
        };
        if !self.pace.enter(gate) {
            let content = match gate.claim(&message.descriptor) {
                Claim::InPlace => self.read(),
                Claim::Elsewhere(address) => moved(address),
                Claim::Cancelled => return None,
            };
            message.descriptor.finish(number);
            return Some(content);
        }
        let mut content = [0; 2];
        if gate.moved(&message.descriptor).is_none() {
            content = self.read();
        }
        if let Some(address) = gate.moved(&message.descriptor) {
            content = moved(address);
        }
        message.descriptor.finish(number);
        self.pace.leave();
        Some(content)
    }

    /// Sender: has the receiver claim from now on.
    fn slow_down(&self) {
        self.pace.ask();
        // The system's, on every core.
        light_fence();
        let reading = self.pace.reading();
        wait(|| self.pace.is_over(reading));
    }
}

#[test]
fn what_is_read_while_its_sender_moves_it_is_read_again() {
    check(|| {
        let hasty = Hasty::new();
        let other = hasty.clone();
        let receiver = thread::spawn(move || {
            for number in 1..=2 {
                other.message.arrives(number);
                assert_eq!(other.receive(number), Some([number * 7; 2]));
            }
        });
        for number in 1..=2 {
            let message = &hasty.message;
            hasty.write(number * 7);
            message.hand_over(number);
            message.source[1].store(number * 7);
            if message.descriptor.relocate(number, number * 100, Some(message.passage(number))) {
                hasty.write(1);
            }
            wait(|| message.descriptor.look(number) == Seen::Done);
            message.source[1].store(0);
        }
        receiver.join().unwrap();
    });
}

#[test]
fn a_message_that_may_be_read_without_an_exchange_is_received_or_cancelled_and_never_both() {
    check(|| {
        let hasty = Hasty::new();
        let other = hasty.clone();
        let receiver = thread::spawn(move || {
            let receives = |number: &u64| {
                other.message.arrives(*number);
                let got = other.receive(*number);
                assert!(got.is_none_or(|got| got == [number * 7; 2]));
                got.is_some()
            };
            (1..=2).filter(receives).count()
        });
        let mut cancelled = 0;
        for number in 1..=2 {
            let message = &hasty.message;
            let gate = Some(message.passage(number));
            hasty.write(number * 7);
            message.hand_over(number);
            if number == 1 {
                hasty.slow_down();
            }
            if message.descriptor.look(number) != Seen::Done && message.descriptor.cancel(number, gate) {
                cancelled += 1;
                hasty.write(1);
                wait(|| message.descriptor.is_given_up(number, gate));
            } else {
                wait(|| message.descriptor.look(number) == Seen::Done);
            }
        }
        assert_eq!(receiver.join().unwrap() + cancelled, 2);
    });
}
