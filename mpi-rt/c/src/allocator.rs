//! The heap of a C program is the C library's, and Rust's collections use it as well: what they allocate lies in the segment like
//! everything else, so peers can reach it.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_int, c_void};
use core::ptr;
use lwk_user::abi::address::slot_of;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn posix_memalign(block: *mut *mut c_void, align: usize, bytes: usize) -> c_int;
}

/// What `malloc` aligns to (System V ABI, AMD64: the largest fundamental alignment).
const MALLOC_ALIGN: usize = 16;

/// Alignment of memory for messages: a cache line, so that a buffer shares none with its neighbours.
const PROGRAM_ALIGN: usize = 64;

struct CHeap;

// SAFETY: the C library's allocator is correct; blocks of greater alignment come from `posix_memalign`, which `free` takes back.
unsafe impl GlobalAlloc for CHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: no conditions.
            return unsafe { malloc(layout.size()) }.cast();
        }
        let mut block = ptr::null_mut();
        // SAFETY: the alignment is a power of two above a pointer's size, and the result goes to a variable of this function.
        let refused = unsafe { posix_memalign(&raw mut block, layout.align(), layout.size()) } != 0;
        if refused { ptr::null_mut() } else { block.cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: `block` comes from `alloc` or `realloc` here and is still live (`GlobalAlloc`'s contract);
        // `free` takes both kinds.
        unsafe { free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: `block` is live, from `malloc` as its alignment says (`GlobalAlloc`'s contract);
            // `bytes` is not 0.
            return unsafe { realloc(block.cast(), bytes) }.cast();
        }
        // SAFETY: `bytes` is not 0 and does not overflow when rounded up to the alignment (`GlobalAlloc`'s
        // contract).
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(bytes, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both blocks hold the smaller of the two sizes and are distinct; the old one came from here.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(bytes));
                self.dealloc(block, layout);
            }
        }
        moved
    }
}

#[global_allocator]
static HEAP: CHeap = CHeap;

/// Memory for the program, aligned to `align` if that is a power of two, and at least to a cache line: null if there is none.
pub fn allocate(bytes: usize, align: usize) -> *mut u8 {
    let mut block = ptr::null_mut();
    let align = if align.is_power_of_two() { align.max(PROGRAM_ALIGN) } else { PROGRAM_ALIGN };
    // SAFETY: the alignment is a power of two above a pointer's size, and the result goes to a variable of this function.
    let refused = unsafe { posix_memalign(&raw mut block, align, bytes) } != 0;
    if refused { ptr::null_mut() } else { block.cast() }
}

/// Whether [`allocate`] may have given this: null, or aligned and in this rank's own memory (not the same seen through a slot).
pub fn may_have_given(block: *mut u8) -> bool {
    block.addr().is_multiple_of(PROGRAM_ALIGN) && slot_of(block.addr() as u64) == 0
}

/// Takes back what [`allocate`] has given; null is nothing.
///
/// # Safety
/// `block` must be null or come from [`allocate`] and not be released yet, and nobody may use it any more.
pub unsafe fn release(block: *mut u8) {
    // SAFETY: `block` is null or a live block of `posix_memalign`, unused from now on (this function's
    // contract).
    unsafe { free(block.cast()) }
}
