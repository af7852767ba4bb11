//! The node's physical memory: who has which part of it, and how the kernel reaches it.

use core::fmt;
use core::ptr::NonNull;

use bootloader_api::info::{MemoryRegion, MemoryRegionKind};
use lwk_abi::address::PAGE_BYTES;
use lwk_mm::Access;
use lwk_mm::address::{PhysAddr, VirtAddr};
use lwk_mm::physical::PhysicalMemory;
use lwk_mm::table::{Caching, MapError, Mappable, PageTableLevel, PhysFrame, TableFrame};

use crate::address_space::AddressSpace;
use crate::arch::core_block::Stack;
use crate::arch::linear_map::{CORE_AREAS, DEVICE_AREAS, LINEAR_BYTES_MAX};
use crate::boot::Machine;
use crate::user_memory::FreshFrames;

/// Separate pieces of free memory the kernel can keep track of. Firmware maps have a few dozen, and segments split them.
const REGIONS: usize = 512;
/// Below this address the firmware's and the first processors' own data lie; the kernel leaves it alone but for one page.
const LOW_MEMORY_END: u64 = 1 << 20;
/// The kernel's own memory lies below this, so that a starting core can load a frame of it as its root; segments go to the other end.
const KERNEL_END: u64 = 1 << 32;

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
}

static MEMORY: spin::Mutex<Memory> =
    spin::Mutex::new(Memory { free: PhysicalMemory::new(), total: 0, segments: 0, trampoline: None });

/// The address space of cores that run no rank, once [`init`] has made it.
static KERNEL_SPACE: spin::Mutex<Option<AddressSpace>> = spin::Mutex::new(None);

/// Where the linear map ends: behind the last memory that the firmware lists, and behind 4 GiB.
pub fn linear_end(regions: &[MemoryRegion]) -> u64 {
    regions.iter().map(|region| region.end).max().unwrap_or(0).max(1 << 32)
}

