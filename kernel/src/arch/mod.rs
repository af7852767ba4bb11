//! The one place that knows the processor. Everything else in the kernel names what it needs through this module.
//!
//! It calls nobody above it: what happens to the processor goes to the [`exceptions::Handlers`] that the kernel has given it.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use self::x86_64::*;
