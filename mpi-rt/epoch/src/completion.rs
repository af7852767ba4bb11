//! When puts and gets through loads and stores are complete (MPI-5.0, section 12.5.4, flush and sync).

use crate::primitive::{Ordering, compiler_barrier, fence};

/// What this rank has put before is there before it loads anything after.
#[inline(always)]
pub fn complete_at_targets() {
    // SeqCst: pairs with the fences of other ranks. Of two ranks that put and then get what the other has put, at least one sees the other's.
    fence(Ordering::SeqCst);
}

/// This rank may use the buffers of its operations again: they copy when they are called for, so only the compiler could move the next use of one ahead.
#[inline(always)]
pub fn complete_here() {
    compiler_barrier();
}
