//! Two meetings of two threads, each of which looks at what the other has stored before.

use crate::MeetingLine;
use crate::primitive::{Memory, check, wait};
use loom::sync::Arc;
use loom::thread;

fn meet(shared: &(MeetingLine, [[Memory; 2]; 2]), me: usize) {
    let (line, memory) = shared;
    for round in 0..2 {
        let word = round as u64 + 1;
        memory[me][round].store(word);
        line.come(me, word);
        wait(|| line.has_come(me ^ 1, word));
        assert_eq!(memory[me ^ 1][round].load(), word);
    }
}

#[test]
fn who_leaves_sees_what_the_other_stored_before_it_came() {
    check(|| {
        let memory = || [Memory::new(), Memory::new()];
        let shared = Arc::new((MeetingLine::new(), [memory(), memory()]));
        let other = shared.clone();
        let other = thread::spawn(move || meet(&other, 1));
        meet(&shared, 0);
        other.join().unwrap();
    });
}
