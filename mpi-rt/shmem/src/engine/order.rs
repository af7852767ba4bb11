//! `fence` and `quiet` (the standard, section 9.11).
//!
//! Puts are stores, and this machine keeps stores in order, as Portals does its operations on one PE; so `fence` only stops the compiler. `quiet` also
//! empties the store buffer, and waits for Portals: after it, puts are done, not merely on their way, and a later get cannot overtake them.

use super::far;
use super::pe::all_are_near;
use crate::protocol::order;

/// Orders puts, atomics and stores before it with those after it, for each PE (`shmem_fence`).
#[inline(always)]
pub fn fence() {
    order::fence();
}

/// Completes all puts, atomics and stores before it, in all PEs (`shmem_quiet`).
#[inline(always)]
pub fn quiet() {
    complete();
    order::quiet();
}

/// Waits until all that Portals has put and changed for this PE is there.
#[inline(always)]
pub(crate) fn complete() {
    if !all_are_near() {
        far::complete();
    }
}
