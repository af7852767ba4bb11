//! Lines in turn: a giver that runs ahead, and givers that change.

use crate::primitive::{check, wait};
use crate::{Lines, Pace};
use loom::sync::Arc;
use loom::thread;

/// Lines of each member.
const LINES: usize = 2;

type Group = [Lines<LINES, 1>; 2];

/// Carries out operations in which the listed members give, one after the other, as member `me` of two.
fn take_part(group: &Group, me: usize, givers: &[usize]) {
    let (mine, other) = (&group[me], &group[1 - me]);
    let pace = Pace::<LINES>::new();
    for giver in givers {
        let number = pace.call();
        if *giver == me {
            if !pace.has_room(number) {
                wait(|| other.ended() >= number - LINES as u64);
                pace.learn(other.ended());
            }
            // SAFETY: there is room; once an operation.
            unsafe { mine.give(number, number, |data| (*data)[0] = number * 10 + me as u64) };
        } else {
            wait(|| other.word(number) == number);
            // SAFETY: its word is there, and it has not ended here.
            let data = unsafe { other.read(number, |data| (*data)[0]) };
            assert_eq!(data, number * 10 + *giver as u64);
        }
        pace.end(mine, number);
    }
}

fn agree(givers: &'static [usize]) {
    check(move || {
        let group: Arc<Group> = Arc::new([Lines::new(), Lines::new()]);
        let other = group.clone();
        let other = thread::spawn(move || take_part(&other, 1, givers));
        take_part(&group, 0, givers);
        other.join().unwrap();
    });
}

/// A root that broadcasts, or a leaf of a reduction, laps the lines.
#[test]
fn a_giver_runs_ahead_and_waits_for_room() {
    agree(&[0, 0, 0, 0]);
}

#[test]
fn givers_change() {
    agree(&[0, 1, 0, 0]);
}
