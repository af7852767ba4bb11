//! What `lwk_mm::table` promises, case by case, in emulated memory.

mod common;

use common::{Emulated, frames};
use lwk_abi::address::{JOB_PAGE, SEGMENT_START, SLOT_BYTES, remote};
use lwk_mm::layout::{ImageRange, Layout};
use lwk_mm::table::{
    Caching, MapError, MapFlags, Mappable, PageTableFlags, PageTableLevel, TableMemory, copy_upper_half,
    link_slot, map, pdpt_of, translate,
};
use lwk_mm::{Access, PhysAddr, VirtAddr};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const USER_FLAGS: MapFlags =
    MapFlags { user: true, global: false, caching: Caching::Full, gigabyte_pages: true };

#[test]
fn the_largest_page_that_fits_is_used() {
    let (mut memory, root) = Emulated::new();
    let (virt, phys) = (VirtAddr::new(GIB - 2 * MIB - 0x1000), PhysAddr::new(5 * GIB - 2 * MIB - 0x1000));
    map(&mut memory, root, virt, &frames(phys.as_u64(), GIB + 4 * MIB + 0x2000), Access::RW, USER_FLAGS)
        .unwrap();
    // Root, its PDPT, a directory and a page table on either side of the 1 GiB page.
    assert_eq!(memory.tables.len(), 6);
    assert_eq!(memory.count(PageTableFlags::NO_EXECUTE), 5);
    for offset in [0, 0xfff, 0x1000, 2 * MIB + 0x1000, GIB, GIB + 4 * MIB + 0x1fff] {
        let found = translate(&memory, root, VirtAddr::new(virt.as_u64() + offset));
        assert_eq!(found, Some((PhysAddr::new(phys.as_u64() + offset), Access::RW, true)), "{offset:#x}");
    }
    assert_eq!(translate(&memory, root, VirtAddr::new(virt.as_u64() - 1)), None);
    assert_eq!(translate(&memory, root, VirtAddr::new(virt.as_u64() + GIB + 4 * MIB + 0x2000)), None);
}

#[test]
fn without_gigabyte_pages_none_is_made() {
    let (mut memory, root) = Emulated::new();
    let flags = MapFlags { gigabyte_pages: false, ..USER_FLAGS };
    map(&mut memory, root, VirtAddr::new(GIB), &frames(GIB, GIB), Access::R, flags).unwrap();
    assert_eq!(memory.tables.len(), 3);
    assert_eq!(memory.count(PageTableFlags::HUGE_PAGE), 512);
}

/// Tables and large pages of a rank with `layout`, whose memory is where the kernel puts it; every large page's first byte leads there.
fn tables_of_a_rank(layout: &Layout, gigabyte_pages: bool) -> (usize, usize) {
    let (mut memory, root) = Emulated::new();
    let flags = MapFlags { gigabyte_pages, ..USER_FLAGS };
    let physical = 20 * GIB + layout.segment_start % GIB;
    for region in &layout.regions {
        let frames = frames(physical + region.start - layout.segment_start, region.end - region.start);
        map(&mut memory, root, VirtAddr::new(region.start), &frames, region.access, flags).unwrap();
    }
    for address in (layout.heap_start.next_multiple_of(2 * MIB)..layout.heap_end).step_by(2 * MIB as usize) {
        let found = translate(&memory, root, VirtAddr::new(address));
        let there = PhysAddr::new(physical + address - layout.segment_start);
        assert_eq!(found, Some((there, Access::RW, true)), "{address:#x}");
    }
    (memory.tables.len(), memory.count(PageTableFlags::HUGE_PAGE))
}

#[test]
fn ten_gibibytes_of_a_rank_are_pages_of_one() {
    let code = ImageRange { start: SEGMENT_START, end: SEGMENT_START + 0x5000, access: Access::RX };
    let data = ImageRange { start: code.end, end: code.end + 0x3210, access: Access::RW };
    let layout = Layout::new(&[code, data], 10 * GIB).unwrap();
    let (tables, large) = tables_of_a_rank(&layout, true);
    let (tables_without, large_without) = tables_of_a_rank(&layout, false);
    // The first GiB begins with the program, and the tenth ends with the stack: the eight between them are a page each, without a directory.
    assert_eq!(tables_without - tables, 8);
    assert_eq!(large_without - large, 8 * 511);
    assert!(tables <= 8, "{tables} tables");
}

