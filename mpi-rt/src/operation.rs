//! Predefined reduction operations (MPI-4.1, section 6.9.2) on the predefined datatypes.
//!
//! A [`Kernel`] computes `out[i] = left[i] op right[i]`; the collectives fold from the last rank to the first, so that the
//! result is that of the ranks' order. Each kernel exists for two widths of vectors and is chosen with the copy loops.

use crate::abi::op;
use crate::arch::Vectors;
use crate::copy;
use crate::datatype::Element;
use crate::error::{Error, Result};

/// Combines `count` elements. Buffers may be in a peer's slot and need no alignment; `out` is one of the others or overlaps
/// neither.
pub type Kernel = unsafe fn(left: *const u8, right: *const u8, out: *mut u8, count: usize);

/// A value with its place, for `MINLOC` and `MAXLOC`: the layout of a C structure of both.
#[derive(Clone, Copy)]
#[repr(C)]
struct Located<V, I>(V, I);

#[derive(Clone, Copy)]
#[repr(C)]
struct Complex<F>(F, F);

/// # Safety
/// That of [`Kernel`], for elements of type `T`.
#[inline(always)]
unsafe fn combine<T: Copy>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    count: usize,
    operation: impl Fn(T, T) -> T,
) {
    let (left, right, out) = (left.cast::<T>(), right.cast::<T>(), out.cast::<T>());
    for index in 0..count {
        // SAFETY: below `count` (the caller's promise); unaligned accesses, since users' buffers may be unaligned.
        unsafe {
            let value = operation(left.add(index).read_unaligned(), right.add(index).read_unaligned());
            out.add(index).write_unaligned(value);
        }
    }
}

macro_rules! kernel {
    ($type:ty, $combine:expr) => {{
        /// # Safety
        /// That of [`Kernel`].
        unsafe fn narrow(left: *const u8, right: *const u8, out: *mut u8, count: usize) {
            // SAFETY: the caller's promise.
            unsafe { combine::<$type>(left, right, out, count, $combine) }
        }
        /// # Safety
        /// That of [`Kernel`], on a processor with AVX2.
        #[target_feature(enable = "avx,avx2")]
        unsafe fn wide(left: *const u8, right: *const u8, out: *mut u8, count: usize) {
            // SAFETY: the caller's promise.
            unsafe { combine::<$type>(left, right, out, count, $combine) }
        }
        match copy::vectors() {
            Vectors::Sse2 => narrow as Kernel,
            Vectors::Avx | Vectors::Avx512 => wide as Kernel,
        }
    }};
}

macro_rules! integer {
    ($type:ty, $operation:expr) => {
        match $operation {
            op::SUM => kernel!($type, |a: $type, b| a.wrapping_add(b)),
            op::PROD => kernel!($type, |a: $type, b| a.wrapping_mul(b)),
            op::MIN => kernel!($type, |a: $type, b| a.min(b)),
            op::MAX => kernel!($type, |a: $type, b| a.max(b)),
            op::BAND => kernel!($type, |a: $type, b| a & b),
            op::BOR => kernel!($type, |a: $type, b| a | b),
            op::BXOR => kernel!($type, |a: $type, b| a ^ b),
            op::LAND => kernel!($type, |a: $type, b| (a != 0 && b != 0) as $type),
            op::LOR => kernel!($type, |a: $type, b| (a != 0 || b != 0) as $type),
            op::LXOR => kernel!($type, |a: $type, b| ((a != 0) != (b != 0)) as $type),
            _ => return Err(Error::OP),
        }
    };
}

macro_rules! float {
    ($type:ty, $operation:expr) => {
        match $operation {
            op::SUM => kernel!($type, |a: $type, b| a + b),
            op::PROD => kernel!($type, |a: $type, b| a * b),
            op::MIN => kernel!($type, |a: $type, b| if b < a { b } else { a }),
            op::MAX => kernel!($type, |a: $type, b| if b > a { b } else { a }),
            _ => return Err(Error::OP),
        }
    };
}

macro_rules! complex {
    ($float:ty, $operation:expr) => {
        match $operation {
            op::SUM => kernel!(Complex<$float>, |a: Complex<$float>, b: Complex<$float>| Complex(
                a.0 + b.0,
                a.1 + b.1
            )),
            op::PROD => kernel!(Complex<$float>, |a: Complex<$float>, b: Complex<$float>| Complex(
                a.0 * b.0 - a.1 * b.1,
                a.0 * b.1 + a.1 * b.0
            )),
            _ => return Err(Error::OP),
        }
    };
}

