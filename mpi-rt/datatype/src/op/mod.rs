//! Reductions: the predefined operations over predefined types, and the program's own (MPI 5.0, "Predefined Reduction
//! Operations", "MINLOC and MAXLOC", "User-Defined Reduction Operations", and the accumulate operations).
//!
//! `f(a, b)` is always `a op b` with `a` the input and `b` what is already there, the order that operations which do not
//! commute need. Integers wrap. Addresses need no alignment.

#![allow(unsafe_code)]

mod accumulate;
mod kernel;
mod table;

use alloc::rc::Rc;
use core::fmt;

pub use accumulate::accumulate;
pub use kernel::{combine, kernel, reduce};
pub use lwk_reduce::Kernel;
pub use table::Op;

use crate::basic::Predefined;
use crate::datatype::Datatype;
use crate::error::{Class, Error, Result};

/// A reduction function of the program.
pub trait UserFunction {
    /// Combines `items` items of `datatype` at address `input` into those at `inout`: `inout[i] = input[i] op inout[i]`.
    ///
    /// # Safety
    /// The items are valid: the input for reading, the others for both; they do not overlap and nobody else accesses the
    /// latter or writes the former meanwhile.
    unsafe fn call(&self, input: usize, inout: usize, items: i64, datatype: &Datatype);
}

/// A reduction: a predefined operation or one of the program's.
#[derive(Clone)]
pub enum Reduction {
    /// One of the standard's.
    Predefined(Op),
    /// One that `MPI_OP_CREATE` made.
    User {
        /// What to call.
        function: Rc<dyn UserFunction>,
        /// Whether operands may change places.
        commutes: bool,
    },
}

impl fmt::Debug for Reduction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reduction::Predefined(op) => write!(out, "{op:?}"),
            Reduction::User { commutes, .. } => write!(out, "User {{ commutes: {commutes} }}"),
        }
    }
}

impl Reduction {
    /// Whether operands may change places (`MPI_OP_COMMUTATIVE`). MPI_REPLACE and MPI_NO_OP do not commute.
    pub fn commutes(&self) -> bool {
        match self {
            Reduction::Predefined(op) => !matches!(op, Op::Replace | Op::NoOp),
            Reduction::User { commutes, .. } => *commutes,
        }
    }

    /// Whether a collective may apply it to this type: a predefined operation needs a predefined type of its table, and
    /// MPI_REPLACE and MPI_NO_OP are for one-sided communication only. Class `Op`.
    pub fn check(&self, datatype: &Datatype) -> Result<()> {
        let Reduction::Predefined(op) = self else { return Ok(()) };
        if matches!(op, Op::Replace | Op::NoOp) {
            return Err(Error::new(
                Class::Op,
                "MPI_REPLACE and MPI_NO_OP are operations of one-sided communication only",
            ));
        }
        checked(*op, datatype).map(drop)
    }

    /// `inout[i] = input[i] op inout[i]` for `items` items of the datatype, which must have passed [`Reduction::check`].
    /// Class `Op` if it would not, `Count` for a negative count.
    ///
    /// # Safety
    /// As [`UserFunction::call`], which a user's function relies on.
    pub unsafe fn apply(&self, input: usize, inout: usize, items: i64, datatype: &Datatype) -> Result<()> {
        let count = crate::error::count(items)?;
        match self {
            Reduction::Predefined(op) => {
                let on = checked(*op, datatype)?;
                // SAFETY: `count` items of predefined type `on` are readable at `input`, readable and
                // writable at `inout`, and apart (this method's contract).
                unsafe { reduce(*op, on, input, inout, count as usize) }
            }
            Reduction::User { function, .. } => {
                // SAFETY: `items` items are readable at `input`, readable and writable at `inout`, and apart
                // (this method's contract).
                unsafe { function.call(input, inout, items, datatype) };
                Ok(())
            }
        }
    }
}

fn checked(op: Op, datatype: &Datatype) -> Result<Predefined> {
    let allowed = datatype.as_predefined().filter(|on| op.allows(*on));
    allowed.ok_or(Error::new(Class::Op, "the predefined operation is not defined for this datatype"))
}
