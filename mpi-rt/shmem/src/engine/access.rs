//! What can be reached directly: `shmem_ptr` and the accessibility queries (the standard, section 9.1).

use super::heap;
use super::pe::{mapped, n_pes};
use lwk_user::job;

/// The address at which this PE can load and store what PE `pe` has at its symmetric address `dest` (`shmem_ptr`). Null if
/// there is no such PE, if no load or store gets there, or if the address is not symmetric.
pub fn ptr(dest: *const u8, pe: i32) -> *mut u8 {
    let there = addr_accessible(dest, pe).then(|| mapped(dest, pe)).flatten();
    there.unwrap_or(core::ptr::null_mut())
}

/// Whether there is such a PE (`shmem_pe_accessible`): all of them can be put to and got from.
pub fn pe_accessible(pe: i32) -> bool {
    (0..n_pes()).contains(&pe)
}

/// Whether the address is symmetric, and so can be reached in PE `pe` (`shmem_addr_accessible`): globals and the symmetric heap.
pub fn addr_accessible(address: *const u8, pe: i32) -> bool {
    let address = address.addr();
    let in_heap = || heap::extent().is_some_and(|(start, bytes)| (start..start + bytes).contains(&address));
    pe_accessible(pe) && (job().image_contains(address as u64, 1) || in_heap())
}
