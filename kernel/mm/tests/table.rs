//! What `lwk_mm::table` promises, case by case, in emulated memory.

mod common;

use common::Emulated;
use lwk_abi::address::{JOB_PAGE, SEGMENT_START, SLOT_BYTES, remote};
use lwk_mm::table::{
    CACHE_DISABLE, GLOBAL, LARGE, MapError, MapFlags, NO_EXECUTE, PRESENT, TableMemory, USER, WRITE_THROUGH,
    link_slot, map, pdpt_of, translate,
};
use lwk_mm::{Access, PhysAddr, VirtAddr};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const USER_FLAGS: MapFlags = MapFlags { user: true, global: false, uncached: false, gigabyte_pages: true };

#[test]
fn the_largest_page_that_fits_is_used() {
    let (mut memory, root) = Emulated::new();
    let (virt, phys) = (VirtAddr(GIB - 2 * MIB - 0x1000), PhysAddr(5 * GIB - 2 * MIB - 0x1000));
    map(&mut memory, root, virt, phys, GIB + 4 * MIB + 0x2000, Access::RW, USER_FLAGS).unwrap();
    // Root, its PDPT, a directory and a page table on either side of the 1 GiB page.
    assert_eq!(memory.tables.len(), 6);
    let leaves = memory.tables.iter().flatten().filter(|&&entry| entry & NO_EXECUTE != 0);
    assert_eq!(leaves.count(), 5);
    for offset in [0, 0xfff, 0x1000, 2 * MIB + 0x1000, GIB, GIB + 4 * MIB + 0x1fff] {
        let found = translate(&memory, root, VirtAddr(virt.0 + offset));
        assert_eq!(found, Some((PhysAddr(phys.0 + offset), Access::RW, true)), "{offset:#x}");
    }
    assert_eq!(translate(&memory, root, VirtAddr(virt.0 - 1)), None);
    assert_eq!(translate(&memory, root, VirtAddr(virt.0 + GIB + 4 * MIB + 0x2000)), None);
}

#[test]
fn without_gigabyte_pages_none_is_made() {
    let (mut memory, root) = Emulated::new();
    let flags = MapFlags { gigabyte_pages: false, ..USER_FLAGS };
    map(&mut memory, root, VirtAddr(GIB), PhysAddr(GIB), GIB, Access::R, flags).unwrap();
    assert_eq!(memory.tables.len(), 3);
    assert_eq!(memory.tables[2].iter().filter(|&&entry| entry & LARGE != 0).count(), 512);
}

#[test]
fn flags_reach_the_leaf() {
    let (mut memory, root) = Emulated::new();
    let flags = MapFlags { user: false, global: true, uncached: true, gigabyte_pages: false };
    let high = VirtAddr(0xffff_ffff_ffff_f000);
    map(&mut memory, root, high, PhysAddr(0xfee0_0000), 0x1000, Access::RX, flags).unwrap();
    assert_eq!(memory.tables[3][511], 0xfee0_0000 | PRESENT | GLOBAL | CACHE_DISABLE | WRITE_THROUGH);
    assert_eq!(translate(&memory, root, high), Some((PhysAddr(0xfee0_0000), Access::RX, false)));
    assert_eq!(memory.tables[0][511] & USER, 0);
}

#[test]
fn wrong_requests_change_nothing() {
    let (mut memory, root) = Emulated::new();
    let mut refused = |virt, phys, bytes, access| {
        map(&mut memory, root, VirtAddr(virt), PhysAddr(phys), bytes, access, USER_FLAGS).unwrap_err()
    };
    let wx = Access { read: true, write: true, execute: true };
    assert_eq!(refused(1, 0, 0x1000, Access::R), MapError::Misaligned);
    assert_eq!(refused(0, 1, 0x1000, Access::R), MapError::Misaligned);
    assert_eq!(refused(0, 0, 1, Access::R), MapError::Misaligned);
    assert_eq!(refused(0, 0, 0x1000, wx), MapError::WritableExecutable);
    assert_eq!(refused(0, 0, 0x1000, Access::NONE), MapError::NotReadable);
    assert_eq!(refused(1 << 47, 0, 0x1000, Access::R), MapError::NonCanonical);
    assert_eq!(refused((1 << 47) - 0x1000, 0, 0x2000, Access::R), MapError::NonCanonical);
    assert_eq!(refused(0x1000, 0, !0xfff, Access::R), MapError::NonCanonical);
    assert_eq!(refused(!0xfff, 0, 0x2000, Access::R), MapError::NonCanonical);
    assert_eq!(refused(0, (1 << 52) - 0x1000, 0x2000, Access::R), MapError::PhysicalTooHigh);
    assert_eq!(refused(0, !0xfff, 0x2000, Access::R), MapError::PhysicalTooHigh);
    assert_eq!(memory.writes, 0);
}

