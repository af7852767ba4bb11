//! How this rank updates elements of one target while others do: singly, by one locked instruction each, or many at once under the target's lock
//! ([`ElementLock`] has the protocol).
//!
//! A rank begins singly. The first update of many elements changes that for all ranks and for good; a rank that updates singly hears of it at
//! its next unlock or fence, or within so many flushes, and until then those under the lock are made by instructions, too. So programs that update one element at
//! a time never take the lock, and in the others single updates join the lock of those of many.

use crate::shared::Control;
use alloc::rc::Rc;
use core::cell::Cell;
use lwk_copy::threshold::{BULK_BYTES, BULK_ELEMENTS};
use lwk_epoch::{ElementLock, PairLine, Singly};
use lwk_place::CommRank;

/// How elements are updated now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Manner {
    /// Not known yet.
    Undecided,
    /// By instructions, outside of the lock.
    Singly,
    /// By instructions under the lock, since others may update singly.
    Locked,
    /// By plain loads and stores under the lock: nobody updates singly any more.
    Bulk,
}

/// One target, as this rank updates it beside others.
pub(super) struct Beside {
    manner: Cell<Manner>,
    /// Bytes of elements that are updated under the lock at once; 0: this rank wants no bulk.
    bulk_bytes: Cell<usize>,
    /// Whether many elements may be updated by plain loads and stores at all: not where Portals updates some, which knows of no lock.
    may_bulk: bool,
    lock: &'static ElementLock,
    /// Of all ranks, in the target.
    lines: &'static [PairLine],
    /// This rank's; `None`: it always takes the lock.
    own: Option<&'static Singly>,
    /// Targets of the window whose elements this rank updates singly.
    single_targets: Rc<Cell<u32>>,
}

impl Beside {
    /// As rank `rank` of the window; `None`: as one that always takes the lock. The lines are the target's. Whether it `may_bulk` is the same for all ranks.
    pub fn new(
        control: &'static Control,
        lines: &'static [PairLine],
        rank: Option<CommRank>,
        single_targets: Rc<Cell<u32>>,
        may_bulk: bool,
    ) -> Beside {
        let own = rank.and_then(|rank| lines.get(rank.index())).map(|line| &line.singly);
        Beside {
            manner: Cell::new(Manner::Undecided),
            bulk_bytes: Cell::new(BULK_BYTES),
            may_bulk,
            lock: &control.elements,
            lines,
            own,
            single_targets,
        }
    }

    /// Whether words may be updated by instructions, now and outside of the lock.
    #[inline(always)]
    pub fn is_single(&self) -> bool {
        self.manner.get() == Manner::Singly
    }

    /// Bytes of elements that are updated at once; see [`crate::hints`].
    pub fn set_bulk_bytes(&self, bytes: usize) {
        self.bulk_bytes.set(bytes);
    }

    /// How `count` words are to be updated.
    #[inline]
    pub fn manner(&self, count: usize) -> Manner {
        match self.manner.get() {
            Manner::Bulk => Manner::Bulk,
            Manner::Singly if count < BULK_ELEMENTS => Manner::Singly,
            _ => self.decide(count),
        }
    }

    #[cold]
    fn decide(&self, count: usize) -> Manner {
        let wants_bulk = self.may_bulk && count >= BULK_ELEMENTS && self.bulk_bytes.get() > 0;
        if !wants_bulk {
            if self.is_single() {
                return Manner::Singly;
            }
            if self.own.is_some_and(|own| self.lock.begin_singly(own)) {
                self.single_targets.set(self.single_targets.get() + 1);
                self.manner.set(Manner::Singly);
                return Manner::Singly;
            }
        }
        if !self.may_bulk {
            return Manner::Locked;
        }
        self.end_singly();
        self.lock.want_bulk();
        // Nobody begins again, so once all have ended it stays so.
        let all_have = self.lines.iter().all(|line| line.singly.has_ended());
        self.manner.set(if all_have { Manner::Bulk } else { Manner::Locked });
        self.manner.get()
    }

    /// Bytes that are updated under the lock at once.
    #[inline(always)]
    fn bytes_at_once(&self) -> usize {
        match self.bulk_bytes.get() {
            0 => BULK_BYTES,
            bytes => bytes,
        }
    }

    /// Words that are updated under the lock at once; `size` bytes each.
    pub fn words_at_once(&self, size: usize) -> usize {
        (self.bytes_at_once() / size).max(1)
    }

    /// Whether so many bytes of elements are updated at once, by plain loads and stores under the lock.
    #[inline(always)]
    pub fn is_bulk(&self, bytes: usize) -> bool {
        self.manner.get() == Manner::Bulk && bytes <= self.bytes_at_once()
    }

    /// Ends updating singly if somebody else wants the lock for many elements.
    pub fn hear(&self) {
        if self.is_single() && self.lock.is_bulk_wanted() {
            self.end_singly();
        }
    }

    /// Ends updating singly, if this rank does.
    pub fn end_singly(&self) {
        if let (true, Some(own)) = (self.is_single(), self.own) {
            own.end();
            self.single_targets.set(self.single_targets.get() - 1);
            self.manner.set(Manner::Undecided);
        }
    }

    /// Does something while no other rank updates elements that are not updated singly.
    #[inline(always)]
    pub fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        if !self.lock.try_lock() {
            self.wait_for_lock();
        }
        let outcome = work();
        self.lock.unlock();
        outcome
    }

    #[cold]
    fn wait_for_lock(&self) {
        while !self.lock.try_lock() {
            lwk_user::wait::spin_until(|| self.lock.looks_free());
        }
    }
}
