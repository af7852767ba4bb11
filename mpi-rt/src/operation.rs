//! Reduction operations (MPI-5.0, sections "Predefined Reduction Operations" and "User-Defined Reduction Operations").
//!
//! The predefined operations on the common types are [`Kernel`]s: loops for three widths of vectors that read two arrays and write
//! one or two, so that a result for two ranks is written in one pass. Rare types (long double, 16-byte integers, pairs …) go
//! through `lwk-datatype`, the program's own operations through [`UserFunction`]. Whoever computes, contributions are combined
//! from the last rank to the first, so that the result is that of the ranks' order.

use crate::copy::copy;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::rc::Rc;
use core::cell::Cell;
use core::sync::atomic::{Ordering, compiler_fence};
use lwk_access::Vectors;
use lwk_datatype::op::{Op, combine as combine_rare};
use lwk_datatype::{Predefined, Scalar};

/// `out[i] = left[i] op right[i]` for `count` elements, and the same into `twin` unless that is null. Buffers may be in a peer's
/// slot and need no alignment; each target is one of the sources or overlaps neither.
pub type Kernel = unsafe fn(left: *const u8, right: *const u8, out: *mut u8, twin: *mut u8, count: usize);

/// The predefined operation and datatype that were used last, and their kernel. (Fortran's parameterized types are never freed,
/// nor are predefined ones, so their handles stay theirs.)
pub(crate) type LastKernel = Cell<Option<((u64, u64), Kernel)>>;

/// A reduction function of the program.
pub trait UserFunction {
    /// `inout[i] = input[i] op inout[i]` for `count` items of the datatype with that handle. It may use the engine, but must not
    /// communicate.
    ///
    /// # Safety
    /// The items are valid, the input's for reading, the others for both; they do not overlap.
    unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, datatype: u64);
}

/// An operation that the program made.
pub struct UserOperation {
    function: Rc<dyn UserFunction>,
    commutes: bool,
}

/// What combines elements of one datatype.
#[derive(Clone)]
pub(crate) enum Combiner {
    Fast(Kernel),
    Rare(Op, Predefined),
    User(Rc<UserOperation>),
}

/// An operation on a datatype.
#[derive(Clone)]
pub(crate) struct Operation {
    pub combiner: Combiner,
    /// Handle of the datatype, for the program's functions.
    pub datatype: u64,
}

impl Operation {
    /// Whether operands may change places.
    pub fn commutes(&self) -> bool {
        match &self.combiner {
            Combiner::User(user) => user.commutes,
            _ => true,
        }
    }

    /// Whether the program's function is called: its argument is both operand and result, and is memory of this rank.
    pub fn is_users(&self) -> bool {
        matches!(self.combiner, Combiner::User(_))
    }

    /// `inout[i] = left[i] op inout[i]`.
    ///
    /// # Safety
    /// `count` items of the datatype at both addresses, as [`Kernel`] and [`UserFunction::call`] need them.
    pub unsafe fn apply(&self, engine: &mut Engine, left: *const u8, inout: *mut u8, count: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match &self.combiner {
                Combiner::User(user) => engine.lend(|| {
                    user.function.call(left.cast_mut(), inout, count as i64, self.datatype);
                }),
                _ => self.combine(left, inout, inout, core::ptr::null_mut(), count),
            }
        }
    }

    /// As [`Kernel`]; does nothing for the program's operations, which have [`Operation::apply`].
    ///
    /// # Safety
    /// That of [`Kernel`].
    #[inline]
    pub unsafe fn combine(
        &self,
        left: *const u8,
        right: *const u8,
        out: *mut u8,
        twin: *mut u8,
        count: usize,
    ) {
        match &self.combiner {
            // SAFETY: the caller's promise.
            Combiner::Fast(kernel) => unsafe { kernel(left, right, out, twin, count) },
            Combiner::Rare(op, on) => {
                let [a, b] = [left, right].map(|it| it.expose_provenance());
                // SAFETY: the caller's promise. It fails only for what `Engine::operation` has refused.
                unsafe {
                    let _ = combine_rare(*op, *on, a, b, out.expose_provenance(), count);
                    if !twin.is_null() {
                        copy(out, twin, count * on.extent());
                    }
                }
            }
            Combiner::User(_) => {}
        }
    }
}

impl Engine {
    /// An operation of the program; `commutes` allows operands to change places (`MPI_OP_CREATE`).
    pub fn op_create(&mut self, function: Rc<dyn UserFunction>, commutes: bool) -> Handle {
        self.operations.insert(Rc::new(UserOperation { function, commutes }))
    }

