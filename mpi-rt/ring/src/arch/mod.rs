//! The machine: asking for a line before it is needed. One entry per processor family; there is one.

mod x86_64;
pub(crate) use x86_64::prefetch_to_read;
pub use x86_64::prefetch_to_write;
