//! Transfers: a message moved from one layout to another with one copy, in chunks if wanted; packing and unpacking are
//! transfers whose one side is plain bytes.
//!
//! The two layouts need not be alike: the bytes of the type maps follow each other in order on both sides. A transfer can be
//! left and resumed at any byte, and parts of it can be given to different cores ([`Transfer::range`]).

#![allow(unsafe_code)]

use core::mem::MaybeUninit;

use crate::cursor::{Cursor, Piece, Taken};
use crate::error::{Class, Error, Result};
use crate::layout::{LayoutView, corrupt};
use crate::memory::{Memory, Nest, Round};
use crate::packed::{Copies, Packer};

/// Messages between two layouts go by way of a buffer of so many bytes if both have runs in common of fewer bytes than [`SHORT`].
const STAGE: usize = 4096;
const SHORT: u64 = 512;

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

    /// Addresses of the lowest and the highest byte of data; none without data, or if they are no addresses.
    pub fn span(&self) -> Option<(usize, usize)> {
        let items = i64::try_from(self.count.checked_sub(1)?).ok()?;
        let (base, last) = (self.base as i64, self.layout.extent().checked_mul(items)?);
        let [low, high] = self.layout.bounds();
        let low = base.checked_add(low)?.checked_add(last.min(0))?;
        let high = base.checked_add(high)?.checked_add(last.max(0))?.checked_sub(1)?;
        (0 <= low && low <= high).then_some((low as usize, high as usize))
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
            return Err(truncated());
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
        let wanted = limit.min(self.remaining);
        let mut left = wanted;
        while left > 0 {
            // SAFETY: the regions' blocks are readable and writable, and apart (this method's contract); the one block that either side
            // is has the bytes that are asked for.
            let moved = unsafe {
                if let Some(block) = self.to.last_block() {
                    let (place, bytes) = (at(self.to_base, block.disp), block.block.min(left));
                    exchange::<_, true>(memory, &mut self.from, self.from_base, place, bytes)?;
                    self.to.advance(bytes);
                    bytes
                } else if let Some(block) = self.from.last_block() {
                    let (place, bytes) = (at(self.from_base, block.disp), block.block.min(left));
                    exchange::<_, false>(memory, &mut self.to, self.to_base, place, bytes)?;
                    self.from.advance(bytes);
                    bytes
                } else {
                    self.between(memory, left)?
                }
            };
            self.remaining -= moved;
            left -= moved;
        }
        Ok(wanted)
    }
}

impl Transfer<'_> {
    /// Moves some bytes, at most `left`, between two sides of which neither is one block; says how many.
    ///
    /// # Safety
    /// As [`Transfer::step`].
    unsafe fn between(&mut self, memory: &impl Memory, left: u64) -> Result<u64> {
        // Lengths were checked against both layouts when the transfer was made, so an early end is damage.
        let (Some(from), Some(to)) = (self.from.peek()?, self.to.peek()?) else { return Err(corrupt()) };
        let Common { block, count, from_stride, to_stride } = common(from, to, left);
        let moved = block * count;
        if is_local(memory) && moved < SHORT && moved < left {
            // SAFETY: the regions' blocks are readable and writable, and apart (this method's contract); both sides have that many bytes
            // left, since `left` is at most what remains.
            return unsafe { self.staged(memory, left.min(STAGE as u64)) };
        }
        let round = Round { times: count as usize, to: to_stride as isize, from: from_stride as isize };
        let nest = Nest {
            to: at(self.to_base, to.disp),
            from: at(self.from_base, from.disp),
            block: block as usize,
            rounds: [Round::ONCE, Round::ONCE, round],
        };
        // SAFETY: `common` yields blocks that lie within what both cursors showed, that is, within the regions: readable in the source,
        // writable in the target, and apart (this method's contract).
        unsafe { memory.copy_nest(&nest) };
        self.from.advance(moved);
        self.to.advance(moved);
        Ok(moved)
    }

    /// Moves `bytes` bytes, at most [`STAGE`], by way of a buffer: two layouts with short runs are walked one after the other by flat loops, instead
    /// of both at once block by block. The buffer stays in the first-level cache.
    ///
    /// # Safety
    /// As [`Transfer::step`]; both sides have `bytes` left.
    #[inline(never)]
    unsafe fn staged(&mut self, memory: &impl Memory, bytes: u64) -> Result<u64> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); STAGE];
        let place = buffer.as_mut_ptr().expose_provenance();
        // SAFETY: the buffer has room for `bytes`, is nobody else's, and holds them once the first exchange has succeeded; the regions'
        // blocks are readable and writable (this method's contract).
        unsafe {
            exchange::<_, true>(memory, &mut self.from, self.from_base, place, bytes)?;
            exchange::<_, false>(memory, &mut self.to, self.to_base, place, bytes)?;
        }
        Ok(bytes)
    }
}

