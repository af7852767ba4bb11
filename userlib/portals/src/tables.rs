//! Entries of the portal table (the reference, section 3.6).

use core::ffi::{c_int, c_uint};

use lwk_user::abi::syscall::portals as call;
use lwk_user::portals::enable;

use crate::status::{Status, ask, give, run};
use crate::types::Handle;

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlPTAlloc(
    ni_handle: Handle,
    options: c_uint,
    eq_handle: Handle,
    pt_index_req: u32,
    pt_index: *mut u32,
) -> c_int {
    let allocate = || {
        let arguments = [ni_handle, options, eq_handle, pt_index_req].map(u64::from);
        // SAFETY: no memory is involved.
        unsafe { ask(call::TABLE_ALLOCATE, arguments) }
    };
    // SAFETY: `pt_index` is null or writable (the crate's contract).
    unsafe { give(pt_index, allocate) }
}

#[unsafe(no_mangle)]
extern "C" fn PtlPTFree(ni_handle: Handle, pt_index: u32) -> c_int {
    run(|| {
        // SAFETY: no memory is involved.
        unsafe { ask(call::TABLE_FREE, [ni_handle.into(), pt_index.into(), 0, 0]) }.map(drop)
    })
}

#[unsafe(no_mangle)]
extern "C" fn PtlPTEnable(ni_handle: Handle, pt_index: u32) -> c_int {
    run(|| enable(ni_handle, pt_index, true).map_err(Status::from))
}

/// Returns when every message that was arriving has arrived.
#[unsafe(no_mangle)]
extern "C" fn PtlPTDisable(ni_handle: Handle, pt_index: u32) -> c_int {
    run(|| enable(ni_handle, pt_index, false).map_err(Status::from))
}
