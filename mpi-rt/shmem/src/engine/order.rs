//! `fence` and `quiet` (the standard, section 9.11).
//!
//! Puts are stores, and this machine keeps stores in order, so `fence` only stops the compiler. `quiet` also empties the store
//! buffer: after it, puts are done, not merely on their way, and a later get cannot overtake them.

use core::sync::atomic::{Ordering, fence as memory_fence};

/// Orders puts, atomics and stores before it with those after it, for each PE (`shmem_fence`).
#[inline(always)]
pub fn fence() {
    // Release: pairs with the acquire loads of the wait routines, in the PE that sees a later flag.
    memory_fence(Ordering::Release);
}

/// Completes all puts, atomics and stores before it, in all PEs (`shmem_quiet`).
#[inline(always)]
pub fn quiet() {
    // SeqCst: a store followed by a load of a flag the peer sets likewise must not pass it, in either PE.
    memory_fence(Ordering::SeqCst);
}
