//! PE numbers and the translation of symmetric addresses.
//!
//! A PE is a rank of the node: set-up refuses a job that spans nodes. All it takes is the job page, which is at a fixed
//! address, so nothing is looked up (SMARTMAP paper, figures 2 and 3).

use super::fatal::stop;
use lwk_place::{NodeRank, Slot};
use lwk_user::job;

/// This PE (`shmem_my_pe`).
#[inline(always)]
pub fn my_pe() -> i32 {
    job().node_rank().0 as i32
}

/// How many PEs there are (`shmem_n_pes`).
#[inline(always)]
pub fn n_pes() -> i32 {
    job().node_size() as i32
}

/// Where this PE sees what PE `pe` calls `local`.
#[inline(always)]
pub(crate) fn at<T>(local: *const T, pe: i32) -> *mut T {
    if pe as u32 >= job().node_size() {
        no_such_pe(pe);
    }
    let slot = Slot::of(NodeRank(pe as u32));
    core::ptr::with_exposed_provenance_mut(slot.place_own(local.expose_provenance()))
}

#[cold]
#[inline(never)]
fn no_such_pe(pe: i32) -> ! {
    stop(format_args!("there is no PE {pe}: PEs count from 0 to {}", n_pes() - 1))
}
