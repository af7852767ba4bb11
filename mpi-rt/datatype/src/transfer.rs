//! Transfers: a message moved from one layout to another with one copy, in chunks if wanted; packing and unpacking are
//! transfers whose one side is plain bytes.
//!
//! The two layouts need not be alike: the bytes of the type maps follow each other in order on both sides. A transfer can be
//! left and resumed at any byte, and parts of it can be given to different cores ([`Transfer::range`]).

#![allow(unsafe_code)]

use crate::cursor::{Cursor, Piece};
use crate::error::{Class, Error, Result};
use crate::layout::LayoutView;
use crate::memory::{Memory, Strided};

/// A message buffer: `count` items of a layout at an address, which is where displacement 0 of the first item lies.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    /// Address of displacement 0.
    pub base: usize,
    /// Layout of one item.
    pub layout: LayoutView<'a>,
    /// Number of items.
    pub count: u64,
}

impl Region<'static> {
    /// `bytes` bytes at `base`.
    pub fn bytes(base: usize, bytes: u64) -> Region<'static> {
        Region { base, layout: LayoutView::bytes(), count: bytes }
    }
}

impl Region<'_> {
    /// Bytes of data; class `Count` beyond 63 bits.
    pub fn total(&self) -> Result<u64> {
        self.layout.total(self.count)
    }

    /// Address and length, if the data is one block.
    pub fn contiguous(&self) -> Option<(usize, u64)> {
        let (disp, bytes) = self.layout.contiguous(self.count)?;
        Some((self.base.wrapping_add_signed(disp as isize), bytes))
    }
}

/// A message on its way from one region to another.
pub struct Transfer<'a> {
    from: Cursor<'a>,
    to: Cursor<'a>,
    from_base: usize,
    to_base: usize,
    remaining: u64,
}

impl<'a> Transfer<'a> {
    /// The whole message: as many bytes as the source has. Class `Truncate` if the target has room for fewer; a receiver
    /// that wants the part that fits asks for that [`Transfer::range`].
    pub fn new(from: Region<'a>, to: Region<'a>) -> Result<Transfer<'a>> {
        Transfer::range(from, 0, to, 0, from.total()?)
    }

    /// `bytes` bytes from byte `from_position` of the source's packed form on, to byte `to_position` of the target's. Class
    /// `Truncate` if either side is shorter.
    pub fn range(
        from: Region<'a>,
        from_position: u64,
        to: Region<'a>,
        to_position: u64,
        bytes: u64,
    ) -> Result<Transfer<'a>> {
        let fits = |region: &Region<'_>, position: u64| -> Result<bool> {
            Ok(position.checked_add(bytes).is_some_and(|end| region.total().is_ok_and(|total| end <= total)))
        };
        from.total()?;
        to.total()?;
        if !fits(&from, from_position)? || !fits(&to, to_position)? {
            return Err(Error::new(
                Class::Truncate,
                "the message is longer than the buffer that is to hold it",
            ));
        }
        Ok(Transfer {
            from: Cursor::new(from.layout, from.count, from_position)?,
            to: Cursor::new(to.layout, to.count, to_position)?,
            from_base: from.base,
            to_base: to.base,
            remaining: bytes,
        })
    }

    /// Bytes still to move.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Moves up to `limit` bytes and returns how many: `limit`, or what remained. An error (class `Intern`) means that a
    /// peer's layout is damaged; what was moved before stays moved.
    ///
    /// # Safety
    /// Both layouts are genuine (made by this crate, unchanged since). The blocks they describe at the regions' addresses
    /// are valid: the source's for reading, the target's for writing; source and target do not overlap, the target's blocks
    /// do not overlap each other, and nobody writes the source or accesses the target during the call.
    pub unsafe fn step(&mut self, memory: &impl Memory, limit: u64) -> Result<u64> {
        let mut left = limit.min(self.remaining);
        let wanted = left;
        while left > 0 {
            // Lengths were checked against both layouts when the transfer was made, so an early end is damage.
            let (Some(from), Some(to)) = (self.from.peek()?, self.to.peek()?) else {
                return Err(crate::layout::corrupt());
            };
            if from.block != to.block {
                // SAFETY: `from` and `to` are what the cursors show: blocks of the regions, readable and
                // writable (this method's contract).
                let moved = unsafe { self.fill(memory, from, to, left)? };
                left -= moved;
                if moved > 0 {
                    continue;
                }
            }
            let Common { block, count, from_stride, to_stride } = common(from, to, left);
            let source = Strided { address: at(self.from_base, from.disp), stride: from_stride as isize };
            let target = Strided { address: at(self.to_base, to.disp), stride: to_stride as isize };
            // SAFETY: `common` yields blocks that lie within what both cursors showed, that is, within the
            // regions: readable in the source, writable in the target, and apart (this method's contract).
            unsafe { copy_run(memory, target, source, block, count) };
            let moved = block * count;
            self.from.advance(moved);
            self.to.advance(moved);
            self.remaining -= moved;
            left -= moved;
        }
        Ok(wanted)
    }
}

