//! Reduction operations (MPI-5.0, sections "Predefined Reduction Operations" and "User-Defined Reduction Operations").
//!
//! The predefined operations are [`Kernel`]s (`lwk-reduce`): loops for three widths of vectors that read two arrays and write
//! one or two, so that a result for two ranks is written in one pass. Pairs with an index go through `lwk-datatype`, the program's own
//! operations through [`UserFunction`]. Whoever computes, contributions are combined
//! from the last rank to the first, so that the result is that of the ranks' order.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::rc::Rc;
use core::cell::Cell;
use lwk_copy::copy;
use lwk_datatype::Predefined;
pub use lwk_datatype::op::Kernel;
use lwk_datatype::op::{Op, combine as combine_rare, kernel};

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
pub enum Combiner {
    Fast(Kernel),
    Rare(Op, Predefined),
    User(Rc<UserOperation>),
}

/// An operation on a datatype.
#[derive(Clone)]
pub struct Operation {
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
        // SAFETY: `count` items of the datatype are readable at `left`, readable and writable at `inout`, and
        // apart (this function's contract).
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
            // SAFETY: the sources are readable, the targets writable, for `count` elements of the kernel's
            // type (this function's contract).
            Combiner::Fast(kernel) => unsafe { kernel(left, right, out, twin, count) },
            Combiner::Rare(op, on) => {
                let [a, b] = [left, right].map(|it| it.expose_provenance());
                // SAFETY: `count` elements are readable at `left` and `right`, writable at `out` and `twin`
                // (this function's contract). It fails only for what `Engine::operation` has refused.
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
    pub fn operation(&self, operation: u64, datatype: u64) -> Result<Operation> {
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
            // SAFETY: `count` items are readable at `input` and writable at `inout`, and do not overlap (this
            // function's contract).
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
        // SAFETY: the sources are readable, the targets writable, for `count` items (this function's
        // contract); `region` has refused a negative `count`.
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
    let kernel = match on {
        Predefined::Basic(basic) => kernel(op, basic),
        Predefined::Pair(_) => None,
    };
    Ok(kernel.map_or(Combiner::Rare(op, on), Combiner::Fast))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use lwk_datatype::Basic;
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
    fn every_operation_on_a_type_of_one_value_has_a_kernel() {
        for basic in Basic::ALL.iter().copied() {
            for op in Op::ALL {
                let rare = matches!(predefined_combiner(op, basic.into()), Ok(Combiner::Rare(..)));
                assert!(!rare, "{op:?} of {}", basic.name());
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
