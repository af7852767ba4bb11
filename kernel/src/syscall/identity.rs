//! Who and where a program is, and small facts of the system.

use lwk_abi::address::USER_END;
use lwk_abi::syscall::CoreCounters;
use lwk_abi::syscall::errno::{EINVAL, ENOSYS, EPERM};

use super::{Answer, Errno};
use crate::arch::random;
use crate::arch::user_state::{self, ThreadPointers};
use crate::core_local::Core;
use crate::rank::Rank;
use crate::user_memory::UserSlice;

/// The number that `getpid` and `gettid` tell: process numbers are positive, ranks start at 0.
pub fn process_number(rank: &Rank) -> u64 {
    rank.number() as u64 + 1
}

/// Bytes of each string of `uname(2)`, with its NUL.
const NAME_BYTES: usize = 65;
/// System, node, release, version, machine, domain. C libraries compare the release with the oldest Linux they support.
const NAMES: [&str; 6] =
    ["Margay", "margay", concat!("6.1.0-margay-", env!("CARGO_PKG_VERSION")), "#1", "x86_64", "(none)"];

/// `uname(2)`.
pub fn uname(rank: &Rank, target: u64) -> Answer {
    let mut bytes = [0; NAME_BYTES * NAMES.len()];
    for (field, name) in bytes.chunks_exact_mut(NAME_BYTES).zip(NAMES) {
        field[..name.len()].copy_from_slice(name.as_bytes());
    }
    UserSlice::new(target, bytes.len() as u64).writable(rank)?.copy_from(&bytes);
    Ok(0)
}

const GRND_NONBLOCK: u32 = 1;
const GRND_RANDOM: u32 = 2;
const GRND_INSECURE: u32 = 4;
/// Most bytes one call gives (random(4)).
const RANDOM_BYTES_MAX: u64 = 33_554_431;

/// `getrandom(2)`, from the processor's generator; `ENOSYS` on a processor without one.
pub fn getrandom(rank: &Rank, target: UserSlice, flags: u64) -> Answer {
    let flags = flags as u32;
    let both = GRND_RANDOM | GRND_INSECURE;
    if flags & !(GRND_NONBLOCK | both) != 0 || flags & both == both {
        return Err(Errno(EINVAL));
    }
    let memory = target.at_most(RANDOM_BYTES_MAX).writable(rank)?;
    for offset in (0..memory.bytes()).step_by(8) {
        let value = random::random().ok_or(Errno(ENOSYS))?.to_le_bytes();
        let piece = memory.piece(offset, value.len());
        piece.copy_from(&value[..piece.bytes()]);
    }
    Ok(memory.bytes() as u64)
}

const ARCH_SET_GS: u32 = 0x1001;
const ARCH_SET_FS: u32 = 0x1002;
const ARCH_GET_FS: u32 = 0x1003;
const ARCH_GET_GS: u32 = 0x1004;

/// `arch_prctl(2)`.
pub fn arch_prctl(rank: &Rank, code: u64, address: u64) -> Answer {
    let code = code as u32;
    match code {
        ARCH_SET_FS | ARCH_SET_GS if address >= USER_END => Err(Errno(EPERM)),
        ARCH_SET_FS => {
            user_state::write_fs(address);
            Ok(0)
        }
        ARCH_SET_GS => {
            user_state::write_gs(address);
            Ok(0)
        }
        ARCH_GET_FS | ARCH_GET_GS => {
            let ThreadPointers { fs, gs } = ThreadPointers::read();
            let value = if code == ARCH_GET_FS { fs } else { gs };
            UserSlice::new(address, 8).writable(rank)?.copy_from(&value.to_le_bytes());
            Ok(0)
        }
        _ => Err(Errno(EINVAL)),
    }
}

/// Margay's `core_counters`.
pub fn core_counters(core: &Core, rank: &Rank, target: u64) -> Answer {
    let CoreCounters { interrupts, faults, syscalls } = core.counters.summary();
    let mut bytes = [0; size_of::<CoreCounters>()];
    for (field, value) in bytes.chunks_exact_mut(8).zip([interrupts, faults, syscalls]) {
        field.copy_from_slice(&value.to_le_bytes());
    }
    UserSlice::new(target, bytes.len() as u64).writable(rank)?.copy_from(&bytes);
    Ok(0)
}
