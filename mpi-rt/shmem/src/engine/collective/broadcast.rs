//! Broadcast (the standard, section 9.9, SHMEM_BROADCAST).
//!
//! The root says that its data is ready; the others pull it, each to itself, at the same time, while the root copies it to its own
//! destination: every PE copies one block. Where the root has nothing to copy (in place, and in the old form), it pushes its share
//! of a long message to each of the others instead, so that all cores copy equally much.

use crate::engine::copy::{bytes_of, transfer};
use crate::engine::group::Group;
use crate::engine::pair::{Kind, hear, signal};
use crate::engine::rma::{getmem, putmem};
use crate::engine::team;
use lwk_copy::threshold::ROOT_HELPS_FROM;
use lwk_place::TeamRank;

/// Copies `bytes` bytes from the root's `source` to the `dest` of all members, the root's own too (`shmem_broadcastmem`). 0, or
/// not 0 if there is no such team or root.
///
/// # Safety
/// `dest` and `source` must be symmetric, for `bytes` bytes, equal or disjoint, and the same in all members.
/// Every member's `dest` must be ready before any member calls; until a member returns, nobody else may use
/// its `dest` or change its `source`.
pub unsafe fn broadcastmem(team: i32, dest: *mut u8, source: *const u8, bytes: usize, root: i32) -> i32 {
    super::super::life::check("shmem_broadcast");
    let Some(group) = team::group(team) else { return 1 };
    let Some(root) = group.member(root) else { return 1 };
    // SAFETY: `dest` and `source` are symmetric for `bytes` bytes, equal or disjoint (this function's
    // contract); the last argument says which. `root` is a member (checked above).
    unsafe {
        broadcast_group(group, dest, source, bytes, root, dest.cast_const() != source);
    }
    0
}

/// As [`broadcastmem`], for `count` elements (`shmem_TYPE_broadcast`).
///
/// # Safety
/// As for [`broadcastmem`].
pub unsafe fn broadcast<T: Copy>(team: i32, dest: *mut T, source: *const T, count: usize, root: i32) -> i32 {
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint (this function's
    // contract).
    unsafe { broadcastmem(team, dest.cast(), source.cast(), bytes_of::<T>(count), root) }
}

/// `to_root`: the root's own destination gets the data, too. The same in all members.
///
/// # Safety
/// As for [`broadcastmem`], with the members of `group`; `root` is a member; with `to_root`, `dest` and
/// `source` are disjoint.
pub(crate) unsafe fn broadcast_group(
    group: Group,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: TeamRank,
    to_root: bool,
) {
    let pulled = if to_root { bytes } else { pulled_part(bytes, group.size()) };
    let root_pe = group.pe(root);
    if group.me() == root {
        for distance in 1..group.size() {
            signal(group.ahead(distance), Kind::Broadcast);
        }
        if to_root {
            // SAFETY: `source` and `dest` hold `bytes` bytes and, with `to_root`, are disjoint (this
            // function's contract).
            unsafe { transfer(source, dest, bytes) };
        }
        if pulled < bytes {
            for distance in 1..group.size() {
                let peer = group.ahead(distance);
                // SAFETY: `source` and the peer's `dest` hold `bytes` bytes (this function's contract); the
                // peer writes only the part before `pulled`.
                unsafe {
                    putmem(dest.wrapping_add(pulled), source.wrapping_add(pulled), bytes - pulled, peer);
                }
                signal(peer, Kind::Broadcast);
            }
        }
        // The source may be changed when all have their data.
        for distance in 1..group.size() {
            hear(group.ahead(distance), Kind::Broadcast);
        }
    } else {
        hear(root_pe, Kind::Broadcast);
        // SAFETY: the root's `source`, ready since its signal, and this `dest` hold `bytes` bytes (this
        // function's contract); the root writes only the part from `pulled` on.
        unsafe { getmem(dest, source, pulled, root_pe) };
        if pulled < bytes {
            hear(root_pe, Kind::Broadcast);
        }
        signal(root_pe, Kind::Broadcast);
    }
}

/// How many of the first bytes each PE pulls; the root pushes the rest. With `n` PEs the root pushes an n-th to each of `n - 1`,
/// so that all copy as much.
fn pulled_part(bytes: usize, size: i32) -> usize {
    if bytes < ROOT_HELPS_FROM {
        bytes
    } else {
        (bytes - bytes / size as usize).next_multiple_of(64).min(bytes)
    }
}
