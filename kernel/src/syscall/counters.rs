//! Margay's `core_counters`: what has disturbed the core.

use lwk_abi::syscall::CoreCounters;
use lwk_linux::Answer;

use crate::scheduler::Running;
use crate::user_slice::UserSlice;

/// Writes the counters of the calling rank's core to `target`. Errors: `EFAULT`.
pub fn core_counters(running: &Running, target: u64) -> Answer {
    let CoreCounters { interrupts, faults, syscalls } = running.core.counters.summary();
    let mut bytes = [0; size_of::<CoreCounters>()];
    for (field, value) in bytes.chunks_exact_mut(8).zip([interrupts, faults, syscalls]) {
        field.copy_from_slice(&value.to_le_bytes());
    }
    UserSlice::new(target, bytes.len() as u64).writable(running.job, running.rank)?.copy_from(&bytes);
    Ok(0)
}
