//! Reductions: operators × types, for both runtimes.
//!
//! A [`Kernel`] combines two arrays element by element into one or two others. There is one for every operator on every type on which it is
//! defined: by name ([`kernel_of`], so that a program holds those only that it uses) or by number ([`kernel()`], for MPI's handles). All run at
//! the processor's longest vectors, where the type has vectors; what they do where no vector helps is said at the type.
//!
//! Integers wrap around. An operand that is not a number decides nothing in [`MinNumber`] and [`MaxNumber`] (OpenSHMEM's rule); in [`Min`] and
//! [`Max`] it is as the comparison says.
#![cfg_attr(not(test), no_std)]

mod arch;
mod element;
mod half;
mod kernel;
mod operator;
mod soft;
mod table;

pub use arch::LongDouble;
pub use element::{Complex, Element};
pub use kernel::{Kernel, kernel_of};
pub use operator::{
    And, LogicalAnd, LogicalOr, LogicalXor, Max, MaxNumber, Min, MinNumber, Operation, Or, Product, Sum, Xor,
};
pub use table::{Number, Operator, kernel, plain};
