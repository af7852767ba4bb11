//! The memory that a rank has attached to a dynamic window, as its peers look it up.
//!
//! Only the owner changes the list. A peer may look while the owner changes *other* entries, since a program must not use memory that
//! is not attached the whole time; so an entry that a peer is entitled to find does not change, and no lock is needed. What a
//! peer makes of an entry that does change concerns only programs that are wrong, and is no more than a wrong verdict.

use crate::primitive::{AtomicU64, Ordering};

/// Entries in one piece of the list.
const ENTRIES: usize = 31;

/// From and to, in the owner's addresses; free if `to` is 0.
struct Entry {
    from: AtomicU64,
    to: AtomicU64,
}

/// A piece of the list; the owner hangs further pieces onto it.
pub struct Attachments {
    entries: [Entry; ENTRIES],
    /// Address of the next piece as the owner sees it, or 0.
    next: AtomicU64,
}

/// The piece has no free entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl Attachments {
    /// Nothing attached.
    pub fn new() -> Attachments {
        let free = |_| Entry { from: AtomicU64::new(0), to: AtomicU64::new(0) };
        Attachments { entries: core::array::from_fn(free), next: AtomicU64::new(0) }
    }

    /// Attaches `from..to`, which is not empty. The owner only. Errors: [`Full`].
    pub fn attach(&self, from: u64, to: u64) -> Result<(), Full> {
        // Relaxed, all but the last: the owner alone writes.
        let free = self.entries.iter().find(|entry| entry.to.load(Ordering::Relaxed) == 0).ok_or(Full)?;
        free.from.store(from, Ordering::Relaxed);
        // Release: pairs with the acquire load in `end_after`.
        free.to.store(to, Ordering::Release);
        Ok(())
    }

    /// Detaches what was attached at `from`; false if nothing was. The owner only.
    pub fn detach(&self, from: u64) -> bool {
        // Relaxed: the owner alone writes; peers have been told, by whatever synchronisation the program has, to stay away.
        let attached = |entry: &&Entry| {
            entry.to.load(Ordering::Relaxed) != 0 && entry.from.load(Ordering::Relaxed) == from
        };
        match self.entries.iter().find(attached) {
            Some(entry) => {
                entry.to.store(0, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// Where the entry ends that has the byte at `address`; `None` if there is no such entry in this piece.
    pub fn end_after(&self, address: u64) -> Option<u64> {
        self.entries.iter().find_map(|entry| {
            // Acquire: pairs with the release store in `attach`. Relaxed: ordered by it.
            let end = entry.to.load(Ordering::Acquire);
            (end > address && entry.from.load(Ordering::Relaxed) <= address).then_some(end)
        })
    }

    /// Whether an entry and `from..to` have a byte in common. The owner only.
    pub fn overlaps(&self, from: u64, to: u64) -> bool {
        // Relaxed: the owner alone writes.
        let overlaps = |entry: &Entry| {
            entry.from.load(Ordering::Relaxed) < to && from < entry.to.load(Ordering::Relaxed)
        };
        self.entries.iter().any(overlaps)
    }

    /// Address of the next piece, or 0.
    pub fn next(&self) -> u64 {
        // Acquire: pairs with the release store in `append`.
        self.next.load(Ordering::Acquire)
    }

    /// Hangs on the next piece, which lies at that address of the owner's and stays as long as this one. The owner only.
    pub fn append(&self, address: u64) {
        // Release: pairs with the acquire load in `next`.
        self.next.store(address, Ordering::Release);
    }
}

impl Default for Attachments {
    fn default() -> Attachments {
        Attachments::new()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn what_is_attached_has_an_end() {
        let list = Attachments::new();
        assert_eq!((list.attach(100, 200), list.attach(200, 300)), (Ok(()), Ok(())));
        assert_eq!([100, 199, 200, 299].map(|it| list.end_after(it)), [200, 200, 300, 300].map(Some));
        assert_eq!([0, 99, 300].map(|it| list.end_after(it)), [None; 3]);
        assert!(list.overlaps(299, 400) && !list.overlaps(300, 400));
        assert!(list.detach(100) && !list.detach(100) && !list.detach(150));
        assert_eq!([100, 200].map(|it| list.end_after(it)), [None, Some(300)]);
    }

    #[test]
    fn entries_are_used_again_and_run_out() {
        let list = Attachments::new();
        for entry in 1..=ENTRIES as u64 {
            assert_eq!(list.attach(entry * 10, entry * 10 + 5), Ok(()));
        }
        assert_eq!(list.attach(5000, 5001), Err(Full));
        assert!(list.detach(30));
        assert_eq!(list.attach(5000, 5001), Ok(()));
    }
}
