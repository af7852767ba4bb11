//! The send buffer pool of a rank, and its send queues (dissertation, sections 3.2.1 to 3.2.3).
//!
//! The owner takes a free cell, loads it, marks it busy, appends it to the send queue of the peer it is for, and tells that peer
//! its number through a FIFO. The peer copies the content out and marks the cell free. The cell stays in the send queue until the owner,
//! when it needs cells, sweeps the queues and takes back those that are marked.

use crate::block::{self, BLOCK, Block};
use crate::primitive::{AtomicU64, Ordering};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Whose a cell is. A line to itself: the owner and one peer write it.
#[repr(C, align(64))]
pub struct Mark(AtomicU64);

const FREE: u64 = 0;
const BUSY: u64 = 1;

impl Mark {
    /// Of a free cell.
    pub fn new() -> Mark {
        Mark(AtomicU64::new(FREE))
    }
}

impl Default for Mark {
    fn default() -> Mark {
        Mark::new()
    }
}

/// Number of a cell in its pool.
pub type CellNumber = u32;

/// The cells of a rank's pool, as everybody sees them.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    marks: &'a [Mark],
    blocks: &'a [Block],
    /// Blocks of one cell.
    each: usize,
}

impl<'a> Cells<'a> {
    /// Cells of equal size, one for each mark; `None` if the blocks do not divide so.
    pub fn new(marks: &'a [Mark], blocks: &'a [Block]) -> Option<Cells<'a>> {
        let each = blocks.len().checked_div(marks.len())?;
        (each > 0 && each * marks.len() == blocks.len()).then_some(Cells { marks, blocks, each })
    }

    /// Bytes of a cell.
    pub fn cell_bytes(&self) -> usize {
        self.each * BLOCK
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.marks.len()
    }

    fn blocks_of(&self, cell: CellNumber) -> Option<&'a [Block]> {
        let start = cell as usize * self.each;
        self.blocks.get(start..start + self.each)
    }

    /// A peer's part: shows the first `bytes` bytes of a cell to `piece` (address, distance, length), then marks it free. False if there is no
    /// such cell or it is shorter.
    ///
    /// # Safety
    /// The owner has told this rank the cell's number, with an acquire load on this side, and this rank has not freed it since.
    pub unsafe fn empty(
        &self,
        cell: CellNumber,
        bytes: usize,
        piece: impl FnMut(*const u8, usize, usize),
    ) -> bool {
        let (Some(blocks), Some(mark)) = (self.blocks_of(cell), self.marks.get(cell as usize)) else {
            return false;
        };
        let fits = bytes <= self.cell_bytes();
        if fits {
            block::read(blocks, 0, bytes, piece);
        }
        // Release: pairs with the acquire load in `Pool::sweep`; all reads of the cell are done.
        mark.0.store(FREE, Ordering::Release);
        fits
    }
}

/// The owner's part of a pool.
pub struct Pool<'a> {
    cells: Cells<'a>,
    free: Vec<CellNumber>,
    /// Loaded cells by the peer they are for, the oldest first.
    queues: Vec<VecDeque<CellNumber>>,
}

impl<'a> Pool<'a> {
    /// A pool of new cells with a send queue for each of `peers` peers.
    ///
    /// # Safety
    /// The cells must be new, and this their only owner.
    pub unsafe fn new(cells: Cells<'a>, peers: usize) -> Pool<'a> {
        let free = (0..cells.count() as CellNumber).rev().collect();
        Pool { cells, free, queues: (0..peers).map(|_| VecDeque::new()).collect() }
    }

    /// Bytes of a cell.
    pub fn cell_bytes(&self) -> usize {
        self.cells.cell_bytes()
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.cells.count()
    }

    /// Free cells; sweeps if fewer than `wanted` are known to be.
    #[inline]
    pub fn available(&mut self, wanted: usize) -> usize {
        if self.free.len() < wanted {
            self.sweep();
        }
        self.free.len()
    }

    /// Takes back the cells that peers have marked free.
    fn sweep(&mut self) {
        let (marks, free) = (self.cells.marks, &mut self.free);
        for queue in self.queues.iter_mut().filter(|queue| !queue.is_empty()) {
            queue.retain(|cell| {
                // Acquire: pairs with the release store in `Cells::empty`; the peer has read the cell.
                let busy = marks[*cell as usize].0.load(Ordering::Acquire) == BUSY;
                if !busy {
                    free.push(*cell);
                }
                busy
            });
        }
    }

    /// Loads a free cell with `bytes` bytes for a peer: `piece` writes them (address, distance, length). `None` if no cell is known to be free
    /// ([`Pool::available`]), or if they are more than a cell has.
    ///
    /// # Safety
    /// `piece` writes nothing but what it is given, and all of it. The peer's number is below that of the pool's peers.
    pub unsafe fn load(
        &mut self,
        peer: usize,
        bytes: usize,
        piece: impl FnMut(*mut u8, usize, usize),
    ) -> Option<CellNumber> {
        if bytes > self.cells.cell_bytes() {
            return None;
        }
        let cell = self.free.pop()?;
        block::write(self.cells.blocks_of(cell)?, 0, bytes, piece);
        // Relaxed: the FIFO that tells the peer the cell's number publishes it.
        self.cells.marks[cell as usize].0.store(BUSY, Ordering::Relaxed);
        self.queues[peer].push_back(cell);
        Some(cell)
    }
}
