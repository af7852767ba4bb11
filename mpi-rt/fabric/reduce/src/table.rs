//! Kernels by number: for those who know operator and type when the program runs.

use crate::LongDouble;
use crate::element::Complex;
use crate::half::F16;
use crate::kernel::{Kernel, kernel_of, plain_loop};
use crate::operator::*;
use crate::soft::F128;

/// Operators: see the types of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

/// Types, by kind and bits: signed and unsigned integers, reals (80: C's long double, in 16 bytes), complex numbers by the bits of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Number {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F16,
    F32,
    F64,
    F80,
    F128,
    C16,
    C32,
    C64,
    C80,
    C128,
}

macro_rules! among {
    ($of:ident, $type:ty, $operator:expr, [$($name:ident),*]) => {
        match $operator {
            $(Operator::$name => among!(@$of $type, $name),)*
            #[allow(unreachable_patterns)]
            _ => return None,
        }
    };
    (@kernel $type:ty, $name:ident) => { kernel_of::<$type, $name>() };
    (@plain $type:ty, $name:ident) => { plain_loop::<$type, $name> };
}

macro_rules! integer {
    ($of:ident, $type:ty, $operator:expr) => {
        among!(
            $of,
            $type,
            $operator,
            [Sum, Product, Min, Max, And, Or, Xor, LogicalAnd, LogicalOr, LogicalXor]
        )
    };
}

macro_rules! real {
    ($of:ident, $type:ty, $operator:expr) => {
        among!($of, $type, $operator, [Sum, Product, Min, Max])
    };
}

macro_rules! complex {
    ($of:ident, $part:ty, $operator:expr) => {
        among!($of, Complex<$part>, $operator, [Sum, Product])
    };
}

macro_rules! table {
    ($of:ident, $operator:expr, $number:expr) => {
        match $number {
            Number::I8 => integer!($of, i8, $operator),
            Number::I16 => integer!($of, i16, $operator),
            Number::I32 => integer!($of, i32, $operator),
            Number::I64 => integer!($of, i64, $operator),
            Number::I128 => integer!($of, i128, $operator),
            Number::U8 => integer!($of, u8, $operator),
            Number::U16 => integer!($of, u16, $operator),
            Number::U32 => integer!($of, u32, $operator),
            Number::U64 => integer!($of, u64, $operator),
            Number::U128 => integer!($of, u128, $operator),
            Number::F16 => real!($of, F16, $operator),
            Number::F32 => real!($of, f32, $operator),
            Number::F64 => real!($of, f64, $operator),
            Number::F80 => real!($of, LongDouble, $operator),
            Number::F128 => real!($of, F128, $operator),
            Number::C16 => complex!($of, F16, $operator),
            Number::C32 => complex!($of, f32, $operator),
            Number::C64 => complex!($of, f64, $operator),
            Number::C80 => complex!($of, LongDouble, $operator),
            Number::C128 => complex!($of, F128, $operator),
        }
    };
}

/// The kernel of an operator on a type; `None` if it is not defined there.
pub fn kernel(operator: Operator, number: Number) -> Option<Kernel> {
    Some(table!(kernel, operator, number))
}

/// The plain loop of the same, as a program would have it: the second operand is the target, and there is no other target.
pub fn plain(operator: Operator, number: Number) -> Option<Kernel> {
    Some(table!(plain, operator, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length around a chunk's, with one target and two, and with a target that is a source.
    #[test]
    fn every_length_is_combined_whole_and_nothing_beside_it() {
        let sum = kernel(Operator::Sum, Number::I32).unwrap();
        for count in 0..100usize {
            let left: Vec<i32> = (0..100).map(|i| i * 3).collect();
            let right: Vec<i32> = (0..100).map(|i| 1000 - i).collect();
            let (mut out, mut twin) = (vec![-1i32; 100], vec![-1i32; 100]);
            let expected: Vec<i32> =
                (0..100).map(|i| if i < count { left[i] + right[i] } else { -1 }).collect();
            // SAFETY: all hold 100 elements, and are distinct.
            unsafe {
                sum(
                    left.as_ptr().cast(),
                    right.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                    twin.as_mut_ptr().cast(),
                    count,
                )
            };
            assert_eq!((&out, &twin), (&expected, &expected));
            let mut inout = right.clone();
            let at = inout.as_mut_ptr().cast::<u8>();
            // SAFETY: both vectors hold 100 elements and are distinct; the target is the second source, as
            // `Kernel` allows.
            unsafe { sum(left.as_ptr().cast(), at, at, core::ptr::null_mut(), count) };
            assert!((0..100).all(|i| inout[i] == if i < count { expected[i] } else { right[i] }));
        }
    }

    #[test]
    fn truth_is_one_or_zero() {
        let apply = |operator, a: [i16; 4], b: [i16; 4]| {
            let mut out = [9i16; 4];
            let kernel = kernel(operator, Number::I16).unwrap();
            // SAFETY: four elements each, distinct.
            unsafe {
                kernel(
                    a.as_ptr().cast(),
                    b.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                    core::ptr::null_mut(),
                    4,
                )
            };
            out
        };
        let (a, b) = ([0, 0, 7, 256], [0, 512, 0, -1]);
        assert_eq!(apply(Operator::LogicalAnd, a, b), [0, 0, 0, 1]);
        assert_eq!(apply(Operator::LogicalOr, a, b), [0, 1, 1, 1]);
        assert_eq!(apply(Operator::LogicalXor, a, b), [0, 1, 1, 0]);
    }

    #[test]
    fn bits_and_order_are_for_those_that_have_them() {
        assert!(kernel(Operator::And, Number::F64).is_none());
        assert!(kernel(Operator::Max, Number::C32).is_none());
        assert!(kernel(Operator::Product, Number::C80).is_some());
    }
}
