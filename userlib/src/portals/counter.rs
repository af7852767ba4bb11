//! Counting events.

use core::sync::atomic::Ordering;

use lwk_abi::syscall::portals as call;

use super::memory::{Memory, give_back};
use super::{Result, system_call};
use crate::wait::spin_until;

/// A counting event.
#[derive(Debug)]
pub struct Counter {
    pub(super) handle: u32,
    /// Gone only while it is dropped.
    pub(super) memory: Option<Memory>,
}

impl Counter {
    /// Its handle, for descriptors and entries.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Successes and failures (`PtlCTGet`). No system call.
    pub fn get(&self) -> (u64, u64) {
        // Acquire: pairs with the kernel's release, which follows what is counted.
        let word = |at| self.memory.as_ref().map_or(0, |memory| memory.word(at).load(Ordering::Acquire));
        (word(0), word(8))
    }

    /// Waits for so many successes, or for a failure (`PtlCTWait`).
    pub fn wait(&self, successes: u64) -> (u64, u64) {
        spin_until(|| {
            let (now, failures) = self.get();
            now >= successes || failures > 0
        });
        self.get()
    }

    /// Adds to the counts. Errors: none while the interface is open.
    pub fn add(&self, successes: u64, failures: u64) -> Result<()> {
        // SAFETY: the call writes to the counter's own memory.
        unsafe { system_call(call::COUNTER_CHANGE, [self.handle.into(), successes, failures, 0]) }.map(drop)
    }

    /// Sets the counts. Errors: none while the interface is open.
    pub fn set(&self, successes: u64, failures: u64) -> Result<()> {
        // SAFETY: the call writes to the counter's own memory.
        unsafe { system_call(call::COUNTER_CHANGE, [self.handle.into(), successes, failures, 1]) }.map(drop)
    }

    /// Forgets what it was to trigger. Errors: none while the interface is open.
    pub fn cancel_triggered(&self) -> Result<()> {
        // SAFETY: no memory is involved.
        unsafe { system_call(call::COUNTER_CANCEL, [self.handle.into(), 0, 0, 0]) }.map(drop)
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        give_back(call::COUNTER_FREE, self.handle, &mut self.memory);
    }
}