impl Transfer<'_> {
    /// Moves whole runs of the side with the smaller blocks as long as they fit the other side's block, and returns the
    /// bytes moved: 0 if not even the first fits.
    ///
    /// # Safety
    /// As [`Transfer::step`]; `from` and `to` are what the two cursors show.
    unsafe fn fill(&mut self, memory: &impl Memory, from: Piece, to: Piece, left: u64) -> Result<u64> {
        let gather = from.block < to.block;
        let (large, place) = if gather {
            (to.block, at(self.to_base, to.disp))
        } else {
            (from.block, at(self.from_base, from.disp))
        };
        let (small, base) =
            if gather { (&mut self.from, self.from_base) } else { (&mut self.to, self.to_base) };
        let (room, mut moved) = (large.min(left), 0);
        while moved < room
            && let Some(run) = small.take_run(room - moved)?
        {
            let here = Strided { address: place.wrapping_add(moved as usize), stride: run.block as isize };
            let there = Strided { address: at(base, run.disp), stride: run.stride as isize };
            let (target, source) = if gather { (here, there) } else { (there, here) };
            // SAFETY: the run is one of the small side's, and what it meets lies within the large side's
            // block: both within the regions, readable and writable (this method's contract).
            unsafe { copy_run(memory, target, source, run.block, run.count) };
            moved += run.block * run.count;
        }
        if gather {
            self.to.advance(moved)
        } else {
            self.from.advance(moved)
        }
        self.remaining -= moved;
        Ok(moved)
    }
}

/// Copies blocks; a lone large one as a whole, a small one the way of many, which knows the common sizes.
///
/// # Safety
/// As [`Memory::copy_blocks`], for `count` blocks of `block` bytes.
#[inline]
unsafe fn copy_run(memory: &impl Memory, target: Strided, source: Strided, block: u64, count: u64) {
    // SAFETY: `count` blocks of `block` bytes are readable at `source`, writable at `target`, and apart (this
    // function's contract).
    unsafe {
        if count == 1 && block > 16 {
            memory.copy(target.address, source.address, block as usize);
        } else {
            memory.copy_blocks(target, source, block as usize, count as usize);
        }
    }
}

fn at(base: usize, disp: i64) -> usize {
    base.wrapping_add_signed(disp as isize)
}

/// What two pieces have in common from their start: blocks of one size, at each side's stride.
struct Common {
    block: u64,
    count: u64,
    from_stride: i64,
    to_stride: i64,
}

/// The longest regular copy that both pieces and `left` bytes allow. The smaller blocks of one side fill a block of the
/// other; what does not divide is left for the next round.
fn common(from: Piece, to: Piece, left: u64) -> Common {
    let within = |small: Piece, large: Piece| match small.count {
        1 => 1,
        count => count.min(large.block / small.block),
    };
    let mut common = if from.block == to.block {
        let count = from.count.min(to.count);
        Common { block: from.block, count, from_stride: from.stride, to_stride: to.stride }
    } else if from.block < to.block {
        let count = within(from, to);
        Common { block: from.block, count, from_stride: from.stride, to_stride: from.block as i64 }
    } else {
        let count = within(to, from);
        Common { block: to.block, count, from_stride: to.block as i64, to_stride: to.stride }
    };
    if common.block > left {
        (common.block, common.count) = (left, 1);
    } else if common.block * common.count > left {
        common.count = left / common.block;
    }
    common
}

/// Copies `bytes` bytes of the region's packed form, from byte `position` on, to `out`. Class `Truncate` if the region has
/// fewer.
///
/// # Safety
/// As [`Transfer::step`], with `bytes` bytes at `out`, valid for writing, as the target.
pub unsafe fn pack(
    memory: &impl Memory,
    from: Region<'_>,
    position: u64,
    out: usize,
    bytes: u64,
) -> Result<()> {
    let mut transfer = Transfer::range(from, position, Region::bytes(out, bytes), 0, bytes)?;
    // SAFETY: the region's blocks are readable, `bytes` at `out` writable, and they are apart (this
    // function's contract).
    unsafe { transfer.step(memory, bytes) }.map(drop)
}

/// Copies `bytes` bytes at `data` into the region from byte `position` of its packed form on. Class `Truncate` if they do
/// not fit.
///
/// # Safety
/// As [`Transfer::step`], with `bytes` bytes at `data`, valid for reading, as the source.
pub unsafe fn unpack(
    memory: &impl Memory,
    data: usize,
    bytes: u64,
    to: Region<'_>,
    position: u64,
) -> Result<()> {
    let mut transfer = Transfer::range(Region::bytes(data, bytes), 0, to, position, bytes)?;
    // SAFETY: `bytes` at `data` are readable, the region's blocks writable, and they are apart (this
    // function's contract).
    unsafe { transfer.step(memory, bytes) }.map(drop)
}
