//! How members of a group that is made learn of each other's memory: one announces the group in a few words, each leaves the address of
//! its own memory there, and takes the others' from there.
//!
//! The announcement's own address has to reach the members by other means, which must order the maker's words before it. Nobody waits for
//! more than the others' arrival. When all members have [read](Announcement::end) what they need, the words can be used for another group.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::made;

/// Words before the members' addresses.
const READERS: usize = 0;
const NAME: usize = 1;
const HEADER: usize = 2;

/// One of the words that announcements are made of.
#[repr(transparent)]
pub struct Word(AtomicU64);

impl Word {
    made! {
        /// A word of no announcement yet.
        pub fn new() -> Word {
            Word(AtomicU64::new(0))
        }
    }
}

impl Default for Word {
    fn default() -> Word {
        Word::new()
    }
}

/// The words of an announcement, in its maker's memory.
#[derive(Clone, Copy)]
pub struct Announcement<'a>(&'a [Word]);

impl<'a> Announcement<'a> {
    /// Words that are needed for so many members.
    pub const fn words(members: usize) -> usize {
        HEADER + members
    }

    /// Announces a group of the name `name`, in words that nobody uses: new ones, or of an announcement that is [over](Announcement::is_over).
    pub fn make(words: &'a [Word], name: u64) -> Announcement<'a> {
        // Relaxed, all: whatever carries the words' address to the others orders these before.
        words.iter().for_each(|word| word.0.store(0, Ordering::Relaxed));
        words[NAME].0.store(name, Ordering::Relaxed);
        Announcement(words)
    }

    /// An announcement that has reached this member: exactly the words for its members.
    pub fn of(words: &'a [Word]) -> Announcement<'a> {
        Announcement(words)
    }

    /// The group's name.
    pub fn name(self) -> u64 {
        // Relaxed: whatever carried the words' address here ordered the store before.
        self.0[NAME].0.load(Ordering::Relaxed)
    }

    /// Leaves the address of this member's memory, which is not 0.
    pub fn arrive(self, member: usize, address: u64) {
        // Release: pairs with the acquire load in `all_have_arrived`; carries what is at the address.
        self.0[HEADER + member].0.store(address, Ordering::Release);
    }

    /// Whether all members have arrived.
    pub fn all_have_arrived(self) -> bool {
        // Acquire: pairs with the release store in `arrive`.
        self.0[HEADER..].iter().all(|word| word.0.load(Ordering::Acquire) != 0)
    }

    /// What the members have left, when all have arrived.
    pub fn addresses(self) -> impl Iterator<Item = u64> + use<'a> {
        // Relaxed: `all_have_arrived` has acquired them.
        self.0[HEADER..].iter().map(|word| word.0.load(Ordering::Relaxed))
    }

    /// This member will not look at the words again.
    pub fn end(self) {
        // Release: pairs with the acquire load in `is_over`.
        self.0[READERS].0.fetch_add(1, Ordering::Release);
    }

    /// Whether all members of an announcement in these words have ended it.
    pub fn is_over(words: &[Word], members: u64) -> bool {
        // Acquire: pairs with the release addition in `end`: the readers are done.
        words[READERS].0.load(Ordering::Acquire) == members
    }
}
