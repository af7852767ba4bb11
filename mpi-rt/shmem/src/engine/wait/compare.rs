//! The comparisons and the types that can be waited for.

use crate::engine::fatal::stop;
use lwk_copy::Word;

/// Equal (`SHMEM_CMP_EQ`).
pub const CMP_EQ: i32 = 1;
/// Not equal (`SHMEM_CMP_NE`).
pub const CMP_NE: i32 = 2;
/// Greater (`SHMEM_CMP_GT`).
pub const CMP_GT: i32 = 3;
/// Greater or equal (`SHMEM_CMP_GE`).
pub const CMP_GE: i32 = 4;
/// Less (`SHMEM_CMP_LT`).
pub const CMP_LT: i32 = 5;
/// Less or equal (`SHMEM_CMP_LE`).
pub const CMP_LE: i32 = 6;

mod sealed {
    pub trait Sealed {}
}

/// Types that can be waited for: the standard's point-to-point synchronisation types.
pub trait WaitWord: Copy + PartialOrd + sealed::Sealed {
    /// # Safety
    /// `at` must be an aligned, live object of this type, changed by atomics or by puts of its size only.
    #[doc(hidden)]
    unsafe fn poll(at: *mut Self) -> Self;
}

macro_rules! words {
    ($($type:ty as $word:ty;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl WaitWord for $type {
                #[inline(always)]
                unsafe fn poll(at: *mut $type) -> $type {
                    // SAFETY: `at` is an aligned, live object that only atomics and puts of its size change
                    // (this function's contract). The load pairs with the release of the peer's `fence`
                    // before its flag, or of its atomic or signal.
                    unsafe { <$word>::load(at.cast()) as $type }
                }
            }
        )*
    };
}

words! {
    i16 as u16;
    u16 as u16;
    i32 as u32;
    u32 as u32;
    i64 as u64;
    u64 as u64;
}

/// Runs an expression with `$holds` bound to the comparison: chosen once, outside of the expression's loops.
macro_rules! compare {
    ($comparison:expr, $holds:ident => $body:expr) => {
        match $comparison {
            $crate::engine::CMP_EQ => {
                let $holds = PartialEq::eq;
                $body
            }
            $crate::engine::CMP_NE => {
                let $holds = PartialEq::ne;
                $body
            }
            $crate::engine::CMP_GT => {
                let $holds = PartialOrd::gt;
                $body
            }
            $crate::engine::CMP_GE => {
                let $holds = PartialOrd::ge;
                $body
            }
            $crate::engine::CMP_LT => {
                let $holds = PartialOrd::lt;
                $body
            }
            $crate::engine::CMP_LE => {
                let $holds = PartialOrd::le;
                $body
            }
            other => $crate::engine::wait::compare::no_such_comparison(other),
        }
    };
}
pub(crate) use compare;

#[cold]
#[inline(never)]
pub(crate) fn no_such_comparison(comparison: i32) -> ! {
    stop(format_args!("there is no comparison {comparison}: use one of SHMEM_CMP_EQ to SHMEM_CMP_LE"))
}
