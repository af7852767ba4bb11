//! The root of translation.

use lwk_mm::address::PhysAddr;
use lwk_mm::table::{PageTableLevel, PhysFrame, TableFrame};
use x86_64::registers::control::{Cr3, Cr3Flags};

/// The top-level table that this core uses now (CR3).
pub fn current_root() -> PhysFrame {
    Cr3::read().0
}

/// Physical address of the frame of a table.
pub fn address_of(table: TableFrame) -> PhysAddr {
    table.frame().start_address()
}

/// Switches this core to another root, which flushes every translation that is not global.
///
/// # Safety
/// `root` has the kernel half of every other root. Nothing that goes on to be used by address is in the lower half of the present one.
pub unsafe fn switch_root(root: TableFrame) {
    assert!(root.level() == PageTableLevel::Four, "translation begins at a table of level 4");
    // SAFETY: the table stays one for ever (`TableFrame`), and the kernel's code, stack and data are in the kernel half (this function's
    // contract).
    unsafe { Cr3::write(root.frame(), Cr3Flags::empty()) };
}
