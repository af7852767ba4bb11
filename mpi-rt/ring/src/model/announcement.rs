//! An announcement that two threads use for one group after the other.

use crate::primitive::{AtomicU64, Memory, Ordering, check, wait};
use crate::{Announcement, Word};
use loom::sync::Arc;
use loom::thread;

const MEMBERS: usize = 2;

struct Shared {
    words: [Word; Announcement::words(MEMBERS)],
    /// What the words mean now: touched wherever they are, so that the checker sees whether uses of them overlap.
    use_of_words: Memory,
    /// What carries the announcement's address to the other: a group's number.
    message: AtomicU64,
    /// The members' own memory, for two groups each.
    areas: [[Memory; 2]; MEMBERS],
}

/// Makes this member's memory ready, leaves its address, and uses the others'.
fn join(memory: &Shared, me: usize, group: u64) {
    let announcement = Announcement::of(&memory.words);
    assert_eq!(announcement.name(), group);
    let place = group as usize - 1;
    memory.areas[me][place].store(10 * group);
    announcement.arrive(me, 1 + place as u64);
    wait(|| announcement.all_have_arrived());
    assert_eq!(memory.use_of_words.load(), group);
    for (member, address) in announcement.addresses().enumerate() {
        assert_eq!(memory.areas[member][address as usize - 1].load(), 10 * group);
    }
    announcement.end();
}

#[test]
fn members_find_each_other_and_the_words_are_used_again() {
    check(|| {
        let memory = Arc::new(Shared {
            words: core::array::from_fn(|_| Word::new()),
            use_of_words: Memory::new(),
            message: AtomicU64::new(0),
            areas: core::array::from_fn(|_| [Memory::new(), Memory::new()]),
        });
        let other = memory.clone();
        let other = thread::spawn(move || {
            for group in 1..=2 {
                // Acquire: pairs with the release store of the maker.
                wait(|| other.message.load(Ordering::Acquire) >= group);
                join(&other, 1, group);
            }
        });
        for group in 1..=2 {
            if group > 1 {
                wait(|| Announcement::is_over(&memory.words, MEMBERS as u64));
            }
            memory.use_of_words.store(group);
            Announcement::make(&memory.words, group);
            // Release: pairs with the acquire load of the other; carries the announcement.
            memory.message.store(group, Ordering::Release);
            join(&memory, 0, group);
        }
        other.join().unwrap();
    });
}
