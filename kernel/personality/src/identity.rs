//! Who and where a program is, and facts of the system.

use lwk_abi::address::USER_END;
use lwk_abi::syscall::arch_prctl;
use lwk_abi::syscall::errno::{EINVAL, ENOSYS, EPERM, ESRCH};

use crate::machine::{Clock, Machine, write_words};
use crate::source::BYTES_MAX;
use crate::{Answer, Errno};

/// The number that `getpid` and `gettid` tell: the rank plus one, since process numbers are positive and ranks start at 0.
pub fn process_number<M: Machine>(machine: &M) -> u64 {
    u64::from(machine.facts().rank) + 1
}

/// Whether a process number of a call means the caller.
pub(crate) fn is_own<M: Machine>(machine: &M, number: u64) -> bool {
    number as i32 == 0 || u64::from(number as u32) == process_number(machine)
}

/// Bytes of each string of `uname(2)`, with its NUL.
const NAME_BYTES: usize = 65;
/// System, node, release, version, machine, domain. C libraries compare the release with the oldest Linux they support.
const NAMES: [&str; 6] =
    ["Margay", "margay", concat!("6.1.0-margay-", env!("CARGO_PKG_VERSION")), "#1", "x86_64", "(none)"];

/// `uname(2)`: six strings of 65 bytes, filled up with NULs. Errors: `EFAULT`.
pub fn names<M: Machine>(machine: &M, target: u64) -> Answer {
    let mut bytes = [0; NAME_BYTES * NAMES.len()];
    for (field, name) in bytes.chunks_exact_mut(NAME_BYTES).zip(NAMES) {
        field[..name.len()].copy_from_slice(name.as_bytes());
    }
    machine.write(target, &bytes)?;
    Ok(0)
}

const GRND_NONBLOCK: u32 = 1;
const GRND_RANDOM: u32 = 2;
const GRND_INSECURE: u32 = 4;
/// Most bytes one call gives (random(4)).
const RANDOM_BYTES_MAX: u64 = 33_554_431;

/// Random bytes are made in pieces of this many.
const RANDOM_PIECE_BYTES: usize = 256;

/// `getrandom(2)`, which never waits. Errors: `ENOSYS` where there is no generator, `EINVAL` for flags that do not go together, `EFAULT`.
pub fn random<M: Machine>(machine: &M, target: u64, bytes: u64, flags: u64) -> Answer {
    let flags = flags as u32;
    let both = GRND_RANDOM | GRND_INSECURE;
    if flags & !(GRND_NONBLOCK | both) != 0 || flags & both == both {
        return Err(Errno(EINVAL));
    }
    fill_random(machine, target, bytes.min(RANDOM_BYTES_MAX))
}

/// Fills memory with random bytes. Errors: `EFAULT`, and then nothing is written; `ENOSYS` where there is no generator.
pub fn fill_random<M: Machine>(machine: &M, target: u64, bytes: u64) -> Answer {
    let bytes = bytes.min(BYTES_MAX);
    machine.check_writable(target, bytes)?;
    let mut buffer = [0; RANDOM_PIECE_BYTES];
    for offset in (0..bytes).step_by(RANDOM_PIECE_BYTES) {
        let piece = (bytes - offset).min(RANDOM_PIECE_BYTES as u64) as usize;
        let piece = buffer.get_mut(..piece).unwrap_or_default();
        if !machine.random(piece) {
            return Err(Errno(ENOSYS));
        }
        machine.write(target + offset, piece)?;
    }
    Ok(bytes)
}

/// `arch_prctl(2)`. Errors: `EPERM` for an address that is not the program's, `EINVAL`, `EFAULT`.
pub fn thread_base<M: Machine>(machine: &M, code: u64, address: u64) -> Answer {
    let code = code as u32;
    match code {
        arch_prctl::SET_FS | arch_prctl::SET_GS if address >= USER_END => return Err(Errno(EPERM)),
        arch_prctl::SET_FS | arch_prctl::SET_GS => {
            machine.set_thread_base(code == arch_prctl::SET_GS, address)
        }
        arch_prctl::GET_FS | arch_prctl::GET_GS => {
            machine.check_writable(address, 8)?;
            let base = machine.thread_base(code == arch_prctl::GET_GS);
            machine.write(address, &base.to_le_bytes())?;
        }
        _ => return Err(Errno(EINVAL)),
    }
    Ok(0)
}

/// `set_robust_list(2)`: a list of locks that are never shared with a thread that could die. Errors: `EINVAL` for another length than its head's.
pub fn robust_list(bytes: u64) -> Answer {
    /// Bytes of its head.
    const HEAD_BYTES: u64 = 24;
    if bytes == HEAD_BYTES { Ok(0) } else { Err(Errno(EINVAL)) }
}

/// `sysinfo(2)`: seconds of the monotonic clock, memory of the node in bytes, one process; no load, swap or buffers. Errors: `EFAULT`.
pub fn system<M: Machine>(machine: &M, target: u64) -> Answer {
    let facts = machine.facts();
    let mut words = [0; 14];
    words[0] = machine.clock(Clock::Monotonic) / 1_000_000_000;
    words[4] = facts.memory_bytes;
    words[5] = facts.free_bytes;
    // Processes; then, behind the memory that only old machines have, the unit of memory.
    words[10] = 1;
    words[13] = 1;
    write_words(machine, target, words)?;
    Ok(0)
}

