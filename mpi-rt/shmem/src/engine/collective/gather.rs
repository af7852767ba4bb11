//! Collect and fcollect: every member's block to all members (the standard, section 9.9, SHMEM_COLLECT and SHMEM_FCOLLECT).
//!
//! Each PE pushes its block to all destinations, beginning with its neighbour, so that no destination has all writers at once.

use crate::engine::copy::{bytes_of, product};
use crate::engine::group::Group;
use crate::engine::pair::{Kind, post, take};
use crate::engine::rma::putmem;
use crate::engine::team;
use crate::protocol::mailbox::LETTER_WORDS;

use super::sync::synchronise;

/// Concatenates blocks of `bytes` bytes, the same in all members, in the members' order (`shmem_fcollectmem`). 0, or not 0 if
/// there is no such team.
///
/// # Safety
/// `source` must be symmetric for `bytes` bytes, `dest` for as many from each member; they must be disjoint
/// and the same in all members. Every member's `dest` must be ready before any member calls; until a member
/// returns, nobody else may use its `dest` or change its `source`.
pub unsafe fn fcollectmem(team: i32, dest: *mut u8, source: *const u8, bytes: usize) -> i32 {
    super::super::life::check("shmem_fcollect");
    let Some(group) = team::group(team) else { return 1 };
    // SAFETY: symmetric `source` holds `bytes` bytes, `dest` as many from each member, disjoint (this
    // function's contract).
    unsafe { fcollect_group(group, dest, source, bytes) };
    0
}

/// As [`fcollectmem`], for `count` elements (`shmem_TYPE_fcollect`).
///
/// # Safety
/// As for [`fcollectmem`].
pub unsafe fn fcollect<T: Copy>(team: i32, dest: *mut T, source: *const T, count: usize) -> i32 {
    // SAFETY: symmetric `source` holds `count` elements, `dest` as many from each member, disjoint (this
    // function's contract).
    unsafe { fcollectmem(team, dest.cast(), source.cast(), bytes_of::<T>(count)) }
}

/// Concatenates the members' blocks, which may differ in size, in the members' order (`shmem_collectmem`). 0, or not 0 if there
/// is no such team.
///
/// # Safety
/// `source` must be symmetric for this PE's `bytes` bytes, `dest` for those of all members; they must be
/// disjoint and the same in all members. Every member's `dest` must be ready before any member calls; until a
/// member returns, nobody else may use its `dest` or change its `source`.
pub unsafe fn collectmem(team: i32, dest: *mut u8, source: *const u8, bytes: usize) -> i32 {
    super::super::life::check("shmem_collect");
    let Some(group) = team::group(team) else { return 1 };
    // SAFETY: symmetric `source` holds this PE's `bytes` bytes, `dest` those of all members, disjoint (this
    // function's contract).
    unsafe { collect_group(group, dest, source, bytes) };
    0
}

/// As [`collectmem`], for `count` elements (`shmem_TYPE_collect`).
///
/// # Safety
/// As for [`collectmem`].
pub unsafe fn collect<T: Copy>(team: i32, dest: *mut T, source: *const T, count: usize) -> i32 {
    // SAFETY: symmetric `source` holds this PE's `count` elements, `dest` those of all members, disjoint
    // (this function's contract).
    unsafe { collectmem(team, dest.cast(), source.cast(), bytes_of::<T>(count)) }
}

/// # Safety
/// As for [`fcollectmem`], with the members of `group`.
pub(crate) unsafe fn fcollect_group(group: Group, dest: *mut u8, source: *const u8, bytes: usize) {
    // The end of the last block has a place that an address can tell, and so have the others.
    product(group.size() as usize, bytes);
    let place = dest.wrapping_add(bytes * group.me().index());
    // SAFETY: `source` and `place`, this PE's block of every `dest`, hold `bytes` bytes (this function's
    // contract); no other PE writes that block.
    unsafe { push(group, place, source, bytes) };
    synchronise(group, Kind::Fcollect);
}

/// # Safety
/// As for [`collectmem`], with the members of `group`.
pub(crate) unsafe fn collect_group(group: Group, dest: *mut u8, source: *const u8, bytes: usize) {
    let mine = [bytes as u64, 0, 0, 0, 0, 0, 0];
    for distance in 1..group.size() {
        post(group.ahead(distance), Kind::Collect, &mine, 1);
    }
    let mut before = 0u64;
    for member in group.members().filter(|member| *member != group.me()) {
        let mut theirs = [0; LETTER_WORDS];
        take(group.pe(member), Kind::Collect, &mut theirs, 1);
        if member < group.me() {
            // What wraps lies behind blocks that no memory holds, and copying one of them is a fault.
            before = before.wrapping_add(theirs[0]);
        }
    }
    // SAFETY: `before` is the size of all blocks before this PE's, so `dest` has `bytes` bytes from there
    // (this function's contract); no other PE writes them. `source` holds as many.
    unsafe { push(group, dest.wrapping_add(before as usize), source, bytes) };
    synchronise(group, Kind::Collect);
}

/// # Safety
/// `place` must be symmetric, both must hold `bytes` bytes and be disjoint; no other PE may use `place` in
/// any PE, or change `source`.
unsafe fn push(group: Group, place: *mut u8, source: *const u8, bytes: usize) {
    for distance in 1..=group.size() {
        // SAFETY: `source` is readable and the member's `place` writable for `bytes` bytes; nobody else uses
        // `place` (this function's contract). The last member is this PE itself.
        unsafe { putmem(place, source, bytes, group.ahead(distance % group.size())) };
    }
}
