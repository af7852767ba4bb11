//! Exchanges between two threads, one of which may be in the next operation already.

use crate::primitive::{check, wait};
use crate::{ExchangeLines, PairLine};
use loom::sync::Arc;
use loom::thread;

/// Three operations: the third uses the first one's lines.
const OPERATIONS: u64 = 3;

fn both(part: impl Fn(usize) + Clone + Send + Sync + 'static) {
    let other = part.clone();
    let other = thread::spawn(move || other(1));
    part(0);
    other.join().unwrap();
}

#[test]
fn lines_of_all_members() {
    check(|| {
        let lines = Arc::new([ExchangeLines::<1>::new(), ExchangeLines::new()]);
        both(move |me| {
            for number in 1..=OPERATIONS {
                // SAFETY: this member's own, once a number; read after its word.
                let told = unsafe {
                    lines[me].tell(number, number, |data| (*data)[0] = number * 10 + me as u64);
                    wait(|| lines[1 - me].word(number) == number);
                    lines[1 - me].read(number, |data| (*data)[0])
                };
                assert_eq!(told, number * 10 + 1 - me as u64);
            }
        });
    });
}

#[test]
fn one_line_of_two_members() {
    check(|| {
        let line = Arc::new(PairLine::new());
        both(move |me| {
            for number in 1..=OPERATIONS {
                // SAFETY: each member writes its own half, once a number, and reads the other's after its
                // word, before the next operation.
                let told = unsafe {
                    line.tell(me as u32, number, number, |content| *content = number * 10 + me as u64);
                    wait(|| line.word(1 - me as u32, number) == number);
                    line.read(1 - me as u32, number, |content| *content)
                };
                assert_eq!(told, number * 10 + 1 - me as u64);
            }
        });
    });
}
