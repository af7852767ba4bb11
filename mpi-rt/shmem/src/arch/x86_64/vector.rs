//! The inner loop of reductions, compiled for each vector length; the processor's longest is chosen at run time.

use crate::engine::{Element, Operation};
use lwk_access::{Vectors, vectors};

/// `target[i] = a[i] op b[i]` for `count` elements, at any alignment.
///
/// # Safety
/// `a` and `b` must be readable and `target` writable for `count` elements; `target` is `a`, or overlaps neither.
pub(crate) unsafe fn combine<T: Element, O: Operation<T>>(
    target: *mut u8,
    a: *const u8,
    b: *const u8,
    count: usize,
) {
    let (target, a, b) = (target.cast(), a.cast(), b.cast());
    // SAFETY: the caller's promise; the processor has these vectors.
    unsafe {
        match vectors() {
            Vectors::Avx512 => combine_avx512::<T, O>(target, a, b, count),
            Vectors::Avx => combine_avx2::<T, O>(target, a, b, count),
            Vectors::Sse2 => combine_plain::<T, O>(target, a, b, count),
        }
    }
}

/// # Safety
/// As for [`combine`].
#[inline(always)]
unsafe fn combine_plain<T: Element, O: Operation<T>>(target: *mut T, a: *const T, b: *const T, count: usize) {
    for i in 0..count {
        // SAFETY: the caller's promise for each of `count` elements.
        unsafe {
            let (a, b) = (a.add(i).read_unaligned(), b.add(i).read_unaligned());
            target.add(i).write_unaligned(O::combine(a, b));
        }
    }
}

/// # Safety
/// As for [`combine`]; the processor must have AVX2.
#[target_feature(enable = "avx2")]
unsafe fn combine_avx2<T: Element, O: Operation<T>>(target: *mut T, a: *const T, b: *const T, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { combine_plain::<T, O>(target, a, b, count) }
}

/// # Safety
/// As for [`combine`]; the processor must have AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn combine_avx512<T: Element, O: Operation<T>>(
    target: *mut T,
    a: *const T,
    b: *const T,
    count: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { combine_plain::<T, O>(target, a, b, count) }
}
