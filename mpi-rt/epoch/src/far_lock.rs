//! A [`TargetLock`] as a rank takes it that cannot load and store its words, but has operations on them carried out: additions, exchanges, stores and
//! loads of all words at once. The protocol is that of [`TargetLock`], step by step, so both kinds of ranks share one lock.

use crate::{TargetLock, Ticket};
use core::mem::offset_of;

/// A word of a [`TargetLock`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockWord {
    Next,
    Shared,
    Exclusive,
}

impl LockWord {
    /// Bytes from the lock's start.
    pub fn offset(self) -> usize {
        match self {
            LockWord::Next => offset_of!(TargetLock, next),
            LockWord::Shared => offset_of!(TargetLock, shared),
            LockWord::Exclusive => offset_of!(TargetLock, exclusive),
        }
    }
}

/// A lock's words at a moment, from its start on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct LockWords {
    pub next: u32,
    pub shared: u32,
    pub exclusive: u32,
    pub exposed: u32,
}

// A model's words are objects of the model's.
#[cfg(not(feature = "loom"))]
const _: () = assert!(
    offset_of!(LockWords, next) == offset_of!(TargetLock, next)
        && offset_of!(LockWords, shared) == offset_of!(TargetLock, shared)
        && offset_of!(LockWords, exclusive) == offset_of!(TargetLock, exclusive)
        && offset_of!(LockWords, exposed) == offset_of!(TargetLock, exposed)
);

/// Operations on a lock's words, atomic against those of ranks that load and store them. Those of one rank happen in the order in which they are called, and after
/// all that the rank has put into the same memory before.
pub trait FarLock {
    /// Why an operation has failed.
    type Error;

    /// Each word as it is at some moment of the call.
    fn load(&self) -> Result<LockWords, Self::Error>;

    /// Adds 1; what was there.
    fn increment(&self, word: LockWord) -> Result<u32, Self::Error>;

    /// Adds 1; it need not have happened when this returns.
    fn begin_increment(&self, word: LockWord) -> Result<(), Self::Error>;

    /// Stores a value; it need not have happened when this returns.
    fn begin_store(&self, word: LockWord, value: u32) -> Result<(), Self::Error>;

    /// Stores `new` if `old` is there; what was there.
    fn compare_exchange(&self, word: LockWord, old: u32, new: u32) -> Result<u32, Self::Error>;

    /// As [`TargetLock::queue`].
    fn queue(&self) -> Result<Ticket, Self::Error> {
        self.increment(LockWord::Next).map(Ticket)
    }

    /// As [`TargetLock::enter_exclusive`]; with the lock's words.
    fn enter_exclusive(&self, ticket: Ticket) -> Result<Option<LockWords>, Self::Error> {
        let words = self.load()?;
        Ok((words.exclusive == ticket.0).then_some(words))
    }

    /// As [`TargetLock::enter_shared`]; with the lock's words.
    fn enter_shared(&self, ticket: Ticket) -> Result<Option<LockWords>, Self::Error> {
        let words = self.load()?;
        if words.shared != ticket.0 {
            return Ok(None);
        }
        self.begin_store(LockWord::Shared, ticket.0.wrapping_add(1))?;
        Ok(Some(words))
    }

    /// As [`TargetLock::try_shared`]; with the lock's words.
    fn try_shared(&self) -> Result<Option<LockWords>, Self::Error> {
        let words = self.load()?;
        let turn = words.shared;
        if words.next != turn || self.compare_exchange(LockWord::Next, turn, turn.wrapping_add(1))? != turn {
            return Ok(None);
        }
        self.begin_store(LockWord::Shared, turn.wrapping_add(1))?;
        Ok(Some(words))
    }

    /// As [`TargetLock::leave_shared`].
    fn leave_shared(&self) -> Result<(), Self::Error> {
        self.begin_increment(LockWord::Exclusive)
    }

    /// As [`TargetLock::leave_exclusive`].
    fn leave_exclusive(&self, ticket: Ticket) -> Result<(), Self::Error> {
        self.begin_store(LockWord::Shared, ticket.0.wrapping_add(1))?;
        self.begin_increment(LockWord::Exclusive)
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::primitive::{AtomicU32, Ordering};
    use core::convert::Infallible;

    /// A lock that is reached by operations, here at once.
    struct Far<'l>(&'l TargetLock);

    impl Far<'_> {
        fn word(&self, word: LockWord) -> &AtomicU32 {
            match word {
                LockWord::Next => &self.0.next,
                LockWord::Shared => &self.0.shared,
                LockWord::Exclusive => &self.0.exclusive,
            }
        }
    }

    impl FarLock for Far<'_> {
        type Error = Infallible;

        fn load(&self) -> Result<LockWords, Infallible> {
            let load = |word: &AtomicU32| word.load(Ordering::Acquire);
            Ok(LockWords {
                next: load(&self.0.next),
                shared: load(&self.0.shared),
                exclusive: load(&self.0.exclusive),
                exposed: load(&self.0.exposed),
            })
        }

        fn increment(&self, word: LockWord) -> Result<u32, Infallible> {
            Ok(self.word(word).fetch_add(1, Ordering::AcqRel))
        }

        fn begin_increment(&self, word: LockWord) -> Result<(), Infallible> {
            self.increment(word).map(drop)
        }

        fn begin_store(&self, word: LockWord, value: u32) -> Result<(), Infallible> {
            self.word(word).store(value, Ordering::Release);
            Ok(())
        }

        fn compare_exchange(&self, word: LockWord, old: u32, new: u32) -> Result<u32, Infallible> {
            let outcome = self.word(word).compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
            Ok(outcome.unwrap_or_else(|seen| seen))
        }
    }

    #[test]
    fn ranks_near_and_far_take_turns() {
        let lock = TargetLock::new();
        let far = Far(&lock);
        let (Ok(first), second, Ok(third)) = (far.queue(), lock.queue(), far.queue());
        assert!(far.enter_exclusive(first).is_ok_and(|it| it.is_some()));
        assert!(!lock.enter_shared(second) && far.try_shared() == Ok(None));
        assert_eq!(far.leave_exclusive(first), Ok(()));
        assert_eq!(far.enter_exclusive(third), Ok(None));
        assert!(lock.enter_shared(second));
        lock.leave_shared();
        assert!(far.enter_exclusive(third).is_ok_and(|it| it.is_some()));
        assert!(lock.try_shared().is_none());
        assert_eq!(far.leave_exclusive(third), Ok(()));
        assert!(far.try_shared().is_ok_and(|it| it.is_some()) && lock.try_shared().is_some());
        let last = lock.queue();
        assert_eq!(far.leave_shared(), Ok(()));
        assert!(!lock.enter_exclusive(last));
        lock.leave_shared();
        assert!(lock.enter_exclusive(last));
    }

    #[test]
    fn ranks_far_away_share_in_the_order_in_which_they_came() {
        let lock = TargetLock::new();
        let far = Far(&lock);
        let (Ok(first), Ok(second)) = (far.queue(), far.queue());
        assert_eq!(far.enter_shared(second), Ok(None));
        assert!(far.enter_shared(first).is_ok_and(|it| it.is_some()));
        assert!(far.enter_shared(second).is_ok_and(|it| it.is_some()));
    }

    #[test]
    fn an_exposed_part_is_seen() {
        let lock = TargetLock::new();
        assert!(lock.expose());
        assert!(Far(&lock).try_shared().is_ok_and(|it| it.is_some_and(|words| words.exposed != 0)));
    }
}
