//! Memory of a queue or a counter, which the kernel writes.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::alloc::Layout;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

use lwk_abi::portals::status;

use super::{Error, Result, system_call};

/// Zeroed memory that the kernel writes to, on cache lines of its own.
#[derive(Debug)]
pub(super) struct Memory {
    pub start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    pub fn new(bytes: usize) -> Result<Memory> {
        let layout = Layout::from_size_align(bytes, 64).map_err(|_| Error::NoMemory)?;
        // SAFETY: the layout has bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::NoMemory)?;
        Ok(Memory { start, layout })
    }

    pub fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    /// The word at `offset`, which is within the memory and aligned.
    pub fn word(&self, offset: u64) -> &AtomicU64 {
        debug_assert!(offset as usize + 8 <= self.layout.size() && offset.is_multiple_of(8));
        // SAFETY: within the memory, aligned, and used by atomics on this side; the kernel writes aligned words.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset as usize).cast()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; the kernel has given it back.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Has the kernel give memory back. If something still uses it the memory stays the kernel's.
pub(super) fn give_back(number: u64, handle: u32, memory: &mut Option<Memory>) {
    // SAFETY: no memory is involved: the kernel writes less.
    let answer = unsafe { system_call(number, [handle.into(), 0, 0, 0]) };
    // With its interface closed the kernel knows nothing of it any more.
    if !matches!(answer, Ok(_) | Err(Error::Status(status::ARG_INVALID))) {
        core::mem::forget(memory.take());
    }
}
