//! binary16, by way of `f32`: 24 bits of significand are twice 11 and two more, so that rounding a sum, a difference or a product a second time
//! changes nothing. No step is a branch, so that loops are compiled to vectors.

/// binary16.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct F16(u16);

const SIGN: u16 = 1 << 15;
/// Infinity; what is not a number is above.
const INFINITE: u32 = 0x7c00;
/// The least number that has a leading one.
const LEAST_NORMAL: u32 = 0x400;
/// Bits that the wider significand has more.
const SHIFT: u32 = 13;
/// How far apart the exponents' zeros are, in place.
const BIAS: u32 = 112 << 23;
/// 2^-14, the least normal number, as `f32`.
const LEAST: u32 = BIAS + (1 << 23);
/// From here on a number is rounded to infinity: 65520.
const TOO_LARGE: u32 = 0x477f_f000;
/// `f32`'s infinity.
const WIDE_INFINITE: u32 = 0x7f80_0000;
/// 0.5, of which the last bit is the least number's.
const HALF: u32 = 0x3f00_0000;

impl F16 {
    #[inline(always)]
    fn wide(self) -> f32 {
        let magnitude = u32::from(self.0 & !SIGN);
        let normal = (magnitude << SHIFT) + BIAS;
        let small = (f32::from_bits((magnitude << SHIFT) + LEAST) - f32::from_bits(LEAST)).to_bits();
        let finite = if magnitude < LEAST_NORMAL { small } else { normal };
        let bits = if magnitude < INFINITE { finite } else { magnitude << SHIFT | WIDE_INFINITE };
        f32::from_bits(bits | u32::from(self.0 & SIGN) << 16)
    }

    #[inline(always)]
    fn of(value: f32) -> F16 {
        let bits = value.to_bits();
        let magnitude = bits & !(1 << 31);
        // To the nearest, and of two to the even one: carries go into the exponent as they should.
        let odd = magnitude >> SHIFT & 1;
        let normal = magnitude.wrapping_add(0xfff + odd).wrapping_sub(BIAS) >> SHIFT;
        let small = (f32::from_bits(magnitude) + f32::from_bits(HALF)).to_bits().wrapping_sub(HALF);
        let finite = if magnitude < LEAST { small } else { normal };
        let limited = if magnitude < TOO_LARGE { finite } else { INFINITE };
        // A quiet one, with what fits of its payload.
        let not_a_number = INFINITE | 0x200 | (magnitude >> SHIFT & 0x3ff);
        let result = if magnitude > WIDE_INFINITE { not_a_number } else { limited };
        F16(result as u16 | (bits >> 16) as u16 & SIGN)
    }

    #[inline(always)]
    pub(crate) fn sum(self, other: F16) -> F16 {
        F16::of(self.wide() + other.wide())
    }

    #[inline(always)]
    pub(crate) fn difference(self, other: F16) -> F16 {
        F16::of(self.wide() - other.wide())
    }

    #[inline(always)]
    pub(crate) fn product(self, other: F16) -> F16 {
        F16::of(self.wide() * other.wide())
    }

    #[inline(always)]
    pub(crate) fn is_above(self, other: F16) -> bool {
        self.wide() > other.wide()
    }

    #[inline(always)]
    pub(crate) fn is_nan(self) -> bool {
        u32::from(self.0 & !SIGN) > INFINITE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_apfloat::Float;
    use rustc_apfloat::ieee::Half;

    /// Every number with some of each kind, against LLVM's arithmetic.
    #[test]
    fn arithmetic_is_exactly_rounded() {
        let others = [
            0u16, 1, 2, 0x155, 0x3ff, 0x400, 0x401, 0x1234, 0x2e66, 0x3555, 0x3bff, 0x3c00, 0x3c01, 0x4000,
            0x4248, 0x5640, 0x6bff, 0x7800, 0x7bff, 0x7c00, 0x7e00,
        ];
        for a in 0..=u16::MAX {
            for b in others.into_iter().flat_map(|it| [it, it | SIGN]) {
                let (x, y) = (Half::from_bits(a.into()), Half::from_bits(b.into()));
                let same = |ours: F16, theirs: Half| {
                    let is_same =
                        if theirs.is_nan() { ours.is_nan() } else { u128::from(ours.0) == theirs.to_bits() };
                    assert!(is_same, "{a:#x} {b:#x}: {ours:?} instead of {theirs:?}");
                };
                same(F16(a).sum(F16(b)), (x + y).value);
                same(F16(a).difference(F16(b)), (x - y).value);
                same(F16(a).product(F16(b)), (x * y).value);
                assert_eq!((F16(a).is_above(F16(b)), F16(a).is_nan()), (x > y, x.is_nan()));
            }
        }
    }
}
