//! Atomics and plain shared data, or the model checker's stand-ins for them.

#[cfg(not(all(test, feature = "loom")))]
mod machine {
    pub(crate) use core::sync::atomic::{AtomicU64, Ordering};

    /// Plain data that one side writes and the other reads, never at once.
    #[repr(transparent)]
    pub(crate) struct Plain<T>(core::cell::UnsafeCell<T>);

    impl<T> Plain<T> {
        pub(crate) const fn new(value: T) -> Plain<T> {
            Plain(core::cell::UnsafeCell::new(value))
        }

        /// The data, for reading.
        #[inline(always)]
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        /// The data, for writing.
        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(all(test, feature = "loom"))]
mod machine {
    pub(crate) use loom::cell::UnsafeCell as Plain;
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
}

pub(crate) use machine::*;
