//! The machine: the copy loops, and which vectors there are. One entry per processor family; there is one.

mod x86_64;
pub use x86_64::*;
