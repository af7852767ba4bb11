//! The lock of a target: many origins share it or one has it alone, in the order in which they came.
//!
//! Whoever comes takes a ticket. Two words say whose turn it is to enter: one for those that share, which moves on as soon as a sharer has
//! entered, and one for those that exclude, which moves on when a holder leaves. An uncontended lock and its unlock are a locked
//! instruction each.
//!
//! A part that its owner has exposed by post must not be locked, nor a locked one exposed (MPI-5.0, section 12.5.3). A word in the lock's line
//! tells, at no cost to those that lock. It is for programs that are wrong: which of two calls came first is known only if the one's rank has
//! heard of the other, so what happens at the same moment may be unseen.

use crate::primitive::{AtomicU32, Ordering};
use lwk_primitive::made;

/// The lock of one rank's part of a window; a cache line of its own. [`crate::LockWord`] says where its words are.
#[repr(C, align(64))]
pub struct TargetLock {
    /// The next ticket. Tickets wrap around; only equality matters.
    pub(crate) next: AtomicU32,
    /// The ticket that may enter if it shares.
    pub(crate) shared: AtomicU32,
    /// The ticket that may enter if it excludes: as many as have left.
    pub(crate) exclusive: AtomicU32,
    /// 1 while the owner exposes its part by post. Only the owner writes it.
    pub(crate) exposed: AtomicU32,
}

/// A place in the queue, and afterwards the right to unlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub(crate) u32);

impl TargetLock {
    made! {
        /// A free lock.
        pub fn new() -> TargetLock {
            TargetLock {
                next: AtomicU32::new(0),
                shared: AtomicU32::new(0),
                exclusive: AtomicU32::new(0),
                exposed: AtomicU32::new(0),
            }
        }
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

    /// Exposes the part, unless somebody has locked it or waits for that; whether it is exposed then. The owner only.
    #[inline]
    pub fn expose(&self) -> bool {
        // Relaxed, all: they order nothing. That this rank sees a lock, and others this word, is promised only to those who have heard of it.
        if self.next.load(Ordering::Relaxed) != self.exclusive.load(Ordering::Relaxed) {
            return false;
        }
        self.exposed.store(1, Ordering::Relaxed);
        true
    }

    /// Ends the exposure. The owner only.
    #[inline]
    pub fn conceal(&self) {
        // Relaxed: as in `expose`.
        self.exposed.store(0, Ordering::Relaxed);
    }

    /// Whether the part is exposed: whoever has just locked it must leave again.
    #[inline]
    pub fn is_exposed(&self) -> bool {
        // Relaxed: as in `expose`.
        self.exposed.load(Ordering::Relaxed) != 0
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

    /// A free lock after so many tickets.
    fn starting_at(ticket: u32) -> TargetLock {
        TargetLock {
            next: AtomicU32::new(ticket),
            shared: AtomicU32::new(ticket),
            exclusive: AtomicU32::new(ticket),
            exposed: AtomicU32::new(0),
        }
    }

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
    fn what_is_locked_or_awaited_is_not_exposed() {
        let lock = starting_at(u32::MAX);
        assert!(lock.expose() && lock.is_exposed());
        lock.conceal();
        let (sharer, excluder) = (lock.queue(), lock.queue());
        assert!(lock.enter_shared(sharer) && !lock.expose());
        lock.leave_shared();
        assert!(lock.enter_exclusive(excluder) && !lock.expose() && !lock.is_exposed());
        lock.leave_exclusive(excluder);
        assert!(lock.expose() && lock.is_exposed());
    }

    #[test]
    fn tickets_wrap_around() {
        let lock = starting_at(u32::MAX - 1);
        for _ in 0..4 {
            let ticket = lock.queue();
            assert!(lock.enter_exclusive(ticket));
            lock.leave_exclusive(ticket);
            assert!(lock.try_shared().is_some());
            lock.leave_shared();
        }
    }
}
