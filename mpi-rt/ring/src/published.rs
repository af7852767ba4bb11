//! How a rank tells its peers, once, where it has put what they will use: a few words, of which the first is the last to be stored.
//!
//! The words lie where every peer finds them without being told, in a symmetric static, and are zero until then.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::{array, made};

/// `N` words of one rank, 1 at least. All zero until they are [told](Published::tell).
#[repr(transparent)]
pub struct Published<const N: usize>([AtomicU64; N]);

impl<const N: usize> Published<N> {
    made! {
        /// Nothing has been told.
        pub fn new() -> Published<N> {
            Published(array!(AtomicU64::new(0); N))
        }
    }

    /// Tells the words, of which the first is not 0, and all that they lead to. The owner only, once.
    pub fn tell(&self, words: [u64; N]) {
        debug_assert!(words[0] != 0);
        for (place, word) in self.0.iter().zip(words).skip(1) {
            // Relaxed: the release store below carries them.
            place.store(word, Ordering::Relaxed);
        }
        // Release: pairs with the acquire load in `is_told`; carries the other words and what they lead to.
        self.0[0].store(words[0], Ordering::Release);
    }

    /// Whether the owner has told.
    #[inline]
    pub fn is_told(&self) -> bool {
        // Acquire: pairs with the release store in `tell`.
        self.0[0].load(Ordering::Acquire) != 0
    }

    /// The words, after [`Published::is_told`] has said yes.
    pub fn words(&self) -> [u64; N] {
        // Relaxed: `is_told` has acquired them.
        core::array::from_fn(|place| self.0[place].load(Ordering::Relaxed))
    }
}