#[test]
fn flags_reach_the_leaf() {
    let (mut memory, root) = Emulated::new();
    let flags = MapFlags { user: false, global: true, caching: Caching::Off, gigabyte_pages: false };
    let high = VirtAddr::new(0xffff_ffff_ffff_f000);
    map(&mut memory, root, high, &frames(0xfee0_0000, 0x1000), Access::RX, flags).unwrap();
    let leaf = &memory.tables[3][511];
    let expected = PageTableFlags::PRESENT
        | PageTableFlags::GLOBAL
        | PageTableFlags::NO_CACHE
        | PageTableFlags::WRITE_THROUGH;
    assert_eq!((leaf.addr(), leaf.flags()), (PhysAddr::new(0xfee0_0000), expected));
    assert_eq!(translate(&memory, root, high), Some((PhysAddr::new(0xfee0_0000), Access::RX, false)));
    assert!(!memory.tables[0][511].flags().contains(PageTableFlags::USER_ACCESSIBLE));
}

#[test]
fn stores_to_frame_buffers_combine() {
    let (mut memory, root) = Emulated::new();
    let flags = MapFlags { caching: Caching::Combining, ..MapFlags::default() };
    let high = VirtAddr::new(0xffff_ffff_ffff_f000);
    map(&mut memory, root, high, &frames(0xfd00_0000, 0x1000), Access::RW, flags).unwrap();
    let kind = PageTableFlags::NO_CACHE | PageTableFlags::WRITE_THROUGH;
    assert_eq!(memory.tables[3][511].flags() & kind, PageTableFlags::WRITE_THROUGH);
}

#[test]
fn wrong_requests_change_nothing() {
    let (mut memory, root) = Emulated::new();
    let mut refused = |virt, bytes, access| {
        map(&mut memory, root, VirtAddr::new(virt), &frames(0, bytes), access, USER_FLAGS).unwrap_err()
    };
    let wx = Access { read: true, write: true, execute: true };
    assert_eq!(refused(1, 0x1000, Access::R), MapError::Misaligned);
    assert_eq!(refused(0, 0x1000, wx), MapError::WritableExecutable);
    assert_eq!(refused(0, 0x1000, Access::NONE), MapError::NotReadable);
    assert_eq!(refused((1 << 47) - 0x1000, 0x2000, Access::R), MapError::NonCanonical);
    assert_eq!(refused(0x1000, 1 << 48, Access::R), MapError::NonCanonical);
    assert_eq!(refused(!0xfff, 0x2000, Access::R), MapError::NonCanonical);
    assert_eq!(memory.writes, 0);
}

#[test]
fn only_whole_frames_that_an_entry_can_hold_are_mappable() {
    // SAFETY: nothing is mapped.
    let mappable = |start, bytes| unsafe { Mappable::new(PhysAddr::new(start), bytes) };
    for (start, bytes) in [(1, 0x1000), (0, 1), ((1 << 52) - 0x1000, 0x2000), (0x1000, !0xfff)] {
        assert_eq!(mappable(start, bytes), None, "{start:#x} {bytes:#x}");
    }
    assert!(mappable((1 << 52) - 0x1000, 0x1000).is_some());
}

#[test]
fn the_upper_half_is_shared_and_the_lower_is_not() {
    let (mut memory, kernel) = Emulated::new();
    let high = VirtAddr::new(0xffff_8000_0000_0000);
    map(&mut memory, kernel, high, &frames(GIB, GIB), Access::RW, MapFlags::default()).unwrap();
    map(&mut memory, kernel, VirtAddr::new(0x1000), &frames(0x1000, 0x1000), Access::R, USER_FLAGS).unwrap();
    let rank = memory.new_table(PageTableLevel::Four).unwrap();
    copy_upper_half(&mut memory, kernel, rank).unwrap();
    assert_eq!(translate(&memory, rank, high), Some((PhysAddr::new(GIB), Access::RW, false)));
    assert_eq!(translate(&memory, rank, VirtAddr::new(0x1000)), None);
    let lower = memory.new_table(PageTableLevel::Three).unwrap();
    assert_eq!(copy_upper_half(&mut memory, kernel, lower), Err(MapError::WrongLevel));
}

