//! Alltoall and alltoalls: a block from each member to each member (the standard, section 9.9, SHMEM_ALLTOALL and SHMEM_ALLTOALLS).
//!
//! Each PE pushes its blocks, beginning with its neighbour's, so that no destination has all writers at once (measured: pushing
//! beats pulling).

use crate::engine::copy::{bytes_of, product};
use crate::engine::group::Group;
use crate::engine::pair::Kind;
use crate::engine::rma::putmem;
use crate::engine::strided::iput;
use crate::engine::team;

use super::sync::synchronise;
use lwk_place::TeamRank;

/// Sends block `j` of `bytes` bytes of `source` to member `j`, whose block of this PE's index it becomes
/// (`shmem_alltoallmem`). 0, or not 0 if there is no such team.
///
/// # Safety
/// `dest` and `source` must be symmetric, for `bytes` bytes from each member, disjoint, and the same in all
/// members. Every member's `dest` must be ready before any member calls; until a member returns, nobody else
/// may use its `dest` or change its `source`.
pub unsafe fn alltoallmem(team: i32, dest: *mut u8, source: *const u8, bytes: usize) -> i32 {
    super::super::life::check("shmem_alltoall");
    let Some(group) = team::group(team) else { return 1 };
    // SAFETY: `dest` and `source` are symmetric for `bytes` bytes from each member, and disjoint (this
    // function's contract).
    unsafe { alltoall_group(group, dest, source, bytes) };
    0
}

/// As [`alltoallmem`], for blocks of `count` elements (`shmem_TYPE_alltoall`).
///
/// # Safety
/// As for [`alltoallmem`].
pub unsafe fn alltoall<T: Copy>(team: i32, dest: *mut T, source: *const T, count: usize) -> i32 {
    // SAFETY: `dest` and `source` are symmetric for `count` elements from each member, and disjoint (this
    // function's contract).
    unsafe { alltoallmem(team, dest.cast(), source.cast(), bytes_of::<T>(count)) }
}

/// As [`alltoall`], with elements `sst` apart in `source` and `dst` apart in `dest` (`shmem_TYPE_alltoalls`). 0, or not 0 if
/// there is no such team or a stride is below 1.
///
/// # Safety
/// As for [`alltoall`], for all named elements.
pub unsafe fn alltoalls<T: Copy>(
    team: i32,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
) -> i32 {
    super::super::life::check("shmem_alltoalls");
    let Some(group) = team::group(team).filter(|_| dst >= 1 && sst >= 1) else { return 1 };
    // SAFETY: all named elements of `dest` and `source` are symmetric and disjoint (this function's
    // contract); strides are 1 or more (checked above).
    unsafe { alltoalls_group(group, dest, source, dst, sst, count) };
    0
}

/// # Safety
/// As for [`alltoallmem`], with the members of `group`.
pub(crate) unsafe fn alltoall_group(group: Group, dest: *mut u8, source: *const u8, bytes: usize) {
    // The last block has a place that an address can tell, and so have the others.
    product(group.size() as usize, bytes);
    let place = dest.wrapping_add(bytes * group.me().index());
    each_member(group, |member, pe| {
        let block = source.wrapping_add(bytes * member.index());
        // SAFETY: `block` is `bytes` bytes of `source`, and `place` as many of the peer's `dest` (this
        // function's contract), which only this PE writes.
        unsafe { putmem(place, block, bytes, pe) };
    });
    synchronise(group, Kind::Alltoall);
}

/// # Safety
/// As for [`alltoalls`], with the members of `group`; strides are 1 or more.
pub(crate) unsafe fn alltoalls_group<T: Copy>(
    group: Group,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
) {
    // As in `alltoall_group`, for both sides; the strides are 1 or more.
    product(product(count, dst.max(sst) as usize), product(group.size() as usize, size_of::<T>()));
    let place = dest.wrapping_offset(dst.wrapping_mul((count * group.me().index()) as isize));
    each_member(group, |member, pe| {
        let block = source.wrapping_offset(sst.wrapping_mul((count * member.index()) as isize));
        // SAFETY: the named elements of `block` are in `source`, those of `place` in the peer's `dest` (this
        // function's contract), where only this PE writes them.
        unsafe { iput(place, block, dst, sst, count, pe) };
    });
    synchronise(group, Kind::Alltoalls);
}

/// Calls `push` with every member and its PE, beginning with the next one, this PE last.
fn each_member(group: Group, push: impl Fn(TeamRank, i32)) {
    for distance in 1..=group.size() {
        let member = group.me().above(distance, group.size());
        push(member, group.pe(member));
    }
}
