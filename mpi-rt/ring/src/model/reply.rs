//! Large parts: a leaf that is answered, one that does its part then, and roots that change.

use crate::primitive::{Memory, check, wait};
use crate::{Lines, Pace, Reply};
use loom::sync::Arc;
use loom::thread;

const LINES: usize = 2;

struct Member {
    lines: Lines<LINES, 1>,
    /// One for each line.
    replies: [Reply; LINES],
    /// A rank's own buffer.
    buffer: Memory,
}

type Group = [Member; 2];

fn group() -> Arc<Group> {
    let member =
        || Member { lines: Lines::new(), replies: [Reply::new(), Reply::new()], buffer: Memory::new() };
    Arc::new([member(), member()])
}

/// Gathers with these roots, as member `me` of two. The leaf tells; then, by turns, the root fetches from the leaf's buffer and answers, or it answers, the leaf
/// stores into the root's buffer and says so.
fn take_part(group: &Group, me: usize, roots: &[usize]) {
    let (mine, other) = (&group[me], &group[1 - me]);
    let pace = Pace::<LINES>::new();
    for root in roots {
        let number = pace.call();
        let place = number as usize % LINES;
        if *root == me {
            wait(|| other.lines.word(number) == number);
            let fetches = number % 2 == 1;
            if fetches {
                assert_eq!(other.buffer.load(), number * 3);
            }
            // SAFETY: this member is the root, once, and has seen the leaf's line.
            unsafe { other.replies[place].answer(number, [number * 3; crate::REPLY_WORDS]) };
            if !fetches {
                wait(|| other.replies[place].has_ended(number));
                assert_eq!(mine.buffer.load(), number * 3);
            }
        } else {
            if !pace.has_room(number) {
                wait(|| other.lines.ended() >= number - LINES as u64);
                pace.learn(other.lines.ended());
            }
            mine.buffer.store(number * 3);
            // SAFETY: there is room; once an operation.
            unsafe { mine.lines.give(number, number, |data| (*data)[0] = number) };
            let mut words = None;
            wait(|| {
                words = mine.replies[place].answered(number);
                words.is_some()
            });
            assert_eq!(words, Some([number * 3; crate::REPLY_WORDS]));
            if number % 2 == 0 {
                other.buffer.store(number * 3);
                mine.replies[place].end(number);
            }
        }
        pace.end(&mine.lines, number);
    }
}

fn agree(roots: &'static [usize]) {
    check(move || {
        let group = group();
        let other = group.clone();
        let other = thread::spawn(move || take_part(&other, 1, roots));
        take_part(&group, 0, roots);
        other.join().unwrap();
    });
}

#[test]
fn a_leaf_is_answered_again_and_again() {
    agree(&[0, 0, 0]);
}

#[test]
fn roots_change() {
    agree(&[0, 1, 0]);
}
