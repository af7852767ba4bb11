//! The receiving end.

use crate::CREDIT_SHARE;
use crate::cell::{Cell, Credit, DATA_WORDS, cell_at};
use crate::primitive::Ordering;

/// The receiving end of a ring. `cells.len()` is a power of two.
pub struct Consumer<'a> {
    cells: &'a [Cell],
    credit: &'a Credit,
    /// Position of the next message.
    head: u64,
    /// The position last told to the producer.
    told: u64,
}

impl<'a> Consumer<'a> {
    /// The receiving end of a new ring; `None` if its length is not a power of two.
    ///
    /// # Safety
    /// The ring must be new, and this its only consumer.
    pub unsafe fn new(cells: &'a [Cell], credit: &'a Credit) -> Option<Consumer<'a>> {
        cells.len().is_power_of_two().then_some(Consumer { cells, credit, head: 0, told: 0 })
    }

    /// Whether a message has arrived.
    #[inline(always)]
    pub fn has_message(&self) -> bool {
        let cell = cell_at(self.cells, self.head);
        // Acquire: pairs with the release store in `Producer::publish`.
        cell.sequence.load(Ordering::Acquire) == self.head + 1
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
        if self.head - self.told >= (self.cells.len() as u64 / CREDIT_SHARE).max(1) {
            self.told = self.head;
            // Release: pairs with the acquire load in `Producer::look_for_credit`; all reads of the cells are done.
            self.credit.0.store(self.head, Ordering::Release);
        }
    }
}