#[test]
fn nothing_is_mapped_twice() {
    let (mut memory, root) = Emulated::new();
    let mut put =
        |virt, bytes| map(&mut memory, root, VirtAddr::new(virt), &frames(GIB, bytes), Access::R, USER_FLAGS);
    put(2 * GIB, GIB).unwrap();
    put(4 * MIB, 2 * MIB).unwrap();
    put(0x1000, 0x1000).unwrap();
    // The same page, a small page inside a large one, and a large one over a small one.
    assert_eq!(put(0x1000, 0x1000), Err(MapError::AlreadyMapped(VirtAddr::new(0x1000))));
    assert_eq!(put(4 * MIB + 0x1000, 0x1000), Err(MapError::AlreadyMapped(VirtAddr::new(4 * MIB + 0x1000))));
    assert_eq!(
        put(2 * GIB + 2 * MIB, 2 * MIB),
        Err(MapError::AlreadyMapped(VirtAddr::new(2 * GIB + 2 * MIB)))
    );
    assert_eq!(put(0, 2 * MIB), Err(MapError::AlreadyMapped(VirtAddr::new(0))));
    assert_eq!(put(0, GIB), Err(MapError::AlreadyMapped(VirtAddr::new(0))));
}

#[test]
fn tables_run_out_with_an_error() {
    let (mut memory, root) = Emulated::new();
    memory.limit = 3;
    let result = map(&mut memory, root, VirtAddr::new(0), &frames(0, 0x1000), Access::R, USER_FLAGS);
    assert_eq!(result, Err(MapError::OutOfTables));
}

#[test]
fn a_peer_is_one_entry_and_shows_all_its_memory() {
    let (mut memory, mine) = Emulated::new();
    let peer = memory.new_table(PageTableLevel::Four).unwrap();
    for (root, phys) in [(mine, GIB), (peer, 2 * GIB)] {
        map(&mut memory, root, VirtAddr::new(SEGMENT_START), &frames(phys, 2 * MIB), Access::RX, USER_FLAGS)
            .unwrap();
        map(&mut memory, root, VirtAddr::new(JOB_PAGE), &frames(phys + GIB, 0x1000), Access::R, USER_FLAGS)
            .unwrap();
    }
    let (tables, writes) = (memory.tables.len(), memory.writes);
    let pdpt = pdpt_of(&memory, peer, 0).unwrap();
    link_slot(&mut memory, mine, 1, pdpt).unwrap();
    assert_eq!((memory.tables.len(), memory.writes), (tables, writes + 1));
    assert_eq!(pdpt_of(&memory, mine, 1), Some(pdpt));
    let far = VirtAddr::new(remote(SEGMENT_START + 5, 0));
    assert_eq!(translate(&memory, mine, far), Some((PhysAddr::new(2 * GIB + 5), Access::RX, true)));
    assert_eq!(translate(&memory, mine, VirtAddr::new(2 * SLOT_BYTES + SEGMENT_START)), None);
    // What the peer maps later is seen as well.
    map(&mut memory, peer, VirtAddr::new(GIB), &frames(7 * GIB, GIB), Access::RW, USER_FLAGS).unwrap();
    let later = VirtAddr::new(remote(GIB, 0));
    assert_eq!(translate(&memory, mine, later), Some((PhysAddr::new(7 * GIB), Access::RW, true)));
}

#[test]
fn wrong_links_are_refused() {
    let (mut memory, root) = Emulated::new();
    let pdpt = memory.new_table(PageTableLevel::Three).unwrap();
    for slot in [0, 256, 511, 512, usize::MAX] {
        assert_eq!(link_slot(&mut memory, root, slot, pdpt), Err(MapError::BadSlot(slot)));
    }
    assert_eq!(link_slot(&mut memory, root, 1, root), Err(MapError::WrongLevel));
    link_slot(&mut memory, root, 255, pdpt).unwrap();
    let taken = MapError::AlreadyMapped(VirtAddr::new(255 * SLOT_BYTES));
    assert_eq!(link_slot(&mut memory, root, 255, pdpt), Err(taken));
    assert_eq!(pdpt_of(&memory, root, 254), None);
    assert_eq!(pdpt_of(&memory, root, 256), None);
}
