//! Messages that come through a gate, which their sender may close.

use super::{Message, copy_claimed};
use crate::primitive::{check, wait};
use crate::{Claim, Seen};
use loom::thread;

/// How a receiver comes to a message behind a gate.
#[derive(Clone, Copy)]
enum Way {
    Straight,
    Held,
    Probed,
}

const WAYS: [Way; 3] = [Way::Straight, Way::Held, Way::Probed];

/// The same of a message that comes through its gate.
fn receive_at_gate(message: &Message, number: u64, way: Way) -> bool {
    let (descriptor, passage) = (&message.descriptor, message.passage(number));
    if let Way::Straight = way {
        return copy_claimed(message, number, passage.claim(descriptor));
    }
    let held = descriptor.hold(number, passage);
    if held == Claim::Cancelled {
        return false;
    }
    let matched = matches!(way, Way::Held) || descriptor.reserve(number);
    match (descriptor.claim(number), held) {
        (Claim::InPlace, held) => copy_claimed(message, number, held),
        (Claim::Cancelled, Claim::InPlace) if matches!(way, Way::Held) || !matched => false,
        (Claim::Elsewhere(address), Claim::InPlace) => {
            copy_claimed(message, number, Claim::Elsewhere(address))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_behind_a_gate_is_received_or_cancelled_and_never_both() {
    for way in WAYS {
        check(move || {
            let message = Message::new();
            let other = message.clone();
            let receiver = thread::spawn(move || {
                let receives = |number: &u64| {
                    other.arrives(*number);
                    let got = receive_at_gate(&other, *number, way);
                    assert!(!got || other.target[0].load() == number * 7);
                    got
                };
                (1..=2).filter(receives).count()
            });
            let mut cancelled = 0;
            for number in 1..=2 {
                message.source[0].store(number * 7);
                message.hand_over(number);
                let gate = Some(message.passage(number));
                if message.descriptor.cancel(number, gate) {
                    cancelled += 1;
                    // The buffer is the program's again, at once; the descriptor when the receiver has been there.
                    message.source[0].store(0);
                    wait(|| message.descriptor.is_given_up(number, gate));
                } else {
                    wait(|| message.descriptor.look(number) == Seen::Done);
                }
            }
            assert_eq!(receiver.join().unwrap() + cancelled, 2);
        });
    }
}

/// The wait for a cancelled send depends on nobody: a receiver that does not come for what it holds cannot keep it.
#[test]
fn what_the_receiver_holds_can_be_cancelled_at_any_time() {
    check(|| {
        let message = Message::new();
        let other = message.clone();
        let receiver = thread::spawn(move || {
            other.arrives(1);
            other.descriptor.hold(1, other.passage(1)) == Claim::Cancelled
        });
        message.hand_over(1);
        let gate = Some(message.passage(1));
        assert!(message.descriptor.cancel(1, gate));
        let at_the_gate = receiver.join().unwrap();
        assert!(at_the_gate || message.descriptor.is_cancelled(1));
    });
}

#[test]
fn a_buffer_whose_content_has_been_relocated_behind_a_gate_is_free_at_once() {
    for way in WAYS {
        check(move || {
            let message = Message::new();
            let other = message.clone();
            let receiver = thread::spawn(move || {
                other.arrives(1);
                assert!(receive_at_gate(&other, 1, way));
                assert_eq!(other.target[0].load(), 7);
            });
            message.source[0].store(7);
            message.hand_over(1);
            message.source[1].store(7);
            if message.descriptor.relocate(1, 100, Some(message.passage(1))) {
                message.source[0].store(0);
            }
            wait(|| message.descriptor.look(1) == Seen::Done);
            // Now neither is read any more.
            message.source.iter().for_each(|it| it.store(0));
            receiver.join().unwrap();
        });
    }
}
