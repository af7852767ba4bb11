//! The machine: the only place of the crate with assembly and vector instructions. There is one processor family.

mod x86_64;
pub(crate) use x86_64::*;
