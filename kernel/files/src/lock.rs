//! Locks on files and parts of them, which bind nobody who does not ask for one (POSIX, fcntl; Linux, flock).
//!
//! The locks of a file lie in a page of their own, which its node names, as long as there are any. Locks of the two kinds do not see each
//! other. Who an owner is, the caller decides: a number that is not 0.

use lwk_abi::syscall::errno::{EAGAIN, EIO, ENOLCK};

use crate::node::{Node, NodeId};
use crate::page::{PAGE_BYTES, get32, get64, put32, put64};
use crate::{Errno, Files, Page, Pages, Result};

/// Bytes of a lock in its page: first byte, first byte behind, owner, kind and whether it is exclusive.
const LOCK_BYTES: usize = 24;
/// Most locks of a file.
pub const LOCKS_MAX: usize = PAGE_BYTES / LOCK_BYTES;

/// What kind of lock; those of one kind do not see the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Of parts of a file, owned by a process.
    Record,
    /// Of a whole file, owned by an open description.
    Whole,
}

/// A lock of the bytes from `start` on and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    pub kind: LockKind,
    /// Who holds it, not 0: a number that the caller gives and that means something to it only.
    pub owner: u32,
    pub start: u64,
    pub end: u64,
    /// Nobody else may have one at the same time, rather than: only others that are not exclusive.
    pub exclusive: bool,
}

impl Lock {
    fn read(page: &Page, index: usize) -> Option<Lock> {
        let bytes = page.get(index * LOCK_BYTES..(index + 1) * LOCK_BYTES)?;
        let (owner, bits) = (get32(bytes, 16), get32(bytes, 20));
        let kind = if bits & 2 == 0 { LockKind::Record } else { LockKind::Whole };
        let lock =
            Lock { kind, owner, start: get64(bytes, 0), end: get64(bytes, 8), exclusive: bits & 1 != 0 };
        (owner != 0).then_some(lock)
    }

    fn write(lock: Option<Lock>, page: &mut Page, index: usize) {
        let Some(bytes) = page.get_mut(index * LOCK_BYTES..(index + 1) * LOCK_BYTES) else { return };
        bytes.fill(0);
        if let Some(lock) = lock {
            put64(bytes, 0, lock.start);
            put64(bytes, 8, lock.end);
            put32(bytes, 16, lock.owner);
            put32(bytes, 20, u32::from(lock.exclusive) | if lock.kind == LockKind::Whole { 2 } else { 0 });
        }
    }

    fn overlaps(&self, other: &Lock) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Whether the two cannot be held at the same time.
    fn excludes(&self, other: &Lock) -> bool {
        self.kind == other.kind
            && self.owner != other.owner
            && (self.exclusive || other.exclusive)
            && self.overlaps(other)
    }
}

impl<P: Pages> Files<'_, P> {
    /// A lock of somebody else that `wanted` has to wait for, the first in their page; nothing if it can be had.
    ///
    /// # Errors
    /// `EIO` if there is no such node.
    pub fn lock_in_the_way(&self, id: NodeId, wanted: &Lock) -> Result<Option<Lock>> {
        let node = self.node(id)?;
        if node.locks == 0 {
            return Ok(None);
        }
        let page = self.page(node.locks)?;
        Ok((0..LOCKS_MAX).filter_map(|index| Lock::read(page, index)).find(|lock| lock.excludes(wanted)))
    }

    /// Takes a lock; what its owner had of these bytes becomes that.
    ///
    /// # Errors
    /// `EAGAIN` if somebody else's is in the way, `ENOLCK` for more than [`LOCKS_MAX`], `ENOSPC`.
    pub fn lock(&mut self, id: NodeId, wanted: Lock) -> Result<()> {
        if self.lock_in_the_way(id, &wanted)?.is_some() {
            return Err(Errno(EAGAIN));
        }
        let mut node = self.node(id)?;
        if node.locks == 0 {
            node.locks = self.allocate_page()?;
            self.put_node(id, &node)?;
        }
        self.change(&node, wanted, true).inspect_err(|_| {
            // A page that was made for nothing goes.
            let _ = self.drop_lock_page(id);
        })
    }

    /// Gives back what an owner has of the bytes of `range`.
    ///
    /// # Errors
    /// `ENOLCK` if a lock would have to become two and there is no room.
    pub fn unlock(&mut self, id: NodeId, range: Lock) -> Result<()> {
        let node = self.node(id)?;
        if node.locks == 0 {
            return Ok(());
        }
        self.change(&node, range, false)?;
        self.drop_lock_page(id)
    }

    /// Takes the owner's locks out of the bytes of `range`, and puts `range` in their place if it is to be held.
    fn change(&mut self, node: &Node, range: Lock, held: bool) -> Result<()> {
        let page = self.page_mut(node.locks)?;
        let own = |lock: &Lock| lock.kind == range.kind && lock.owner == range.owner && lock.overlaps(&range);
        // Only a lock that reaches beyond both ends leaves more pieces than it was.
        let places = |page: &Page, wants: fn(&Lock, &Lock) -> bool| {
            (0..LOCKS_MAX)
                .filter_map(|index| Lock::read(page, index))
                .filter(|lock| own(lock) && wants(lock, &range))
                .count()
        };
        let gone = places(page, |_, _| true);
        let before = places(page, |lock, range| lock.start < range.start);
        let behind = places(page, |lock, range| lock.end > range.end);
        let free = (0..LOCKS_MAX).filter(|index| Lock::read(page, *index).is_none()).count();
        if before + behind + usize::from(held) > gone + free {
            return Err(Errno(ENOLCK));
        }
        // At most one lock of an owner holds the byte before the range, and one the byte behind.
        let mut rest = [held.then_some(range), None, None];
        for index in 0..LOCKS_MAX {
            let Some(lock) = Lock::read(page, index).filter(own) else { continue };
            Lock::write(None, page, index);
            if lock.start < range.start {
                rest[1] = Some(Lock { end: range.start, ..lock });
            }
            if lock.end > range.end {
                rest[2] = Some(Lock { start: range.end, ..lock });
            }
        }
        for lock in rest.into_iter().flatten() {
            let free = (0..LOCKS_MAX).find(|index| Lock::read(page, *index).is_none()).ok_or(Errno(EIO))?;
            Lock::write(Some(lock), page, free);
        }
        Ok(())
    }

    /// Frees the page of a file's locks if there are none.
    pub(crate) fn drop_lock_page(&mut self, id: NodeId) -> Result<()> {
        let mut node = self.node(id)?;
        let page = self.page(node.locks)?;
        if (0..LOCKS_MAX).any(|index| Lock::read(page, index).is_some()) {
            return Ok(());
        }
        let empty = core::mem::take(&mut node.locks);
        self.put_node(id, &node)?;
        self.free_page(empty)
    }
}
