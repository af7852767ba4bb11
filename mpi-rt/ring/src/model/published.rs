//! Words that one thread tells another, with what they lead to.

use crate::Published;
use crate::primitive::{Memory, check, wait};
use loom::sync::Arc;
use loom::thread;

#[test]
fn who_has_been_told_sees_all_words_and_what_they_lead_to() {
    check(|| {
        let shared = Arc::new((Published::<3>::new(), Memory::new()));
        let other = shared.clone();
        let owner = thread::spawn(move || {
            let (published, memory) = &*other;
            memory.store(7);
            published.tell([1, 2, 3]);
        });
        let (published, memory) = &*shared;
        wait(|| published.is_told());
        assert_eq!(published.words(), [1, 2, 3]);
        assert_eq!(memory.load(), 7);
        owner.join().unwrap();
    });
}
