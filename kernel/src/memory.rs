//! The node's physical memory: who has which part of it, and how the kernel reaches it.

use core::fmt;

use bootloader_api::info::MemoryRegionKind;
use lwk_abi::address::PAGE_BYTES;
use lwk_mm::Access;
use lwk_mm::address::{PhysAddr, VirtAddr};
use lwk_mm::physical::PhysicalMemory;
use lwk_mm::table::{self, MapError, MapFlags};

use crate::arch;
use crate::arch::paging::LinearTables;
use crate::boot::{LOADER_LAST, LOADER_START, Machine};

/// All physical memory is mapped from here on, in the order of its addresses.
pub const LINEAR_MAP: u64 = 0xffff_8000_0000_0000;
/// Bytes of the linear map at most, 64 TiB: what the boot loader maps for itself begins there.
const LINEAR_BYTES_MAX: u64 = LOADER_START - LINEAR_MAP;
/// Stacks and other memory of single cores are mapped here, with unmapped pages in between: in a top-level entry of their own, between
/// the boot loader's and the kernel's.
pub const CORE_AREAS: u64 = 0xffff_ff00_0000_0000;
const _: () = assert!(LINEAR_MAP < LOADER_START && LOADER_START < LOADER_LAST && LOADER_LAST < CORE_AREAS);

/// Separate pieces of free memory the kernel can keep track of. Firmware maps have a few dozen, and segments split them.
const REGIONS: usize = 512;
/// Below this address the firmware's and the first processors' own data lie; the kernel leaves it alone but for one page.
const LOW_MEMORY_END: u64 = 1 << 20;

/// The machine's memory does not suffice for the kernel itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl fmt::Display for NoMemory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "this machine has too little memory below 4 GiB for the kernel")
    }
}

/// Why the kernel cannot use the machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    TooLittle,
    /// Some of it lies at this physical address, beyond the linear map.
    TooFar(u64),
}

impl fmt::Display for Unusable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::TooLittle => NoMemory.fmt(out),
            Unusable::TooFar(address) => {
                write!(out, "this machine has memory up to {address:#x}, and Margay uses at most 64 TiB")
            }
        }
    }
}

/// Who has how much of the node's memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// All that the machine has for its operating system.
    pub total: u64,
    pub free: u64,
    /// Everything that is neither free nor part of a segment.
    pub kernel: u64,
}

struct Memory {
    free: PhysicalMemory<REGIONS>,
    total: u64,
    segments: u64,
    trampoline: Option<PhysAddr>,
    kernel_root: PhysAddr,
}

static MEMORY: spin::Mutex<Memory> = spin::Mutex::new(Memory {
    free: PhysicalMemory::new(),
    total: 0,
    segments: 0,
    trampoline: None,
    kernel_root: PhysAddr(0),
});

/// Where the kernel sees physical address `address`: in the linear map, which covers all memory and the first 4 GiB at least.
pub fn linear(address: PhysAddr) -> *mut u8 {
    (LINEAR_MAP + address.0) as *mut u8
}

/// Takes over the memory that the boot loader left, and the kernel's half of its page tables. Once, on the boot core. Errors: there is too little for
/// the page tables, or it lies too far up.
pub fn init(machine: &Machine) -> Result<(), Unusable> {
    let last = machine.regions.iter().map(|region| region.end).max().unwrap_or(0);
    if last > LINEAR_BYTES_MAX {
        return Err(Unusable::TooFar(last));
    }
    let mut memory = MEMORY.lock();
    memory.total = machine.memory_bytes();
    let mut lost = 0;
    for region in machine.regions.iter().filter(|region| region.kind == MemoryRegionKind::Usable) {
        if region.start < LOW_MEMORY_END {
            // A page that real mode can start at; the first one holds the interrupt vectors of the firmware.
            let page = region.start.max(PAGE_BYTES).next_multiple_of(PAGE_BYTES);
            if memory.trampoline.is_none() && page + PAGE_BYTES <= region.end.min(LOW_MEMORY_END) {
                memory.trampoline = Some(PhysAddr(page));
            }
        }
        let start = region.start.max(LOW_MEMORY_END).next_multiple_of(PAGE_BYTES);
        let end = region.end & !(PAGE_BYTES - 1);
        if start < end && memory.free.add(start, end).is_err() {
            lost += end - start;
        }
    }
    if lost > 0 {
        log::warn!("the firmware's memory map is too fragmented: {} KiB stay unused", lost >> 10);
    }
    drop(memory);
    let root = allocate_frame().ok_or(Unusable::TooLittle)?;
    let boot_root = arch::paging::current_root();
    copy_kernel_half(boot_root, root);
    // SAFETY: the new root has the kernel half of the present one; the lower half, which it lacks, is not used by the
    // kernel, whose image, stack and boot information are in the upper half as `boot::CONFIG` asks.
    unsafe { arch::paging::switch_root(root) };
    MEMORY.lock().kernel_root = root;
    log::debug!("{} MiB of memory, {} MiB free", in_use().total >> 20, in_use().free >> 20);
    Ok(())
}

