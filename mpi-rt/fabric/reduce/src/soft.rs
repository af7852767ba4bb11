//! Formats of real numbers that neither Rust nor the processor has, computed in software, exactly rounded. Slow: no program is known that needs
//! them fast.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Half, Quad};

macro_rules! software {
    ($(#[$doc:meta])* $name:ident, $bits:ty, $float:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name($bits);

        impl $name {
            fn value(self) -> $float {
                <$float>::from_bits(u128::from(self.0))
            }

            fn of(value: $float) -> $name {
                $name(value.to_bits() as $bits)
            }

            pub(crate) fn sum(self, other: Self) -> Self {
                $name::of((self.value() + other.value()).value)
            }

            pub(crate) fn difference(self, other: Self) -> Self {
                $name::of((self.value() - other.value()).value)
            }

            pub(crate) fn product(self, other: Self) -> Self {
                $name::of((self.value() * other.value()).value)
            }

            pub(crate) fn is_above(self, other: Self) -> bool {
                self.value() > other.value()
            }

            pub(crate) fn is_nan(self) -> bool {
                self.value().is_nan()
            }
        }
    };
}

software!(
    /// binary16.
    F16, u16, Half
);
software!(
    /// binary128.
    F128, u128, Quad
);