/// Whether a layout's own loops may be used ([`Memory::LOCAL`]).
fn is_local<M: Memory>(_: &M) -> bool {
    M::LOCAL
}

/// Copies the next `bytes` bytes of a region to (`GATHER`) or from those at `place`.
///
/// # Safety
/// As [`Transfer::step`], the region being the one side and `bytes` bytes at `place` the other.
unsafe fn exchange<M: Memory, const GATHER: bool>(
    memory: &M,
    region: &mut Cursor<'_>,
    base: usize,
    mut place: usize,
    bytes: u64,
) -> Result<()> {
    let packer = Packer::<_, GATHER> { memory, layout: region.layout() };
    let mut left = bytes;
    while left > 0 {
        // SAFETY: what the cursor gives are blocks of the region, valid as the direction asks, of at most `left` bytes, which are valid
        // the other way at `place`, and apart (this function's contract).
        let moved = unsafe {
            match region.take(left)?.ok_or_else(corrupt)? {
                Taken::Run(run) => {
                    packer.run(at(base, run.disp), place, run);
                    run.block * run.count
                }
                Taken::Nodes { node, size, count, disp, stride } => {
                    let address = at(base, disp);
                    packer.copy(Copies { node, size, count, address, stride, place, step: size })?;
                    size * count
                }
            }
        };
        place = place.wrapping_add(moved as usize);
        left -= moved;
    }
    Ok(())
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
    if position == 0 && bytes > 0 && bytes == from.total()? {
        // SAFETY: the region's blocks are readable, `bytes` at `out` writable, and they are apart (this function's contract).
        return unsafe { whole::<_, true>(memory, from, out) };
    }
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
    if position == 0 && bytes > 0 && bytes == to.total()? {
        // SAFETY: `bytes` at `data` are readable, the region's blocks writable, and they are apart (this function's contract).
        return unsafe { whole::<_, false>(memory, to, data) };
    }
    let mut transfer = Transfer::range(Region::bytes(data, bytes), 0, to, position, bytes)?;
    // SAFETY: `bytes` at `data` are readable, the region's blocks writable, and they are apart (this
    // function's contract).
    unsafe { transfer.step(memory, bytes) }.map(drop)
}

/// Copies all of a region to `out`; how many bytes that are. Class `Truncate` if they are more than `room`.
///
/// # Safety
/// As [`Transfer::step`], with `room` bytes at `out`, valid for writing, as the target.
pub unsafe fn pack_all(memory: &impl Memory, from: Region<'_>, out: usize, room: u64) -> Result<u64> {
    let bytes = total_within(&from, room)?;
    if bytes > 0 {
        // SAFETY: the region's blocks are readable, `bytes` at `out` writable, and they are apart (this function's contract).
        unsafe { whole::<_, true>(memory, from, out)? };
    }
    Ok(bytes)
}

/// Copies as many bytes as a region has from `data` into it; how many that are. Class `Truncate` if they are more than the `room` bytes that are there.
///
/// # Safety
/// As [`Transfer::step`], with `room` bytes at `data`, valid for reading, as the source.
pub unsafe fn unpack_all(memory: &impl Memory, data: usize, room: u64, to: Region<'_>) -> Result<u64> {
    let bytes = total_within(&to, room)?;
    if bytes > 0 {
        // SAFETY: `bytes` at `data` are readable, the region's blocks writable, and they are apart (this function's contract).
        unsafe { whole::<_, false>(memory, to, data)? };
    }
    Ok(bytes)
}

/// Bytes of data of a region. Class `Truncate` if they are more than `room`.
fn total_within(region: &Region<'_>, room: u64) -> Result<u64> {
    let bytes = region.total()?;
    if bytes <= room { Ok(bytes) } else { Err(truncated()) }
}

#[cold]
fn truncated() -> Error {
    Error::new(Class::Truncate, "the message is longer than the buffer that is to hold it")
}

/// Packs (`GATHER`) or unpacks a whole region, without a cursor.
///
/// # Safety
/// As [`pack`] and [`unpack`], with the region's bytes at `place`; the region has data.
unsafe fn whole<M: Memory, const GATHER: bool>(memory: &M, region: Region<'_>, place: usize) -> Result<()> {
    let Region { base, layout, count } = region;
    let (node, size, stride) = (layout.root(), layout.size(), layout.extent());
    let copies = Copies { node, size, count, address: at(base, layout.disp()), stride, place, step: size };
    // SAFETY: the region's blocks are valid as the direction asks, its bytes at `place` the other way, and they are apart (this
    // function's contract).
    unsafe { Packer::<_, GATHER> { memory, layout }.copy(copies) }
}
