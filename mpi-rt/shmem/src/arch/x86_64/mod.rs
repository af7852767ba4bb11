//! x86-64.

pub(crate) mod word;
