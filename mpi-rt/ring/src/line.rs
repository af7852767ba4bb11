//! What collectives hand over at once: a word that tells that the data is there, and the data.

use crate::primitive::{AtomicU64, Ordering, Plain};
use lwk_primitive::made;

/// A word and `W` words of data. Who may touch the data when is up to the protocol that it is part of.
#[repr(C)]
pub(crate) struct Line<const W: usize> {
    word: AtomicU64,
    data: Plain<[u64; W]>,
}

impl<const W: usize> Line<W> {
    made! {
        pub(crate) fn new() -> Line<W> {
            Line { word: AtomicU64::new(0), data: Plain::new([0; W]) }
        }
    }

    /// Fills the data by `write`, and says so by `word`. The caller is the only one who may touch the data now.
    #[inline(always)]
    pub(crate) fn fill(&self, word: u64, write: impl FnOnce(*mut [u64; W])) {
        self.data.with_mut(write);
        // Release: pairs with the acquire load in `word`; carries the data.
        self.word.store(word, Ordering::Release);
    }

    /// What the data is, or was before.
    #[inline(always)]
    pub(crate) fn word(&self) -> u64 {
        // Acquire: pairs with the release store in `fill`.
        self.word.load(Ordering::Acquire)
    }

    /// Lets `read` look at the data, which the word has told of and nobody writes now.
    #[inline(always)]
    pub(crate) fn read<R>(&self, read: impl FnOnce(*const [u64; W]) -> R) -> R {
        self.data.with(read)
    }

    /// Makes it as new, before anybody hears of it again.
    pub(crate) fn renew(&self) {
        // Relaxed: whatever tells the others of the line orders this before.
        self.word.store(0, Ordering::Relaxed);
    }
}
