//! Collectives over teams (the standard, section 9.9).

use crate::arch::export;
use crate::families::{bitwise_reduction_types, complex_types, ordered_reduction_types, rma_types};
use crate::handle::Team;
use core::ffi::c_int;
use lwk_shmem::engine::{self, Element, Operation};
use lwk_shmem::engine::{And, Max, Min, Or, Prod, Sum, Xor};

extern "C" fn barrier_all() {
    engine::barrier_all();
}
export!("shmem_barrier_all", barrier_all);

extern "C" fn sync_all() {
    engine::sync_all();
}
export!("shmem_sync_all", sync_all);

unsafe extern "C" fn broadcast<T: Copy>(
    team: Team,
    dest: *mut T,
    source: *const T,
    count: usize,
    root: c_int,
) -> c_int {
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint, ready in all members
    // (the standard, section 9.9).
    unsafe { engine::broadcast(team.number(), dest, source, count, root) }
}

unsafe extern "C" fn collect<T: Copy>(team: Team, dest: *mut T, source: *const T, count: usize) -> c_int {
    // SAFETY: symmetric `source` holds this PE's `count` elements, `dest` those of all, disjoint, ready in
    // all members (the standard, section 9.9).
    unsafe { engine::collect(team.number(), dest, source, count) }
}

unsafe extern "C" fn fcollect<T: Copy>(team: Team, dest: *mut T, source: *const T, count: usize) -> c_int {
    // SAFETY: symmetric `source` holds `count` elements, `dest` as many from each member, disjoint, ready in
    // all members (the standard, section 9.9).
    unsafe { engine::fcollect(team.number(), dest, source, count) }
}

unsafe extern "C" fn alltoall<T: Copy>(team: Team, dest: *mut T, source: *const T, count: usize) -> c_int {
    // SAFETY: symmetric, disjoint `dest` and `source` hold `count` elements for each member, ready in all
    // members (the standard, section 9.9).
    unsafe { engine::alltoall(team.number(), dest, source, count) }
}

unsafe extern "C" fn alltoalls<T: Copy>(
    team: Team,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
) -> c_int {
    // SAFETY: all named elements are symmetric and disjoint, and ready in all members (the standard, section
    // 9.9).
    unsafe { engine::alltoalls(team.number(), dest, source, dst, sst, count) }
}

macro_rules! typed {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_broadcast"), broadcast::<$type>);
        export!(concat!("shmem_", $name, "_collect"), collect::<$type>);
        export!(concat!("shmem_", $name, "_fcollect"), fcollect::<$type>);
        export!(concat!("shmem_", $name, "_alltoall"), alltoall::<$type>);
        export!(concat!("shmem_", $name, "_alltoalls"), alltoalls::<$type>);
    };
}
rma_types!(typed);
typed!("longdouble", [u64; 2]);

export!("shmem_broadcastmem", broadcast::<u8>);
export!("shmem_collectmem", collect::<u8>);
export!("shmem_fcollectmem", fcollect::<u8>);
export!("shmem_alltoallmem", alltoall::<u8>);
export!("shmem_alltoallsmem", alltoalls::<u8>);

unsafe extern "C" fn reduce<T: Element, O: Operation<T>>(
    team: Team,
    dest: *mut T,
    source: *const T,
    count: usize,
) -> c_int {
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint, ready in all members
    // (the standard, section 9.9).
    unsafe { engine::reduce::<T, O>(team.number(), dest, source, count) }
}

macro_rules! arithmetic {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_sum_reduce"), reduce::<$type, Sum>);
        export!(concat!("shmem_", $name, "_prod_reduce"), reduce::<$type, Prod>);
    };
}

macro_rules! ordered {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_max_reduce"), reduce::<$type, Max>);
        export!(concat!("shmem_", $name, "_min_reduce"), reduce::<$type, Min>);
        arithmetic! { $name, $type }
    };
}

macro_rules! bitwise {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_and_reduce"), reduce::<$type, And>);
        export!(concat!("shmem_", $name, "_or_reduce"), reduce::<$type, Or>);
        export!(concat!("shmem_", $name, "_xor_reduce"), reduce::<$type, Xor>);
        ordered! { $name, $type }
    };
}

bitwise_reduction_types!(bitwise);
ordered_reduction_types!(ordered);
complex_types!(arithmetic);
