//! A message in partitions that become ready one by one, in rounds.
//!
//! The sender has a word for each partition and stores the round's number there when the partition is ready. The receiver copies
//! every partition that is, and at the end of the round stores its number for the sender, who may then write the buffer again. When the
//! receiver will not look any more, it leaves, and the sender may take the words back.

use crate::line::Line;
use crate::primitive::{AtomicU64, Ordering};
use alloc::boxed::Box;
use lwk_primitive::made;

/// A partition's word: the number of the last round in which it was ready.
#[repr(transparent)]
pub struct Readiness(AtomicU64);

impl Readiness {
    made! {
        /// Not ready in any round yet.
        pub fn new() -> Readiness {
            Readiness(AtomicU64::new(0))
        }
    }

    /// Receiver: whether the partition is ready in a round.
    #[inline]
    pub fn is_ready(&self, round: u64) -> bool {
        // Acquire: pairs with the release store in `Partitions::mark_ready`.
        self.0.load(Ordering::Acquire) >= round
    }
}

impl Default for Readiness {
    fn default() -> Readiness {
        Readiness::new()
    }
}

/// In the sender's memory. Rounds have numbers from 1 on.
pub struct Partitions {
    ready: Box<[Readiness]>,
    /// The number of the last round that the receiver has copied; polled by the sender.
    copied: Line<AtomicU64>,
    /// Set by the receiver when it will not look here again.
    left: AtomicU64,
}

impl Partitions {
    /// Before the first round. The words' memory is the caller's to find: one for each partition.
    pub fn new(ready: Box<[Readiness]>) -> Partitions {
        Partitions { ready, copied: Line(AtomicU64::new(0)), left: AtomicU64::new(0) }
    }

    /// The partitions' words, as the sender calls them: a peer finds them elsewhere, and asks [`Readiness::is_ready`].
    pub fn words(&self) -> &[Readiness] {
        &self.ready
    }

    /// Sender: a partition is ready in this round; its content must not be written until the round is over. False if it was ready already,
    /// or does not exist.
    #[inline]
    pub fn mark_ready(&self, partition: usize, round: u64) -> bool {
        let Some(Readiness(word)) = self.ready.get(partition) else { return false };
        // Relaxed: only the sender stores here.
        if word.load(Ordering::Relaxed) == round {
            return false;
        }
        // Release: pairs with the acquire load in `is_ready`: the partition's content is there.
        word.store(round, Ordering::Release);
        true
    }

    /// Receiver: all partitions of a round have been copied.
    #[inline]
    pub fn tell_copied(&self, round: u64) {
        // Release: pairs with the acquire load in `is_copied`; all reads of the sender's buffer are done.
        self.copied.0.store(round, Ordering::Release);
    }

    /// Sender: whether the receiver has copied all of a round, so that the buffer may be written again.
    #[inline]
    pub fn is_copied(&self, round: u64) -> bool {
        // Acquire: pairs with the release store in `tell_copied`.
        self.copied.0.load(Ordering::Acquire) == round
    }

    /// Receiver: will not look here again.
    pub fn leave(&self) {
        // Release: pairs with the acquire load in `is_left`; all accesses to these words are done.
        self.left.store(1, Ordering::Release);
    }

    /// Sender: whether the receiver has left, so that the memory may be used for something else.
    pub fn is_left(&self) -> bool {
        // Acquire: pairs with the release store in `leave`.
        self.left.load(Ordering::Acquire) != 0
    }
}
