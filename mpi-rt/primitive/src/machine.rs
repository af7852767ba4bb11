//! The machine's atomics, and plain shared data.

use core::cell::UnsafeCell;
use core::sync::atomic::compiler_fence;

pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The processor's fence. A function of this crate, so that clippy can refuse core's elsewhere.
#[inline(always)]
pub fn fence(order: Ordering) {
    core::sync::atomic::fence(order);
}

/// A sequentially consistent fence that costs nothing, against a side that has the system make a fence on every core (`membarrier(2)`) before it
/// looks: of the two, one sees what the other has stored before.
#[inline(always)]
pub fn light_fence() {
    // The processor's part is the system's, who interrupts it.
    compiler_fence(Ordering::SeqCst);
}

/// No instruction: the compiler moves no access to memory from one side to the other.
#[inline(always)]
pub fn compiler_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// Plain data that one side writes and the other reads, never at once: who may when is up to the protocol that it is part of.
#[repr(transparent)]
pub struct Plain<T>(UnsafeCell<T>);

impl<T> Plain<T> {
    /// Data that nobody else has yet.
    pub const fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    /// Hands over where the data is, to be read while the protocol says that this side may.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Hands over where the data is, to be written while the protocol says that this side alone may.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
