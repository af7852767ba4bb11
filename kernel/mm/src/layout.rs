//! Where everything of a rank is inside its segment, as slot-0 addresses (DESIGN.md, "The machine as a job sees it"):
//!
//! ```text
//! segment_start | image: code, constants, data, bss | heap … | guard (unmapped) | stack | end of the segment
//! ```
//!
//! The segment begins with the large page that the image begins in, so that memory is not lost below it.
//!
//! Memory is given once, when the process is made, so virtual-to-physical is a bounds check and an add
//! ([`Layout::check`]). Pages that belong to no range of the image stay unmapped, although the segment has memory there.

use arrayvec::ArrayVec;

use lwk_abi::address::{
    JOB_PAGE, PAGE_BYTES, SEGMENT_ALIGN, SEGMENT_BYTES_MIN, SEGMENT_LIMIT, SEGMENT_START, STACK_BYTES_MAX,
    STACK_GUARD_BYTES,
};

use crate::access::Access;
use crate::address::{align_down, align_up};

mod error;
mod place;

pub use error::{BadPointer, LayoutError};
pub use place::MemoryKind;

/// The least heap a rank gets, in bytes; a segment with less is too small.
pub const HEAP_BYTES_MIN: u64 = 64 << 10;
/// The most ranges an image may have.
pub const IMAGE_RANGES_MAX: usize = 16;
/// The most mapped regions of a segment: the image's, the heap, the stack.
pub const REGIONS_MAX: usize = IMAGE_RANGES_MAX + 2;

/// A part of the program image: `start` is in it, `end` is not; neither need be page aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageRange {
    pub start: u64,
    pub end: u64,
    pub access: Access,
}

/// Mapped memory of a rank: page-aligned slot-0 addresses, `start` is in it, `end` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub start: u64,
    pub end: u64,
    pub access: Access,
}

/// Readable memory of a rank ([`Layout::check_read`]), as an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable {
    /// Bytes from the segment's start.
    Segment(u64),
    /// Bytes from the job page's start.
    JobPage(u64),
}

/// The layout of one rank. All addresses are slot-0 addresses, all ends are exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First address of the segment, a multiple of [`SEGMENT_ALIGN`], [`SEGMENT_START`] or above.
    pub segment_start: u64,
    /// Bytes of the segment, from `segment_start`.
    pub segment_bytes: u64,
    /// End of the program image (code, data, bss), not rounded.
    pub image_end: u64,
    /// First address of the heap: the page after the image.
    pub heap_start: u64,
    /// End of the heap, and start of the stack's guard.
    pub heap_end: u64,
    /// Lowest address of the stack, and end of its guard.
    pub stack_start: u64,
    /// End of the stack and of the segment.
    pub stack_end: u64,
    /// What is mapped, in ascending order. Neighbours with the same access are one region, so that large pages can
    /// cover both.
    pub regions: ArrayVec<Region, REGIONS_MAX>,
    /// From here to `heap_end` everything is mapped read-write: what most pointers lead to.
    pub data_start: u64,
}

impl Layout {
    /// Lays out a segment of `segment_bytes` for a program whose image has these ranges, in ascending order.
    ///
    /// # Errors
    /// See [`LayoutError`].
    pub fn new(image: &[ImageRange], segment_bytes: u64) -> Result<Layout, LayoutError> {
        if !segment_bytes.is_multiple_of(PAGE_BYTES) {
            return Err(LayoutError::Misaligned { bytes: segment_bytes });
        }
        let mut regions = image_regions(image)?;
        let first = regions.first().map_or(SEGMENT_START, |region: &Region| region.start);
        let segment_start = align_down(first, SEGMENT_ALIGN);
        if segment_bytes > SEGMENT_LIMIT - segment_start {
            return Err(LayoutError::TooLarge { most: SEGMENT_LIMIT - segment_start });
        }
        let image_end = image.last().map_or(segment_start, |range| range.end);
        // Below SEGMENT_LIMIT, which is page aligned, so rounding stays below it.
        let heap_start = align_up(image_end, PAGE_BYTES).unwrap_or(SEGMENT_LIMIT);
        let needed = segment_bytes_needed(heap_start - segment_start);
        if segment_bytes < needed {
            return Err(LayoutError::TooSmall { needed });
        }
        let stack_end = segment_start + segment_bytes;
        let stack_start = stack_end - stack_bytes(segment_bytes);
        let heap_end = stack_start - STACK_GUARD_BYTES;
        push_region(&mut regions, Region { start: heap_start, end: heap_end, access: Access::RW })?;
        let data_start = regions.last().map_or(heap_start, |region| region.start);
        push_region(&mut regions, Region { start: stack_start, end: stack_end, access: Access::RW })?;
        Ok(Layout {
            segment_start,
            segment_bytes,
            image_end,
            heap_start,
            heap_end,
            stack_start,
            stack_end,
            regions,
            data_start,
        })
    }

