//! Operators, and what each does to two elements: the first is the left operand.

use crate::LongDouble;
use crate::element::{Complex, Element};
use crate::half::F16;
use crate::soft::F128;

/// An operator on elements of a type.
pub trait Operation<T: Element>: 'static {
    /// Combines two elements.
    #[doc(hidden)]
    fn combine(a: T, b: T) -> T;
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            pub struct $name;
        )*
    };
}

operators! {
    /// Sum.
    Sum;
    /// Product.
    Product;
    /// The smaller; the left one if neither is.
    Min;
    /// The greater; the left one if neither is.
    Max;
    /// The smaller; the number, if the other is not one.
    MinNumber;
    /// The greater; the number, if the other is not one.
    MaxNumber;
    /// Bitwise and.
    And;
    /// Bitwise or.
    Or;
    /// Bitwise exclusive or.
    Xor;
    /// 1 if both are not 0, else 0.
    LogicalAnd;
    /// 1 if one is not 0, else 0.
    LogicalOr;
    /// 1 if one is 0 and the other is not, else 0.
    LogicalXor;
}

macro_rules! operations {
    ($($type:ty),*: $($operation:ident($a:ident, $b:ident) $body:expr;)*) => {
        operations!(@each [$($type),*] $($operation($a, $b) $body;)*);
    };
    (@each [] $($rest:tt)*) => {};
    (@each [$type:ty $(, $more:ty)*] $($operation:ident($a:ident, $b:ident) $body:expr;)*) => {
        $(
            impl Operation<$type> for $operation {
                #[inline(always)]
                fn combine($a: $type, $b: $type) -> $type {
                    $body
                }
            }
        )*
        operations!(@each [$($more),*] $($operation($a, $b) $body;)*);
    };
}

operations! {
    i8, i16, i32, i64, i128, u8, u16, u32, u64, u128:
    Sum(a, b) a.wrapping_add(b);
    Product(a, b) a.wrapping_mul(b);
    Min(a, b) a.min(b);
    Max(a, b) a.max(b);
    MinNumber(a, b) a.min(b);
    MaxNumber(a, b) a.max(b);
    And(a, b) a & b;
    Or(a, b) a | b;
    Xor(a, b) a ^ b;
    LogicalAnd(a, b) ((a != 0) & (b != 0)).into();
    LogicalOr(a, b) ((a != 0) | (b != 0)).into();
    LogicalXor(a, b) ((a != 0) ^ (b != 0)).into();
}

operations! {
    f32, f64:
    Sum(a, b) a + b;
    Product(a, b) a * b;
    Min(a, b) if b < a { b } else { a };
    Max(a, b) if b > a { b } else { a };
    MinNumber(a, b) a.min(b);
    MaxNumber(a, b) a.max(b);
}

operations! {
    LongDouble, F16, F128:
    Sum(a, b) a.sum(b);
    Product(a, b) a.product(b);
    Min(a, b) if a.is_above(b) { b } else { a };
    Max(a, b) if b.is_above(a) { b } else { a };
    MinNumber(a, b) if a.is_nan() || a.is_above(b) { b } else { a };
    MaxNumber(a, b) if a.is_nan() || b.is_above(a) { b } else { a };
}

operations! {
    Complex<f32>, Complex<f64>:
    Sum(a, b) Complex { re: a.re + b.re, im: a.im + b.im };
    Product(a, b) Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}

operations! {
    Complex<LongDouble>, Complex<F16>, Complex<F128>:
    Sum(a, b) Complex { re: a.re.sum(b.re), im: a.im.sum(b.im) };
    Product(a, b) Complex {
        re: a.re.product(b.re).difference(a.im.product(b.im)),
        im: a.re.product(b.im).sum(a.im.product(b.re)),
    };
}
