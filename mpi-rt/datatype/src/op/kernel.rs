//! What combines arrays of one predefined type: a kernel of `lwk-reduce`, or for pairs a loop here.

use core::ptr::{copy, null_mut, with_exposed_provenance, with_exposed_provenance_mut};

use super::table::Op;
use crate::basic::{Basic, Pair, Predefined, Scalar};
use crate::error::{Class, Error, Result};
use crate::memory::{load, store};
use lwk_reduce::{Kernel, LongDouble, Number, Operator};

/// `inout[i] = input[i] op inout[i]`. Class `Op` if the operation is not defined for the type.
///
/// # Safety
/// `count` elements are valid at `input` for reading and at `inout` for reading and writing; the arrays do not overlap;
/// nobody writes the one or accesses the other meanwhile.
pub unsafe fn reduce(op: Op, on: Predefined, input: usize, inout: usize, count: usize) -> Result<()> {
    // SAFETY: `count` elements are readable at `input`, readable and writable at `inout`, and apart (this
    // function's contract); `combine` lets the output be an operand.
    unsafe { combine(op, on, input, inout, inout, count) }
}

/// `out[i] = a[i] op b[i]`. `out` may be the same array as `a` or as `b`. Class `Op` if the operation is not defined for the
/// type.
///
/// # Safety
/// `count` elements are valid at `a` and `b` for reading and at `out` for writing; apart from being equal, the arrays do not
/// overlap; nobody writes the first two or accesses the last meanwhile.
pub unsafe fn combine(op: Op, on: Predefined, a: usize, b: usize, out: usize, count: usize) -> Result<()> {
    let undefined = Error::new(Class::Op, "the predefined operation is not defined for this datatype");
    if !op.allows(on) {
        return Err(undefined);
    }
    // SAFETY: `count` elements are readable at `a` and `b`, writable at `out` (this function's contract). A
    // kernel of the type needs no alignment and lets `out` be an operand.
    unsafe {
        match (op, on) {
            (Op::Replace, _) => copy_unless_there(a, out, count * on.extent()),
            (Op::NoOp, _) => copy_unless_there(b, out, count * on.extent()),
            (_, Predefined::Pair(pair)) => {
                let members = |array: usize| [array, array.wrapping_add(pair.index_offset())];
                located(op, pair, [a, b, out].map(members), count);
            }
            (_, Predefined::Basic(basic)) => {
                let kernel = kernel(op, basic).ok_or(undefined)?;
                let (left, right) = (with_exposed_provenance(a), with_exposed_provenance(b));
                kernel(left, right, with_exposed_provenance_mut(out), null_mut(), count);
            }
        }
    }
    Ok(())
}

/// # Safety
/// `bytes` bytes are valid at `from` for reading and at `to` for writing; nobody else writes the one or
/// accesses the other meanwhile.
unsafe fn copy_unless_there(from: usize, to: usize, bytes: usize) {
    if from != to {
        // SAFETY: `bytes` are readable at `from` and writable at `to` (this function's contract); `copy` lets
        // them overlap.
        unsafe { copy::<u8>(with_exposed_provenance(from), with_exposed_provenance_mut(to), bytes) };
    }
}

/// The loop of an operation on arrays of a type; `None` if there is none, or the operation is not defined for the type.
pub fn kernel(op: Op, basic: Basic) -> Option<Kernel> {
    let operator = match op {
        Op::Sum => Operator::Sum,
        Op::Prod => Operator::Product,
        Op::Min => Operator::Min,
        Op::Max => Operator::Max,
        Op::Band => Operator::And,
        Op::Bor => Operator::Or,
        Op::Bxor => Operator::Xor,
        Op::Land => Operator::LogicalAnd,
        Op::Lor => Operator::LogicalOr,
        Op::Lxor => Operator::LogicalXor,
        Op::Minloc | Op::Maxloc | Op::Replace | Op::NoOp => return None,
    };
    let number = match basic.scalar() {
        Scalar::I8 => Number::I8,
        Scalar::I16 => Number::I16,
        Scalar::I32 => Number::I32,
        Scalar::I64 => Number::I64,
        Scalar::I128 => Number::I128,
        Scalar::U8 | Scalar::L8 | Scalar::Bool | Scalar::Raw => Number::U8,
        Scalar::U16 | Scalar::L16 => Number::U16,
        Scalar::U32 | Scalar::L32 => Number::U32,
        Scalar::U64 | Scalar::L64 => Number::U64,
        Scalar::L128 => Number::U128,
        Scalar::F16 => Number::F16,
        Scalar::F32 => Number::F32,
        Scalar::F64 => Number::F64,
        Scalar::F80 => Number::F80,
        Scalar::F128 => Number::F128,
        Scalar::C16 => Number::C16,
        Scalar::C32 => Number::C32,
        Scalar::C64 => Number::C64,
        Scalar::C80 => Number::C80,
        Scalar::C128 => Number::C128,
    };
    if op.allows(basic.into()) { lwk_reduce::kernel(operator, number) } else { None }
}

