//! Arithmetic of real numbers, for the formats Rust has and for those it lacks (binary16, x87 extended, binary128), which are
//! done in software, exactly rounded.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Half, Quad, X87DoubleExtended};

/// What reductions need of a real number.
pub(super) trait Real: Copy {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn is_above(self, other: Self) -> bool;
}

macro_rules! native {
    ($($type:ty),*) => {$(
        impl Real for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn is_above(self, other: Self) -> bool { self > other }
        }
    )*};
}

native!(f32, f64);

macro_rules! software {
    ($(#[$doc:meta])* $name:ident, $bits:ty, $float:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(super) struct $name($bits);

        impl $name {
            fn value(self) -> $float { <$float>::from_bits(u128::from(self.0)) }
            fn of(value: $float) -> $name { $name(value.to_bits() as $bits) }
        }

        impl Real for $name {
            fn add(self, other: Self) -> Self { $name::of((self.value() + other.value()).value) }
            fn subtract(self, other: Self) -> Self { $name::of((self.value() - other.value()).value) }
            fn multiply(self, other: Self) -> Self { $name::of((self.value() * other.value()).value) }
            fn is_above(self, other: Self) -> bool { self.value() > other.value() }
        }
    };
}

software!(
    /// binary16
    F16, u16, Half
);
software!(
    /// x87's 80 bits in 16 bytes; the padding is ignored and written as zeros.
    F80, u128, X87DoubleExtended
);
software!(
    /// binary128
    F128, u128, Quad
);
