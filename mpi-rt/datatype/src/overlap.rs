//! Whether items of a type have bytes in common: then they are no target of a message.

use alloc::vec::Vec;

use crate::cursor::{Cursor, Piece};
use crate::datatype::Datatype;
use crate::error::{Class, Error, Result};

impl Datatype {
    /// Whether two of the blocks of `items` items overlap. Where blocks follow each other upwards, as they mostly do, this takes no memory. Class
    /// `Type` for an uncommitted type, `Count` for more than 2^63 bytes, `Other` if there is no memory to sort the blocks in.
    pub fn overlaps(&self, items: u64) -> Result<bool> {
        let mut end = None;
        let mut cursor = Cursor::new(self.layout()?, items, 0)?;
        while let Some(piece) = cursor.peek()? {
            let Some((low, high)) = span(piece) else { return Ok(true) };
            if end.is_some_and(|end| low < end) {
                return self.overlaps_unordered(items);
            }
            end = Some(high);
            cursor.advance(piece.block * piece.count);
        }
        Ok(false)
    }

    fn overlaps_unordered(&self, items: u64) -> Result<bool> {
        let mut blocks: Vec<(i64, i64)> = Vec::new();
        let mut cursor = Cursor::new(self.layout()?, items, 0)?;
        while let Some(piece) = cursor.peek()? {
            let count = usize::try_from(piece.count).unwrap_or(usize::MAX);
            blocks.try_reserve(count).map_err(|_| {
                Error::new(Class::Other, "there is no memory to see whether the datatype's blocks overlap")
            })?;
            let start = |i: usize| piece.disp.wrapping_add(piece.stride.wrapping_mul(i as i64));
            blocks.extend((0..count).map(|i| (start(i), start(i).wrapping_add_unsigned(piece.block))));
            cursor.advance(piece.block * piece.count);
        }
        blocks.sort_unstable();
        Ok(blocks.windows(2).any(|pair| pair[1].0 < pair[0].1))
    }
}

/// The lowest byte of a run of blocks and the one after the highest; none if its blocks overlap each other.
fn span(piece: Piece) -> Option<(i64, i64)> {
    let apart = piece.count == 1 || piece.stride.unsigned_abs() >= piece.block;
    let last = piece.disp.wrapping_add(piece.stride.wrapping_mul(piece.count as i64 - 1));
    let (low, high) = (piece.disp.min(last), piece.disp.max(last));
    apart.then(|| (low, high.wrapping_add_unsigned(piece.block)))
}