macro_rules! located {
    ($value:ty, $index:ty, $operation:expr) => {
        match $operation {
            op::MINLOC => kernel!(
                Located<$value, $index>,
                |a: Located<$value, $index>, b: Located<$value, $index>| {
                    if a.0 < b.0 || (a.0 == b.0 && a.1 <= b.1) { a } else { b }
                }
            ),
            op::MAXLOC => kernel!(
                Located<$value, $index>,
                |a: Located<$value, $index>, b: Located<$value, $index>| {
                    if a.0 > b.0 || (a.0 == b.0 && a.1 <= b.1) { a } else { b }
                }
            ),
            _ => return Err(Error::OP),
        }
    };
}

/// The kernel of a predefined operation. Errors: `OP` if there is no such operation, or not on such elements.
pub fn predefined(operation: u64, element: Element) -> Result<Kernel> {
    if operation == op::NO_OP || operation == op::REPLACE {
        // Only accumulating one-sided calls take these.
        return Err(Error::OP);
    }
    Ok(match element {
        Element::I8 => integer!(i8, operation),
        Element::I16 => integer!(i16, operation),
        Element::I32 => integer!(i32, operation),
        Element::I64 => integer!(i64, operation),
        Element::U8 => integer!(u8, operation),
        Element::U16 => integer!(u16, operation),
        Element::U32 => integer!(u32, operation),
        Element::U64 => integer!(u64, operation),
        Element::F32 => float!(f32, operation),
        Element::F64 => float!(f64, operation),
        Element::ComplexF32 => complex!(f32, operation),
        Element::ComplexF64 => complex!(f64, operation),
        Element::Bool => match operation {
            op::LAND | op::LOR | op::LXOR => integer!(u8, operation),
            _ => return Err(Error::OP),
        },
        Element::Logical => match operation {
            op::LAND | op::LOR | op::LXOR => integer!(i32, operation),
            _ => return Err(Error::OP),
        },
        Element::Byte => match operation {
            op::BAND | op::BOR | op::BXOR => integer!(u8, operation),
            _ => return Err(Error::OP),
        },
        Element::FloatInt => located!(f32, i32, operation),
        Element::DoubleInt => located!(f64, i32, operation),
        Element::LongInt => located!(i64, i32, operation),
        Element::TwoInt => located!(i32, i32, operation),
        Element::ShortInt => located!(i16, i32, operation),
        Element::TwoF32 => located!(f32, f32, operation),
        Element::TwoF64 => located!(f64, f64, operation),
        Element::Opaque => return Err(Error::OP),
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn apply<T: Copy>(operation: u64, element: Element, input: &[T], inout: &[T]) -> Vec<T> {
        let mut result = inout.to_vec();
        let kernel = predefined(operation, element).unwrap();
        let out = result.as_mut_ptr().cast::<u8>();
        // SAFETY: both slices hold as many elements of the kind.
        unsafe { kernel(input.as_ptr().cast(), out, out, input.len()) };
        result
    }

    #[test]
    fn arithmetic_is_the_languages_own_and_integers_wrap() {
        assert_eq!(apply(op::SUM, Element::I32, &[1, i32::MAX], &[2, 1]), [3, i32::MIN]);
        assert_eq!(apply(op::PROD, Element::F64, &[1.5, -2.0], &[2.0, 4.0]), [3.0, -8.0]);
        assert_eq!(apply(op::MIN, Element::I8, &[-1i8, 5], &[1, -5]), [-1, -5]);
        assert_eq!(apply(op::MAX, Element::U8, &[255u8, 5], &[1, 6]), [255, 6]);
        assert_eq!(apply(op::LXOR, Element::I32, &[7, 0, 3], &[0, 0, 9]), [1, 0, 0]);
        assert_eq!(apply(op::PROD, Element::ComplexF32, &[0f32, 1.0], &[0.0, 1.0])[..1], [-1.0]);
    }

    #[test]
    fn equal_values_keep_the_lower_place() {
        let pair = |value: f64, place: i32| (value, place, 0i32);
        let left = [pair(1.0, 3), pair(2.0, 1)];
        let right = [pair(1.0, 2), pair(5.0, 0)];
        let least = apply(op::MINLOC, Element::DoubleInt, &left, &right);
        assert_eq!((least[0].0, least[0].1, least[1].0, least[1].1), (1.0, 2, 2.0, 1));
    }

    #[test]
    fn operations_that_mean_nothing_on_a_type_are_refused() {
        assert_eq!(predefined(op::BAND, Element::F64).err(), Some(Error::OP));
        assert_eq!(predefined(op::SUM, Element::Opaque).err(), Some(Error::OP));
        assert_eq!(predefined(op::MAX, Element::ComplexF64).err(), Some(Error::OP));
        assert_eq!(predefined(op::REPLACE, Element::I32).err(), Some(Error::OP));
        assert_eq!(predefined(0x7777, Element::I32).err(), Some(Error::OP));
    }
}
