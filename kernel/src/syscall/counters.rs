//! Margay's `core_counters`: what has disturbed the core.

use lwk_abi::syscall::CoreCounters;
use lwk_linux::Answer;

use crate::core_local::Core;
use crate::rank::Rank;
use crate::user_memory::UserSlice;

/// Writes the counters of the calling rank's core to `target`. Errors: `EFAULT`.
pub fn core_counters(core: &Core, rank: &Rank, target: u64) -> Answer {
    let CoreCounters { interrupts, faults, syscalls } = core.counters.summary();
    let mut bytes = [0; size_of::<CoreCounters>()];
    for (field, value) in bytes.chunks_exact_mut(8).zip([interrupts, faults, syscalls]) {
        field.copy_from_slice(&value.to_le_bytes());
    }
    UserSlice::new(target, bytes.len() as u64).writable(rank)?.copy_from(&bytes);
    Ok(0)
}