    /// Gives an operation up; what uses it is not affected (`MPI_OP_FREE`). Errors: `OP`, also for predefined ones.
    pub fn op_free(&mut self, operation: u64) -> Result<()> {
        self.operations.remove(Handle(operation)).map(drop).ok_or(Error::OP)
    }

    /// Whether operands may change places (`MPI_OP_COMMUTATIVE`). Errors: `OP`.
    pub fn op_commutes(&self, operation: u64) -> Result<bool> {
        match Op::from_handle(operation as usize) {
            Some(op) => Ok(!matches!(op, Op::Replace | Op::NoOp)),
            None => self.operations.get(Handle(operation)).map(|it| it.commutes).ok_or(Error::OP),
        }
    }

    /// An operation on a datatype. Errors: `OP` if there is no such operation, or not on this type; `TYPE`.
    #[inline]
    pub(crate) fn operation(&self, operation: u64, datatype: u64) -> Result<Operation> {
        match self.last_kernel.get() {
            Some(((op, on), kernel)) if (op, on) == (operation, datatype) => {
                Ok(Operation { combiner: Combiner::Fast(kernel), datatype })
            }
            _ => self.find_operation(operation, datatype),
        }
    }

    #[inline(never)]
    fn find_operation(&self, operation: u64, datatype: u64) -> Result<Operation> {
        let combiner = match Op::from_handle(operation as usize) {
            Some(op) => {
                let predefined = match Predefined::from_handle(datatype as usize) {
                    Some(predefined) => predefined,
                    // Fortran's parameterized types are predefined ones under other handles.
                    None => self.datatype(datatype)?.as_predefined().ok_or(Error::OP)?,
                };
                predefined_combiner(op, predefined)?
            }
            None => {
                let user = self.operations.get(Handle(operation)).ok_or(Error::OP)?;
                self.datatype(datatype)?.layout()?;
                Combiner::User(user.clone())
            }
        };
        if let Combiner::Fast(kernel) = combiner {
            self.last_kernel.set(Some(((operation, datatype), kernel)));
        }
        Ok(Operation { combiner, datatype })
    }

    /// `inout[i] = input[i] op inout[i]` in this rank alone (`MPI_REDUCE_LOCAL`). Errors: `COUNT`, `TYPE`, `OP`, `BUFFER`.
    ///
    /// # Safety
    /// `count` items must be readable at `input`, and writable at `inout`; they must not overlap.
    pub unsafe fn reduce_local(
        &mut self,
        input: *const u8,
        inout: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
    ) -> Result<()> {
        let reduction = self.reduction(count, datatype, operation)?;
        self.check_buffer(input, count, datatype)?;
        self.check_buffer(inout, count, datatype)?;
        if reduction.count > 0 {
            // SAFETY: the caller's promise.
            unsafe { reduction.operation.apply(self, input, inout, reduction.count) };
        }
        Ok(())
    }
}

impl Engine {
    /// `out[i] = left[i] op right[i]` in this rank alone, and the same into `twin` unless that is null: what a rank's share of an allreduce of two
    /// costs where no peer is needed, for benchmarks. Errors: `COUNT`, `TYPE`, `OP`, which the program's operations are.
    ///
    /// # Safety
    /// That of [`Kernel`], for `count` items of the datatype.
    #[expect(clippy::too_many_arguments, reason = "a kernel's own, and what chooses it")]
    pub unsafe fn combine_local(
        &mut self,
        left: *const u8,
        right: *const u8,
        out: *mut u8,
        twin: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
    ) -> Result<()> {
        self.region(left, count, datatype)?;
        let operation = self.operation(operation, datatype)?;
        if operation.is_users() {
            return Err(Error::OP);
        }
        // SAFETY: the caller's promise.
        unsafe { operation.combine(left, right, out, twin, count as usize) };
        Ok(())
    }
}

/// What combines elements of a predefined type. Errors: `OP` if the operation is not defined for it, or is one of one-sided
/// communication only.
pub(crate) fn predefined_combiner(op: Op, on: Predefined) -> Result<Combiner> {
    if matches!(op, Op::Replace | Op::NoOp) || !op.allows(on) {
        return Err(Error::OP);
    }
    Ok(kernel(op, on).map_or(Combiner::Rare(op, on), Combiner::Fast))
}

/// Bytes that a kernel loads from each source before it stores any: no store then stands between a load and its use, whichever
/// arrays are the same, and the compiler needs no check for overlap to use vectors.
const CHUNK: usize = 128;

