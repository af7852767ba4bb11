//! `lwk_mm::table` against a model: what every page is mapped to; and what the tables of a rank cost.

mod common;

use std::collections::HashMap;

use common::{Emulated, frames};
use lwk_abi::address::{JOB_PAGE, MAX_RANKS, PAGE_BYTES, SEGMENT_START};
use lwk_mm::layout::{ImageRange, Layout};
use lwk_mm::table::{Caching, MapError, MapFlags, link_slot, map, pdpt_of, translate};
use lwk_mm::{Access, PhysAddr, VirtAddr};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

#[derive(Clone, Debug)]
struct Request {
    virt: u64,
    phys: u64,
    pages: u64,
    access: Access,
    flags: MapFlags,
}

/// Near a few places in both halves, with physical addresses that allow large pages, or not.
fn request() -> impl Strategy<Value = Request> {
    let base = prop::sample::select(vec![
        0,
        2 * MIB,
        GIB - 4 * MIB,
        512 * GIB,
        0xffff_8000_0000_0000,
        0xffff_ffff_8000_0000,
    ]);
    let virt = (base, 0..0x1200u64, any::<bool>());
    let access = prop::sample::select(vec![Access::R, Access::RW, Access::RX]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let pages = prop_oneof![1..8u64, 500..1600u64];
    (virt, prop_oneof![3 => Just(0), 1 => 1..1000u64], pages, access, flags).prop_map(
        |((base, page, large), skew, pages, access, (user, global, gigabyte_pages))| {
            let virt = base + if large { page & !0x1ff } else { page } * PAGE_BYTES;
            let phys = (virt & ((1 << 40) - 1)) + 4 * GIB + skew * PAGE_BYTES;
            Request {
                virt,
                phys,
                pages,
                access,
                flags: MapFlags { user, global, caching: Caching::Full, gigabyte_pages },
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_page_is_what_the_model_says(requests in prop::collection::vec(request(), 1..8)) {
        let (mut memory, root) = Emulated::new();
        let mut model: HashMap<u64, (PhysAddr, Access, bool)> = HashMap::new();
        let mut touched = Vec::new();
        for Request { virt, phys, pages, access, flags } in requests {
            let bytes = pages * PAGE_BYTES;
            let conflict = (0..pages).map(|page| virt + page * PAGE_BYTES).find(|page| model.contains_key(page));
            let result = map(&mut memory, root, VirtAddr::new(virt), &frames(phys, bytes), access, flags);
            let done = match (result, conflict) {
                (Ok(()), None) => bytes,
                // The page refused is the one that would have covered the first conflict.
                (Err(MapError::AlreadyMapped(at)), Some(conflict)) if at.as_u64() <= conflict && conflict - at.as_u64() < GIB => at.as_u64() - virt,
                (result, conflict) => return Err(TestCaseError::fail(format!("{result:?} {conflict:x?}"))),
            };
            for offset in (0..done).step_by(PAGE_BYTES as usize) {
                model.insert(virt + offset, (PhysAddr::new(phys + offset), access, flags.user));
            }
            let around = [virt.wrapping_sub(PAGE_BYTES), virt.wrapping_add(bytes)];
            touched.extend(around.into_iter().filter(|page| VirtAddr::try_new(*page).is_ok()));
            touched.extend((0..pages).map(|page| virt + page * PAGE_BYTES));
        }
        for page in touched {
            let expected = model.get(&page).copied();
            prop_assert_eq!(translate(&memory, root, VirtAddr::new(page)), expected, "{:#x}", page);
            let last = expected.map(|(phys, access, user)| (phys + 0xfff, access, user));
            prop_assert_eq!(translate(&memory, root, VirtAddr::new(page + 0xfff)), last);
        }
    }

    /// The design's target: at most 64 KiB of tables for a rank with 1 GiB, whatever the number of peers.
    #[test]
    fn a_gibibyte_takes_at_most_sixteen_tables(
        lengths in prop::collection::vec(1..16 * MIB, 1..6),
        gigabyte_pages in any::<bool>(),
        peers in 0..MAX_RANKS,
    ) {
        let kinds = [Access::R, Access::RX, Access::R, Access::RW, Access::RW];
        let mut end = SEGMENT_START;
        let image: Vec<_> = lengths.iter().zip(kinds).map(|(length, access)| {
            let start = end.next_multiple_of(PAGE_BYTES);
            end = start + length;
            ImageRange { start, end, access }
        }).collect();
        let layout = Layout::new(&image, GIB).expect("1 GiB is enough");
        let (mut memory, root) = Emulated::new();
        let flags = MapFlags { user: true, gigabyte_pages, ..MapFlags::default() };
        let phys = 3 * GIB + SEGMENT_START;
        for region in &layout.regions {
            let place = frames(phys + region.start - SEGMENT_START, region.end - region.start);
            map(&mut memory, root, VirtAddr::new(region.start), &place, region.access, flags).expect("mapped once");
        }
        map(&mut memory, root, VirtAddr::new(JOB_PAGE), &frames(PAGE_BYTES, PAGE_BYTES), Access::R, flags).expect("free");
        let pdpt = pdpt_of(&memory, root, 0).expect("slot 0 is mapped");
        let writes = memory.writes;
        for slot in 1..=peers {
            link_slot(&mut memory, root, slot, pdpt).expect("a free slot");
        }
        prop_assert_eq!(memory.writes - writes, peers, "one entry a peer");
        prop_assert!(memory.tables.len() <= 16, "{} tables", memory.tables.len());
        for region in &layout.regions {
            for address in [region.start, region.end - 1] {
                let expected = Some((PhysAddr::new(phys + address - SEGMENT_START), region.access, true));
                prop_assert_eq!(translate(&memory, root, VirtAddr::new(address)), expected);
            }
        }
        prop_assert_eq!(translate(&memory, root, VirtAddr::new(layout.heap_end)), None, "the guard is unmapped");
        prop_assert_eq!(translate(&memory, root, VirtAddr::new(layout.stack_start - 1)), None, "the guard is unmapped");
    }
}
