//! Atomics and waiting, or the model checker's stand-ins for them: a protocol written over this module runs unchanged under
//! `loom` (feature `loom`, tests only).

#[cfg(not(all(test, feature = "loom")))]
mod machine {
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    /// Polls until the condition holds.
    #[inline(always)]
    pub(crate) fn wait_until(condition: impl FnMut() -> bool) {
        lwk_user::wait::spin_until(condition);
    }
}

#[cfg(all(test, feature = "loom"))]
mod machine {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    /// Polls until the condition holds; tells the checker that nothing changes until another thread has run.
    pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
        while !condition() {
            loom::thread::yield_now();
        }
    }
}

pub(crate) use machine::*;
