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
use core::fmt;

use lwk_abi::address::{
    JOB_PAGE, NULL_END, PAGE_BYTES, SEGMENT_ALIGN, SEGMENT_BYTES_MIN, SEGMENT_LIMIT, SEGMENT_START,
    SLOT_BYTES, STACK_BYTES_MAX, STACK_GUARD_BYTES, USER_END, slot_of,
};

use crate::access::Access;
use crate::address::{VirtAddr, align_down, align_up};

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

/// Why an image does not fit a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The image has more ranges than [`IMAGE_RANGES_MAX`].
    TooManyRanges(usize),
    /// A range of the image ends before it starts, or lies outside `SEGMENT_START..SEGMENT_LIMIT`.
    OutOfRange { start: u64, end: u64 },
    /// Ranges are not in ascending order, or overlap; here a range starts below the end of the one before it.
    Overlap { start: u64 },
    /// Two ranges with different access share the page at this address.
    SharedPage { address: u64 },
    /// A range is writable and executable.
    WritableExecutable { start: u64 },
    /// The segment's size is not a multiple of 4 KiB.
    Misaligned { bytes: u64 },
    /// The segment would end above `SEGMENT_LIMIT`; it can have this many bytes at most.
    TooLarge { most: u64 },
    /// Image, stack and a heap of [`HEAP_BYTES_MIN`] need a segment of this many bytes at least.
    TooSmall { needed: u64 },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LayoutError::TooManyRanges(count) => {
                write!(f, "the program image has {count} ranges, more than the {IMAGE_RANGES_MAX} supported")
            }
            LayoutError::OutOfRange { start, end } => write!(
                f,
                "the program image uses {start:#x}..{end:#x}, outside {SEGMENT_START:#x}..{SEGMENT_LIMIT:#x}; \
                 link it at the default address"
            ),
            LayoutError::Overlap { start } => {
                write!(f, "the program image's range at {start:#x} starts inside the one before it")
            }
            LayoutError::SharedPage { address } => {
                write!(
                    f,
                    "the page at {address:#x} would need two kinds of access; link with -z separate-code"
                )
            }
            LayoutError::WritableExecutable { start } => {
                write!(f, "the program image's range at {start:#x} is writable and executable")
            }
            LayoutError::Misaligned { bytes } => {
                write!(f, "memory per rank of {bytes} bytes is not a multiple of {PAGE_BYTES}")
            }
            LayoutError::TooLarge { most } => {
                write!(f, "more memory per rank than a slot holds; give at most {} MiB", most >> 20)
            }
            LayoutError::TooSmall { needed } => {
                write!(
                    f,
                    "memory per rank is too small for the program; give at least {} MiB ({needed} bytes)",
                    needed.div_ceil(1 << 20)
                )
            }
        }
    }
}

/// A user pointer that does not lead where the call needs it; Linux's `EFAULT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPointer;

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad address")
    }
}

/// Readable memory of a rank ([`Layout::check_read`]), as an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable {
    /// Bytes from the segment's start.
    Segment(u64),
    /// Bytes from the job page's start.
    JobPage(u64),
}

