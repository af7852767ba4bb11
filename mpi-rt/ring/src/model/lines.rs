//! Lines in turn: a giver that runs ahead, givers that change, and roots that deal.

use crate::primitive::{check, wait};
use crate::{Lines, Pace};
use loom::sync::Arc;
use loom::thread;

/// Lines of each member.
const LINES: usize = 2;

type Group = [Lines<LINES, 1>; 2];

/// An operation: who gives, and in whose memory.
#[derive(Clone, Copy)]
enum By {
    /// In its own lines.
    Gives(usize),
    /// In the other's.
    Deals(usize),
}
use By::{Deals, Gives};

/// Carries out operations, one after the other, as member `me` of two.
fn take_part(group: &Group, me: usize, operations: &[By]) {
    let pace = Pace::<LINES>::new();
    for operation in operations {
        step(group, &pace, me, *operation, pace.call());
    }
}

fn step(group: &Group, pace: &Pace<LINES>, me: usize, operation: By, number: u64) {
    let (mine, other) = (&group[me], &group[1 - me]);
    let (giver, lines) = match operation {
        Gives(giver) => (giver, &group[giver]),
        Deals(giver) => (giver, &group[1 - giver]),
    };
    if giver == me {
        if !pace.has_room(number) {
            wait(|| other.ended() >= number - LINES as u64);
            pace.learn(other.ended());
        }
        assert!(pace.has_room(number));
        // SAFETY: there is room; once an operation.
        unsafe { lines.give(number, number, |data| (*data)[0] = number * 10 + me as u64) };
    } else {
        wait(|| lines.word(number) == number);
        // SAFETY: its word is there, and it has not ended here.
        let data = unsafe { lines.read(number, |data| (*data)[0]) };
        assert_eq!(data, number * 10 + giver as u64);
    }
    pace.end(mine, number);
}

fn agree(operations: &'static [By]) {
    check(move || {
        let group: Arc<Group> = Arc::new([Lines::new(), Lines::new()]);
        let other = group.clone();
        let other = thread::spawn(move || take_part(&other, 1, operations));
        take_part(&group, 0, operations);
        other.join().unwrap();
    });
}

/// A root that broadcasts, or a leaf of a reduction, laps the lines.
#[test]
fn a_giver_runs_ahead_and_waits_for_room() {
    agree(&[Gives(0), Gives(0), Gives(0), Gives(0)]);
}

#[test]
fn givers_change() {
    agree(&[Gives(0), Gives(1), Gives(0), Gives(0)]);
}

/// Member 1 leaves the first operation under way, which member 0 gives in, and carries out the next one before it.
fn leave_one_under_way(deals: bool) {
    check(move || {
        let group: Arc<Group> = Arc::new([Lines::new(), Lines::new()]);
        let other = group.clone();
        let first = if deals { Deals(0) } else { Gives(0) };
        let other = thread::spawn(move || {
            let (group, pace) = (&*other, Pace::<LINES>::new());
            let (first, second) = (pace.call(), pace.call());
            step(group, &pace, 1, Gives(1), second);
            // The other one has ended the first operation, this one has not.
            let third = pace.call();
            wait(|| group[0].ended() >= first);
            pace.learn(group[0].ended());
            assert!(!pace.has_room(third));
            step(group, &pace, 1, if deals { Deals(0) } else { Gives(0) }, first);
            step(group, &pace, 1, Gives(1), third);
        });
        take_part(&group, 0, &[first, Gives(1), Gives(1)]);
        other.join().unwrap();
    });
}

#[test]
fn an_operation_ends_after_the_next_one() {
    leave_one_under_way(false);
}

/// What is dealt lies in the taker's own line, which it fills two operations later.
#[test]
fn a_dealt_line_is_kept_while_its_operation_is_under_way() {
    leave_one_under_way(true);
}

/// A root of a scatter laps the lines of its leaf.
#[test]
fn a_root_that_deals_runs_ahead() {
    agree(&[Deals(0), Deals(0), Deals(0), Deals(0)]);
}

/// A line is written by its owner, by the other one, and read by both, in turn.
#[test]
fn roots_that_deal_change() {
    agree(&[Deals(0), Gives(1), Deals(0), Deals(1)]);
    agree(&[Gives(1), Gives(0), Deals(0), Gives(1)]);
}
