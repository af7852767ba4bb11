//! Point-to-point synchronisation (the standard, section 9.10): waiting for, and testing, objects of this PE's own that peers
//! change.
//!
//! Waiting polls as [`lwk_user::wait`] does. What a peer stored before it changed the object, and ordered by `fence`, is visible
//! when the wait ends. A wait that nobody is left to end, since every other PE has exited, ends the job.

mod compare;
mod many;

pub use compare::{CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE, WaitWord};
pub use many::*;

use super::pair::await_peers;
use compare::compare;
use lwk_user::wait::give_way;

/// What a wait is called where its own name is not known.
const WAIT: &str = "a wait for a change of memory";

/// Waits until this PE's `object` compares so with `value`; returns what was seen (`shmem_TYPE_wait_until`).
///
/// # Safety
/// `object` must be an aligned object of this PE that others change by atomics or by puts of its size only.
#[inline]
pub unsafe fn wait_until<T: WaitWord>(object: *mut T, comparison: i32, value: T) -> T {
    let mut seen = value;
    compare!(comparison, holds => await_peers(WAIT, || {
        // SAFETY: `object` is this PE's, aligned, and changed by atomics or puts of its size only (this
        // function's contract).
        seen = unsafe { T::poll(object) };
        holds(&seen, &value)
    }));
    seen
}

/// Whether this PE's `object` compares so with `value` now (`shmem_TYPE_test`).
///
/// # Safety
/// As for [`wait_until`].
#[inline]
pub unsafe fn test<T: WaitWord>(object: *mut T, comparison: i32, value: T) -> bool {
    // SAFETY: `object` is this PE's, aligned, and changed by atomics or puts of its size only (this
    // function's contract).
    let holds = compare!(comparison, holds => holds(&unsafe { T::poll(object) }, &value));
    if !holds {
        give_way();
    }
    holds
}