/// What is at an address, for failure reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The pages around address 0.
    Null,
    /// The job page.
    JobPage,
    /// Executable memory of the image.
    Code,
    /// Constants of the image.
    ReadOnly,
    /// Variables of the image.
    Data,
    /// Pages of the segment that belong to no range of the image.
    ImageGap,
    /// The heap.
    Heap,
    /// The unmapped pages below the stack.
    StackGuard,
    /// The stack.
    Stack,
    /// An address of slot 0 that is none of the above.
    OutsideSegment,
    /// The slot of a node rank; whether it is in use the layout does not know.
    PeerSlot(u32),
    /// The kernel's half of the addresses.
    Kernel,
    /// Not an address at all: bits 47 to 63 differ.
    NonCanonical,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Null => "the null page",
            Place::JobPage => "the job page",
            Place::Code => "code",
            Place::ReadOnly => "read-only data",
            Place::Data => "data",
            Place::ImageGap => "an unmapped gap of the program image",
            Place::Heap => "the heap",
            Place::StackGuard => "the stack guard",
            Place::Stack => "the stack",
            Place::OutsideSegment => "outside the segment",
            Place::PeerSlot(rank) => return write!(f, "the slot of node rank {rank}"),
            Place::Kernel => "kernel memory",
            Place::NonCanonical => "a non-canonical address",
        })
    }
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
    data_start: u64,
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

    /// What is at `address`, any 64-bit value.
    #[must_use]
    pub fn describe(&self, address: u64) -> Place {
        if VirtAddr::try_new(address).is_err() {
            return Place::NonCanonical;
        }
        if address >= USER_END {
            return Place::Kernel;
        }
        if address >= SLOT_BYTES {
            // At most 254: user addresses have 255 slots above the first.
            return Place::PeerSlot((slot_of(address) - 1) as u32);
        }
        match address {
            _ if address < NULL_END => Place::Null,
            _ if (JOB_PAGE..JOB_PAGE + PAGE_BYTES).contains(&address) => Place::JobPage,
            _ if address < self.segment_start || address >= self.stack_end => Place::OutsideSegment,
            _ if address >= self.stack_start => Place::Stack,
            _ if address >= self.heap_end => Place::StackGuard,
            _ if address >= self.heap_start => Place::Heap,
            _ => match self.region_at(address) {
                Some(region) if region.access.execute => Place::Code,
                Some(region) if region.access.write => Place::Data,
                Some(_) => Place::ReadOnly,
                None => Place::ImageGap,
            },
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
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    const MIB: u64 = 1 << 20;

    /// Code, constants behind a gap, data with bss that ends off a page boundary.
    fn image() -> [ImageRange; 3] {
        [
            ImageRange { start: SEGMENT_START, end: SEGMENT_START + 0x2345, access: Access::RX },
            ImageRange { start: SEGMENT_START + 0x5000, end: SEGMENT_START + 0x5800, access: Access::R },
            ImageRange { start: SEGMENT_START + 0x6100, end: SEGMENT_START + 0x7010, access: Access::RW },
        ]
    }

    fn layout(bytes: u64) -> Layout {
        Layout::new(&image(), bytes).expect("the image fits")
    }

    #[test]
    fn parts_lie_in_order() {
        let layout = layout(64 * MIB);
        assert_eq!(layout.image_end, SEGMENT_START + 0x7010);
        assert_eq!(layout.heap_start, SEGMENT_START + 0x8000);
        assert_eq!(layout.stack_end, SEGMENT_START + 64 * MIB);
        assert_eq!(layout.stack_start, layout.stack_end - STACK_BYTES_MAX);
        assert_eq!(layout.heap_end, layout.stack_start - STACK_GUARD_BYTES);
        let regions: Vec<_> = layout.regions.iter().map(|r| (r.start - SEGMENT_START, r.access)).collect();
        // Data and heap touch and are one.
        let stack = 56 * MIB;
        assert_eq!(
            regions,
            [(0, Access::RX), (0x5000, Access::R), (0x6000, Access::RW), (stack, Access::RW)]
        );
    }

    #[test]
    fn a_small_segment_gives_a_quarter_to_the_stack() {
        let layout = layout(2 * MIB);
        assert_eq!(layout.stack_end - layout.stack_start, MIB / 2);
    }

    #[test]
    fn what_is_needed_is_exactly_enough() {
        for image_bytes in [1, PAGE_BYTES, 3 * MIB, 20 * MIB, 24 * MIB, 25 * MIB, 1 << 30] {
            let image =
                [ImageRange { start: SEGMENT_START, end: SEGMENT_START + image_bytes, access: Access::RW }];
            let Err(LayoutError::TooSmall { needed }) = Layout::new(&image, PAGE_BYTES) else {
                panic!("one page cannot hold {image_bytes} bytes")
            };
            let layout = Layout::new(&image, needed).expect("what is needed is enough");
            assert!(layout.heap_end - layout.heap_start >= HEAP_BYTES_MIN);
            assert_eq!(Layout::new(&image, needed - PAGE_BYTES), Err(LayoutError::TooSmall { needed }));
        }
    }

    /// An image with the constants of [`image`], `above` bytes further up.
    fn image_above(above: u64) -> [ImageRange; 3] {
        image().map(|range| ImageRange { start: range.start + above, end: range.end + above, ..range })
    }

    #[test]
    fn a_segment_begins_with_the_large_page_that_its_image_begins_in() {
        for (above, start) in [
            (0, SEGMENT_START),
            (0x1000, SEGMENT_START),
            (SEGMENT_ALIGN - PAGE_BYTES, SEGMENT_START),
            (SEGMENT_ALIGN, SEGMENT_START + SEGMENT_ALIGN),
            (256 * MIB + 0x5000, SEGMENT_START + 256 * MIB),
        ] {
            let layout =
                Layout::new(&image_above(above), 4 * MIB).expect("memory below the image is not needed");
            assert_eq!((layout.segment_start, layout.stack_end), (start, start + 4 * MIB), "{above:#x}");
            let code = SEGMENT_START + above;
            assert_eq!(layout.check(code, 1, Access::RX), Ok(code - start));
            assert_eq!(layout.check(layout.stack_end - 8, 8, Access::RW), Ok(4 * MIB - 8));
            let below = if start == SEGMENT_START { Place::JobPage } else { Place::OutsideSegment };
            assert_eq!(layout.describe(start - 1), below);
            let most = SEGMENT_LIMIT - start;
            assert!(Layout::new(&image_above(above), most).is_ok());
            assert_eq!(
                Layout::new(&image_above(above), most + PAGE_BYTES),
                Err(LayoutError::TooLarge { most })
            );
        }
    }

    #[test]
    fn wrong_images_are_refused() {
        let at = |start, end, access| ImageRange {
            start: SEGMENT_START + start,
            end: SEGMENT_START + end,
            access,
        };
        let refused = |image: &[ImageRange]| Layout::new(image, 64 * MIB).expect_err("a wrong image");
        let wx = Access { read: true, write: true, execute: true };
        assert_eq!(
            refused(&[at(0, 0x1800, Access::RX), at(0x1800, 0x3000, Access::RW)]),
            LayoutError::SharedPage { address: SEGMENT_START + 0x1000 }
        );
        assert_eq!(
            refused(&[at(0, 0x1800, Access::RX), at(0x17ff, 0x3000, Access::RX)]),
            LayoutError::Overlap { start: SEGMENT_START + 0x17ff }
        );
        assert_eq!(refused(&[at(0, 1, wx)]), LayoutError::WritableExecutable { start: SEGMENT_START });
        assert_eq!(
            refused(&[ImageRange { start: 0x1000, end: 0x2000, access: Access::R }]),
            LayoutError::OutOfRange { start: 0x1000, end: 0x2000 }
        );
        assert_eq!(
            refused(&[ImageRange { start: SEGMENT_START, end: u64::MAX, access: Access::R }]),
            LayoutError::OutOfRange { start: SEGMENT_START, end: u64::MAX }
        );
        assert_eq!(refused(&[at(0, 1, Access::R); 17]), LayoutError::TooManyRanges(17));
        assert_eq!(Layout::new(&image(), 64 * MIB + 1), Err(LayoutError::Misaligned { bytes: 64 * MIB + 1 }));
        let most = SEGMENT_LIMIT - SEGMENT_START;
        assert_eq!(Layout::new(&image(), most + PAGE_BYTES), Err(LayoutError::TooLarge { most }));
        assert!(Layout::new(&image(), most).is_ok());
    }

    #[test]
    fn checks_are_exact_at_every_edge() {
        let layout = layout(64 * MIB);
        let code = SEGMENT_START;
        assert_eq!(layout.check(code, 0x3000, Access::RX), Ok(0));
        assert_eq!(layout.check(code, 0x3001, Access::R), Err(BadPointer));
        assert_eq!(layout.check(code, 8, Access::RW), Err(BadPointer));
        // Constants and data touch: readable across, writable only in data.
        assert_eq!(layout.check(SEGMENT_START + 0x5ff8, 16, Access::R), Ok(0x5ff8));
        assert_eq!(layout.check(SEGMENT_START + 0x5ff8, 16, Access::RW), Err(BadPointer));
        assert_eq!(layout.check(layout.heap_end - 8, 8, Access::RW), Ok(layout.heap_end - 8 - SEGMENT_START));
        assert_eq!(layout.check(layout.heap_end - 8, 9, Access::R), Err(BadPointer));
        assert_eq!(layout.check(layout.stack_start - 1, 2, Access::R), Err(BadPointer));
        assert_eq!(layout.check(layout.stack_end - 1, 1, Access::RW), Ok(64 * MIB - 1));
        assert_eq!(layout.check(layout.stack_end - 1, 2, Access::R), Err(BadPointer));
        assert_eq!(layout.check(layout.stack_start, 1, Access::RX), Err(BadPointer));
        assert_eq!(layout.check(layout.heap_start, u64::MAX, Access::R), Err(BadPointer));
        assert_eq!(layout.check(u64::MAX, 1, Access::R), Err(BadPointer));
        assert_eq!(layout.check(0, 1, Access::R), Err(BadPointer));
        assert_eq!(layout.check(0, 0, Access::RW), Ok(0));
        assert_eq!(layout.check(u64::MAX, 0, Access::RW), Ok(0));
    }

    #[test]
    fn the_job_page_can_only_be_read() {
        let layout = layout(64 * MIB);
        assert_eq!(layout.check_read(JOB_PAGE + 8, PAGE_BYTES - 8), Ok(Readable::JobPage(8)));
        assert_eq!(layout.check_read(JOB_PAGE + 8, PAGE_BYTES - 7), Err(BadPointer));
        assert_eq!(layout.check_read(JOB_PAGE - 1, 2), Err(BadPointer));
        assert_eq!(layout.check_read(SEGMENT_START, 1), Ok(Readable::Segment(0)));
        assert_eq!(layout.check(JOB_PAGE, 1, Access::RW), Err(BadPointer));
    }

    #[test]
    fn places_have_names() {
        let layout = layout(64 * MIB);
        let cases = [
            (0, Place::Null),
            (NULL_END - 1, Place::Null),
            (JOB_PAGE, Place::JobPage),
            (NULL_END, Place::OutsideSegment),
            (SEGMENT_START, Place::Code),
            (SEGMENT_START + 0x3000, Place::ImageGap),
            (SEGMENT_START + 0x5000, Place::ReadOnly),
            (SEGMENT_START + 0x6000, Place::Data),
            (layout.heap_start - 1, Place::Data),
            (layout.heap_start, Place::Heap),
            (layout.heap_end, Place::StackGuard),
            (layout.stack_start, Place::Stack),
            (layout.stack_end, Place::OutsideSegment),
            (SLOT_BYTES, Place::PeerSlot(0)),
            (USER_END - 1, Place::PeerSlot(254)),
            (USER_END, Place::NonCanonical),
            (0xffff_8000_0000_0000, Place::Kernel),
            (u64::MAX, Place::Kernel),
        ];
        for (address, place) in cases {
            assert_eq!(layout.describe(address), place, "{address:#x}");
        }
        assert_eq!(Place::PeerSlot(3).to_string(), "the slot of node rank 3");
    }
}
