//! A word that stands by itself.

use crate::Notes;
use crate::primitive::check;
use loom::sync::Arc;
use loom::thread;

#[test]
fn a_reader_sees_a_whole_word_old_or_new() {
    check(|| {
        let notes = Arc::new(Notes::<2>::new());
        let other = notes.clone();
        let writer = thread::spawn(move || {
            other.set(1, u64::MAX);
            other.set(1, 7);
        });
        assert!([0, u64::MAX, 7].contains(&notes.get(1)));
        assert!(!notes.have(6) && notes.get(0) == 0);
        writer.join().unwrap();
        assert!(notes.have(7));
    });
}
