//! Elements and operations of reductions (the standard, section 9.9, SHMEM_REDUCTIONS).
//!
//! Integers wrap around. `Max` and `Min` of floating-point numbers ignore a NaN if the other operand is a number. Results are the
//! same in all PEs, since each element is reduced by one PE, or by all in the same order.

use core::ptr::null_mut;
pub use lwk_reduce::{
    And, Complex, Element, LongDouble, MaxNumber as Max, MinNumber as Min, Operation, Or, Product as Prod,
    Sum, Xor,
};
use lwk_reduce::{Kernel, kernel_of};

/// A reduction with its types forgotten, so that the schedules exist once: the size of an element, and the loop.
#[derive(Clone, Copy)]
pub(crate) struct Reduction {
    /// Bytes of an element.
    pub(crate) bytes: usize,
    kernel: Kernel,
}

impl Reduction {
    pub(crate) fn of<T: Element, O: Operation<T>>() -> Reduction {
        Reduction { bytes: size_of::<T>(), kernel: kernel_of::<T, O>() }
    }

    /// `target[i] = a[i] op b[i]` for `count` elements, at any alignment.
    ///
    /// # Safety
    /// `a` and `b` must be readable and `target` writable for `count` elements; `target` is `a`, or overlaps
    /// neither. Nobody else writes `a` or `b` or uses `target` meanwhile.
    #[inline]
    pub(crate) unsafe fn combine(self, target: *mut u8, a: *const u8, b: *const u8, count: usize) {
        // SAFETY: this function's contract is a kernel's, with one target.
        unsafe { (self.kernel)(a, b, target, null_mut(), count) }
    }
}
