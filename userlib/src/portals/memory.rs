//! Memory of a queue or a counter, which the kernel writes.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::alloc::Layout;
use core::ptr::NonNull;

use lwk_abi::portals::status;

use super::{Error, Result, system_call};

/// Zeroed memory that the kernel writes to, on cache lines of its own.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// At least one byte. Errors: no memory is left.
    pub fn new(bytes: usize) -> Result<Memory> {
        let layout = Layout::from_size_align(bytes, 64).map_err(|_| Error::NoMemory)?;
        // SAFETY: the layout has bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::NoMemory)?;
        Ok(Memory { start, layout })
    }

    /// Where it begins.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The same for the kernel.
    pub fn address(&self) -> u64 {
        self.start().expose_provenance() as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; the kernel has given it back.
        unsafe { dealloc(self.start(), self.layout) };
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
