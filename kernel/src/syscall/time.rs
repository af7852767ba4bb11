//! Time.

use lwk_abi::syscall::errno::EINVAL;

use super::{Answer, Errno};
use crate::arch::clock;
use crate::rank::Rank;
use crate::user_memory::UserSlice;

const NANOSECONDS: u64 = 1_000_000_000;

/// Linux's clock numbers.
mod clocks {
    pub const REALTIME: u32 = 0;
    pub const MONOTONIC: u32 = 1;
    pub const PROCESS_CPUTIME: u32 = 2;
    pub const THREAD_CPUTIME: u32 = 3;
    pub const MONOTONIC_RAW: u32 = 4;
    pub const REALTIME_COARSE: u32 = 5;
    pub const MONOTONIC_COARSE: u32 = 6;
    pub const BOOTTIME: u32 = 7;
    pub const TAI: u32 = 11;
}

/// `clock_gettime(2)`. A rank has its core to itself, so its processor time is the time since boot.
pub fn clock_gettime(rank: &Rank, which: u64, target: u64) -> Answer {
    let now = clock::ticks();
    let nanoseconds = match which as u32 {
        clocks::REALTIME | clocks::REALTIME_COARSE | clocks::TAI => {
            let (base, base_ticks) = clock::wall_base();
            base + clock::nanoseconds(now.saturating_sub(base_ticks))
        }
        clocks::MONOTONIC
        | clocks::MONOTONIC_RAW
        | clocks::MONOTONIC_COARSE
        | clocks::BOOTTIME
        | clocks::PROCESS_CPUTIME
        | clocks::THREAD_CPUTIME => clock::nanoseconds(now),
        _ => return Err(Errno(EINVAL)),
    };
    let mut timespec = [0; 16];
    timespec[..8].copy_from_slice(&(nanoseconds / NANOSECONDS).to_le_bytes());
    timespec[8..].copy_from_slice(&(nanoseconds % NANOSECONDS).to_le_bytes());
    UserSlice::new(target, timespec.len() as u64).writable(rank)?.copy_from(&timespec);
    Ok(0)
}
