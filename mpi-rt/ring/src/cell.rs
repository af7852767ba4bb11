//! The shared memory of a ring: cells in the consumer's memory, a credit word in the producer's.

use crate::primitive::{AtomicU64, Plain};
use lwk_primitive::made;

/// Words of data in a cell.
pub const DATA_WORDS: usize = 7;
/// Bytes of data in a cell.
pub const DATA_BYTES: usize = DATA_WORDS * 8;

/// One cell: one cache line.
#[repr(C, align(64))]
pub struct Cell {
    /// Position of the message that begins here, plus one; anything else: nothing has arrived yet.
    pub(crate) sequence: AtomicU64,
    pub(crate) data: Plain<[u64; DATA_WORDS]>,
}

// SAFETY: the data is written only by the producer while it holds the cell's credit and read only by the consumer between
// the publication and the return of that credit; both are release-acquire pairs.
unsafe impl Sync for Cell {}

impl Cell {
    made! {
        /// An empty cell of a new ring.
        pub fn new() -> Cell {
            Cell { sequence: AtomicU64::new(0), data: Plain::new([0; DATA_WORDS]) }
        }
    }
}

impl Default for Cell {
    fn default() -> Cell {
        Cell::new()
    }
}

/// The cell at a position of a ring, whose length is a power of two.
#[inline(always)]
pub(crate) fn cell_at(cells: &[Cell], position: u64) -> &Cell {
    debug_assert!(cells.len().is_power_of_two());
    // SAFETY: the length is a power of two (both ends check it when they are made), so the mask is below it.
    unsafe { cells.get_unchecked(position as usize & (cells.len() - 1)) }
}

/// The credit word: how many cells the consumer has freed since the beginning, as far as it has told. A line to itself.
#[repr(C, align(64))]
pub struct Credit(pub(crate) AtomicU64);

impl Credit {
    made! {
        /// The credit word of a new ring.
        pub fn new() -> Credit {
            Credit(AtomicU64::new(0))
        }
    }
}

impl Default for Credit {
    fn default() -> Credit {
        Credit::new()
    }
}

#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(size_of::<Cell>() == 64 && size_of::<Credit>() == 64);
