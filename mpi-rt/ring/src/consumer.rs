//! The receiving end.

use crate::arch::prefetch_to_read;
use crate::cell::{Cell, Credit, DATA_WORDS, cell_at};
use crate::primitive::Ordering;
use crate::{AHEAD, CREDIT_SHARE};

/// The receiving end of a ring. `cells.len()` is a power of two.
pub struct Consumer<'a> {
    cells: &'a [Cell],
    credit: &'a Credit,
    /// Position of the next message.
    head: u64,
    /// The position that is told to the producer next, when it is reached.
    tell_at: u64,
    /// Cells freed since a look found nothing.
    streak: u64,
}

impl<'a> Consumer<'a> {
    /// The receiving end of a new ring; `None` if its length is not a power of two.
    ///
    /// # Safety
    /// The ring must be new, and this its only consumer.
    pub unsafe fn new(cells: &'a [Cell], credit: &'a Credit) -> Option<Consumer<'a>> {
        let tell_at = share(cells);
        cells.len().is_power_of_two().then_some(Consumer { cells, credit, head: 0, tell_at, streak: 0 })
    }

    /// The data of the next message's first cell, if one has arrived. [`Consumer::advance`] ends its use.
    #[inline(always)]
    pub fn next_message(&mut self) -> Option<*const [u64; DATA_WORDS]> {
        let cell = cell_at(self.cells, self.head);
        // Acquire: pairs with the release stores in `Producer::publish` and `Producer::publish_one`.
        if cell.sequence.load(Ordering::Acquire) == self.head + 1 {
            return Some(cell.data.with(|data| data));
        }
        self.streak = 0;
        None
    }

    /// Position of the next message: cells before it since the beginning.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.head
    }

    /// Whether a message has arrived.
    #[inline(always)]
    pub fn has_message(&mut self) -> bool {
        self.next_message().is_some()
    }

    /// Whether the producer has been ahead for a while: the last cells were there when they were looked for.
    #[inline(always)]
    pub fn is_behind(&self) -> bool {
        self.streak >= AHEAD
    }

    /// Lets `read` look at the data of the message's cell number `index`.
    ///
    /// # Safety
    /// [`Consumer::has_message`] must have said yes since the last [`Consumer::advance`], and the message must have more than
    /// `index` cells.
    #[inline(always)]
    pub unsafe fn read<R>(&self, index: u64, read: impl FnOnce(*const [u64; DATA_WORDS]) -> R) -> R {
        let cell = cell_at(self.cells, self.head + index);
        cell.data.with(read)
    }

    /// Frees the cells of the message, `cells` of them.
    ///
    /// # Safety
    /// [`Consumer::has_message`] must have said yes since the last call, and `cells` is the number the producer published.
    #[inline(always)]
    pub unsafe fn advance(&mut self, cells: u64) {
        self.head += cells;
        self.streak += cells;
        // Cells that the producer is about to write are left to it: only where it has been ahead for a while.
        if self.is_behind() {
            // As many as the next message takes, if it is like this one.
            for cell in 0..cells {
                prefetch_to_read(cell_at(self.cells, self.head + AHEAD + cell));
            }
        }
        if self.head >= self.tell_at {
            self.tell_at = self.head + share(self.cells);
            // Release: pairs with the acquire load in `Producer::look_for_credit`; all reads of the cells are done.
            self.credit.0.store(self.head, Ordering::Release);
        }
    }
}

/// Cells that are freed before the producer is told.
#[inline(always)]
fn share(cells: &[Cell]) -> u64 {
    (cells.len() as u64 / CREDIT_SHARE).max(1)
}