/// Bytes of the smallest set of cores that holds all the kernel can have.
const SET_BYTES: u64 = 32;

/// `sched_getaffinity(2)`: the rank's one core. The answer is the bytes written. Errors: `ESRCH` for another process, `EINVAL` for too few bytes,
/// `EFAULT`.
pub fn affinity<M: Machine>(machine: &M, process: u64, bytes: u64, target: u64) -> Answer {
    if !is_own(machine, process) {
        return Err(Errno(ESRCH));
    }
    let facts = machine.facts();
    let needed = u64::from(facts.cores.max(facts.core + 1)).div_ceil(64) * 8;
    let bytes = u64::from(bytes as u32);
    if bytes < needed || !bytes.is_multiple_of(8) {
        return Err(Errno(EINVAL));
    }
    let mut set = [0; SET_BYTES as usize * 8];
    let used = needed.min(set.len() as u64) as usize;
    if let Some(byte) = set.get_mut(facts.core as usize / 8) {
        *byte = 1 << (facts.core % 8);
    }
    machine.write(target, &set[..used])?;
    Ok(used as u64)
}

/// `sched_setaffinity(2)`: fine if the rank's core is in the set, since there it stays. Errors: `ESRCH` for another process, `EINVAL` if it is not,
/// `EFAULT`.
pub fn set_affinity<M: Machine>(machine: &M, process: u64, bytes: u64, source: u64) -> Answer {
    if !is_own(machine, process) {
        return Err(Errno(ESRCH));
    }
    let core = u64::from(machine.facts().core);
    let mut byte = [0];
    if core / 8 < u64::from(bytes as u32) {
        machine.read(source.wrapping_add(core / 8), &mut byte)?;
    }
    if byte[0] & 1 << (core % 8) != 0 { Ok(0) } else { Err(Errno(EINVAL)) }
}

/// Users and groups are all number 0, as are their real, effective and saved kinds; setting one to what it is is accepted. -1 stands for no
/// change where a call has that. Errors: `EPERM` for another.
pub fn set_user(numbers: &[u64]) -> Answer {
    if numbers.iter().all(|number| matches!(*number as u32, 0 | u32::MAX)) {
        Ok(0)
    } else {
        Err(Errno(EPERM))
    }
}

/// `getresuid(2)`, `getresgid(2)`: three zeros of four bytes. Errors: `EFAULT`.
pub fn users<M: Machine>(machine: &M, targets: [u64; 3]) -> Answer {
    targets.into_iter().try_for_each(|target| machine.write(target, &[0; 4])).map(|()| 0)
}

/// `getgroups(2)`: none but the one of `getgid`. Errors: `EINVAL` for room for less than none.
pub fn groups(room: u64) -> Answer {
    if (room as i32) < 0 { Err(Errno(EINVAL)) } else { Ok(0) }
}

/// `getpgid(2)`, `getsid(2)`: each rank is a group and a session of its own. Errors: `ESRCH` for another process.
pub fn group_of<M: Machine>(machine: &M, process: u64) -> Answer {
    if is_own(machine, process) { Ok(process_number(machine)) } else { Err(Errno(ESRCH)) }
}

/// `getpriority(2)`, in the system call's form, in which 20 is the ordinary one. Errors: `ESRCH` for another process, `EINVAL` for another
/// `which` than process, group and user.
pub fn priority<M: Machine>(machine: &M, which: u64, who: u64) -> Answer {
    const PROCESS: u32 = 0;
    const USER: u32 = 2;
    const ORDINARY: u64 = 20;
    match which as u32 {
        PROCESS if !is_own(machine, who) => Err(Errno(ESRCH)),
        PROCESS..=USER => Ok(ORDINARY),
        _ => Err(Errno(EINVAL)),
    }
}

/// `sched_getscheduler(2)`: the ordinary policy, number 0. Errors: `ESRCH` for another process.
pub fn policy<M: Machine>(machine: &M, process: u64) -> Answer {
    if is_own(machine, process) { Ok(0) } else { Err(Errno(ESRCH)) }
}

/// `sched_getparam(2)`: the ordinary policy's only priority, 0, in four bytes. Errors: `ESRCH` for another process, `EFAULT`.
pub fn policy_parameter<M: Machine>(machine: &M, process: u64, target: u64) -> Answer {
    policy(machine, process)?;
    machine.write(target, &[0; 4])?;
    Ok(0)
}

/// `sched_get_priority_min(2)` and, if `highest`, `sched_get_priority_max(2)`: those of Linux's policies, of which a rank has the ordinary
/// one. Errors: `EINVAL` for a number that is no policy's.
pub fn policy_range(policy: u64, highest: bool) -> Answer {
    match policy as u32 {
        // First come, first served, and in turns.
        1 | 2 => Ok(if highest { 99 } else { 1 }),
        // Ordinary, batch, idle, by deadline.
        0 | 3 | 5 | 6 => Ok(0),
        _ => Err(Errno(EINVAL)),
    }
}

/// `getcpu(2)`: the rank's core and its memory node, each in four bytes where an address is given. Errors: `EFAULT`.
pub fn core<M: Machine>(machine: &M, core: u64, node: u64) -> Answer {
    if core != 0 {
        machine.write(core, &machine.facts().core.to_le_bytes())?;
    }
    if node != 0 {
        machine.write(node, &machine.facts().memory_node.to_le_bytes())?;
    }
    Ok(0)
}