/// # Safety
/// That of [`Kernel`], for elements of type `T`, of which any bytes are a value.
#[inline(always)]
unsafe fn combine<T: Copy, const LANES: usize>(
    left: *const u8,
    right: *const u8,
    out: *mut u8,
    twin: *mut u8,
    count: usize,
    operation: impl Fn(T, T) -> T,
) {
    let (left, right, out) = (left.cast::<T>(), right.cast::<T>(), out.cast::<T>());
    let (twin, doubled) = (twin.cast::<T>(), !twin.is_null());
    let chunks = count / LANES;
    // SAFETY: below `count` (the caller's promise); unaligned accesses, since users' buffers may be unaligned.
    unsafe {
        // A plain loop: only what is inlined here is compiled for this processor's vectors.
        let mut done = 0;
        while done < chunks {
            let at = done * LANES;
            let a = left.add(at).cast::<[T; LANES]>().read_unaligned();
            let b = right.add(at).cast::<[T; LANES]>().read_unaligned();
            let result: [T; LANES] = core::array::from_fn(|lane| operation(a[lane], b[lane]));
            out.add(at).cast::<[T; LANES]>().write_unaligned(result);
            if doubled {
                twin.add(at).cast::<[T; LANES]>().write_unaligned(result);
            }
            done += 1;
            // No code: without it the compiler makes vectors of what lies at the same place of several chunks, by gathering. Measured: 65 us
            // instead of 7 for 256 KiB of 4-byte numbers.
            compiler_fence(Ordering::SeqCst);
        }
        for at in chunks * LANES..count {
            let result = operation(left.add(at).read_unaligned(), right.add(at).read_unaligned());
            out.add(at).write_unaligned(result);
            if doubled {
                twin.add(at).write_unaligned(result);
            }
        }
    }
}

macro_rules! kernel {
    ($type:ty, $combine:expr) => {{
        const LANES: usize = CHUNK / size_of::<$type>();
        /// # Safety
        /// That of [`Kernel`].
        unsafe fn narrow(left: *const u8, right: *const u8, out: *mut u8, twin: *mut u8, count: usize) {
            // SAFETY: the caller's promise.
            unsafe { combine::<$type, LANES>(left, right, out, twin, count, $combine) }
        }
        /// # Safety
        /// That of [`Kernel`], on a processor with AVX2.
        #[target_feature(enable = "avx,avx2")]
        unsafe fn wide(left: *const u8, right: *const u8, out: *mut u8, twin: *mut u8, count: usize) {
            // SAFETY: the caller's promise.
            unsafe { combine::<$type, LANES>(left, right, out, twin, count, $combine) }
        }
        /// # Safety
        /// That of [`Kernel`], on a processor with AVX-512.
        #[target_feature(enable = "avx512f")]
        unsafe fn widest(left: *const u8, right: *const u8, out: *mut u8, twin: *mut u8, count: usize) {
            // SAFETY: the caller's promise.
            unsafe { combine::<$type, LANES>(left, right, out, twin, count, $combine) }
        }
        match lwk_access::vectors() {
            Vectors::Sse2 => narrow as Kernel,
            Vectors::Avx => wide as Kernel,
            Vectors::Avx512 => widest as Kernel,
        }
    }};
}

macro_rules! integer {
    ($type:ty, $operation:expr) => {
        match $operation {
            Op::Sum => kernel!($type, |a: $type, b| a.wrapping_add(b)),
            Op::Prod => kernel!($type, |a: $type, b| a.wrapping_mul(b)),
            Op::Min => kernel!($type, |a: $type, b| a.min(b)),
            Op::Max => kernel!($type, |a: $type, b| a.max(b)),
            Op::Band => kernel!($type, |a: $type, b| a & b),
            Op::Bor => kernel!($type, |a: $type, b| a | b),
            Op::Bxor => kernel!($type, |a: $type, b| a ^ b),
            _ => return None,
        }
    };
}

macro_rules! float {
    ($type:ty, $operation:expr) => {
        match $operation {
            Op::Sum => kernel!($type, |a: $type, b| a + b),
            Op::Prod => kernel!($type, |a: $type, b| a * b),
            Op::Min => kernel!($type, |a: $type, b| if b < a { b } else { a }),
            Op::Max => kernel!($type, |a: $type, b| if b > a { b } else { a }),
            _ => return None,
        }
    };
}

macro_rules! complex {
    ($float:ty, $operation:expr) => {
        match $operation {
            Op::Sum => kernel!([$float; 2], |a: [$float; 2], b: [$float; 2]| [a[0] + b[0], a[1] + b[1]]),
            Op::Prod => kernel!([$float; 2], |a: [$float; 2], b: [$float; 2]| [
                a[0] * b[0] - a[1] * b[1],
                a[0] * b[1] + a[1] * b[0]
            ]),
            _ => return None,
        }
    };
}

