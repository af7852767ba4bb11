//! `lwk_mm::layout` against a model: the access of every page of the segment.

use lwk_abi::address::{PAGE_BYTES, SEGMENT_LIMIT, SEGMENT_START, STACK_GUARD_BYTES};
use lwk_mm::Access;
use lwk_mm::layout::{BadPointer, HEAP_BYTES_MIN, ImageRange, Layout, LayoutError, MemoryKind};
use proptest::prelude::*;

fn access() -> impl Strategy<Value = Access> {
    prop::sample::select(vec![Access::NONE, Access::R, Access::RW, Access::RX])
}

/// Ranges in order: a gap before each, in bytes, its length, its access.
fn image() -> impl Strategy<Value = Vec<ImageRange>> {
    let gap = prop_oneof![Just(0), 0..0x3000u64, (0..4u64).prop_map(|pages| pages * PAGE_BYTES)];
    let length = prop_oneof![0..0x4000u64, (0..4u64).prop_map(|pages| pages * PAGE_BYTES)];
    prop::collection::vec((gap, length, access(), any::<bool>()), 0..8).prop_map(|parts| {
        let mut end = SEGMENT_START;
        let place = |(gap, length, access, new_page): (u64, u64, Access, bool)| {
            let start = if new_page { (end + gap).next_multiple_of(PAGE_BYTES) } else { end + gap };
            end = start + length;
            ImageRange { start, end, access }
        };
        parts.into_iter().map(place).collect()
    })
}

/// What a page of the image should allow, by its ranges; `Err` if two disagree.
fn page_access(image: &[ImageRange], page: u64) -> Result<Access, ()> {
    let mut found: Option<Access> = None;
    for range in image.iter().filter(|range| range.start < range.end) {
        if range.start < page + PAGE_BYTES
            && page < range.end
            && found.replace(range.access).is_some_and(|a| a != range.access)
        {
            return Err(());
        }
    }
    Ok(found.unwrap_or(Access::NONE))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn checks_agree_with_every_page(
        image in image(),
        pages in 512u64..640,
        probes in prop::collection::vec((any::<prop::sample::Index>(), -9i64..9, 0u64..0x5000, access()), 50),
    ) {
        let image_end = image.last().map_or(SEGMENT_START, |range| range.end).next_multiple_of(PAGE_BYTES);
        let image_pages = (SEGMENT_START..image_end).step_by(PAGE_BYTES as usize);
        let shared = image_pages.clone().find(|&page| page_access(&image, page).is_err());
        let layout = match Layout::new(&image, pages * PAGE_BYTES) {
            Ok(layout) => layout,
            Err(error) => {
                prop_assert_eq!(Some(error), shared.map(|address| LayoutError::SharedPage { address }));
                return Ok(());
            }
        };
        prop_assert_eq!(shared, None);
        prop_assert_eq!(layout.heap_start, image_end);
        prop_assert!(layout.heap_end - layout.heap_start >= HEAP_BYTES_MIN);
        prop_assert_eq!(layout.stack_start - layout.heap_end, STACK_GUARD_BYTES);
        prop_assert_eq!(layout.stack_end, SEGMENT_START + pages * PAGE_BYTES);

        // The model, by page; outside the segment nothing is allowed.
        let allowed = |address: u64| match address {
            _ if (SEGMENT_START..image_end).contains(&address) => {
                page_access(&image, address & !(PAGE_BYTES - 1)).unwrap_or_default()
            }
            _ if (layout.heap_start..layout.heap_end).contains(&address) => Access::RW,
            _ if (layout.stack_start..layout.stack_end).contains(&address) => Access::RW,
            _ => Access::NONE,
        };
        let mut edges = vec![SEGMENT_START, layout.heap_start, layout.heap_end, layout.stack_start, layout.stack_end];
        edges.extend(image.iter().flat_map(|range| [range.start, range.end]));
        edges.extend(image_pages);
        for (edge, more, bytes, needed) in probes {
            let address = edge.get(&edges).wrapping_add_signed(more);
            // "Nothing needed" still needs mapped memory, and all mapped memory can be read.
            let really = Access { read: true, ..needed };
            let first_page = address & !(PAGE_BYTES - 1);
            let fine = (first_page..address + bytes).step_by(PAGE_BYTES as usize).all(|page| allowed(page).allows(really));
            let expected = match (bytes, fine) {
                (0, _) => Ok(0),
                (_, true) => Ok(address - SEGMENT_START),
                (_, false) => Err(BadPointer),
            };
            prop_assert_eq!(layout.check(address, bytes, needed), expected, "{:#x} {} {}", address, bytes, needed);
            let mapped = allowed(address) != Access::NONE;
            let named = matches!(layout.describe(address), MemoryKind::Code | MemoryKind::ReadOnly | MemoryKind::Data | MemoryKind::Heap | MemoryKind::Stack);
            prop_assert_eq!(mapped, named, "{:#x}", address);
        }
        for region in &layout.regions {
            prop_assert!(region.start < region.end && region.start % PAGE_BYTES == 0 && region.end % PAGE_BYTES == 0);
            for page in (region.start..region.end).step_by(PAGE_BYTES as usize) {
                prop_assert_eq!(allowed(page), region.access);
            }
        }
        let mapped: u64 = layout.regions.iter().map(|region| region.end - region.start).sum();
        let expected = (0..pages).filter(|page| allowed(SEGMENT_START + page * PAGE_BYTES) != Access::NONE).count();
        prop_assert_eq!(mapped, expected as u64 * PAGE_BYTES);
    }

    #[test]
    fn no_argument_panics(
        ranges in prop::collection::vec((any::<u64>(), any::<u64>(), access(), 0u32..64), 0..18),
        bytes in any::<u64>(),
        shift in 0u32..64,
        address in any::<u64>(),
    ) {
        let narrow = |value: u64, shift: u32| SEGMENT_START.wrapping_add(value >> shift);
        let image: Vec<_> = ranges
            .into_iter()
            .map(|(start, end, access, shift)| ImageRange { start: narrow(start, shift), end: narrow(end, shift), access })
            .collect();
        if let Ok(layout) = Layout::new(&image, (bytes >> shift) & !(PAGE_BYTES - 1)) {
            prop_assert!(layout.stack_end <= SEGMENT_LIMIT);
            let _ = layout.describe(address);
            if let Ok(offset) = layout.check(address, bytes, Access::RW) {
                prop_assert!(bytes == 0 || offset + bytes <= layout.segment_bytes);
            }
        }
        let _ = Layout::new(&image, bytes);
    }
}
