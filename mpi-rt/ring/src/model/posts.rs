//! Posts of two threads: one loads what the other has posted, which uses its buffer again when the loading is finished.

use crate::primitive::{Memory, check, wait};
use crate::{Departed, Finished, Progress, Slots};
use loom::sync::Arc;
use loom::thread;

/// Operations that can be under way.
const SLOTS: usize = 1;

struct Member {
    slots: Slots<SLOTS>,
    finished: Finished,
    buffers: [Memory; 2],
}

impl Member {
    fn new() -> Member {
        Member { slots: Slots::new(), finished: Finished::new(), buffers: [Memory::new(), Memory::new()] }
    }
}

fn post(group: &[Member; 2], me: usize, progress: &Progress<SLOTS>, number: u64, buffer: u64) {
    let all = || group.iter().map(|member| member.finished.last()).min().unwrap();
    wait(|| progress.is_next(number) && progress.may_post(number, all));
    group[me].slots.post(progress, number, number * 7, &[buffer]);
}

/// A root that posts buffers in turn and waits for the reader before it writes one again.
fn root(group: &[Member; 2], operations: u64) {
    let progress = Progress::new();
    for _ in 0..operations {
        let number = progress.call();
        let buffer = number % 2;
        group[0].buffers[buffer as usize].store(number);
        post(group, 0, &progress, number, buffer);
        progress.finish(&group[0].finished, number);
        wait(|| group[1].finished.last() >= number);
    }
}

/// A sender that does not wait for anybody to be finished: its buffers are its own, one an operation. What keeps it from filling slots that
/// are in use is all that holds it.
fn ahead(group: &[Member; 2], operations: u64) {
    let progress = Progress::new();
    for _ in 0..operations {
        let number = progress.call();
        group[0].buffers[number as usize - 1].store(number);
        post(group, 0, &progress, number, number - 1);
        progress.finish(&group[0].finished, number);
    }
}

/// Loads what the other has posted.
fn reader(group: &[Member; 2], operations: u64) {
    let progress = Progress::new();
    for _ in 0..operations {
        let number = progress.call();
        post(group, 1, &progress, number, 0);
        wait(|| group[0].slots.has(number));
        assert_eq!(group[0].slots.check(number), number * 7);
        let buffer = group[0].slots.word(number, 0);
        assert_eq!(group[0].buffers[buffer as usize].load(), number);
        progress.finish(&group[1].finished, number);
    }
}

fn agree(root: fn(&[Member; 2], u64), operations: u64) {
    check(move || {
        let group = Arc::new([Member::new(), Member::new()]);
        let other = group.clone();
        let other = thread::spawn(move || reader(&other, operations));
        root(&group, operations);
        other.join().unwrap();
    });
}

#[test]
fn a_buffer_is_used_again_when_all_have_finished() {
    agree(root, 3);
}

#[test]
fn a_slot_is_filled_again_when_all_have_finished() {
    agree(ahead, 2);
}

/// Posts are used for another group when both members have left them: nobody is in them any more.
#[test]
fn posts_are_used_for_another_group_when_all_have_left() {
    check(|| {
        let group = Arc::new([Member::new(), Member::new()]);
        let departed = Arc::new(Departed::new());
        let (other, left) = (group.clone(), departed.clone());
        let other = thread::spawn(move || {
            reader(&other, 1);
            left.leave();
        });
        let member = &group[0];
        member.buffers[0].store(1);
        post(&group, 0, &Progress::new(), 1, 0);
        departed.leave();
        wait(|| departed.have_all(2));
        member.slots.renew();
        assert!(!member.slots.has(1));
        member.buffers[0].store(2);
        other.join().unwrap();
    });
}
