//! What the protocols are written over, so that they run unchanged under `loom` (feature `loom`, tests only): see `lwk_primitive`.

#[cfg(not(all(test, feature = "loom")))]
mod machine {
    pub(crate) use lwk_primitive::machine::{AtomicU32, AtomicU64, Ordering, fence as memory_fence};
    pub(crate) use lwk_user::wait::spin_until as wait_until;
}

#[cfg(all(test, feature = "loom"))]
mod machine {
    pub(crate) use lwk_primitive::model::{
        AtomicU32, AtomicU64, Memory, Ordering, check, check_up_to, fence as memory_fence, wait as wait_until,
    };
}

pub(crate) use machine::*;
