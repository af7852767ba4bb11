//! The root of translation, and page tables as `lwk_mm` builds them, through the linear map.

use lwk_mm::address::PhysAddr;
use lwk_mm::table::TableMemory;
use x86_64::registers::control::{Cr3, Cr3Flags};
use x86_64::structures::paging::PhysFrame;

use crate::memory;

/// Entries of a table.
pub const ENTRIES: usize = 512;
/// First entry of the kernel's half of a top-level table.
pub const KERNEL_HALF: usize = 256;

/// Page tables in the node's physical memory, read and written through the linear map.
pub struct LinearTables;

impl TableMemory for LinearTables {
    fn new_table(&mut self) -> Option<PhysAddr> {
        memory::allocate_frame()
    }

    fn read(&self, table: PhysAddr, index: usize) -> u64 {
        assert!(index < ENTRIES, "a table has 512 entries");
        // SAFETY: tables are frames that `memory` gave out for this purpose, or the boot loader's; volatile, since the
        // processor may set accessed and dirty bits.
        unsafe { memory::linear(table).cast::<u64>().add(index).read_volatile() }
    }

    fn write(&mut self, table: PhysAddr, index: usize, entry: u64) {
        assert!(index < ENTRIES, "a table has 512 entries");
        // SAFETY: as for `read`; only the core that builds a table writes it.
        unsafe { memory::linear(table).cast::<u64>().add(index).write_volatile(entry) }
    }
}

/// Physical address of the top-level table that this core uses now (CR3).
pub fn current_root() -> PhysAddr {
    PhysAddr(Cr3::read().0.start_address().as_u64())
}

/// Switches this core to another root, which flushes every translation that is not global.
///
/// # Safety
/// `root` is a top-level table that stays one while any core uses it, and its kernel half is that of every other root. Nothing that the
/// caller still uses by address is in the lower half of the present one.
pub unsafe fn switch_root(root: PhysAddr) {
    let frame = PhysFrame::containing_address(x86_64::PhysAddr::new(root.0));
    // SAFETY: the caller's promise: the kernel's code, stack and data stay where they are.
    unsafe { Cr3::write(frame, Cr3Flags::empty()) };
}
