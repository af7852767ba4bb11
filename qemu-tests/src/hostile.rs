//! Addresses and lengths that no system call may fall for.

use crate::random::Random;
use crate::scratch;
use lwk_user::abi::address::{JOB_PAGE, NULL_END, SEGMENT_LIMIT, STACK_GUARD_BYTES, remote};
use lwk_user::job;
use lwk_user::smartmap::{Peer, peers};

/// An address in the kernel's half.
pub const KERNEL: u64 = 0xffff_8000_0000_0000;
/// The first address that is in neither half.
pub const NONCANONICAL: u64 = 0x0000_8000_0000_0000;

/// The middle of this rank's stack guard.
pub fn guard() -> u64 {
    job().page().stack_start - STACK_GUARD_BYTES / 2
}

/// The slot after the last rank's, or the last slot of all when every slot is taken.
pub fn empty_slot() -> u64 {
    remote(job().page().segment_start, Peer::count().min(254))
}

/// An address that cannot be read, let alone written, for at least a page from there on.
pub fn unreadable(random: &mut Random) -> u64 {
    let local = match random.below(4) {
        0 => random.below(NULL_END - 4096),
        1 => guard() + random.below(STACK_GUARD_BYTES / 4),
        2 => SEGMENT_LIMIT - 4096 - random.below(4096),
        _ => SEGMENT_LIMIT + random.below(0x10_0000),
    };
    match random.below(6) {
        0 => KERNEL | random.bits() >> 17,
        1 => NONCANONICAL + random.below(KERNEL - NONCANONICAL - 4096),
        2 => u64::MAX - random.below(64),
        3 => local,
        4 => remote(local, random.below(Peer::count() as u64) as u32),
        _ => empty_slot() + random.below(1 << 20),
    }
}

/// An address that cannot be written: one of the above, or code, constants or the job page, here or in a peer.
pub fn unwritable(random: &mut Random) -> u64 {
    let local = match random.below(3) {
        0 => scratch::code() + random.below(64),
        1 => job().page().segment_start + random.below(64),
        _ => JOB_PAGE + random.below(2048),
    };
    match random.below(4) {
        0 => local,
        1 => remote(local, random.below(Peer::count() as u64) as u32),
        _ => unreadable(random),
    }
}

/// A place of `bytes` bytes in somebody's scratch, at any alignment.
pub fn scratch(random: &mut Random, bytes: u64) -> u64 {
    let offset = random.below(scratch::SCRATCH_BYTES as u64 - bytes + 1);
    let peer = random.below(Peer::count() as u64);
    match peers().nth(peer as usize) {
        Some(peer) if random.once_in(2) => scratch::of(peer) + offset,
        _ => scratch::own() + offset,
    }
}

/// A length: none, small, any power of two, or the extremes.
pub fn length(random: &mut Random) -> u64 {
    match random.below(5) {
        0 => 0,
        1 => random.below(64),
        2 => 1 << random.below(64),
        3 => random.bits(),
        _ => random.one_of(&[
            u64::MAX,
            u64::MAX - 4095,
            i64::MAX as u64,
            1 << 63,
            1 << 47,
            4096,
            4095,
            0x7fff_f000,
        ]),
    }
}
