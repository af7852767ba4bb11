//! The machine: the copy loops. One folder entry per processor family; there is one.

mod x86_64;
pub(crate) use x86_64::*;
