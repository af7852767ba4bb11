//! How updates of a target's elements exclude each other.
//!
//! Elements are updated *singly*, by one locked instruction each, or *under the lock*, many at once by plain loads and stores. A plain store between
//! the load and the store of a locked instruction would be lost, and the other way round, so the two must not meet; but a rank that updates single words
//! shall not pay for a lock that nobody needs.
//!
//! So a rank says in a word of its own that it updates singly ([`Singly`]), once for many updates. The first rank that wants the lock for many elements
//! says so for ever ([`ElementLock::want_bulk`]), and from then on nobody begins to update singly. Under the lock elements are updated by locked instructions
//! until all that had begun before have said that they have ended, and by plain loads and stores afterwards.
//! Of one that begins and one that wants, at least one sees the other: each stores, makes a fence, and looks.

use crate::primitive::{AtomicU32, Ordering, fence};
use lwk_primitive::made;

/// One rank's; a cache line of its own.
#[repr(C, align(64))]
pub struct ElementLock {
    held: AtomicU32,
    /// Not 0: some rank updates many elements at once.
    bulk: AtomicU32,
}

/// Whether one rank updates elements of one target singly; written by that rank alone.
pub struct Singly(AtomicU32);

impl Singly {
    made! {
        /// It does not.
        pub fn new() -> Singly {
            Singly(AtomicU32::new(0))
        }
    }

    /// Says that this rank's updates have been made.
    #[inline]
    pub fn end(&self) {
        // Release: pairs with the acquire load in `has_ended`; carries this rank's updates.
        self.0.store(0, Ordering::Release);
    }

    /// Whether the rank has ended, if it had begun. After [`ElementLock::want_bulk`] it does not begin again.
    #[inline]
    pub fn has_ended(&self) -> bool {
        // Acquire: pairs with the release store in `end`.
        self.0.load(Ordering::Acquire) == 0
    }
}

impl Default for Singly {
    fn default() -> Singly {
        Singly::new()
    }
}

impl ElementLock {
    made! {
        /// A free lock.
        pub fn new() -> ElementLock {
            ElementLock { held: AtomicU32::new(0), bulk: AtomicU32::new(0) }
        }
    }

    /// Takes it if it is free.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // Acquire: pairs with the release store in `unlock`. Relaxed: a failure tells nothing.
        self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether it looks free: who waits looks before it tries again, so that waiting does not move the line.
    #[inline]
    pub fn looks_free(&self) -> bool {
        // Relaxed: a hint; `try_lock` decides.
        self.held.load(Ordering::Relaxed) == 0
    }

    /// Gives it back; only its holder may.
    #[inline]
    pub fn unlock(&self) {
        // Release: pairs with the acquire exchange in `try_lock`.
        self.held.store(0, Ordering::Release);
    }

    /// Whether some rank updates many elements at once: who updates singly ends that then.
    #[inline]
    pub fn is_bulk_wanted(&self) -> bool {
        // Relaxed: a hint; `begin_singly` decides.
        self.bulk.load(Ordering::Relaxed) != 0
    }

    /// Whether this rank, whose word it is, may update singly from now on.
    pub fn begin_singly(&self, own: &Singly) -> bool {
        if self.is_bulk_wanted() {
            return false;
        }
        // Relaxed: the fence orders it.
        own.0.store(1, Ordering::Relaxed);
        // Pairs with the fence in `want_bulk`: either this rank sees the wish, or that one sees the word.
        fence(Ordering::SeqCst);
        let may = !self.is_bulk_wanted();
        if !may {
            own.end();
        }
        may
    }

    /// Says that from now on nobody may begin to update singly. Those that had begun have said so in their words, as this rank sees them afterwards.
    pub fn want_bulk(&self) {
        if !self.is_bulk_wanted() {
            // Relaxed: the fence orders it.
            self.bulk.store(1, Ordering::Relaxed);
        }
        // Pairs with the fence in `begin_singly`.
        fence(Ordering::SeqCst);
    }
}

impl Default for ElementLock {
    fn default() -> ElementLock {
        ElementLock::new()
    }
}
