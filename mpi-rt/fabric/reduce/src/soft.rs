//! binary128, which neither Rust nor the processor has: computed in software, exactly rounded.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::Quad;

/// binary128.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F128(u128);

const SIGN: u128 = 1 << 127;
/// Infinity; what is not a number is above.
const INFINITE: u128 = 0x7fff << 112;

impl F128 {
    fn value(self) -> Quad {
        Quad::from_bits(self.0)
    }

    fn of(value: Quad) -> F128 {
        F128(value.to_bits())
    }

    pub(crate) fn sum(self, other: Self) -> Self {
        F128::of((self.value() + other.value()).value)
    }

    pub(crate) fn difference(self, other: Self) -> Self {
        F128::of((self.value() - other.value()).value)
    }

    pub(crate) fn product(self, other: Self) -> Self {
        F128::of((self.value() * other.value()).value)
    }

    /// A number whose order among integers is its own among reals.
    #[inline(always)]
    fn rank(self) -> i128 {
        let magnitude = (self.0 & !SIGN) as i128;
        if self.0 & SIGN == 0 { magnitude } else { -magnitude }
    }

    #[inline(always)]
    pub(crate) fn is_above(self, other: Self) -> bool {
        !self.is_nan() & !other.is_nan() & (self.rank() > other.rank())
    }

    #[inline(always)]
    pub(crate) fn is_nan(self) -> bool {
        self.0 & !SIGN > INFINITE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_the_reals() {
        let magnitudes =
            [0, 1, 0x1234 << 64, 0x3fff << 112, (0x3fff << 112) + 1, INFINITE, INFINITE + 1, !SIGN];
        let all = || magnitudes.into_iter().flat_map(|it| [it, it | SIGN]).map(F128);
        for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
            assert_eq!(a.is_above(b), a.value() > b.value(), "{:#x} {:#x}", a.0, b.0);
            assert_eq!(a.is_nan(), a.value().is_nan());
        }
    }
}
