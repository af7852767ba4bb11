//! Counting events.

use lwk_abi::syscall::portals as call;
use lwk_words::counts::Counts;

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
        // SAFETY: a counter's words, which the kernel has been given as they were made.
        self.memory.as_ref().map_or((0, 0), |memory| unsafe { Counts::at(memory.start()) }.get())
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
