//! The sending end.

use crate::AHEAD;
use crate::arch::prefetch_to_write;
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

/// A cell that is the producer's to write.
pub struct Room<'a> {
    cell: &'a Cell,
    position: u64,
}

impl Room<'_> {
    /// The cell's data.
    #[inline(always)]
    pub fn data(&self) -> *mut [u64; DATA_WORDS] {
        self.cell.data.with_mut(|data| data)
    }
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

    /// Position of the next message: cells before it since the beginning.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.tail
    }

    #[cold]
    fn look_for_credit(&mut self, cells: u64) -> bool {
        // Acquire: pairs with the release store in `Consumer::advance`; the consumer has read what was in the cells.
        self.limit = self.credit.0.load(Ordering::Acquire) + self.cells.len() as u64;
        self.tail + cells <= self.limit
    }

    /// Room for a message of one cell, as far as is known without a look at the credit word; if there is none, [`Producer::has_room`] may
    /// still find some. What is written there goes by [`Producer::publish_one`].
    #[inline(always)]
    pub fn room_for_one(&self) -> Option<Room<'a>> {
        let position = self.tail;
        (position < self.limit).then(|| Room { cell: cell_at(self.cells, position), position })
    }

    /// Hands the message that has been written there to the consumer.
    ///
    /// # Safety
    /// The room must be what [`Producer::room_for_one`] has given since the last message was published, and all that the consumer will
    /// read there has been written.
    #[inline(always)]
    pub unsafe fn publish_one(&mut self, room: Room) {
        let next = room.position + 1;
        // Release: pairs with the acquire load in `Consumer::next_message`; carries the data.
        room.cell.sequence.store(next, Ordering::Release);
        self.tail = next;
        // A cell that the consumer may still be reading is left to it.
        if next + AHEAD < self.limit {
            prefetch_to_write(cell_at(self.cells, next + AHEAD));
        }
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
        // Release: pairs with the acquire load in `Consumer::next_message`; carries the data of all the message's cells.
        cell.sequence.store(self.tail + 1, Ordering::Release);
        self.tail += cells;
        // A cell that the consumer may still be reading is left to it.
        if self.tail + AHEAD + cells <= self.limit {
            for cell in 0..cells {
                prefetch_to_write(cell_at(self.cells, self.tail + AHEAD + cell));
            }
        }
    }
}
