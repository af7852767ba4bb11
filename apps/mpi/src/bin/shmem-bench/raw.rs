//! The floors: what two cores do with bare loads and stores, no library between.
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_user::smartmap::remote_address;
use lwk_user::smartmap::{CacheLine, Peer, Symmetric};
use lwk_user::{NodeRank, copy, wait};

/// A flag on a line of its own, in every PE.
pub type Flag = Symmetric<CacheLine<AtomicU64>>;

/// What `pe` calls `local`, as this PE sees it. `pe` exists: the callers are tests of two PEs or of all.
pub fn at<T>(local: *const T, pe: i32) -> *mut T {
    match Peer::new(NodeRank(pe as u32)) {
        Some(peer) => remote_address(peer, local),
        None => unreachable!("a test of more PEs than there are"),
    }
}

/// Copies `bytes` bytes into a peer: one store if it is a word.
///
/// # Safety
/// Both ranges must exist and not overlap; nobody else uses them.
#[inline(always)]
pub unsafe fn store(source: *const u8, target: *mut u8, bytes: usize) {
    if bytes == 8 {
        // SAFETY: both ranges exist and nobody else uses them (this function's contract); both are aligned, as the buffers are and words lie at
        // their start.
        unsafe { target.cast::<u64>().write_volatile(source.cast::<u64>().read_volatile()) }
    } else {
        // SAFETY: both ranges exist, are apart, and nobody else uses them (this function's contract).
        unsafe { copy::copy(source, target, bytes) }
    }
}

/// Sets a peer's flag: everything stored before is visible when it is seen.
#[inline(always)]
pub fn raise(flag: &AtomicU64, value: u64) {
    // Release: pairs with the acquire load in `await_flag`.
    flag.store(value, Ordering::Release);
}

/// Waits until this PE's own flag has this very value: what was stored before [`raise`] is then visible.
#[inline(always)]
pub fn await_flag(flag: &AtomicU64, value: u64) {
    // Acquire: pairs with the release store in `raise`.
    wait::spin_until(|| flag.load(Ordering::Acquire) == value);
}
