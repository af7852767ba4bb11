//! The loop, compiled for each length of vectors; the processor's longest is chosen when it is asked for.

use crate::element::Element;
use crate::operator::Operation;
use lwk_copy::Vectors;
use lwk_primitive::machine::compiler_barrier;

/// `out[i] = left[i] op right[i]` for `count` elements, and the same into `twin` unless that is null. Buffers
/// may be in a peer's slot and need no alignment; each target is one of the sources or overlaps neither, nor
/// do the targets overlap.
///
/// # Safety
/// The sources are readable and the targets writable for `count` elements; nobody writes the first or uses the latter meanwhile.
pub type Kernel = unsafe fn(left: *const u8, right: *const u8, out: *mut u8, twin: *mut u8, count: usize);

/// The kernel of an operator on a type.
#[inline]
pub fn kernel_of<T: Element, O: Operation<T>>() -> Kernel {
    match lwk_copy::vectors() {
        Vectors::Sse2 => narrow::<T, O>,
        Vectors::Avx => wide::<T, O>,
        Vectors::Avx512 => widest::<T, O>,
    }
}

/// The plain loop, `out[i] = left[i] op out[i]`, as a program has it: what kernels are measured against. Its second operand is always `out`.
///
/// # Safety
/// That of [`Kernel`].
pub unsafe fn plain_loop<T: Element, O: Operation<T>>(
    left: *const u8,
    _right: *const u8,
    out: *mut u8,
    _twin: *mut u8,
    count: usize,
) {
    let (left, out) = (left.cast::<T>(), out.cast::<T>());
    for at in 0..count {
        // SAFETY: `at` is below `count`, for which `left` is readable and `out` writable (`Kernel`'s
        // contract).
        unsafe {
            out.add(at)
                .write_unaligned(O::combine(left.add(at).read_unaligned(), out.add(at).read_unaligned()))
        };
    }
}

/// # Safety
/// That of [`Kernel`].
unsafe fn narrow<T: Element, O: Operation<T>>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    twin: *mut u8,
    count: usize,
) {
    // SAFETY: sources readable and targets writable for `count` elements (`Kernel`'s contract).
    unsafe { combine::<T, O>(left, right, out, twin, count) }
}

/// # Safety
/// That of [`Kernel`], on a processor with AVX2.
#[target_feature(enable = "avx,avx2")]
unsafe fn wide<T: Element, O: Operation<T>>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    twin: *mut u8,
    count: usize,
) {
    // SAFETY: sources readable and targets writable for `count` elements (`Kernel`'s contract).
    unsafe { combine::<T, O>(left, right, out, twin, count) }
}

/// # Safety
/// That of [`Kernel`], on a processor with AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn widest<T: Element, O: Operation<T>>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    twin: *mut u8,
    count: usize,
) {
    // SAFETY: sources readable and targets writable for `count` elements (`Kernel`'s contract).
    unsafe { combine::<T, O>(left, right, out, twin, count) }
}

/// # Safety
/// That of [`Kernel`].
#[inline(always)]
unsafe fn combine<T: Element, O: Operation<T>>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    twin: *mut u8,
    count: usize,
) {
    let (left, right, out) = (left.cast::<T>(), right.cast::<T>(), out.cast::<T>());
    let (twin, doubled) = (twin.cast::<T>(), !twin.is_null());
    let lanes = T::LANES;
    let whole = count / lanes * lanes;
    // SAFETY: every access lies below `count`, for which the sources are readable and the targets writable
    // (`Kernel`'s contract); unaligned accesses, since users' buffers may be unaligned.
    unsafe {
        // A plain loop: only what is inlined here is compiled for this processor's vectors.
        let mut at = 0;
        while at < whole {
            let a = left.add(at).cast::<T::Chunk>().read_unaligned();
            let b = right.add(at).cast::<T::Chunk>().read_unaligned();
            let result = T::each(a, b, O::combine);
            out.add(at).cast::<T::Chunk>().write_unaligned(result);
            if doubled {
                twin.add(at).cast::<T::Chunk>().write_unaligned(result);
            }
            at += lanes;
            // No code: without it the compiler makes vectors of what lies at the same place of several chunks, by gathering. Measured: 65 us
            // instead of 7 for 256 KiB of 4-byte numbers.
            compiler_barrier();
        }
        for at in whole..count {
            let result = O::combine(left.add(at).read_unaligned(), right.add(at).read_unaligned());
            out.add(at).write_unaligned(result);
            if doubled {
                twin.add(at).write_unaligned(result);
            }
        }
    }
}
