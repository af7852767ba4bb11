//! The lock of a target: many origins share it or one has it alone, in the order in which they came.
//!
//! Whoever comes takes a ticket. Two words say whose turn it is to enter: one for those that share, which moves on as soon as a sharer has
//! entered, and one for those that exclude, which moves on when a holder leaves. An uncontended lock and its unlock are a locked
//! instruction each.

use crate::primitive::{AtomicU32, Ordering};

/// The lock of one rank's part of a window; a cache line of its own.
#[repr(C, align(64))]
pub struct TargetLock {
    /// The next ticket. Tickets wrap around; only equality matters.
    next: AtomicU32,
    /// The ticket that may enter if it shares.
    shared: AtomicU32,
    /// The ticket that may enter if it excludes: as many as have left.
    exclusive: AtomicU32,
}

/// A place in the queue, and afterwards the right to unlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u32);

impl TargetLock {
    /// A free lock.
    #[cfg(not(all(test, feature = "loom")))]
    pub const fn new() -> TargetLock {
        TargetLock { next: AtomicU32::new(0), shared: AtomicU32::new(0), exclusive: AtomicU32::new(0) }
    }

    /// A free lock, for the model checker.
    #[cfg(all(test, feature = "loom"))]
    pub fn new() -> TargetLock {
        TargetLock { next: AtomicU32::new(0), shared: AtomicU32::new(0), exclusive: AtomicU32::new(0) }
    }

    /// Joins the queue. The ticket must be used, or nobody after it ever enters.
    #[inline]
    #[must_use = "those behind wait for this ticket"]
    pub fn queue(&self) -> Ticket {
        // Relaxed: tells only the order; what earlier holders did comes with the words that let in.
        Ticket(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Enters to exclude others, if it is the ticket's turn.
    #[inline]
    pub fn enter_exclusive(&self, ticket: Ticket) -> bool {
        // Acquire: pairs with the release additions of all who have left.
        self.exclusive.load(Ordering::Acquire) == ticket.0
    }

    /// Enters to share, if it is the ticket's turn, and lets the next sharer in.
    #[inline]
    pub fn enter_shared(&self, ticket: Ticket) -> bool {
        // Acquire: pairs with the release stores of the sharer before and of the last excluder.
        if self.shared.load(Ordering::Acquire) != ticket.0 {
            return false;
        }
        // Release: pairs with the acquire load above, in the next sharer. A store: only this ticket may move the word on.
        self.shared.store(ticket.0.wrapping_add(1), Ordering::Release);
        true
    }

    /// Enters to share if nobody is in the way; never queues.
    #[inline]
    pub fn try_shared(&self) -> Option<Ticket> {
        // Acquire: as in `enter_shared`.
        let turn = self.shared.load(Ordering::Acquire);
        // Relaxed: as in `queue`. Success means that the ticket's turn has come already.
        let taken =
            self.next.compare_exchange(turn, turn.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed);
        taken.ok()?;
        // Release: as in `enter_shared`.
        self.shared.store(turn.wrapping_add(1), Ordering::Release);
        Some(Ticket(turn))
    }

    /// Leaves after sharing.
    #[inline]
    pub fn leave_shared(&self) {
        // Release: pairs with the acquire load in `enter_exclusive`.
        self.exclusive.fetch_add(1, Ordering::Release);
    }

    /// Leaves after excluding.
    #[inline]
    pub fn leave_exclusive(&self, ticket: Ticket) {
        // Release, both: pair with the acquire loads in `enter_shared` and `enter_exclusive`. The second is an addition because sharers
        // that the first has let in may leave at the same time.
        self.shared.store(ticket.0.wrapping_add(1), Ordering::Release);
        self.exclusive.fetch_add(1, Ordering::Release);
    }
}

impl Default for TargetLock {
    fn default() -> TargetLock {
        TargetLock::new()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn sharers_come_together_and_an_excluder_waits_for_all_of_them() {
        let lock = TargetLock::new();
        let (first, second, third) = (lock.queue(), lock.queue(), lock.queue());
        assert!(lock.enter_shared(first) && lock.enter_shared(second));
        assert!(!lock.enter_exclusive(third));
        lock.leave_shared();
        assert!(!lock.enter_exclusive(third));
        lock.leave_shared();
        assert!(lock.enter_exclusive(third));
        lock.leave_exclusive(third);
        assert!(lock.try_shared().is_some());
    }

    #[test]
    fn a_sharer_does_not_overtake_an_excluder_that_waits() {
        let lock = TargetLock::new();
        let (sharer, excluder, late) = (lock.queue(), lock.queue(), lock.queue());
        assert!(lock.enter_shared(sharer));
        assert!(!lock.enter_shared(late) && lock.try_shared().is_none());
        lock.leave_shared();
        assert!(lock.enter_exclusive(excluder) && !lock.enter_shared(late));
        lock.leave_exclusive(excluder);
        assert!(lock.enter_shared(late));
    }

    #[test]
    fn tickets_wrap_around() {
        let start = u32::MAX - 1;
        let lock = TargetLock {
            next: AtomicU32::new(start),
            shared: AtomicU32::new(start),
            exclusive: AtomicU32::new(start),
        };
        for _ in 0..4 {
            let ticket = lock.queue();
            assert!(lock.enter_exclusive(ticket));
            lock.leave_exclusive(ticket);
            assert!(lock.try_shared().is_some());
            lock.leave_shared();
        }
    }
}