/// The loop for an operation on a type that has one.
fn kernel(op: Op, on: Predefined) -> Option<Kernel> {
    let Predefined::Basic(basic) = on else { return None };
    Some(match basic.scalar() {
        Scalar::I8 => integer!(i8, op),
        Scalar::I16 => integer!(i16, op),
        Scalar::I32 => integer!(i32, op),
        Scalar::I64 => integer!(i64, op),
        Scalar::U8 | Scalar::Raw => integer!(u8, op),
        Scalar::U16 => integer!(u16, op),
        Scalar::U32 => integer!(u32, op),
        Scalar::U64 => integer!(u64, op),
        Scalar::F32 => float!(f32, op),
        Scalar::F64 => float!(f64, op),
        Scalar::C32 => complex!(f32, op),
        Scalar::C64 => complex!(f64, op),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use lwk_datatype::Basic;
    use std::vec;
    use std::vec::Vec;

    fn operation(op: Op, basic: Basic) -> Operation {
        let combiner = predefined_combiner(op, basic.into()).unwrap();
        Operation { combiner, datatype: basic.handle().into() }
    }

    fn apply<T: Copy>(op: Op, basic: Basic, left: &[T], right: &[T]) -> Vec<T> {
        let (mut result, mut twin) = (right.to_vec(), left.to_vec());
        let (out, copy) = (result.as_mut_ptr().cast::<u8>(), twin.as_mut_ptr().cast::<u8>());
        // SAFETY: all slices hold as many elements of the kind; the results go over the operands.
        unsafe { operation(op, basic).combine(copy, out, out, copy, left.len()) };
        let bytes = |it: &[T]| {
            // SAFETY: numbers are bytes.
            unsafe { core::slice::from_raw_parts(it.as_ptr().cast::<u8>(), size_of_val(it)).to_vec() }
        };
        assert_eq!(bytes(&result), bytes(&twin));
        result
    }

    #[test]
    fn arithmetic_is_the_languages_own_and_integers_wrap() {
        assert_eq!(apply(Op::Sum, Basic::Int, &[1, i32::MAX], &[2, 1]), [3, i32::MIN]);
        assert_eq!(apply(Op::Prod, Basic::Double, &[1.5, -2.0], &[2.0, 4.0]), [3.0, -8.0]);
        assert_eq!(apply(Op::Min, Basic::Int8, &[-1i8, 5], &[1, -5]), [-1, -5]);
        assert_eq!(apply(Op::Max, Basic::Uint8, &[255u8, 5], &[1, 6]), [255, 6]);
        assert_eq!(apply(Op::Lxor, Basic::Int, &[7, 0, 3], &[0, 0, 9]), [1, 0, 0]);
        assert_eq!(apply(Op::Prod, Basic::CFloatComplex, &[0f32, 1.0], &[0.0, 1.0])[..1], [-1.0]);
    }

    #[test]
    fn kernels_agree_with_the_rare_path_at_every_length() {
        for basic in Basic::ALL.iter().copied() {
            for op in Op::ALL {
                let Ok(Combiner::Fast(_)) = predefined_combiner(op, basic.into()) else { continue };
                let width = basic.size();
                for count in [0, 1, 7, 15, 16, 17, 64, 131] {
                    // Small numbers in every representation: low bytes only, so that floats are tiny and finite.
                    let fill = |seed: usize| -> Vec<u8> {
                        (0..count * width)
                            .map(|i| if i % width < 2 { (i * seed % 251) as u8 } else { 0 })
                            .collect()
                    };
                    let (left, right) = (fill(7), fill(13));
                    let (mut fast, mut rare) = (vec![0u8; count * width], vec![0u8; count * width]);
                    let null = core::ptr::null_mut();
                    let operation = operation(op, basic);
                    // SAFETY: all vectors hold `count` elements.
                    unsafe {
                        operation.combine(left.as_ptr(), right.as_ptr(), fast.as_mut_ptr(), null, count);
                        let rare_one = Operation { combiner: Combiner::Rare(op, basic.into()), ..operation };
                        rare_one.combine(left.as_ptr(), right.as_ptr(), rare.as_mut_ptr(), null, count);
                    }
                    assert_eq!(fast, rare, "{op:?} of {count} {}", basic.name());
                }
            }
        }
    }

    #[test]
    fn operations_that_mean_nothing_on_a_type_are_refused() {
        let refused = |op, basic: Basic| matches!(predefined_combiner(op, basic.into()), Err(Error::OP));
        assert!(refused(Op::Band, Basic::Double));
        assert!(refused(Op::Sum, Basic::Wchar));
        assert!(!refused(Op::Sum, Basic::Char));
        assert!(refused(Op::Max, Basic::CDoubleComplex));
        assert!(refused(Op::Replace, Basic::Int));
        assert!(!refused(Op::Sum, Basic::LongDouble));
    }
}
