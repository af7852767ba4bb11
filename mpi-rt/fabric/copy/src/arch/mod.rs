//! The machine: the copy loops, single words, and which vectors there are. One entry per processor family; there is one.

pub mod word;
mod x86_64;
pub use x86_64::*;
