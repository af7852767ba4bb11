//! What depends on the processor: symbols.

mod x86_64;
