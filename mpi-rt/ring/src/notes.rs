//! Words that stand by themselves: who reads one learns that word and nothing else.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::{array, made};

/// `N` words of one rank, which others look at, or set. A word orders nothing: what it is about must have reached its reader by other means.
#[repr(transparent)]
pub struct Notes<const N: usize>([AtomicU64; N]);

impl<const N: usize> Notes<N> {
    made! {
        /// All words are 0.
        pub fn new() -> Notes<N> {
            Notes(array!(AtomicU64::new(0); N))
        }
    }

    /// Sets a word.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline(always)]
    pub fn set(&self, place: usize, word: u64) {
        // Relaxed: the word is all there is.
        self.0[place].store(word, Ordering::Relaxed);
    }

    /// A word.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline(always)]
    pub fn get(&self, place: usize) -> u64 {
        // Relaxed: the word is all there is.
        self.0[place].load(Ordering::Relaxed)
    }

    /// Whether one of them is that word.
    pub fn have(&self, word: u64) -> bool {
        // Relaxed: as in `get`.
        self.0.iter().any(|place| place.load(Ordering::Relaxed) == word)
    }

    /// All words are 0 again.
    pub fn renew(&self) {
        // Relaxed: as in `set`.
        self.0.iter().for_each(|place| place.store(0, Ordering::Relaxed));
    }
}
