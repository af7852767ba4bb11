//! PE numbers, and where this PE sees the memory of others.
//!
//! PEs are the ranks of the job. Whether a PE's memory can be loaded and stored is asked of the fabric: not if it is on another node, or behind the wall
//! of the tests. Where all can be, one comparison with a word of this PE's own decides ([`near`]); the word is 0 where some cannot, and then each access
//! asks for its PE ([`mapped`]).

use super::fatal::stop;
use super::single::Number;
use lwk_place::{NodeRank, Slot, WorldRank, is_far, peer_of};
use lwk_user::job;

/// PEs from 0 up to this one, not included, are in the slots after their numbers.
static NEAR: Number = Number::new(0);

/// This PE (`shmem_my_pe`).
#[inline(always)]
pub fn my_pe() -> i32 {
    job().rank().0 as i32
}

/// How many PEs there are (`shmem_n_pes`).
#[inline(always)]
pub fn n_pes() -> i32 {
    job().size() as i32
}

/// Finds out which PEs can be loaded from and stored to; whether all can.
pub(crate) fn look_around() -> bool {
    let all = !(0..job().size()).map(WorldRank).any(is_far);
    NEAR.set(if all { job().size() } else { 0 });
    all
}

/// Whether every PE can be loaded from and stored to.
#[inline(always)]
pub(crate) fn all_are_near() -> bool {
    NEAR.get() != 0
}

/// Where this PE sees what PE `pe` calls `local`, if every PE can be loaded from and stored to. Otherwise, and for a PE that does not exist, the
/// operations of [`far`](super::far) know more.
#[inline(always)]
pub(crate) fn near<T>(local: *const T, pe: i32) -> Option<*mut T> {
    if (pe as u32) < NEAR.get() { Some(in_slot(local, NodeRank(pe as u32))) } else { None }
}

/// Where this PE sees what PE `pe` calls `local`; `None` if no load or store gets there. A PE that does not exist ends the job.
#[inline(never)]
pub(crate) fn mapped<T>(local: *const T, pe: i32) -> Option<*mut T> {
    if pe as u32 >= job().size() {
        no_such_pe(pe);
    }
    let rank = WorldRank(pe as u32);
    peer_of(rank).filter(|_| !is_far(rank)).map(|peer| in_slot(local, peer.node_rank()))
}

#[inline(always)]
fn in_slot<T>(local: *const T, rank: NodeRank) -> *mut T {
    core::ptr::with_exposed_provenance_mut(Slot::of(rank).place_own(local.expose_provenance()))
}

#[cold]
#[inline(never)]
fn no_such_pe(pe: i32) -> ! {
    stop(format_args!("there is no PE {pe}: PEs count from 0 to {}", n_pes() - 1))
}
