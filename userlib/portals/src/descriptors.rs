//! Memory descriptors (the reference, section 3.10).

use core::ffi::c_int;

use lwk_user::abi::syscall::portals as call;

use crate::status::{address, ask, give, place, run};
use crate::types::{Descriptor, Handle};

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlMDBind(ni_handle: Handle, md: *const Descriptor, md_handle: *mut Handle) -> c_int {
    let bind = || {
        place(md.cast_mut())?;
        // SAFETY: the program leaves the memory to the operations that use the descriptor (the reference's contract).
        unsafe { ask(call::DESCRIPTOR_BIND, [ni_handle.into(), address(md), 0, 0]) }
    };
    // SAFETY: `md_handle` is null or writable (the crate's contract).
    unsafe { give(md_handle, bind) }
}

#[unsafe(no_mangle)]
extern "C" fn PtlMDRelease(md_handle: Handle) -> c_int {
    run(|| {
        // SAFETY: no memory is involved.
        unsafe { ask(call::DESCRIPTOR_RELEASE, [md_handle.into(), 0, 0, 0]) }.map(drop)
    })
}
