//! C's `long double` on x86-64: the 80-bit format of the x87 unit, in 16 bytes (System V ABI, AMD64 supplement, table 3.1).
//!
//! Rust has no such type, so its arithmetic is here, one x87 instruction each between two loads and a store.

use core::arch::asm;

/// A `long double`: ten bytes of value, six of padding.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct LongDouble {
    /// With its leading one.
    significand: u64,
    /// Sign and 15 bits of exponent, below the padding.
    exponent: u64,
}

/// Where the unit stores a result. Its parts are read as they were stored: reading all at once would wait until the store has reached the cache.
#[repr(C, align(16))]
struct Stored {
    significand: u64,
    exponent: u16,
}

impl Stored {
    const EMPTY: Stored = Stored { significand: 0, exponent: 0 };

    #[inline(always)]
    fn value(self) -> LongDouble {
        LongDouble { significand: self.significand, exponent: self.exponent.into() }
    }
}

macro_rules! operation {
    ($($name:ident: $instruction:literal;)*) => {
        $(
            /// One x87 instruction on two values.
            #[inline(always)]
            pub(crate) fn $name(self, other: LongDouble) -> LongDouble {
                let mut result = Stored::EMPTY;
                // SAFETY: the instructions read ten bytes of the operands and write ten bytes of the result, all variables
                // here; the x87 stack is empty between Rust statements and is left so.
                unsafe {
                    asm!(
                        "fld tbyte ptr [{other}]",
                        "fld tbyte ptr [{this}]",
                        $instruction,
                        "fstp tbyte ptr [{result}]",
                        this = in(reg) &self,
                        other = in(reg) &other,
                        result = in(reg) &mut result,
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                        options(nostack),
                    );
                }
                result.value()
            }
        )*
    };
}

impl LongDouble {
    operation! {
        sum: "faddp st(1), st";
        difference: "fsubrp st(1), st";
        product: "fmulp st(1), st";
    }

    /// The nearest `double`.
    #[inline]
    pub fn to_double(self) -> f64 {
        let mut result = 0f64;
        // SAFETY: the instructions read ten bytes of `self` and write eight to `result`, both variables here;
        // the x87 stack is empty between Rust statements and is left so.
        unsafe {
            asm!(
                "fld tbyte ptr [{this}]",
                "fstp qword ptr [{result}]",
                this = in(reg) &self,
                result = in(reg) &mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }

    /// Whether it is greater; false if one of them is not a number.
    #[inline(always)]
    pub fn is_above(self, other: LongDouble) -> bool {
        let above: u8;
        // SAFETY: the instructions read ten bytes of each operand, variables here, and take both values off
        // the x87 stack, which is empty between Rust statements and is left so.
        unsafe {
            asm!(
                "fld tbyte ptr [{other}]",
                "fld tbyte ptr [{this}]",
                "fcomip st, st(1)",
                "fstp st(0)",
                "seta {above}",
                this = in(reg) &self,
                other = in(reg) &other,
                above = out(reg_byte) above,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        above != 0
    }

    /// Whether it is not a number.
    #[inline(always)]
    pub fn is_nan(self) -> bool {
        self.exponent & 0x7fff == 0x7fff && self.significand << 1 != 0
    }
}

impl From<f64> for LongDouble {
    #[inline]
    fn from(value: f64) -> LongDouble {
        let mut result = Stored::EMPTY;
        // SAFETY: the instructions read eight bytes of `value` and write ten to `result`, both variables
        // here; the x87 stack is empty between Rust statements and is left so.
        unsafe {
            asm!(
                "fld qword ptr [{value}]",
                "fstp tbyte ptr [{result}]",
                value = in(reg) &value,
                result = in(reg) &mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result.value()
    }
}

/// Equality of bits, whatever the padding holds.
impl PartialEq for LongDouble {
    fn eq(&self, other: &LongDouble) -> bool {
        (self.significand, self.exponent as u16) == (other.significand, other.exponent as u16)
    }
}

impl core::fmt::Debug for LongDouble {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        self.to_double().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{MaxNumber, MinNumber, Operation};

    fn of(value: f64) -> LongDouble {
        value.into()
    }

    #[test]
    fn arithmetic_is_that_of_the_wide_format() {
        assert_eq!(of(1.5).sum(of(-4.0)).to_double(), -2.5);
        assert_eq!(of(3.0).product(of(-4.0)).to_double(), -12.0);
        assert_eq!(of(3.0).difference(of(5.0)).to_double(), -2.0);
        // 2^63 + 1 does not fit a double: subtracting 2^63 again must give 1.
        let large = of(9_223_372_036_854_775_808.0);
        assert_eq!(large.sum(of(1.0)).sum(large.product(of(-1.0))).to_double(), 1.0);
    }

    /// Significands that differ in every one of the 64 bits, in sums that need all of them.
    #[test]
    fn every_bit_of_the_significand_counts() {
        let one = LongDouble { significand: 1 << 63, exponent: 0x3fff };
        for bit in 0..63 {
            // 2^-63, the last bit of 1, and so on up to 2^-1.
            let small = LongDouble { significand: 1 << 63, exponent: 0x3fff - 63 + bit };
            let sum = LongDouble { significand: 1 << 63 | 1 << bit, exponent: 0x3fff };
            assert_eq!((one.sum(small), sum.difference(small), sum.product(one)), (sum, one, sum));
            assert!(sum.is_above(one) && !one.is_above(sum));
        }
        let dense = LongDouble { significand: 0xdead_beef_0123_4567, exponent: 0x3fff };
        let inverse = LongDouble { significand: !0, exponent: 0x3fff };
        assert_eq!(dense.sum(inverse).difference(inverse), dense);
        assert_eq!(dense.product(one), dense);
    }

    #[test]
    fn comparison_ignores_what_is_not_a_number() {
        let nan = of(f64::NAN);
        for (a, b) in [(1.0, 2.0), (-3.0, 2.0), (f64::INFINITY, 1.0), (0.5, f64::NEG_INFINITY)] {
            assert_eq!(MaxNumber::combine(of(a), of(b)).to_double(), f64::max(a, b));
            assert_eq!(MinNumber::combine(of(a), of(b)).to_double(), f64::min(a, b));
            assert_eq!(MaxNumber::combine(nan, of(a)).to_double(), a);
            assert_eq!(MinNumber::combine(of(a), nan).to_double(), a);
        }
    }
}
