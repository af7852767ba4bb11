//! What depends on the processor: symbols, and `long double` as an argument.

mod x86_64;

pub(crate) use x86_64::export;