    /// Checks the memory `address..address + bytes` (a slot-0 address) for what is `needed`, and returns its offset
    /// from the start of the segment. The range may span regions that touch if each allows it.
    ///
    /// Zero bytes are always fine, whatever the address, as in Linux's `write`; the offset is then 0. The job page is not
    /// in the segment: see [`Layout::check_read`].
    ///
    /// # Errors
    /// [`BadPointer`] if any byte is not mapped so, or the range wraps around.
    #[inline]
    pub fn check(&self, address: u64, bytes: u64, needed: Access) -> Result<u64, BadPointer> {
        if bytes == 0 {
            return Ok(0);
        }
        let end = address.checked_add(bytes).ok_or(BadPointer)?;
        let in_data = self.data_start <= address && end <= self.heap_end;
        let in_stack = self.stack_start <= address && end <= self.stack_end;
        if (in_data || in_stack) && Access::RW.allows(needed) {
            return Ok(address - self.segment_start);
        }
        self.check_regions(address, end, needed)
    }

    /// As [`Layout::check`] for memory that the kernel only reads: the job page will do as well.
    ///
    /// # Errors
    /// As [`Layout::check`].
    #[inline]
    pub fn check_read(&self, address: u64, bytes: u64) -> Result<Readable, BadPointer> {
        match self.check(address, bytes, Access::R) {
            Ok(offset) => Ok(Readable::Segment(offset)),
            Err(BadPointer) => {
                let end = address.checked_add(bytes).ok_or(BadPointer)?;
                let inside = JOB_PAGE <= address && end <= JOB_PAGE + PAGE_BYTES;
                if inside { Ok(Readable::JobPage(address - JOB_PAGE)) } else { Err(BadPointer) }
            }
        }
    }

    /// The slow path of [`Layout::check`]: follows the regions from the first byte to the last.
    fn check_regions(&self, address: u64, end: u64, needed: Access) -> Result<u64, BadPointer> {
        let mut at = address;
        for region in &self.regions {
            if region.start <= at && at < region.end {
                if !region.access.allows(needed) {
                    return Err(BadPointer);
                }
                if end <= region.end {
                    return Ok(address - self.segment_start);
                }
                at = region.end;
            }
        }
        Err(BadPointer)
    }

    fn region_at(&self, address: u64) -> Option<&Region> {
        self.regions.iter().find(|region| region.start <= address && address < region.end)
    }
}

/// The stack of a segment: a quarter of it, whole pages, [`STACK_BYTES_MAX`] at most.
fn stack_bytes(segment_bytes: u64) -> u64 {
    align_down(segment_bytes / 4, PAGE_BYTES).min(STACK_BYTES_MAX)
}

/// The smallest segment that holds an image of `image_bytes` (whole pages), the guard, the least heap and its stack.
fn segment_bytes_needed(image_bytes: u64) -> u64 {
    let fixed = (image_bytes + STACK_GUARD_BYTES + HEAP_BYTES_MIN) / PAGE_BYTES;
    // With a quarter for the stack, p pages leave p - p/4, which is 3p/4 rounded up; the smallest p that leaves `fixed`:
    let with_quarter = 4 * (fixed - 1) / 3 + 1;
    let pages = with_quarter.min(fixed + STACK_BYTES_MAX / PAGE_BYTES);
    (pages * PAGE_BYTES).max(SEGMENT_BYTES_MIN)
}

/// The page-rounded, merged regions of the image.
fn image_regions(image: &[ImageRange]) -> Result<ArrayVec<Region, REGIONS_MAX>, LayoutError> {
    if image.len() > IMAGE_RANGES_MAX {
        return Err(LayoutError::TooManyRanges(image.len()));
    }
    let mut regions = ArrayVec::new();
    let mut before: Option<ImageRange> = None;
    for &ImageRange { start, end, access } in image {
        if end < start || start < SEGMENT_START || end > SEGMENT_LIMIT {
            return Err(LayoutError::OutOfRange { start, end });
        }
        if access.is_writable_code() {
            return Err(LayoutError::WritableExecutable { start });
        }
        let page = align_down(start, PAGE_BYTES);
        if let Some(before) = before {
            if start < before.end {
                return Err(LayoutError::Overlap { start });
            }
            if page < before.end && before.start < before.end && start < end && access != before.access {
                return Err(LayoutError::SharedPage { address: page });
            }
        }
        // SEGMENT_LIMIT is page aligned, so rounding an end below it stays there.
        let page_end = align_up(end, PAGE_BYTES).unwrap_or(SEGMENT_LIMIT);
        if start < end {
            push_region(&mut regions, Region { start: page, end: page_end, access })?;
            before = Some(ImageRange { start, end, access });
        }
    }
    Ok(regions)
}

/// Appends a region, or widens the last one if it has the same access and touches. No access is no region.
fn push_region(regions: &mut ArrayVec<Region, REGIONS_MAX>, region: Region) -> Result<(), LayoutError> {
    if region.access == Access::NONE {
        return Ok(());
    }
    match regions.last_mut() {
        Some(last) if last.end >= region.start && last.access == region.access => last.end = region.end,
        _ => regions.try_push(region).map_err(|_| LayoutError::TooManyRanges(REGIONS_MAX + 1))?,
    }
    Ok(())
}

#[cfg(test)]
mod tests;
