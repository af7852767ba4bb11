//! The sending end.

use crate::cell::{Cell, Credit, DATA_WORDS, cell_at};
use crate::primitive::Ordering;

/// The sending end of a ring. `cells.len()` is a power of two.
pub struct Producer<'a> {
    cells: &'a [Cell],
    credit: &'a Credit,
    /// Position of the next message.
    tail: u64,
    /// Messages may not reach this position: the last known credit plus the ring's length.
    limit: u64,
}

impl<'a> Producer<'a> {
    /// The sending end of a new ring; `None` if its length is not a power of two.
    ///
    /// # Safety
    /// The ring must be new, and this its only producer.
    pub unsafe fn new(cells: &'a [Cell], credit: &'a Credit) -> Option<Producer<'a>> {
        let limit = cells.len() as u64;
        cells.len().is_power_of_two().then_some(Producer { cells, credit, tail: 0, limit })
    }

    /// Whether there is room for a message of `cells` cells. A message longer than the ring never has room.
    #[inline(always)]
    pub fn has_room(&mut self, cells: u64) -> bool {
        self.tail + cells <= self.limit || self.look_for_credit(cells)
    }

    #[cold]
    fn look_for_credit(&mut self, cells: u64) -> bool {
        // Acquire: pairs with the release store in `Consumer::advance`; the consumer has read what was in the cells.
        self.limit = self.credit.0.load(Ordering::Acquire) + self.cells.len() as u64;
        self.tail + cells <= self.limit
    }

    /// Lets `write` fill the data of the message's cell number `index`.
    ///
    /// # Safety
    /// [`Producer::has_room`] must have said yes to more than `index` cells since the last [`Producer::publish`], and `write`
    /// must write nothing but the array it is given.
    #[inline(always)]
    pub unsafe fn write<R>(&mut self, index: u64, write: impl FnOnce(*mut [u64; DATA_WORDS]) -> R) -> R {
        let cell = cell_at(self.cells, self.tail + index);
        cell.data.with_mut(write)
    }

    /// Hands the message that has been written, `cells` cells, to the consumer.
    ///
    /// # Safety
    /// [`Producer::has_room`] must have said yes to `cells`, which is not zero, and all that the consumer will read of them has
    /// been written.
    #[inline(always)]
    pub unsafe fn publish(&mut self, cells: u64) {
        let cell = cell_at(self.cells, self.tail);
        // Release: pairs with the acquire load in `Consumer::has_message`; carries the data of all the message's cells.
        cell.sequence.store(self.tail + 1, Ordering::Release);
        self.tail += cells;
    }
}
