//! Atomics, or the model checker's stand-ins for them.

#[cfg(not(all(test, feature = "loom")))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(all(test, feature = "loom"))]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
