//! The kernel's half of the addresses, and where the kernel sees physical memory in it.

use lwk_mm::address::PhysAddr;

/// All physical memory is mapped from here on, in the order of its addresses.
pub const LINEAR_MAP: u64 = 0xffff_8000_0000_0000;
/// Bytes of the linear map at most, 64 TiB: what the boot loader maps for itself begins there.
pub const LINEAR_BYTES_MAX: u64 = LOADER_START - LINEAR_MAP;
/// What the boot loader maps at addresses of its choice (boot information, RAM disk, frame buffer, stack) lies from here on, above the
/// linear map; the last address is in it.
pub const LOADER_START: u64 = 0xffff_c000_0000_0000;
pub const LOADER_LAST: u64 = 0xffff_feff_ffff_ffff;
/// Stacks and other memory of single cores are mapped here, with unmapped pages in between: in a top-level entry of their own, between
/// the boot loader's and the kernel's.
pub const CORE_AREAS: u64 = 0xffff_ff00_0000_0000;
/// Registers of devices are mapped from here on, in the same top-level entry.
pub const DEVICE_AREAS: u64 = CORE_AREAS + (1 << 38);
/// The kernel's image is linked from here on.
pub const KERNEL_IMAGE: u64 = 0xffff_ffff_8000_0000;

const _: () = assert!(LINEAR_MAP < LOADER_START && LOADER_START < LOADER_LAST);
const _: () = assert!(LOADER_LAST < CORE_AREAS && CORE_AREAS < DEVICE_AREAS && DEVICE_AREAS < KERNEL_IMAGE);

/// Where the kernel sees physical address `address`: in the linear map, which covers all memory and the first 4 GiB at least.
pub fn linear(address: PhysAddr) -> *mut u8 {
    (LINEAR_MAP + address.as_u64()) as *mut u8
}

/// The physical address of what the kernel sees in the linear map, as devices call it.
///
/// # Panics
/// If it is seen elsewhere.
pub fn physical<T>(seen: *const T) -> u64 {
    (seen.addr() as u64).checked_sub(LINEAR_MAP).expect("devices reach what is in the linear map")
}
