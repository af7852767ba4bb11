//! The loops of the predefined operations over arrays of one predefined type.
//!
//! Each loop is over pointers that advance by one element and has no call and no branch but the choice of a maximum, so that
//! the compiler vectorises it; what is chosen once per call (operation, type, whether the output is an operand) is outside.

use core::ptr::{copy, with_exposed_provenance, with_exposed_provenance_mut};

use super::real::{F16, F80, F128, Real};
use super::table::Op;
use crate::basic::{Basic, Pair, Predefined, Scalar};
use crate::error::{Class, Error, Result};
use crate::memory::{load, store};

/// `inout[i] = input[i] op inout[i]`. Class `Op` if the operation is not defined for the type.
///
/// # Safety
/// `count` elements are valid at `input` for reading and at `inout` for reading and writing; the arrays do not overlap;
/// nobody writes the one or accesses the other meanwhile.
pub unsafe fn reduce(op: Op, on: Predefined, input: usize, inout: usize, count: usize) -> Result<()> {
    // SAFETY: the caller's promise; that the output is the second operand is allowed.
    unsafe { combine(op, on, input, inout, inout, count) }
}

/// `out[i] = a[i] op b[i]`. `out` may be the same array as `a` or as `b`. Class `Op` if the operation is not defined for the
/// type.
///
/// # Safety
/// `count` elements are valid at `a` and `b` for reading and at `out` for writing; apart from being equal, the arrays do not
/// overlap; nobody writes the first two or accesses the last meanwhile.
pub unsafe fn combine(op: Op, on: Predefined, a: usize, b: usize, out: usize, count: usize) -> Result<()> {
    if !op.allows(on) {
        return Err(Error::new(Class::Op, "the predefined operation is not defined for this datatype"));
    }
    let arrays = Arrays { a, b, out, count };
    // SAFETY: the caller's promise, passed on for the representation of the type.
    unsafe {
        match (op, on) {
            (Op::Replace, _) => arrays.copy_from(a, on.extent()),
            (Op::NoOp, _) => arrays.copy_from(b, on.extent()),
            (_, Predefined::Pair(pair)) => {
                let (extent, index) = (pair.extent(), pair.index_offset());
                for i in 0..count {
                    let [a, b, out] = [a, b, out].map(|array| array.wrapping_add(i * extent));
                    located(op, pair, [a, a + index], [b, b + index], [out, out + index]);
                }
            }
            (_, Predefined::Basic(basic)) => arrays.basic(op, basic),
        }
    }
    Ok(())
}

/// Three arrays of `count` elements.
#[derive(Clone, Copy)]
struct Arrays {
    a: usize,
    b: usize,
    out: usize,
    count: usize,
}

impl Arrays {
    /// # Safety
    /// As [`combine`], for elements of `size` bytes.
    unsafe fn copy_from(self, from: usize, size: usize) {
        if from != self.out {
            // SAFETY: the caller's promise.
            unsafe {
                copy::<u8>(
                    with_exposed_provenance(from),
                    with_exposed_provenance_mut(self.out),
                    self.count * size,
                )
            };
        }
    }

    /// # Safety
    /// As [`combine`].
    unsafe fn basic(self, op: Op, basic: Basic) {
        use Scalar::*;
        let halves = Arrays { count: self.count * 2, ..self };
        // SAFETY: the caller's promise; each branch reads and writes the type's own size (a complex as two reals).
        unsafe {
            match basic.scalar() {
                I8 => self.integers::<i8>(op),
                I16 => self.integers::<i16>(op),
                I32 => self.integers::<i32>(op),
                I64 => self.integers::<i64>(op),
                I128 => self.integers::<i128>(op),
                U8 | L8 | Bool | Raw => self.integers::<u8>(op),
                U16 | L16 => self.integers::<u16>(op),
                U32 | L32 => self.integers::<u32>(op),
                U64 | L64 => self.integers::<u64>(op),
                L128 => self.integers::<u128>(op),
                F16 => self.reals::<self::F16>(op),
                F32 => self.reals::<f32>(op),
                F64 => self.reals::<f64>(op),
                F80 => self.reals::<self::F80>(op),
                F128 => self.reals::<self::F128>(op),
                C16 | C32 | C64 | C80 | C128 if op == Op::Sum => halves.complex_sums(basic.scalar()),
                C16 => self.products::<self::F16>(),
                C32 => self.products::<f32>(),
                C64 => self.products::<f64>(),
                C80 => self.products::<self::F80>(),
                C128 => self.products::<self::F128>(),
            }
        }
    }

    /// # Safety
    /// As [`combine`]; the count is of parts.
    unsafe fn complex_sums(self, scalar: Scalar) {
        // SAFETY: the caller's promise.
        unsafe {
            match scalar {
                Scalar::C16 => self.reals::<F16>(Op::Sum),
                Scalar::C32 => self.reals::<f32>(Op::Sum),
                Scalar::C64 => self.reals::<f64>(Op::Sum),
                Scalar::C80 => self.reals::<F80>(Op::Sum),
                _ => self.reals::<F128>(Op::Sum),
            }
        }
    }

    /// # Safety
    /// As [`combine`].
    unsafe fn integers<T: Integer>(self, op: Op) {
        // SAFETY: the caller's promise.
        unsafe {
            match op {
                Op::Max => self.each(|a: T, b: T| a.max(b)),
                Op::Min => self.each(|a: T, b: T| a.min(b)),
                Op::Sum => self.each(T::plus),
                Op::Prod => self.each(T::times),
                Op::Land => self.each(|a: T, b: T| T::truth(a.is_true() & b.is_true())),
                Op::Lor => self.each(|a: T, b: T| T::truth(a.is_true() | b.is_true())),
                Op::Lxor => self.each(|a: T, b: T| T::truth(a.is_true() ^ b.is_true())),
                Op::Band => self.each(T::and),
                Op::Bor => self.each(T::or),
                Op::Bxor => self.each(T::xor),
                Op::Minloc | Op::Maxloc | Op::Replace | Op::NoOp => {}
            }
        }
    }

