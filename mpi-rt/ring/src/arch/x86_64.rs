//! x86-64: prefetches. Hints only: they never fault and change nothing that a program sees.

use core::arch::asm;

/// Asks for a line, to read it.
#[inline(always)]
pub(crate) fn prefetch_to_read<T>(line: *const T) {
    // SAFETY: a prefetch does not access memory as the language knows it, and does not fault whatever the address.
    unsafe { asm!("prefetcht0 [{}]", in(reg) line, options(nostack, preserves_flags, readonly)) }
}

/// Asks for a line, to write it: its other readers lose it. Processors without the instruction take it for nothing.
#[inline(always)]
pub fn prefetch_to_write<T>(line: *const T) {
    // SAFETY: a prefetch does not access memory as the language knows it, and does not fault whatever the
    // address.
    unsafe { asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly)) }
}
