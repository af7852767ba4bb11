//! The machine: the copy loops, single words, and which vectors there are. One entry per processor family; there is one.

mod rows;
pub mod word;
mod x86_64;
pub use rows::{Row, copy_row};
pub use x86_64::*;
