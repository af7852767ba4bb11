//! The heap: `alloc` of Rust over `brk`, inside the rank's segment.
//!
//! * It grows by [`GROWTH_BYTES`] or by what an allocation needs, until the segment is full (`heap_end` in the job page); memory is
//!   never given back to the home. A refused allocation is a null pointer, which Rust's collections turn into a panic whose
//!   message says to ask for more memory.
//! * Allocations of [`PAGE_ALIGNED_FROM`] bytes and more begin on a page.
//! * It is deterministic: ranks that make the same sequence of allocations and releases, from their first instruction, get the
//!   same addresses. That is what makes a heap object symmetric; a rank that allocates on its own account in between breaks
//!   it for later objects.

use crate::syscall;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};
use lwk_abi::address::PAGE_BYTES;
use talc::base::{CHUNK_UNIT, Talc, binning::Binning};
use talc::source::Source;
use talc::{TalcCell, min_first_heap_size};

/// The least the heap grows by, in bytes: few system calls, little waste in a segment of 2 MiB.
pub const GROWTH_BYTES: usize = 256 << 10;
/// Allocations from this size on, in bytes, begin on a page: buffers that size are the ones that are copied and measured.
pub const PAGE_ALIGNED_FROM: usize = 64 << 10;

/// Size of the last allocation that was refused, or 0.
static LAST_REFUSAL: AtomicUsize = AtomicUsize::new(0);

/// Size in bytes of the last allocation that the heap had no room for, if there was one.
pub fn last_refusal() -> Option<usize> {
    // Relaxed: a rank is one thread.
    match LAST_REFUSAL.load(Ordering::Relaxed) {
        0 => None,
        bytes => Some(bytes),
    }
}

/// Grows the heap with `brk`.
#[derive(Debug)]
struct Brk {
    /// End of the memory claimed so far.
    end: Option<NonNull<u8>>,
}

// SAFETY: `acquire` neither allocates nor prints, so the allocator is not entered again while it grows, and it claims only memory that `brk`
// has just given.
unsafe impl Source for Brk {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        // The allocation, its alignment, the allocator's own words around it and, the first time, its tables.
        let overhead = 2 * CHUNK_UNIT + min_first_heap_size::<B>();
        let needed = layout.size().checked_add(layout.align()).and_then(|bytes| bytes.checked_add(overhead));
        let needed = needed.and_then(|bytes| bytes.checked_next_multiple_of(PAGE_BYTES as usize)).ok_or(())?;
        // SAFETY: only asks.
        let old_end = unsafe { syscall::brk(0) };
        let grown = [needed.max(GROWTH_BYTES), needed].into_iter().find_map(|bytes| {
            let wanted = old_end.checked_add(bytes as u64)?;
            // SAFETY: the new end is above the old one.
            (unsafe { syscall::brk(wanted) } == wanted).then_some(bytes)
        });
        let bytes = grown.ok_or(())?;
        let base: *mut u8 = core::ptr::with_exposed_provenance_mut(old_end as usize);
        talc.source.end = match talc.source.end.take() {
            // SAFETY: `brk` has just given `bytes` bytes at `base`, where the claimed memory ends: nobody else uses them.
            Some(end) if end.as_ptr() == base => Some(unsafe { talc.extend(end, base.add(bytes)) }),
            // SAFETY: `brk` has just given `bytes` bytes at `base`, which nobody else uses. They do not
            // continue what was claimed (first use, or someone else has moved the break).
            _ => unsafe { talc.claim(base, bytes) },
        };
        talc.source.end.map(|_| ()).ok_or(())
    }
}

/// The allocator. One per program: the library's global allocator.
struct Heap(TalcCell<Brk>);

// SAFETY: a rank is one thread, a program with this allocator installs no signal handlers, and the allocator never calls itself.
unsafe impl Sync for Heap {}

impl Heap {
    /// The layout as the heap serves it: large ones page aligned.
    fn served(layout: Layout) -> Layout {
        let align = if layout.size() >= PAGE_ALIGNED_FROM { PAGE_BYTES as usize } else { 1 };
        // Raising the alignment fails only if the size then overflows; such a request is refused by its size anyway.
        layout.align_to(align).unwrap_or(layout)
    }
}

// SAFETY: `TalcCell` is a correct allocator; each method serves a layout that depends only on the layout it is given, and
// that has at least its alignment and the same size.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the size is not zero (the trait's contract).
        let pointer = unsafe { self.0.alloc(Heap::served(layout)) };
        if pointer.is_null() {
            // Relaxed: a rank is one thread.
            LAST_REFUSAL.store(layout.size(), Ordering::Relaxed);
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: allocated above with the same layout (the trait's contract).
        unsafe { self.0.dealloc(pointer, Heap::served(layout)) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the new size is not zero and does not overflow when rounded up to the alignment (the trait's contract).
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let (old, new) = (Heap::served(layout), Heap::served(new_layout));
        if old.align() == new.align() {
            // SAFETY: allocated above with `old`; the new size is not zero.
            let moved = unsafe { self.0.realloc(pointer, old, new_size) };
            if moved.is_null() {
                // Relaxed: a rank is one thread.
                LAST_REFUSAL.store(new_size, Ordering::Relaxed);
            }
            return moved;
        }
        // SAFETY: the size is not zero (the trait's contract).
        let moved = unsafe { self.alloc(new_layout) };
        if !moved.is_null() {
            // SAFETY: both blocks hold the smaller of the two sizes and are distinct; the old one came from here.
            unsafe {
                core::ptr::copy_nonoverlapping(pointer, moved, layout.size().min(new_size));
                self.dealloc(pointer, layout);
            }
        }
        moved
    }
}

#[cfg_attr(all(target_os = "none", not(feature = "c-program")), global_allocator)]
#[cfg_attr(
    any(not(target_os = "none"), feature = "c-program"),
    expect(dead_code, reason = "host tests and C programs have a heap")
)]
static HEAP: Heap = Heap(TalcCell::new(Brk { end: None }));
