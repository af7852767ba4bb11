//! Locks (the standard, section 9.12): [`crate::protocol::queue_lock`] on a symmetric `long`.
//!
//! Fair: PEs get the lock in the order they asked. Taking a free lock is one locked instruction on its home PE, which follows
//! from its address, so that locks spread over PEs.

use super::atomic::{atomic_and, atomic_compare_swap, atomic_or, atomic_swap};
use super::fatal::stop;
use super::order::quiet;
use super::pair::await_peers;
use super::pe::{my_pe, n_pes};
use crate::protocol::queue_lock::{self, LockMisuse, LockWord, Words};
use lwk_user::wait::give_way;

/// The PE that keeps a lock's tail.
fn home(lock: *const i64) -> u32 {
    // Objects of the heap lie on lines: the bits above a line's differ.
    let line = lock.addr() / 64;
    (line % n_pes() as usize) as u32
}

/// The lock's words.
///
/// # Safety
/// `lock` must be a symmetric, aligned `long`, zero at first, used by the lock routines only, and live as
/// long as what is returned is used.
unsafe fn words(lock: *mut i64) -> impl Words {
    Symmetric(lock.cast())
}

/// A lock's words by the atomics of this library: a symmetric, aligned `long` that is zero at first and used by the lock routines only, and lives.
struct Symmetric(*mut LockWord);

impl Symmetric {
    fn tail(&self) -> *mut u32 {
        self.0.wrapping_byte_add(LockWord::TAIL).cast()
    }

    fn place(&self) -> *mut u32 {
        self.0.wrapping_byte_add(LockWord::PLACE).cast()
    }

    fn home(&self) -> i32 {
        home(self.0.cast()) as i32
    }
}

// What a fetching atomic of the engine orders: both ways, as a locked instruction and as an operation of Portals', which ends before it returns. The one
// that fetches nothing leaves after what was put before.
impl Words for Symmetric {
    fn own(&self) -> &LockWord {
        // SAFETY: this PE's, aligned and live (the type's promise); two atomics.
        unsafe { &*self.0 }
    }

    fn swap_tail(&self, last: u32) -> u32 {
        // SAFETY: symmetric, aligned, and changed by atomics only (the type's promise).
        unsafe { atomic_swap(self.tail(), last, self.home()) }
    }

    fn replace_tail(&self, old: u32, new: u32) -> bool {
        // SAFETY: symmetric, aligned, and changed by atomics only (the type's promise).
        unsafe { atomic_compare_swap(self.tail(), old, new, self.home()) == old }
    }

    fn set_bits(&self, pe: u32, bits: u32) {
        // SAFETY: symmetric, aligned, and changed by atomics only (the type's promise).
        unsafe { atomic_or(self.place(), bits, pe as i32) };
    }

    fn clear_bits(&self, pe: u32, bits: u32) {
        // SAFETY: symmetric, aligned, and changed by atomics only (the type's promise).
        unsafe { atomic_and(self.place(), !bits, pe as i32) };
    }
}

/// Waits for the lock (`shmem_set_lock`). One that every other PE has exited with, or before it could be had, ends the job.
///
/// # Safety
/// `lock` must be a symmetric, aligned `long`, zero at first, used by the lock routines only, and live until
/// no PE has or awaits the lock.
pub unsafe fn set_lock(lock: *mut i64) {
    let wait = |free: &dyn Fn() -> bool| await_peers("shmem_set_lock", free);
    // SAFETY: `lock` is a symmetric, aligned, live `long` for the lock routines only (this function's
    // contract).
    let taken = queue_lock::acquire(my_pe() as u32, &unsafe { words(lock) }, wait);
    taken.unwrap_or_else(|misuse| misused("shmem_set_lock", lock, misuse));
}

/// Completes this PE's puts and gives the lock to the next PE (`shmem_clear_lock`).
///
/// # Safety
/// As for [`set_lock`].
pub unsafe fn clear_lock(lock: *mut i64) {
    quiet();
    // SAFETY: `lock` is a symmetric, aligned, live `long` for the lock routines only (this function's
    // contract).
    let given = queue_lock::release(my_pe() as u32, &unsafe { words(lock) });
    given.unwrap_or_else(|misuse| misused("shmem_clear_lock", lock, misuse));
}

/// Takes the lock if it is free: 0 if so, 1 if another PE has it (`shmem_test_lock`).
///
/// # Safety
/// As for [`set_lock`].
pub unsafe fn test_lock(lock: *mut i64) -> i32 {
    // SAFETY: `lock` is a symmetric, aligned, live `long` for the lock routines only (this function's
    // contract).
    match queue_lock::try_acquire(my_pe() as u32, &unsafe { words(lock) }) {
        Ok(taken) => {
            if !taken {
                give_way();
            }
            i32::from(!taken)
        }
        Err(misuse) => misused("shmem_test_lock", lock, misuse),
    }
}

#[cold]
fn misused(call: &str, lock: *const i64, misuse: LockMisuse) -> ! {
    let what = match misuse {
        LockMisuse::HeldAlready => "this PE has the lock already",
        LockMisuse::NotHeld => "this PE does not have the lock",
    };
    stop(format_args!("{call}: {what} (at {lock:p})"))
}
