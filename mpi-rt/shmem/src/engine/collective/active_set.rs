//! The old forms over active sets (the standard, section 9.9, deprecated): PEs `start`, `start + 2^log_stride`, …, `size` of them.
//!
//! Their work arrays `pSync` and `pWrk` are not used: signals and letters need no memory of the caller's. So they hold what they
//! held, as the standard promises. An active set that is not one, or does not hold this PE, ends the job with a line.

use super::alltoall::{alltoall_group, alltoalls_group};
use super::broadcast::broadcast_group;
use super::gather::{collect_group, fcollect_group};
use super::reduce::reduce_group;
use super::sync::synchronise;
use crate::engine::copy::bytes_of;
use crate::engine::element::{Element, Operation, Reduction};
use crate::engine::fatal::stop;
use crate::engine::group::Group;
use crate::engine::pair::Kind;

/// Elements of a `pSync` array, for any routine (`SHMEM_SYNC_SIZE` and the others).
pub const SYNC_SIZE: usize = 1;
/// What a `pSync` array holds at first (`SHMEM_SYNC_VALUE`).
pub const SYNC_VALUE: i64 = 0;
/// Elements of a `pWrk` array at least (`SHMEM_REDUCE_MIN_WRKDATA_SIZE`).
pub const REDUCE_MIN_WRKDATA_SIZE: usize = 1;

/// An active set: PEs at even distances, by their numbers in the world.
#[derive(Clone, Copy, Debug)]
pub struct ActiveSet {
    /// Its first PE.
    pub start: i32,
    /// Log2 of the distance between its PEs' numbers; from 0 to 30.
    pub log_stride: i32,
    /// How many PEs.
    pub size: i32,
}

impl ActiveSet {
    fn group(self, call: &str) -> Group {
        crate::engine::life::check(call);
        let ActiveSet { start, log_stride, size } = self;
        let stride =
            u32::try_from(log_stride).ok().and_then(|log| 1i32.checked_shl(log)).filter(|stride| *stride > 0);
        match stride.and_then(|stride| Group::world().subset(start, stride, size)) {
            Some((group, true)) => group,
            Some((_, false)) => stop(format_args!(
                "{call}: this PE is not in the active set of {size} PEs from {start} with log stride {log_stride}"
            )),
            None => stop(format_args!(
                "{call}: there is no active set of {size} PEs from {start} with log stride {log_stride}"
            )),
        }
    }
}

/// `shmem_barrier`.
pub fn barrier(set: ActiveSet) {
    synchronise(set.group("shmem_barrier"), Kind::Barrier);
}

/// `shmem_sync` over an active set.
pub fn sync(set: ActiveSet) {
    synchronise(set.group("shmem_sync"), Kind::Sync);
}

/// `shmem_broadcast32`, `64`: the root's own `dest` is not changed.
///
/// # Safety
/// As for [`broadcast`](super::broadcast()).
pub unsafe fn broadcast_active<T: Copy>(
    dest: *mut T,
    source: *const T,
    count: usize,
    root: i32,
    set: ActiveSet,
) {
    let group = set.group("shmem_broadcast");
    let Some(root) = group.member(root) else {
        stop(format_args!(
            "shmem_broadcast: there is no root {root} in an active set of {} PEs",
            group.size()
        ))
    };
    // SAFETY: `dest` and `source` are symmetric for `count` elements (this function's contract); `root` is a
    // member (checked above).
    unsafe {
        broadcast_group(group, dest.cast(), source.cast(), bytes_of::<T>(count), root, false);
    }
}

/// `shmem_collect32`, `64`.
///
/// # Safety
/// As for [`collect`](super::collect()).
pub unsafe fn collect_active<T: Copy>(dest: *mut T, source: *const T, count: usize, set: ActiveSet) {
    let group = set.group("shmem_collect");
    // SAFETY: symmetric `source` holds this PE's `count` elements, `dest` those of all PEs, disjoint (this
    // function's contract).
    unsafe { collect_group(group, dest.cast(), source.cast(), bytes_of::<T>(count)) }
}

/// `shmem_fcollect32`, `64`.
///
/// # Safety
/// As for [`fcollect`](super::fcollect()).
pub unsafe fn fcollect_active<T: Copy>(dest: *mut T, source: *const T, count: usize, set: ActiveSet) {
    let group = set.group("shmem_fcollect");
    // SAFETY: symmetric `source` holds `count` elements, `dest` as many from each PE, disjoint (this
    // function's contract).
    unsafe { fcollect_group(group, dest.cast(), source.cast(), bytes_of::<T>(count)) }
}

/// `shmem_alltoall32`, `64`.
///
/// # Safety
/// As for [`alltoall`](super::alltoall()).
pub unsafe fn alltoall_active<T: Copy>(dest: *mut T, source: *const T, count: usize, set: ActiveSet) {
    let group = set.group("shmem_alltoall");
    // SAFETY: `dest` and `source` are symmetric for `count` elements from each PE, and disjoint (this
    // function's contract).
    unsafe { alltoall_group(group, dest.cast(), source.cast(), bytes_of::<T>(count)) }
}

/// `shmem_alltoalls32`, `64`.
///
/// # Safety
/// As for [`alltoalls`](super::alltoalls()).
pub unsafe fn alltoalls_active<T: Copy>(
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
    set: ActiveSet,
) {
    let group = set.group("shmem_alltoalls");
    if dst < 1 || sst < 1 {
        stop(format_args!("shmem_alltoalls: strides are 1 or more, not {dst} and {sst}"));
    }
    // SAFETY: all named elements of `dest` and `source` are symmetric and disjoint (this function's
    // contract); strides are 1 or more (checked above).
    unsafe { alltoalls_group(group, dest, source, dst, sst, count) }
}

/// `shmem_TYPE_OP_to_all`.
///
/// # Safety
/// As for [`reduce`](super::reduce()).
pub unsafe fn to_all<T: Element, O: Operation<T>>(
    dest: *mut T,
    source: *const T,
    count: usize,
    set: ActiveSet,
) {
    let group = set.group("a reduction to all");
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint (this function's
    // contract).
    unsafe { reduce_group(group, Reduction::of::<T, O>(), dest.cast(), source.cast(), count) }
}