/// MINLOC or MAXLOC of pairs one extent apart, the first of which have value and index at the two addresses of `[a, b, out]` each: the better value
/// with its index, the lower index of equal ones.
///
/// # Safety
/// Values and indices of the pair's types are valid at `a` and `b` for reading and at `out` for writing; apart from being equal, the arrays do not
/// overlap; nobody else writes the first two or accesses the last meanwhile.
pub(super) unsafe fn located(op: Op, pair: Pair, arrays: [[usize; 2]; 3], count: usize) {
    let pairs = Pairs { arrays, extent: pair.extent(), count };
    // SAFETY: the members are readable at `a` and `b`, writable at `out` (this function's contract). The
    // arm's types are those of the pair's members: Fortran has its indices as reals.
    unsafe {
        match pair.value().scalar() {
            Scalar::I16 => pairs.choose(op, |x: i16, y| x > y, i32::min),
            Scalar::I32 => pairs.choose(op, |x: i32, y| x > y, i32::min),
            Scalar::I64 => pairs.choose(op, |x: i64, y| x > y, i32::min),
            Scalar::F32 => match pair.index().scalar() {
                Scalar::F32 => pairs.choose(op, |x: f32, y| x > y, |i: f32, j| if i < j { i } else { j }),
                _ => pairs.choose(op, |x: f32, y| x > y, i32::min),
            },
            Scalar::F64 => match pair.index().scalar() {
                Scalar::F64 => pairs.choose(op, |x: f64, y| x > y, |i: f64, j| if i < j { i } else { j }),
                _ => pairs.choose(op, |x: f64, y| x > y, i32::min),
            },
            _ => pairs.choose(op, LongDouble::is_above, i32::min),
        }
    }
}

/// Arrays of pairs: addresses of the first value and of the first index of both operands and of the result.
struct Pairs {
    arrays: [[usize; 2]; 3],
    /// Bytes from one pair to the next.
    extent: usize,
    count: usize,
}

impl Pairs {
    /// # Safety
    /// As [`located`], for values of type `V` and indices of type `I`, whose every byte pattern is a value.
    #[inline(always)]
    unsafe fn choose<V: Copy, I: Copy>(
        &self,
        op: Op,
        above: impl Fn(V, V) -> bool,
        lower: impl Fn(I, I) -> I,
    ) {
        // SAFETY: members of these types are readable at `a` and `b`, writable at `out` (this method's contract).
        unsafe {
            if op == Op::Maxloc { self.each(above, lower) } else { self.each(|x, y| above(y, x), lower) }
        }
    }

    /// The loop for one type and operation: without branches, so that values in any order take the same time.
    ///
    /// # Safety
    /// As [`Pairs::choose`].
    #[inline(always)]
    unsafe fn each<V: Copy, I: Copy>(&self, better: impl Fn(V, V) -> bool, lower: impl Fn(I, I) -> I) {
        for number in 0..self.count {
            let [a, b, out] =
                self.arrays.map(|members| members.map(|first| first.wrapping_add(number * self.extent)));
            // SAFETY: a `V` and an `I` are readable at `a` and `b`, writable at `out` (this method's contract). All
            // is read before anything is written.
            unsafe {
                let (x, y) = (load::<V>(a[0]), load::<V>(b[0]));
                let (i, j) = (load::<I>(a[1]), load::<I>(b[1]));
                let (first, second) = (better(x, y), better(y, x));
                let equal = lower(i, j);
                store(out[0], if first { x } else { y });
                store(
                    out[1],
                    if first {
                        i
                    } else if second {
                        j
                    } else {
                        equal
                    },
                );
            }
        }
    }
}
