//! Barrier and sync: the dissemination barrier (Hensgen, Finkel, Manber 1988; Mellor-Crummey and Scott 1991, algorithm 4).
//!
//! In round `k` a PE tells the member `2^k` ahead of it that it has come, and waits to be told by the one `2^k` behind; after
//! `ceil(log2 n)` rounds every PE knows of every other. Signals count, so rounds of successive calls cannot be mistaken. Two
//! PEs need one line each way.
//!
//! A signal is a store after the puts of its PE, and stores stay in order. What Portals has put is waited for first: the signal may come to its reader
//! by way of others.

use crate::engine::group::Group;
use crate::engine::order::complete;
use crate::engine::pair::{Kind, hear, signal};

/// The PEs that this one tells, and is told by, in [`synchronise`].
pub(crate) fn partners(group: Group) -> impl Iterator<Item = i32> {
    let distances = (0..).map(|round| 1 << round).take_while(move |distance| *distance < group.size());
    distances.flat_map(move |distance| [group.ahead(distance), group.behind(distance)])
}

/// Waits until all members have come; what any of them stored before is visible to all after.
#[inline]
pub(crate) fn synchronise(group: Group, kind: Kind) {
    complete();
    let mut distance = 1;
    while distance < group.size() {
        signal(group.ahead(distance), kind);
        hear(group.behind(distance), kind);
        distance *= 2;
    }
}

/// Waits for all PEs, and completes all puts and atomics of all of them (`shmem_barrier_all`).
///
/// No `quiet` is needed: signals say so.
#[inline]
pub fn barrier_all() {
    super::super::life::check("shmem_barrier_all");
    synchronise(Group::world(), Kind::Barrier);
}

/// Waits for all PEs, and makes their stores to their own memory visible (`shmem_sync_all`).
#[inline]
pub fn sync_all() {
    super::super::life::check("shmem_sync_all");
    synchronise(Group::world(), Kind::Sync);
}
