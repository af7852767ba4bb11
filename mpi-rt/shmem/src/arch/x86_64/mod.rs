//! x86-64.

#[cfg(not(all(test, feature = "loom")))]
pub(crate) mod long_double;
#[cfg(not(all(test, feature = "loom")))]
pub(crate) mod vector;
pub(crate) mod word;