#[test]
fn nothing_is_mapped_twice() {
    let (mut memory, root) = Emulated::new();
    let mut put =
        |virt, bytes| map(&mut memory, root, VirtAddr(virt), PhysAddr(GIB), bytes, Access::R, USER_FLAGS);
    put(2 * GIB, GIB).unwrap();
    put(4 * MIB, 2 * MIB).unwrap();
    put(0x1000, 0x1000).unwrap();
    // The same page, a small page inside a large one, and a large one over a small one.
    assert_eq!(put(0x1000, 0x1000), Err(MapError::AlreadyMapped(VirtAddr(0x1000))));
    assert_eq!(put(4 * MIB + 0x1000, 0x1000), Err(MapError::AlreadyMapped(VirtAddr(4 * MIB + 0x1000))));
    assert_eq!(put(2 * GIB + 2 * MIB, 2 * MIB), Err(MapError::AlreadyMapped(VirtAddr(2 * GIB + 2 * MIB))));
    assert_eq!(put(0, 2 * MIB), Err(MapError::AlreadyMapped(VirtAddr(0))));
    assert_eq!(put(0, GIB), Err(MapError::AlreadyMapped(VirtAddr(0))));
}

#[test]
fn tables_run_out_with_an_error() {
    let (mut memory, root) = Emulated::new();
    memory.limit = 3;
    let result = map(&mut memory, root, VirtAddr(0), PhysAddr(0), 0x1000, Access::R, USER_FLAGS);
    assert_eq!(result, Err(MapError::OutOfTables));
}

#[test]
fn a_peer_is_one_entry_and_shows_all_its_memory() {
    let (mut memory, mine) = Emulated::new();
    let peer = memory.new_table().unwrap();
    for (root, phys) in [(mine, GIB), (peer, 2 * GIB)] {
        map(&mut memory, root, VirtAddr(SEGMENT_START), PhysAddr(phys), 2 * MIB, Access::RX, USER_FLAGS)
            .unwrap();
        map(&mut memory, root, VirtAddr(JOB_PAGE), PhysAddr(phys + GIB), 0x1000, Access::R, USER_FLAGS)
            .unwrap();
    }
    let (tables, writes) = (memory.tables.len(), memory.writes);
    let pdpt = pdpt_of(&memory, peer, 0).unwrap();
    link_slot(&mut memory, mine, 1, pdpt).unwrap();
    assert_eq!((memory.tables.len(), memory.writes), (tables, writes + 1));
    assert_eq!(pdpt_of(&memory, mine, 1), Some(pdpt));
    let far = VirtAddr(remote(SEGMENT_START + 5, 0));
    assert_eq!(translate(&memory, mine, far), Some((PhysAddr(2 * GIB + 5), Access::RX, true)));
    assert_eq!(translate(&memory, mine, VirtAddr(2 * SLOT_BYTES + SEGMENT_START)), None);
    // What the peer maps later is seen as well.
    map(&mut memory, peer, VirtAddr(GIB), PhysAddr(7 * GIB), GIB, Access::RW, USER_FLAGS).unwrap();
    let later = VirtAddr(remote(GIB, 0));
    assert_eq!(translate(&memory, mine, later), Some((PhysAddr(7 * GIB), Access::RW, true)));
}

#[test]
fn wrong_links_are_refused() {
    let (mut memory, root) = Emulated::new();
    let pdpt = memory.new_table().unwrap();
    for slot in [0, 256, 511, 512, usize::MAX] {
        assert_eq!(link_slot(&mut memory, root, slot, pdpt), Err(MapError::BadSlot(slot)));
    }
    assert_eq!(link_slot(&mut memory, root, 1, PhysAddr(8)), Err(MapError::Misaligned));
    assert_eq!(link_slot(&mut memory, root, 1, PhysAddr(1 << 52)), Err(MapError::PhysicalTooHigh));
    link_slot(&mut memory, root, 255, pdpt).unwrap();
    let taken = MapError::AlreadyMapped(VirtAddr(255 * SLOT_BYTES));
    assert_eq!(link_slot(&mut memory, root, 255, pdpt), Err(taken));
    assert_eq!(pdpt_of(&memory, root, 254), None);
    assert_eq!(pdpt_of(&memory, root, 256), None);
}
