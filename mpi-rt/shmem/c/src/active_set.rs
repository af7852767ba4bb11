//! The old collectives over active sets (the standard, section 9.9, deprecated). Their work arrays are not used.

use crate::arch::export;
use crate::families::{complex_types, floating_amo_types, old_integer_types};
use core::ffi::{c_int, c_long};
use lwk_shmem::engine::{self, ActiveSet, Element, Operation};
use lwk_shmem::engine::{And, Max, Min, Or, Prod, Sum, Xor};

extern "C" fn barrier(start: c_int, log_stride: c_int, size: c_int, _sync: *mut c_long) {
    engine::barrier(ActiveSet { start, log_stride, size });
}
export!("shmem_barrier", barrier);

extern "C" fn sync(start: c_int, log_stride: c_int, size: c_int, _sync: *mut c_long) {
    engine::sync(ActiveSet { start, log_stride, size });
}
export!("shmem_sync", sync);

unsafe extern "C" fn broadcast<T: Copy>(
    dest: *mut T,
    source: *const T,
    count: usize,
    root: c_int,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    _sync: *mut c_long,
) {
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint, ready in all PEs of
    // the set (the standard, section 9.9).
    unsafe { engine::broadcast_active(dest, source, count, root, ActiveSet { start, log_stride, size }) }
}

macro_rules! blocks {
    ($($name:ident is $of:ident;)*) => {
        $(
            unsafe extern "C" fn $name<T: Copy>(
                dest: *mut T, source: *const T, count: usize, start: c_int, log_stride: c_int, size: c_int, _sync: *mut c_long,
            ) {
                // SAFETY: symmetric, disjoint `dest` and `source` hold the blocks of `count` elements, ready
                // in all PEs of the set (the standard, section 9.9).
                unsafe { engine::$of(dest, source, count, ActiveSet { start, log_stride, size }) }
            }
        )*
    };
}

blocks! {
    collect is collect_active;
    fcollect is fcollect_active;
    alltoall is alltoall_active;
}

unsafe extern "C" fn alltoalls<T: Copy>(
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    _sync: *mut c_long,
) {
    // SAFETY: all named elements are symmetric and disjoint, and ready in all PEs of the set (the standard,
    // section 9.9).
    unsafe { engine::alltoalls_active(dest, source, dst, sst, count, ActiveSet { start, log_stride, size }) }
}

macro_rules! sized {
    ($bits:literal, $type:ty) => {
        export!(concat!("shmem_broadcast", $bits), broadcast::<$type>);
        export!(concat!("shmem_collect", $bits), collect::<$type>);
        export!(concat!("shmem_fcollect", $bits), fcollect::<$type>);
        export!(concat!("shmem_alltoall", $bits), alltoall::<$type>);
        export!(concat!("shmem_alltoalls", $bits), alltoalls::<$type>);
    };
}
sized!("32", u32);
sized!("64", u64);

/// A negative count reduces nothing.
unsafe extern "C" fn to_all<T: Element, O: Operation<T>>(
    dest: *mut T,
    source: *const T,
    count: c_int,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    _work: *mut T,
    _sync: *mut c_long,
) {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint, ready in all PEs of
    // the set (the standard, section 9.9).
    unsafe { engine::to_all::<T, O>(dest, source, count, ActiveSet { start, log_stride, size }) }
}

macro_rules! arithmetic {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_sum_to_all"), to_all::<$type, Sum>);
        export!(concat!("shmem_", $name, "_prod_to_all"), to_all::<$type, Prod>);
    };
}

macro_rules! ordered {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_max_to_all"), to_all::<$type, Max>);
        export!(concat!("shmem_", $name, "_min_to_all"), to_all::<$type, Min>);
        arithmetic! { $name, $type }
    };
}

macro_rules! bitwise {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_and_to_all"), to_all::<$type, And>);
        export!(concat!("shmem_", $name, "_or_to_all"), to_all::<$type, Or>);
        export!(concat!("shmem_", $name, "_xor_to_all"), to_all::<$type, Xor>);
        ordered! { $name, $type }
    };
}

old_integer_types!(bitwise);
bitwise!("short", i16);
floating_amo_types!(ordered);
ordered!("longdouble", lwk_shmem::engine::LongDouble);
complex_types!(arithmetic);
