//! The machine: asking for a line before it is needed. One entry per processor family; there is one.

mod x86_64;
pub use x86_64::{prefetch_to_read, prefetch_to_write};
