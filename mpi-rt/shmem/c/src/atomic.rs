//! Atomics (the standard, section 9.7), and their old names.

use crate::arch::export;
use crate::families::{
    bitwise_amo_types, export_both, floating_amo_types, old_integer_types, standard_amo_types,
    with_and_without_context,
};

with_and_without_context! {
    atomic_fetch<lwk_shmem::engine::AtomicWord>(source: *const T) -> T;
    atomic_set<lwk_shmem::engine::AtomicWord>(dest: *mut T, value: T);
    atomic_swap<lwk_shmem::engine::AtomicWord>(dest: *mut T, value: T) -> T;
    atomic_compare_swap<lwk_shmem::engine::AtomicInteger>(dest: *mut T, cond: T, value: T) -> T;
    atomic_fetch_inc<lwk_shmem::engine::AtomicInteger>(dest: *mut T) -> T;
    atomic_inc<lwk_shmem::engine::AtomicInteger>(dest: *mut T);
    atomic_fetch_add<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T) -> T;
    atomic_add<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_and<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T) -> T;
    atomic_and<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_or<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T) -> T;
    atomic_or<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_xor<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T) -> T;
    atomic_xor<lwk_shmem::engine::AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_nbi<lwk_shmem::engine::AtomicWord>(fetch: *mut T, source: *const T);
    atomic_swap_nbi<lwk_shmem::engine::AtomicWord>(fetch: *mut T, dest: *mut T, value: T);
    atomic_compare_swap_nbi<lwk_shmem::engine::AtomicInteger>(fetch: *mut T, dest: *mut T, cond: T, value: T);
    atomic_fetch_inc_nbi<lwk_shmem::engine::AtomicInteger>(fetch: *mut T, dest: *mut T);
    atomic_fetch_add_nbi<lwk_shmem::engine::AtomicInteger>(fetch: *mut T, dest: *mut T, value: T);
    atomic_fetch_and_nbi<lwk_shmem::engine::AtomicInteger>(fetch: *mut T, dest: *mut T, value: T);
    atomic_fetch_or_nbi<lwk_shmem::engine::AtomicInteger>(fetch: *mut T, dest: *mut T, value: T);
    atomic_fetch_xor_nbi<lwk_shmem::engine::AtomicInteger>(fetch: *mut T, dest: *mut T, value: T);
}

macro_rules! extended {
    ($name:literal, $type:ty) => {
        export_both!(concat!($name, "_atomic_fetch"), atomic atomic_fetch::<$type>);
        export_both!(concat!($name, "_atomic_set"), atomic atomic_set::<$type>);
        export_both!(concat!($name, "_atomic_swap"), atomic atomic_swap::<$type>);
        export_both!(concat!($name, "_atomic_fetch_nbi"), atomic atomic_fetch_nbi::<$type>);
        export_both!(concat!($name, "_atomic_swap_nbi"), atomic atomic_swap_nbi::<$type>);
    };
}
standard_amo_types!(extended);
floating_amo_types!(extended);

macro_rules! standard {
    ($name:literal, $type:ty) => {
        export_both!(concat!($name, "_atomic_compare_swap"), atomic atomic_compare_swap::<$type>);
        export_both!(concat!($name, "_atomic_fetch_inc"), atomic atomic_fetch_inc::<$type>);
        export_both!(concat!($name, "_atomic_inc"), atomic atomic_inc::<$type>);
        export_both!(concat!($name, "_atomic_fetch_add"), atomic atomic_fetch_add::<$type>);
        export_both!(concat!($name, "_atomic_add"), atomic atomic_add::<$type>);
        export_both!(concat!($name, "_atomic_compare_swap_nbi"), atomic atomic_compare_swap_nbi::<$type>);
        export_both!(concat!($name, "_atomic_fetch_inc_nbi"), atomic atomic_fetch_inc_nbi::<$type>);
        export_both!(concat!($name, "_atomic_fetch_add_nbi"), atomic atomic_fetch_add_nbi::<$type>);
    };
}
standard_amo_types!(standard);

macro_rules! bitwise {
    ($name:literal, $type:ty) => {
        export_both!(concat!($name, "_atomic_fetch_and"), atomic atomic_fetch_and::<$type>);
        export_both!(concat!($name, "_atomic_and"), atomic atomic_and::<$type>);
        export_both!(concat!($name, "_atomic_fetch_or"), atomic atomic_fetch_or::<$type>);
        export_both!(concat!($name, "_atomic_or"), atomic atomic_or::<$type>);
        export_both!(concat!($name, "_atomic_fetch_xor"), atomic atomic_fetch_xor::<$type>);
        export_both!(concat!($name, "_atomic_xor"), atomic atomic_xor::<$type>);
        export_both!(concat!($name, "_atomic_fetch_and_nbi"), atomic atomic_fetch_and_nbi::<$type>);
        export_both!(concat!($name, "_atomic_fetch_or_nbi"), atomic atomic_fetch_or_nbi::<$type>);
        export_both!(concat!($name, "_atomic_fetch_xor_nbi"), atomic atomic_fetch_xor_nbi::<$type>);
    };
}
bitwise_amo_types!(bitwise);

macro_rules! old_words {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_fetch"), crate::atomic::plain::atomic_fetch::<$type>);
        export!(concat!("shmem_", $name, "_set"), crate::atomic::plain::atomic_set::<$type>);
        export!(concat!("shmem_", $name, "_swap"), crate::atomic::plain::atomic_swap::<$type>);
    };
}
old_integer_types!(old_words);
floating_amo_types!(old_words);

macro_rules! old_integers {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_cswap"), crate::atomic::plain::atomic_compare_swap::<$type>);
        export!(concat!("shmem_", $name, "_finc"), crate::atomic::plain::atomic_fetch_inc::<$type>);
        export!(concat!("shmem_", $name, "_inc"), crate::atomic::plain::atomic_inc::<$type>);
        export!(concat!("shmem_", $name, "_fadd"), crate::atomic::plain::atomic_fetch_add::<$type>);
        export!(concat!("shmem_", $name, "_add"), crate::atomic::plain::atomic_add::<$type>);
    };
}
old_integer_types!(old_integers);
