//! The network's memory: one region of fixed size ([`lwk_abi::portals::KERNEL_BYTES`]), which Portals' state and the card's buffers are taken
//! from.

use core::alloc::Layout;
use core::ptr::NonNull;

use linked_list_allocator::Heap;
use lwk_abi::address::PAGE_BYTES;
use lwk_abi::portals::KERNEL_BYTES;
use lwk_nic::{BufferDirection, Platform};

use crate::arch::linear_map::physical;
use crate::memory;

static HEAP: spin::Mutex<Heap> = spin::Mutex::new(Heap::empty());

// Portals' state, the largest driver's buffers, and what keeps them apart.
const _: () = assert!(size_of::<lwk_portals::Node>() as u64 + (4 << 20) < KERNEL_BYTES);

/// Takes the region from the node's memory, the first time. Zeroed. False if the node has no room for it.
pub fn open() -> bool {
    let mut heap = HEAP.lock();
    if heap.size() > 0 {
        return true;
    }
    let Some(frames) = memory::allocate_kernel(KERNEL_BYTES) else { return false };
    let region = frames.keep();
    // SAFETY: memory in the linear map, which is this heap's for ever.
    unsafe { heap.init(region.as_mut_ptr(), region.len()) };
    true
}

/// Bytes of the region, and how many of them are taken.
pub fn usage() -> (usize, usize) {
    let heap = HEAP.lock();
    (heap.size(), heap.used())
}

/// Zeroed memory out of the region, for ever. None if there is no room.
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let start = HEAP.lock().allocate_first_fit(layout).ok()?;
    // SAFETY: `start` has just been allocated with `layout.size()` bytes, so nobody else has them.
    unsafe { start.write_bytes(0, layout.size()) };
    Some(start)
}

/// Places a value in the region, for ever.
pub fn place<T>(value: T) -> Option<&'static mut T> {
    let start = allocate(Layout::new::<T>())?.cast::<T>();
    // SAFETY: fresh, large enough, aligned, and nobody else's for ever.
    unsafe {
        start.write(value);
        Some(&mut *start.as_ptr())
    }
}

/// What drivers of cards need of the machine: memory out of the region, which cards reach by its physical address.
pub struct Cards;

// SAFETY: memory comes zeroed from a region that nobody else has, page aligned, and is mapped for ever; device memory gets a mapping of its own.
unsafe impl Platform for Cards {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (u64, NonNull<u8>) {
        let bytes = pages * PAGE_BYTES as usize;
        let layout = Layout::from_size_align(bytes, PAGE_BYTES as usize).ok();
        match layout.and_then(allocate) {
            Some(start) => (physical(start.as_ptr()), start),
            None => (0, NonNull::dangling()),
        }
    }

    unsafe fn dma_dealloc(_: u64, start: NonNull<u8>, pages: usize) -> i32 {
        let bytes = pages * PAGE_BYTES as usize;
        let Ok(layout) = Layout::from_size_align(bytes, PAGE_BYTES as usize) else { return -1 };
        // SAFETY: allocated above, with this layout (this function's contract).
        unsafe { HEAP.lock().deallocate(start, layout) };
        0
    }

    unsafe fn mmio_phys_to_virt(address: u64, bytes: usize) -> NonNull<u8> {
        // SAFETY: a card's base address, by this function's contract.
        let registers = unsafe { memory::map_device(address, bytes as u64) };
        registers.expect("the kernel's page tables have room for a card")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> u64 {
        physical(buffer.cast::<u8>().as_ptr())
    }

    unsafe fn unshare(_: u64, _: NonNull<[u8]>, _: BufferDirection) {}
}
