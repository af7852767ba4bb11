//! The protocols under the model checker: loom fails these if content can be read while it is written, or copied twice.

use crate::primitive::{AtomicU64, Memory, Ordering, check, light_fence, wait};
use crate::{Claim, Descriptor, Gate, Helped, Pace, Partitions, Passage, Readiness, Seen};
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
