//! Layouts, case by case.

use super::*;
use lwk_abi::address::{NULL_END, SLOT_BYTES, USER_END};
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
    assert_eq!(regions, [(0, Access::RX), (0x5000, Access::R), (0x6000, Access::RW), (stack, Access::RW)]);
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
        let layout = Layout::new(&image_above(above), 4 * MIB).expect("memory below the image is not needed");
        assert_eq!((layout.segment_start, layout.stack_end), (start, start + 4 * MIB), "{above:#x}");
        let code = SEGMENT_START + above;
        assert_eq!(layout.check(code, 1, Access::RX), Ok(code - start));
        assert_eq!(layout.check(layout.stack_end - 8, 8, Access::RW), Ok(4 * MIB - 8));
        let below = if start == SEGMENT_START { MemoryKind::JobPage } else { MemoryKind::OutsideSegment };
        assert_eq!(layout.describe(start - 1), below);
        let most = SEGMENT_LIMIT - start;
        assert!(Layout::new(&image_above(above), most).is_ok());
        assert_eq!(Layout::new(&image_above(above), most + PAGE_BYTES), Err(LayoutError::TooLarge { most }));
    }
}

#[test]
fn wrong_images_are_refused() {
    let at =
        |start, end, access| ImageRange { start: SEGMENT_START + start, end: SEGMENT_START + end, access };
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
        (0, MemoryKind::Null),
        (NULL_END - 1, MemoryKind::Null),
        (JOB_PAGE, MemoryKind::JobPage),
        (NULL_END, MemoryKind::OutsideSegment),
        (SEGMENT_START, MemoryKind::Code),
        (SEGMENT_START + 0x3000, MemoryKind::ImageGap),
        (SEGMENT_START + 0x5000, MemoryKind::ReadOnly),
        (SEGMENT_START + 0x6000, MemoryKind::Data),
        (layout.heap_start - 1, MemoryKind::Data),
        (layout.heap_start, MemoryKind::Heap),
        (layout.heap_end, MemoryKind::StackGuard),
        (layout.stack_start, MemoryKind::Stack),
        (layout.stack_end, MemoryKind::OutsideSegment),
        (SLOT_BYTES, MemoryKind::PeerSlot(0)),
        (USER_END - 1, MemoryKind::PeerSlot(254)),
        (USER_END, MemoryKind::NonCanonical),
        (0xffff_8000_0000_0000, MemoryKind::Kernel),
        (u64::MAX, MemoryKind::Kernel),
    ];
    for (address, place) in cases {
        assert_eq!(layout.describe(address), place, "{address:#x}");
    }
    assert_eq!(MemoryKind::PeerSlot(3).to_string(), "the slot of node rank 3");
}
