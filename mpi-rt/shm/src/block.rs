//! Blocks: shared memory in units of one cache line, and walks over consecutive ones.

use crate::primitive::Plain;

/// Bytes of a block: one cache line.
pub const BLOCK: usize = 64;

/// Bytes that one rank writes and another reads, never at once.
#[repr(C, align(64))]
pub struct Block(Plain<[u8; BLOCK]>);

// SAFETY: a block is written only by the side that the FIFO's counters, or the cell's mark, give it to, and read only by the other; what
// gives it from one to the other is a release-acquire pair.
unsafe impl Sync for Block {}

impl Block {
    /// A block of zeros.
    pub fn new() -> Block {
        Block(Plain::new([0; BLOCK]))
    }
}

impl Default for Block {
    fn default() -> Block {
        Block::new()
    }
}

#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(size_of::<Block>() == BLOCK);

/// Blocks that hold so many bytes.
#[inline(always)]
pub const fn blocks_for(bytes: usize) -> usize {
    bytes.div_ceil(BLOCK)
}

/// Bytes that lie next to each other from a place on: on the machine, up to the end of the blocks; for the model checker, which
/// watches each block apart, up to the end of one.
#[inline(always)]
fn next_to_each_other(blocks: usize, at: usize) -> usize {
    if cfg!(all(test, feature = "loom")) { BLOCK - at % BLOCK } else { blocks * BLOCK - at }
}

/// Shows the `bytes` bytes from byte `start` of a ring of blocks to `piece`, as few pieces as they lie in: an address, the piece's distance
/// from the start, its length. What `piece` reads must have been written, and nobody may write it meanwhile.
#[inline(always)]
pub(crate) fn read(
    blocks: &[Block],
    start: usize,
    bytes: usize,
    mut piece: impl FnMut(*const u8, usize, usize),
) {
    let mut done = 0;
    while done < bytes {
        let at = (start + done) % (blocks.len() * BLOCK);
        let length = next_to_each_other(blocks.len(), at).min(bytes - done);
        blocks[at / BLOCK].0.with(|block| {
            // The address of the whole, not of the one block: the piece may go on into the next ones.
            let whole = if cfg!(all(test, feature = "loom")) { block.cast() } else { first(blocks) };
            let offset = if cfg!(all(test, feature = "loom")) { at % BLOCK } else { at };
            piece(whole.wrapping_add(offset), done, length);
        });
        done += length;
    }
}

/// The same for writing; nobody may read or write them meanwhile.
#[inline(always)]
pub(crate) fn write(
    blocks: &[Block],
    start: usize,
    bytes: usize,
    mut piece: impl FnMut(*mut u8, usize, usize),
) {
    let mut done = 0;
    while done < bytes {
        let at = (start + done) % (blocks.len() * BLOCK);
        let length = next_to_each_other(blocks.len(), at).min(bytes - done);
        blocks[at / BLOCK].0.with_mut(|block| {
            let whole = if cfg!(all(test, feature = "loom")) { block.cast() } else { first(blocks) };
            let offset = if cfg!(all(test, feature = "loom")) { at % BLOCK } else { at };
            piece(whole.wrapping_add(offset), done, length);
        });
        done += length;
    }
}

/// The address of the first byte, good for all of them. A block is nothing but its cell of shared bytes, so it may be written.
#[inline(always)]
fn first(blocks: &[Block]) -> *mut u8 {
    blocks.as_ptr().cast_mut().cast()
}
