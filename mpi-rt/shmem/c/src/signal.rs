//! Put with signal, and signals (the standard, section 9.8).

use crate::arch::export;
use crate::families::{export_both, rma_types, sizes, with_and_without_context};
use core::ffi::c_int;
use lwk_shmem::engine;

with_and_without_context! {
    put_signal<Copy>(
        dest: *mut T, source: *const T, count: usize, signal_address: *mut u64, signal: u64, operation: core::ffi::c_int
    );
}

macro_rules! typed {
    ($name:literal, $type:ty) => {
        export_both!(concat!($name, "_put_signal"), signal put_signal::<$type>);
        export_both!(concat!($name, "_put_signal_nbi"), signal put_signal::<$type>);
    };
}
rma_types!(typed);
typed!("longdouble", [u64; 2]);

macro_rules! sized {
    ($bits:literal, $type:ty) => {
        export_both!(concat!("put", $bits, "_signal"), signal put_signal::<$type>);
        export_both!(concat!("put", $bits, "_signal_nbi"), signal put_signal::<$type>);
    };
}
sizes!(sized);
sized!("mem", u8);

unsafe extern "C" fn signal_fetch(signal_address: *const u64) -> u64 {
    // SAFETY: `signal_address` is a symmetric, aligned signal that is changed by atomics only (the standard,
    // section 9.8).
    unsafe { engine::signal_fetch(signal_address) }
}
export!("shmem_signal_fetch", signal_fetch);

unsafe extern "C" fn signal_wait_until(signal_address: *mut u64, comparison: c_int, value: u64) -> u64 {
    // SAFETY: `signal_address` is this PE's aligned signal, changed by atomics only (the standard, section
    // 9.8).
    unsafe { engine::signal_wait_until(signal_address, comparison, value) }
}
export!("shmem_signal_wait_until", signal_wait_until);
