//! A card's registers: memory of the device's, mapped uncached.

use core::ptr::NonNull;

use volatile::VolatilePtr;

/// Registers from a base address on.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: device memory that any core may use; whoever has the driver has it alone.
unsafe impl Send for Registers {}

impl Registers {
    /// `bytes` bytes of registers.
    ///
    /// # Safety
    /// `start` is device memory, mapped uncached for ever, aligned to 8 bytes, and of so many bytes; only one driver uses it.
    pub unsafe fn new(start: NonNull<u8>, bytes: usize) -> Registers {
        Registers { start, bytes }
    }

    fn at<T>(&self, offset: usize) -> VolatilePtr<'_, T> {
        let within = offset.checked_add(size_of::<T>()).is_some_and(|end| end <= self.bytes);
        assert!(within && offset.is_multiple_of(align_of::<T>()), "a register of the card's");
        // SAFETY: within the registers and aligned; they are mapped for ever and nobody else's (`Registers::new`).
        unsafe { VolatilePtr::new(self.start.add(offset).cast()) }
    }

    /// The register of two bytes at `offset`.
    pub fn half(&self, offset: usize) -> VolatilePtr<'_, u16> {
        self.at(offset)
    }

    /// The register of four bytes at `offset`.
    pub fn word(&self, offset: usize) -> VolatilePtr<'_, u32> {
        self.at(offset)
    }

    /// Bytes of them.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
