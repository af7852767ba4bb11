//! Waiting for, and testing, objects of one's own (the standard, section 9.10), and the old `wait`.

use crate::arch::export;
use crate::families::{old_integer_types, short_wait_types, standard_amo_types};
use core::ffi::c_int;
use lwk_shmem::engine::{self, CMP_NE, WaitWord};

unsafe extern "C" fn wait_until<T: WaitWord>(object: *mut T, comparison: c_int, value: T) {
    // SAFETY: `object` is this PE's, aligned, and changed by atomics or puts of its size only (the standard,
    // section 9.10).
    unsafe { engine::wait_until(object, comparison, value) };
}

unsafe extern "C" fn test<T: WaitWord>(object: *mut T, comparison: c_int, value: T) -> c_int {
    // SAFETY: `object` is this PE's, aligned, and changed by atomics or puts of its size only (the standard,
    // section 9.10).
    unsafe { engine::test(object, comparison, value) }.into()
}

/// The old form: until the object is no longer `value`.
unsafe extern "C" fn wait<T: WaitWord>(object: *mut T, value: T) {
    // SAFETY: `object` is this PE's, aligned, and changed by atomics or puts of its size only (the standard,
    // section 9.10).
    unsafe { engine::wait_until(object, CMP_NE, value) };
}

/// Functions on several objects: with one value, and with one for each.
macro_rules! several {
    ($($one:ident $vector:ident($($indices:ident)?) $(-> $result:ty)?;)*) => {
        $(
            several!(@ $one(value: T), ($($indices)?) $(-> $result)?);
            several!(@ $vector(value: *const T), ($($indices)?) $(-> $result)?);
        )*
    };
    (@ $name:ident($value:ident: $type:ty), ($($indices:ident)?) $(-> $result:ty)?) => {
        unsafe extern "C" fn $name<T: WaitWord>(
            objects: *mut T, count: usize, $($indices: *mut usize,)? status: *const c_int, comparison: c_int, $value: $type,
        ) $(-> $result)? {
            // SAFETY: `count` aligned objects of this PE, a status for each or none, room for `count`
            // indices, and values for a vector (the standard, section 9.10).
            unsafe { engine::$name(objects, count, $($indices,)? status, comparison, $value) $(as $result)? }
        }
    };
}

several! {
    wait_until_all wait_until_all_vector();
    wait_until_any wait_until_any_vector() -> usize;
    wait_until_some wait_until_some_vector(indices) -> usize;
    test_all test_all_vector() -> c_int;
    test_any test_any_vector() -> usize;
    test_some test_some_vector(indices) -> usize;
}

macro_rules! names {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_wait_until"), wait_until::<$type>);
        export!(concat!("shmem_", $name, "_test"), test::<$type>);
        names! { @ $name, $type:
            wait_until_all wait_until_any wait_until_some test_all test_any test_some
            wait_until_all_vector wait_until_any_vector wait_until_some_vector test_all_vector test_any_vector test_some_vector
        }
    };
    (@ $name:literal, $type:ty:) => {};
    (@ $name:literal, $type:ty: $function:ident $($more:ident)*) => {
        export!(concat!("shmem_", $name, "_", stringify!($function)), $function::<$type>);
        names! { @ $name, $type: $($more)* }
    };
}
standard_amo_types!(names);
short_wait_types!(names);

macro_rules! old {
    ($name:literal, $type:ty) => {
        export!(concat!("shmem_", $name, "_wait"), wait::<$type>);
    };
}
old_integer_types!(old);
old!("short", i16);
export!("shmem_wait", wait::<i64>);
export!("shmem_wait_until", wait_until::<i64>);
