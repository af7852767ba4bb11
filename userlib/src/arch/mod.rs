//! The machine: the only place of the library with assembly. One folder entry per processor family; there is one.

mod x86_64;
pub(crate) use x86_64::*;
