//! MINLOC and MAXLOC for `mpi-bench reductions`: the library's loops over pairs, and the plain ones beside them.

use lwk_datatype::Pair;
use lwk_datatype::op::{Op, combine};
use lwk_reduce::Kernel;

/// A value and where it is, as in a program in C.
#[derive(Clone, Copy)]
#[repr(C)]
struct Located<V> {
    value: V,
    index: i32,
}

/// What is measured of a type of pairs: the library's loop and the plain one, for MINLOC and MAXLOC.
pub struct Places {
    pub quick: [Kernel; 2],
    pub plain: [Kernel; 2],
}

const fn places<V: Copy + PartialOrd, const PAIR: i32>() -> Places {
    Places {
        quick: [library::<PAIR, false>, library::<PAIR, true>],
        plain: [simple::<V, false>, simple::<V, true>],
    }
}

/// `MPI_2INT`, `MPI_FLOAT_INT` and `MPI_DOUBLE_INT`.
pub static PLACES: [Places; 3] = [
    places::<i32, { Pair::TwoInt as i32 }>(),
    places::<f32, { Pair::FloatInt as i32 }>(),
    places::<f64, { Pair::DoubleInt as i32 }>(),
];

/// # Safety
/// As [`Kernel`] says; there is no twin.
unsafe fn library<const PAIR: i32, const MAX: bool>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    _: *mut u8,
    count: usize,
) {
    let operation = if MAX { Op::Maxloc } else { Op::Minloc };
    let Some(pair) = Pair::ALL.iter().find(|pair| **pair as i32 == PAIR) else { return };
    let (a, b) = (left.expose_provenance(), right.expose_provenance());
    // SAFETY: `count` pairs are readable at `left` and `right` and writable at `out`, which is one of them or apart (this function's
    // contract). The operation is defined for pairs.
    let done = unsafe { combine(operation, (*pair).into(), a, b, out.expose_provenance(), count) };
    debug_assert!(done.is_ok());
}

/// # Safety
/// As [`Kernel`] says; there is no twin. All pairs are aligned.
unsafe fn simple<V: Copy + PartialOrd, const MAX: bool>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    _: *mut u8,
    count: usize,
) {
    for i in 0..count {
        // SAFETY: pair `i`, below `count`, is readable in the sources, writable in the target, and aligned (this function's contract).
        unsafe {
            let a = *left.cast::<Located<V>>().add(i);
            let b = *right.cast::<Located<V>>().add(i);
            let is_first = if MAX { a.value > b.value } else { a.value < b.value };
            let it = if is_first || a.value == b.value && a.index < b.index { a } else { b };
            (*out.cast::<Located<V>>().add(i)).value = it.value;
            (*out.cast::<Located<V>>().add(i)).index = it.index;
        }
    }
}
