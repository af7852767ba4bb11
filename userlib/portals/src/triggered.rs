//! Triggered operations (the reference, section 3.16).

use core::ffi::{c_int, c_uchar, c_uint, c_void};

use lwk_user::portals::abi::{NONE, Operation, operation as kind};

use crate::counters::is_increment;
use crate::interfaces::{is_matching, of};
use crate::operations::{To, atomic, fetch_atomic, get, operate, put, swap};
use crate::status::{Result, Status, address, place, run};
use crate::types::{Count, Handle, MatchEntry, Process};

/// Keeps an operation for a counter. Errors: there is no such counter.
fn later(operation: Operation, counter: Handle, threshold: u64) -> Result<()> {
    if counter == NONE {
        return Err(Status::ARG_INVALID);
    }
    operate(&Operation { trigger: counter, threshold, ..operation })
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredPut(
    md_handle: Handle,
    local_offset: u64,
    length: u64,
    ack_req: c_uint,
    target: Process,
    table: u32,
    bits: u64,
    offset: u64,
    user: *mut c_void,
    data: u64,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    run(|| later(put((md_handle, local_offset), length, ack_req, &to), trig_ct_handle, threshold))
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredGet(
    md_handle: Handle,
    local_offset: u64,
    length: u64,
    target: Process,
    table: u32,
    bits: u64,
    offset: u64,
    user: *mut c_void,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    let to = To { target, table, bits, offset, user, data: 0 };
    run(|| later(get((md_handle, local_offset), length, &to), trig_ct_handle, threshold))
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredAtomic(
    md_handle: Handle,
    local_offset: u64,
    length: u64,
    ack_req: c_uint,
    target: Process,
    table: u32,
    bits: u64,
    offset: u64,
    user: *mut c_void,
    data: u64,
    operation: c_uchar,
    datatype: c_uchar,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    let asked = || atomic((md_handle, local_offset), length, ack_req, &to, (operation, datatype));
    run(|| later(asked(), trig_ct_handle, threshold))
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredFetchAtomic(
    get_md_handle: Handle,
    local_get_offset: u64,
    put_md_handle: Handle,
    local_put_offset: u64,
    length: u64,
    target: Process,
    table: u32,
    bits: u64,
    offset: u64,
    user: *mut c_void,
    data: u64,
    operation: c_uchar,
    datatype: c_uchar,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    let (into, from) = ((get_md_handle, local_get_offset), (put_md_handle, local_put_offset));
    run(|| later(fetch_atomic(into, from, length, &to, (operation, datatype)), trig_ct_handle, threshold))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlTriggeredSwap(
    get_md_handle: Handle,
    local_get_offset: u64,
    put_md_handle: Handle,
    local_put_offset: u64,
    length: u64,
    target: Process,
    table: u32,
    bits: u64,
    offset: u64,
    user: *mut c_void,
    data: u64,
    operand: *const c_void,
    operation: c_uchar,
    datatype: c_uchar,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    let (into, from) = ((get_md_handle, local_get_offset), (put_md_handle, local_put_offset));
    run(|| {
        // SAFETY: `operand` is null or readable for an element (the crate's contract).
        let asked = unsafe { swap(into, from, length, &to, operand, (operation, datatype)) }?;
        later(asked, trig_ct_handle, threshold)
    })
}

fn change(kind: u32, counter: Handle, by: Count) -> Operation {
    Operation { kind, counter, operand: by.success, failures: by.failure, ..Operation::default() }
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredCTInc(
    ct_handle: Handle,
    increment: Count,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    run(|| {
        is_increment(increment)?;
        later(change(kind::CT_INC, ct_handle, increment), trig_ct_handle, threshold)
    })
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredCTSet(
    ct_handle: Handle,
    new_ct: Count,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    run(|| later(change(kind::CT_SET, ct_handle, new_ct), trig_ct_handle, threshold))
}

/// The entry is read, and its handle written, when the counter has come so far.
#[unsafe(no_mangle)]
unsafe extern "C" fn PtlTriggeredMEAppend(
    ni_handle: Handle,
    pt_index: u32,
    me: *const MatchEntry,
    ptl_list: c_uchar,
    user_ptr: *mut c_void,
    me_handle: *mut Handle,
    trig_ct_handle: Handle,
    threshold: u64,
) -> c_int {
    run(|| {
        let (entry, told) = (place(me.cast_mut())?, place(me_handle)?);
        if of(trig_ct_handle)? != ni_handle || !is_matching(ni_handle) {
            return Err(Status::ARG_INVALID);
        }
        let asked = Operation {
            kind: kind::ENTRY_APPEND,
            put_offset: address(entry),
            get_offset: address(told),
            table: pt_index,
            atomic: ptl_list.into(),
            user: address(user_ptr),
            ..Operation::default()
        };
        later(asked, trig_ct_handle, threshold)
    })
}

#[unsafe(no_mangle)]
extern "C" fn PtlTriggeredMEUnlink(me_handle: Handle, trig_ct_handle: Handle, threshold: u64) -> c_int {
    let asked = Operation { kind: kind::ENTRY_UNLINK, put: me_handle, ..Operation::default() };
    run(|| later(asked, trig_ct_handle, threshold))
}
