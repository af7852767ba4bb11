//! Reductions (MPI-5.0, section 6.9): the predefined ones, and closures of the program.

use super::element::Element;
use alloc::rc::Rc;
use core::marker::PhantomData;
use lwk_mpi_rt::abi::op;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Result;
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_rt::operation::UserFunction;

/// Predefined reductions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Operation {
    Sum = op::SUM,
    Product = op::PROD,
    Min = op::MIN,
    Max = op::MAX,
    BitAnd = op::BAND,
    BitOr = op::BOR,
    BitXor = op::BXOR,
    And = op::LAND,
    Or = op::LOR,
    Xor = op::LXOR,
    /// The least value and the least index of those that have it, on [`Located`](super::Located) values.
    MinLoc = op::MINLOC,
    /// The greatest value, likewise.
    MaxLoc = op::MAXLOC,
    /// Of one-sided communication only: the new value.
    Replace = op::REPLACE,
    /// Of one-sided communication only: the old value.
    NoOp = op::NO_OP,
}

mod sealed {
    /// Only this module says what combines elements.
    pub trait Sealed {}
}

/// What combines elements of a type. Whether a predefined operation is defined for it is seen in the call: `OP` if not.
pub trait Reduction<T: Element>: sealed::Sealed {
    /// The operation's handle.
    fn handle(&self) -> u64;
}

impl sealed::Sealed for Operation {}

impl<T: Element> Reduction<T> for Operation {
    #[inline]
    fn handle(&self) -> u64 {
        *self as u64
    }
}

/// An operation of the program. What uses it when it is dropped is not affected.
pub struct UserOperation<T: Element> {
    handle: Handle,
    element: PhantomData<T>,
}

impl<T: Element> UserOperation<T> {
    /// An associative operation on two elements, of which the left one is the lower rank's. Errors: `OTHER` if the runtime is not running.
    pub fn new(combine: impl Fn(T, T) -> T + 'static) -> Result<UserOperation<T>> {
        Self::create(combine, false)
    }

    /// One whose operands may change places. Errors: as for [`UserOperation::new`].
    pub fn commutative(combine: impl Fn(T, T) -> T + 'static) -> Result<UserOperation<T>> {
        Self::create(combine, true)
    }

    fn create(combine: impl Fn(T, T) -> T + 'static, commutes: bool) -> Result<UserOperation<T>> {
        let function = Rc::new(Elementwise { combine, element: PhantomData });
        let handle = with(|engine| Ok(engine.op_create(function, commutes)))?;
        Ok(UserOperation { handle, element: PhantomData })
    }
}

impl<T: Element> Drop for UserOperation<T> {
    fn drop(&mut self) {
        // It can only fail if the runtime has ended, and then there is nothing to free.
        let _ = with(|engine| engine.op_free(self.handle.0));
    }
}

impl<T: Element> sealed::Sealed for &UserOperation<T> {}

impl<T: Element> Reduction<T> for &UserOperation<T> {
    fn handle(&self) -> u64 {
        self.handle.0
    }
}

/// A closure, for arrays.
struct Elementwise<T, F> {
    combine: F,
    element: PhantomData<fn(T)>,
}

impl<T: Element, F: Fn(T, T) -> T> UserFunction for Elementwise<T, F> {
    unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, datatype: u64) {
        // This face gives the operation elements of its type only; under another handle nothing is known of the items.
        let count = if datatype == T::DATATYPE { usize::try_from(count).unwrap_or(0) } else { 0 };
        let (input, inout) = (input.cast::<T>(), inout.cast::<T>());
        for index in 0..count {
            // SAFETY: `count` items of the type are readable at `input` and writable at `inout` (this
            // function's contract), at any alignment.
            unsafe {
                let left = input.add(index).read_unaligned();
                let right = inout.add(index).read_unaligned();
                inout.add(index).write_unaligned((self.combine)(left, right));
            }
        }
    }
}