/// Takes over the memory that the boot loader left, and the kernel's half of its page tables. Once, on the boot core. Errors: there is too little for
/// the page tables, or it lies too far up.
pub fn init(machine: &Machine) -> Result<(), Unusable> {
    let end = linear_end(machine.regions);
    if end > LINEAR_BYTES_MAX {
        return Err(Unusable::TooFar(end));
    }
    let mut memory = MEMORY.lock();
    memory.total = machine.memory_bytes();
    let mut lost = 0;
    for region in machine.regions.iter().filter(|region| region.kind == MemoryRegionKind::Usable) {
        if region.start < LOW_MEMORY_END {
            // A page that real mode can start at; the first one holds the interrupt vectors of the firmware.
            let page = region.start.max(PAGE_BYTES).next_multiple_of(PAGE_BYTES);
            if memory.trampoline.is_none() && page + PAGE_BYTES <= region.end.min(LOW_MEMORY_END) {
                memory.trampoline = Some(PhysAddr::new(page));
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
    let space = AddressSpace::first().ok_or(Unusable::TooLittle)?;
    // The kernel's image, stack and boot information are in its half, as `boot::CONFIG` asks.
    space.activate();
    *KERNEL_SPACE.lock() = Some(space);
    log::debug!("{} MiB of memory, {} MiB free", in_use().total >> 20, in_use().free >> 20);
    Ok(())
}

/// Works with the address space of cores that run no rank; only after [`init`].
pub fn with_kernel_space<R>(work: impl FnOnce(&mut AddressSpace) -> R) -> R {
    work(KERNEL_SPACE.lock().as_mut().expect("memory is set up before anything is mapped"))
}

/// The page below one megabyte that cores start at, if the machine has one, once.
pub fn take_trampoline_page() -> Option<FreshFrames> {
    let page = MEMORY.lock().trampoline.take()?;
    // SAFETY: the firmware says that it is free, `init` has not made it so, and it is given away once.
    Some(unsafe { FreshFrames::new(page, PAGE_BYTES) })
}

/// A zeroed frame for a page table, below 4 GiB; none if there is none left.
pub fn allocate_table(level: PageTableLevel) -> Option<TableFrame> {
    let frame = PhysFrame::containing_address(allocate_kernel(PAGE_BYTES)?.start());
    // SAFETY: the frame is zeroed, and this function alone has it.
    Some(unsafe { TableFrame::new(frame, level) })
}

/// Zeroed, page-aligned, contiguous memory for the kernel, below 4 GiB; `bytes` is rounded up to pages. None if nothing free fits. It is not
/// given back.
pub fn allocate_kernel(bytes: u64) -> Option<FreshFrames> {
    let bytes = bytes.next_multiple_of(PAGE_BYTES);
    let start = {
        let mut memory = MEMORY.lock();
        memory.free.allocate_below(bytes, PAGE_BYTES, KERNEL_END)
    }?;
    // SAFETY: the memory was free and is nobody else's now; the linear map covers it.
    let mut frames = unsafe { FreshFrames::new(start, bytes) };
    frames.clear();
    Some(frames)
}

/// Contiguous memory for a rank: `bytes`, whole pages, at an address that is `residue` modulo `align`, both in bytes as for
/// [`PhysicalMemory::allocate`]. Not zeroed. None if nothing free fits.
pub fn allocate_segment(bytes: u64, align: u64, residue: u64) -> Option<FreshFrames> {
    let mut memory = MEMORY.lock();
    let start = memory.free.allocate(bytes, align, residue)?;
    memory.segments += bytes;
    // SAFETY: the memory was free and is nobody else's now; the linear map covers it.
    Some(unsafe { FreshFrames::new(start, bytes) })
}

/// The same wholly inside one of `windows`, each by its first and its end address.
pub fn allocate_segment_inside(
    bytes: u64,
    align: u64,
    residue: u64,
    windows: impl Iterator<Item = (u64, u64)> + Clone,
) -> Option<FreshFrames> {
    let mut memory = MEMORY.lock();
    let start = memory.free.allocate_inside(bytes, align, residue, windows)?;
    memory.segments += bytes;
    // SAFETY: the memory was free and is nobody else's now; the linear map covers it.
    Some(unsafe { FreshFrames::new(start, bytes) })
}

/// The most bytes that each of `count` segments can have, a multiple of `align`, if they take all that is free.
pub fn share(count: usize, align: u64) -> u64 {
    MEMORY.lock().free.share(count as u64, align)
}

/// Takes `bytes`, or as much of them as there is in one piece, of the memory that the kernel can use itself, until [`give_back`]: segments that take all that is
/// free leave it that.
pub fn hold_back(bytes: u64) -> Option<Held> {
    let mut bytes = bytes.next_multiple_of(PAGE_BYTES);
    let mut memory = MEMORY.lock();
    while bytes >= PAGE_BYTES {
        if let Some(start) = memory.free.allocate_below(bytes, PAGE_BYTES, KERNEL_END) {
            return Some(Held { start, bytes });
        }
        bytes = (bytes / 2) & !(PAGE_BYTES - 1);
    }
    None
}

/// Memory that is [held back](hold_back).
pub struct Held {
    start: PhysAddr,
    bytes: u64,
}

/// Ends it.
pub fn give_back(held: Held) {
    // What cannot be listed stays taken: nobody misses it.
    let _ = MEMORY.lock().free.release(held.start, held.bytes);
}

/// Gives back a segment from [`allocate_segment`]. One whose pieces cannot be listed stays taken.
pub fn release_segment(segment: FreshFrames) {
    let mut memory = MEMORY.lock();
    if memory.free.release(segment.start(), segment.bytes()).is_ok() {
        memory.segments -= segment.bytes();
    }
}

/// A stack of `bytes` bytes, whole pages, with an unmapped page below it, at `offset` of [`CORE_AREAS`], both page aligned. Errors: `OutOfTables`, also
/// if there is no memory to map; `AlreadyMapped`.
pub fn map_stack(offset: u64, bytes: u64) -> Result<Stack, MapError> {
    let frames = allocate_kernel(bytes).ok_or(MapError::OutOfTables)?.share();
    let start = VirtAddr::new(CORE_AREAS + offset + PAGE_BYTES);
    let memory = frames.mappable(0, bytes);
    with_kernel_space(|space| space.map_for_kernel(start, &memory, Access::RW, true))?;
    // SAFETY: just mapped for ever, where nothing was mapped before; what is mapped in these areas begins a page above where it might.
    Ok(unsafe { Stack::ending_at(start + bytes) })
}

/// Where the next device is mapped.
static NEXT_DEVICE: spin::Mutex<u64> = spin::Mutex::new(DEVICE_AREAS);
/// Pages of devices may be as large as this.
const LARGE_PAGE: u64 = 2 << 20;

/// Maps a device's `bytes` bytes of registers at physical address `start`, uncached and for ever. Before ranks exist. None if it is no such
/// address, or the page tables have no room.
///
/// # Safety
/// The firmware says that a device is there, and no memory.
pub unsafe fn map_device(start: u64, bytes: u64) -> Option<NonNull<u8>> {
    // SAFETY: this function's contract, which is the same.
    unsafe { map_at(start, bytes, Caching::Off) }
}

/// As [`map_device`], cached as said.
///
/// # Safety
/// As for [`map_device`].
unsafe fn map_at(start: u64, bytes: u64, caching: Caching) -> Option<NonNull<u8>> {
    let first = start & !(PAGE_BYTES - 1);
    let length = start.checked_add(bytes)?.checked_next_multiple_of(PAGE_BYTES)? - first;
    let end = PhysAddr::try_new(first + length).ok()?;
    // SAFETY: no memory that Rust knows of (this function's contract).
    let registers = unsafe { Mappable::new(end - length, length) }?;
    let place = {
        let mut next = NEXT_DEVICE.lock();
        // As the physical address lies in a large page, so that such pages can be used.
        let place = next.next_multiple_of(LARGE_PAGE) + first % LARGE_PAGE;
        *next = place + length;
        place
    };
    with_kernel_space(|space| space.map_device(VirtAddr::new(place), &registers, caching)).ok()?;
    NonNull::new((place + (start - first)) as *mut u8)
}

/// The same memory by a mapping whose stores combine ([`Caching::Combining`]), for ever; by the old one if the page tables have no room. Before ranks
/// exist.
pub fn map_combining(place: &'static mut [u8]) -> &'static mut [u8] {
    let (pointer, length) = (place.as_mut_ptr(), place.len());
    let start = with_kernel_space(|space| space.physical(VirtAddr::from_ptr(pointer)));
    // SAFETY: the boot loader has mapped what is one piece of device memory for its owner, who gives it up for what this returns.
    let mapped = start.and_then(|start| unsafe { map_at(start.as_u64(), length as u64, Caching::Combining) });
    let pointer = mapped.map_or(pointer, NonNull::as_ptr);
    // SAFETY: as many bytes as before, mapped for ever, and nobody else's.
    unsafe { core::slice::from_raw_parts_mut(pointer, length) }
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
    let mut frames = allocate_kernel(size_of::<T>() as u64)?;
    frames.place(value);
    let pointer = frames.keep().as_mut_ptr().cast::<T>();
    // SAFETY: a value has just been placed there, and nobody else has the memory, for ever.
    Some(unsafe { &mut *pointer })
}