    /// # Safety
    /// As [`combine`].
    unsafe fn reals<T: Real>(self, op: Op) {
        // SAFETY: the caller's promise. Other operations are not defined for reals and have been refused.
        unsafe {
            match op {
                Op::Max => self.each(|a: T, b: T| if a.is_above(b) { a } else { b }),
                Op::Min => self.each(|a: T, b: T| if b.is_above(a) { a } else { b }),
                Op::Prod => self.each(T::multiply),
                _ => self.each(T::add),
            }
        }
    }

    /// # Safety
    /// As [`combine`].
    unsafe fn products<T: Real>(self) {
        // SAFETY: the caller's promise; a complex number is an array of two reals.
        unsafe {
            self.each(|[a, b]: [T; 2], [c, d]: [T; 2]| {
                [a.multiply(c).subtract(b.multiply(d)), a.multiply(d).add(b.multiply(c))]
            });
        }
    }

    /// The loop. With one array less where the output is an operand, as the compiler only vectorises what it can show not to
    /// overlap.
    ///
    /// # Safety
    /// As [`combine`], for elements of the size of `T`, whose every byte pattern is a value.
    #[inline(always)]
    unsafe fn each<T: Copy>(self, f: impl Fn(T, T) -> T) {
        let Arrays { a, b, out, count } = self;
        let (first, second) = (with_exposed_provenance::<T>(a), with_exposed_provenance::<T>(b));
        let target = with_exposed_provenance_mut::<T>(out);
        // SAFETY: the caller promises `count` elements in each array.
        unsafe {
            if out == b {
                for i in 0..count {
                    let value = f(first.add(i).read_unaligned(), target.add(i).read_unaligned());
                    target.add(i).write_unaligned(value);
                }
            } else if out == a {
                for i in 0..count {
                    let value = f(target.add(i).read_unaligned(), second.add(i).read_unaligned());
                    target.add(i).write_unaligned(value);
                }
            } else {
                for i in 0..count {
                    let value = f(first.add(i).read_unaligned(), second.add(i).read_unaligned());
                    target.add(i).write_unaligned(value);
                }
            }
        }
    }
}

/// What reductions need of an integer.
trait Integer: Copy + Ord {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn is_true(self) -> bool;
    fn truth(value: bool) -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn is_true(self) -> bool { self != 0 }
            #[inline(always)]
            fn truth(value: bool) -> Self { Self::from(value) }
        }
    )*};
}

integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128);

/// MINLOC or MAXLOC of one pair, whose value and index lie at the two addresses: the better value with its index, the lower
/// index of equal ones.
///
/// # Safety
/// As [`combine`], for the members of one pair.
pub(super) unsafe fn located(op: Op, pair: Pair, a: [usize; 2], b: [usize; 2], out: [usize; 2]) {
    // SAFETY: the caller's promise, for the representations of the pair's members.
    unsafe {
        match pair.value().scalar() {
            Scalar::I16 => choose(op, a, b, out, |x: i16, y| x > y),
            Scalar::I32 => choose(op, a, b, out, |x: i32, y| x > y),
            Scalar::I64 => choose(op, a, b, out, |x: i64, y| x > y),
            Scalar::F32 => match pair.index().scalar() {
                Scalar::F32 => choose_real(op, a, b, out, |x: f32, y| x > y),
                _ => choose(op, a, b, out, |x: f32, y| x > y),
            },
            Scalar::F64 => match pair.index().scalar() {
                Scalar::F64 => choose_real(op, a, b, out, |x: f64, y| x > y),
                _ => choose(op, a, b, out, |x: f64, y| x > y),
            },
            _ => choose(op, a, b, out, F80::is_above),
        }
    }
}

/// # Safety
/// As [`located`], for a value of type `V` and an index of type `i32`.
unsafe fn choose<V: Copy>(
    op: Op,
    a: [usize; 2],
    b: [usize; 2],
    out: [usize; 2],
    above: impl Fn(V, V) -> bool,
) {
    // SAFETY: the caller's promise.
    unsafe { choose_by(op, a, b, out, above, |i: i32, j: i32| i.min(j)) }
}

/// # Safety
/// As [`located`], for a value and an index of type `V`: Fortran has its indices as reals.
unsafe fn choose_real<V: Copy + PartialOrd>(
    op: Op,
    a: [usize; 2],
    b: [usize; 2],
    out: [usize; 2],
    above: impl Fn(V, V) -> bool,
) {
    // SAFETY: the caller's promise.
    unsafe { choose_by(op, a, b, out, above, |i: V, j: V| if i < j { i } else { j }) }
}

/// # Safety
/// As [`located`].
#[inline(always)]
unsafe fn choose_by<V: Copy, I: Copy>(
    op: Op,
    a: [usize; 2],
    b: [usize; 2],
    out: [usize; 2],
    above: impl Fn(V, V) -> bool,
    lower: impl Fn(I, I) -> I,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (x, y) = (load::<V>(a[0]), load::<V>(b[0]));
        let (i, j) = (load::<I>(a[1]), load::<I>(b[1]));
        let (first, second) =
            if op == Op::Maxloc { (above(x, y), above(y, x)) } else { (above(y, x), above(x, y)) };
        let (value, index) = match (first, second) {
            (true, _) => (x, i),
            (_, true) => (y, j),
            _ => (y, lower(i, j)),
        };
        store(out[0], value);
        store(out[1], index);
    }
}
