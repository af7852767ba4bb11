//! Elements and operations of reductions (the standard, section 9.9, SHMEM_REDUCTIONS).
//!
//! Integers wrap around. `Max` and `Min` of floating-point numbers ignore a NaN if the other operand is a number. Results are the
//! same in all PEs, since each element is reduced by one PE, or by all in the same order.

pub use crate::arch::long_double::LongDouble;
use crate::arch::vector;

/// Elements of reductions.
pub trait Element: Copy + 'static {}

/// An operation on elements of a type.
pub trait Operation<T: Element>: 'static {
    /// Combines two elements.
    #[doc(hidden)]
    fn combine(a: T, b: T) -> T;
}

/// Complex numbers as C lays them out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex<T> {
    /// Real part.
    pub re: T,
    /// Imaginary part.
    pub im: T,
}

/// Sum.
pub struct Sum;
/// Product.
pub struct Prod;
/// Maximum.
pub struct Max;
/// Minimum.
pub struct Min;
/// Bitwise and.
pub struct And;
/// Bitwise or.
pub struct Or;
/// Bitwise exclusive or.
pub struct Xor;

macro_rules! operations {
    ($($type:ty),*: $($operation:ident($a:ident, $b:ident) $body:expr;)*) => {
        operations!(@each [$($type),*] $($operation($a, $b) $body;)*);
    };
    (@each [] $($rest:tt)*) => {};
    (@each [$type:ty $(, $more:ty)*] $($operation:ident($a:ident, $b:ident) $body:expr;)*) => {
        impl Element for $type {}
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
    i8, i16, i32, i64, u8, u16, u32, u64:
    Sum(a, b) a.wrapping_add(b);
    Prod(a, b) a.wrapping_mul(b);
    Max(a, b) if a > b { a } else { b };
    Min(a, b) if a < b { a } else { b };
    And(a, b) a & b;
    Or(a, b) a | b;
    Xor(a, b) a ^ b;
}

operations! {
    f32, f64:
    Sum(a, b) a + b;
    Prod(a, b) a * b;
    Max(a, b) a.max(b);
    Min(a, b) a.min(b);
}

operations! {
    LongDouble:
    Sum(a, b) a.sum(b);
    Prod(a, b) a.product(b);
    Max(a, b) a.greater(b);
    Min(a, b) a.smaller(b);
}

operations! {
    Complex<f32>, Complex<f64>:
    Sum(a, b) Complex { re: a.re + b.re, im: a.im + b.im };
    Prod(a, b) Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}

/// A reduction with its types forgotten, so that the schedules exist once: the size of an element, and the loop.
#[derive(Clone, Copy)]
pub(crate) struct Reduction {
    /// Bytes of an element.
    pub(crate) bytes: usize,
    /// `target[i] = a[i] op b[i]` for `count` elements; `target` may be `a`.
    pub(crate) combine: unsafe fn(target: *mut u8, a: *const u8, b: *const u8, count: usize),
}

impl Reduction {
    pub(crate) fn of<T: Element, O: Operation<T>>() -> Reduction {
        Reduction { bytes: size_of::<T>(), combine: vector::combine::<T, O> }
    }
}
