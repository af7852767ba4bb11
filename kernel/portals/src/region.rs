//! Memory of a list entry or a descriptor: one piece, or several that count as one (`PTL_IOVEC`; Portals 4.3, section 3.10.2).
//!
//! The list of pieces is checked and copied when it is named, so what the program writes there later changes nothing.

use bytemuck::Zeroable;

use crate::memory::{Memory, Span};
use crate::slab::{Place, Slab};
use crate::{Result, Status};

/// Pieces of a region, at most.
pub const IOVECS_MAX: u32 = 64;
/// Pieces of an interface's regions together, at most.
pub const OF_AN_INTERFACE: u32 = 4_096;
/// Pieces of a node's regions together.
const PIECES: usize = 16_384;
/// Bytes of a `ptl_iovec_t`: address and length, 8 bytes each.
const IOVEC_BYTES: u64 = 16;

/// Memory that has been checked, or a part of it.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Region {
    /// Of one piece: its address. Of several: an offset in them.
    start: u64,
    bytes: u64,
    rank: u32,
    /// The first of several pieces; 0: it is one.
    pieces: Place,
}

impl From<Span> for Region {
    fn from(span: Span) -> Region {
        Region { start: span.start(), bytes: span.bytes(), rank: span.rank(), pieces: 0 }
    }
}

impl Region {
    /// Bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where a part begins, comparable with other parts of the same region only.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// `bytes` bytes from `offset` on, if there are so many.
    pub fn part(&self, offset: u64, bytes: u64) -> Option<Region> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        fits.then_some(Region { start: self.start.wrapping_add(offset), bytes, ..*self })
    }
}

#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
struct Piece {
    span: Span,
    next: Place,
    padding: u32,
}

/// All pieces of the node's regions.
#[derive(Zeroable)]
#[repr(C)]
pub struct Pieces {
    slab: Slab<Piece, PIECES>,
}

impl Pieces {
    /// The region that `count` vectors at `address` of a rank describe.
    ///
    /// # Errors
    /// [`Status::ARG_INVALID`] if the rank has no such memory. [`Status::NO_SPACE`] if there is no room for so many pieces.
    pub fn gather(
        &mut self,
        memory: &impl Memory,
        rank: u32,
        (address, count): (u64, u64),
        writable: bool,
    ) -> Result<Region> {
        let mut region = Region { rank, ..Region::default() };
        let mut last = 0;
        for number in 0..count {
            let added = address
                .checked_add(number * IOVEC_BYTES)
                .ok_or(Status::ARG_INVALID)
                .and_then(|at| vector(memory, rank, at, writable))
                .and_then(|span| self.append(&mut region, &mut last, span));
            if let Err(why) = added {
                self.release(&region);
                return Err(why);
            }
        }
        Ok(region)
    }

    fn append(&mut self, region: &mut Region, last: &mut Place, span: Span) -> Result<()> {
        if span.bytes() == 0 {
            return Ok(());
        }
        let bytes = region.bytes.checked_add(span.bytes()).ok_or(Status::ARG_INVALID)?;
        let place = self.slab.add(Piece { span, ..Piece::default() }).ok_or(Status::NO_SPACE)?;
        match core::mem::replace(last, place) {
            0 => region.pieces = place,
            last => self.slab.get_mut(last).next = place,
        }
        region.bytes = bytes;
        Ok(())
    }

    /// Gives the pieces of a whole region back.
    pub fn release(&mut self, region: &Region) {
        let mut at = region.pieces;
        while at != 0 {
            let next = self.slab.get(at).next;
            self.slab.remove(at);
            at = next;
        }
    }

    /// Pieces that all regions have.
    pub fn used(&self) -> usize {
        self.slab.used()
    }

    /// Pieces that a region takes here.
    pub fn count(&self, region: &Region) -> u32 {
        let (mut count, mut at) = (0, region.pieces);
        while at != 0 {
            (count, at) = (count + 1, self.slab.get(at).next);
        }
        count
    }

    /// Calls `work` with each piece of a region, in order: its offset in the region, and where it is. None of them is empty.
    pub fn each(&self, region: &Region, mut work: impl FnMut(u64, &Span)) {
        if region.pieces == 0 {
            if region.bytes > 0 {
                work(0, &Span::checked(region.start, region.bytes, region.rank));
            }
            return;
        }
        let (mut skipped, mut done, mut at) = (region.start, 0, region.pieces);
        while at != 0 && done < region.bytes {
            let Piece { span, next, .. } = self.slab.get(at);
            at = *next;
            let Some(left) = span.bytes().checked_sub(skipped).filter(|left| *left > 0) else {
                skipped -= span.bytes();
                continue;
            };
            let here = left.min(region.bytes - done);
            if let Some(part) = span.part(skipped, here) {
                work(done, &part);
            }
            (skipped, done) = (0, done + here);
        }
    }

    /// Where a region begins, as the program calls it; of one that is empty: where it would.
    pub fn address(&self, region: &Region) -> u64 {
        if region.pieces == 0 {
            return region.start;
        }
        let mut first = None;
        self.each(&Region { bytes: region.bytes.max(1), ..*region }, |_, span| {
            first.get_or_insert(span.start());
        });
        first.unwrap_or(0)
    }

    /// Where a region is, if it is one aligned word of one, two, four or eight bytes.
    pub fn word(&self, region: &Region) -> Option<Span> {
        let one = region.pieces == 0
            && matches!(region.bytes, 1 | 2 | 4 | 8)
            && region.start.is_multiple_of(region.bytes);
        one.then(|| Span::checked(region.start, region.bytes, region.rank))
    }

    /// Reads as many bytes of a region as `into` has.
    pub fn read(&self, memory: &impl Memory, from: &Region, into: &mut [u8]) {
        self.each(from, |at, span| {
            if let Some(into) = into.get_mut(at as usize..(at + span.bytes()) as usize) {
                memory.read(span, into);
            }
        });
    }

    /// Writes a region that is writable.
    pub fn write(&self, memory: &mut impl Memory, to: &Region, from: &[u8]) {
        self.each(to, |at, span| {
            if let Some(from) = from.get(at as usize..(at + span.bytes()) as usize) {
                memory.write(span, from);
            }
        });
    }

    /// Copies between regions of the same length.
    pub fn copy(&self, memory: &mut impl Memory, to: &Region, from: &Region) {
        self.each(to, |at, to| {
            let Some(from) = from.part(at, to.bytes()) else { return };
            self.each(&from, |at, from| {
                if let Some(to) = to.part(at, from.bytes()) {
                    memory.copy(&to, from);
                }
            });
        });
    }

    /// Continues a CRC-32C over a region.
    pub fn checksum(&self, memory: &impl Memory, seed: u32, from: &Region) -> u32 {
        let mut sum = seed;
        self.each(from, |_, span| sum = memory.checksum(sum, span));
        sum
    }

    /// Whether all of a region can be written.
    pub fn is_writable(&self, memory: &impl Memory, region: &Region) -> bool {
        let mut writable = true;
        self.each(region, |_, span| {
            writable &= Span::check(memory, span.rank(), span.start(), span.bytes(), true).is_ok();
        });
        writable
    }
}

/// The memory that the vector at an address describes.
fn vector(memory: &impl Memory, rank: u32, address: u64, writable: bool) -> Result<Span> {
    let place = Span::check(memory, rank, address, IOVEC_BYTES, false)?;
    let mut words = [[0; 8]; 2];
    memory.read(&place, words.as_flattened_mut());
    let [start, bytes] = words.map(u64::from_ne_bytes);
    Span::check(memory, rank, start, bytes, writable)
}