/// Copies the kernel's half (entries 256 to 511) of one top-level table to another that no core uses yet.
pub fn copy_kernel_half(from: PhysAddr, to: PhysAddr) {
    use lwk_mm::table::TableMemory;
    for index in arch::paging::KERNEL_HALF..arch::paging::ENTRIES {
        let entry = LinearTables.read(from, index);
        LinearTables.write(to, index, entry);
    }
}

/// Physical address of the top-level table of cores that run no rank; only after [`init`].
pub fn kernel_root() -> PhysAddr {
    MEMORY.lock().kernel_root
}

/// The page below one megabyte that cores start at, if the machine has one.
pub fn trampoline_page() -> Option<PhysAddr> {
    MEMORY.lock().trampoline
}

/// A zeroed frame of 4 KiB for the kernel, below 4 GiB; none if there is none left.
pub fn allocate_frame() -> Option<PhysAddr> {
    allocate_kernel(PAGE_BYTES)
}

/// Zeroed, page-aligned, contiguous memory for the kernel, below 4 GiB, for ever; `bytes` is rounded up to pages. None if nothing free fits.
pub fn allocate_kernel(bytes: u64) -> Option<PhysAddr> {
    // Below 4 GiB, so that a starting core can load the frame as its root; segments go to the other end.
    let bytes = bytes.next_multiple_of(PAGE_BYTES);
    let start = {
        let mut memory = MEMORY.lock();
        memory.free.allocate_below(bytes, PAGE_BYTES, 1 << 32)
    }?;
    // SAFETY: the memory was free and is now the caller's alone; the linear map covers it.
    unsafe { arch::copy::zero_lines(linear(start), bytes as usize) };
    Some(start)
}

/// Contiguous memory for a rank: `bytes`, whole pages, at an address that is `residue` modulo `align`, both in bytes as for
/// [`PhysicalMemory::allocate`]. Not zeroed. None if nothing free fits.
pub fn allocate_segment(bytes: u64, align: u64, residue: u64) -> Option<PhysAddr> {
    let mut memory = MEMORY.lock();
    let start = memory.free.allocate(bytes, align, residue)?;
    memory.segments += bytes;
    Some(start)
}

/// Gives back a segment of `bytes` from [`allocate_segment`] that no rank has got yet. One whose pieces cannot be listed stays taken.
pub fn release_segment(start: PhysAddr, bytes: u64) {
    let mut memory = MEMORY.lock();
    if memory.free.release(start, bytes).is_ok() {
        memory.segments -= bytes;
    }
}

/// Maps `bytes` of fresh kernel memory, whole pages, at `address`, which is in [`CORE_AREAS`] and page aligned. Errors: `OutOfTables`, also
/// if there is no memory to map.
pub fn map_core_area(address: u64, bytes: u64) -> Result<(), MapError> {
    let frames = allocate_kernel(bytes).ok_or(MapError::OutOfTables)?;
    let flags = MapFlags { global: true, ..MapFlags::default() };
    table::map(&mut LinearTables, kernel_root(), VirtAddr(address), frames, bytes, Access::RW, flags)
}

/// Who has how much at this moment.
pub fn in_use() -> Use {
    let memory = MEMORY.lock();
    let free = memory.free.free_bytes();
    Use { total: memory.total, free, kernel: memory.total - free - memory.segments }
}

/// Places a value in fresh kernel memory, for ever: it is never dropped. None if there is no memory for it.
pub fn place<T>(value: T) -> Option<&'static mut T> {
    const { assert!(align_of::<T>() <= PAGE_BYTES as usize) };
    let address = allocate_kernel(size_of::<T>() as u64)?;
    let pointer = linear(address).cast::<T>();
    // SAFETY: the memory is fresh, large enough, page aligned, mapped writable, and nobody else's for ever.
    unsafe {
        pointer.write(value);
        Some(&mut *pointer)
    }
}
