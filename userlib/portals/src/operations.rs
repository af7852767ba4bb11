//! Puts, gets and atomic operations (the reference, section 3.15).

use core::ffi::{c_int, c_uchar, c_uint, c_void};

use lwk_user::abi::syscall::portals as call;
use lwk_user::portals::abi::{NONE, Operation, atomic, element_bytes, operation as kind};

use crate::status::{Result, Status, address, ask, run};
use crate::types::{Handle, Process};

/// Hands an operation to the kernel, which finds the interface by its descriptor or its counter.
pub fn operate(operation: &Operation) -> Result<()> {
    // SAFETY: the program leaves the descriptors' memory to the operation until events tell of its end (the reference's contract).
    unsafe { ask(call::OPERATE, [0, address(operation), 0, 0]) }.map(drop)
}

/// Where an operation goes, and what it carries.
pub struct To {
    pub target: Process,
    pub table: u32,
    pub bits: u64,
    pub offset: u64,
    pub user: *mut c_void,
    pub data: u64,
}

/// Memory of a descriptor: its handle, and the offset there.
pub type Part = (Handle, u64);

fn described(kind: u32, to: &To, bytes: u64) -> Operation {
    Operation {
        kind,
        put: NONE,
        get: NONE,
        bytes,
        node: to.target.first,
        process: to.target.pid,
        table: to.table,
        trigger: NONE,
        bits: to.bits,
        remote_offset: to.offset,
        user: address(to.user),
        data: to.data,
        ..Operation::default()
    }
}

pub fn put((put, put_offset): Part, bytes: u64, ack: c_uint, to: &To) -> Operation {
    Operation { put, put_offset, ack, ..described(kind::PUT, to, bytes) }
}

pub fn get((get, get_offset): Part, bytes: u64, to: &To) -> Operation {
    Operation { get, get_offset, ..described(kind::GET, to, bytes) }
}

pub fn atomic(from: Part, bytes: u64, ack: c_uint, to: &To, what: (c_uchar, c_uchar)) -> Operation {
    let (atomic, datatype) = (what.0.into(), what.1.into());
    Operation { kind: kind::ATOMIC, atomic, datatype, ..put(from, bytes, ack, to) }
}

pub fn fetch_atomic(into: Part, from: Part, bytes: u64, to: &To, what: (c_uchar, c_uchar)) -> Operation {
    let (get, get_offset) = into;
    Operation { kind: kind::FETCH_ATOMIC, get, get_offset, ..atomic(from, bytes, 0, to, what) }
}

/// Errors: the operation has an operand, and there is none; or no such type.
///
/// # Safety
/// `operand` is null or readable for an element of the type.
pub unsafe fn swap(
    into: Part,
    from: Part,
    bytes: u64,
    to: &To,
    operand: *const c_void,
    what: (c_uchar, c_uchar),
) -> Result<Operation> {
    let element = element_bytes(what.1.into()).ok_or(Status::ARG_INVALID)?;
    let mut words = [0u64; 2];
    if (atomic::CSWAP..=atomic::MSWAP).contains(&what.0.into()) {
        if operand.is_null() {
            return Err(Status::ARG_INVALID);
        }
        // SAFETY: `operand` is readable for an element (this function's contract), and no element has more bytes than the two words.
        unsafe { operand.cast::<u8>().copy_to_nonoverlapping(words.as_mut_ptr().cast(), element) };
    }
    let [operand, failures] = words;
    Ok(Operation { kind: kind::SWAP, operand, failures, ..fetch_atomic(into, from, bytes, to, what) })
}

#[unsafe(no_mangle)]
extern "C" fn PtlPut(
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
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    run(|| operate(&put((md_handle, local_offset), length, ack_req, &to)))
}

#[unsafe(no_mangle)]
extern "C" fn PtlGet(
    md_handle: Handle,
    local_offset: u64,
    length: u64,
    target: Process,
    table: u32,
    bits: u64,
    offset: u64,
    user: *mut c_void,
) -> c_int {
    let to = To { target, table, bits, offset, user, data: 0 };
    run(|| operate(&get((md_handle, local_offset), length, &to)))
}

#[unsafe(no_mangle)]
extern "C" fn PtlAtomic(
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
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    run(|| operate(&atomic((md_handle, local_offset), length, ack_req, &to, (operation, datatype))))
}

#[unsafe(no_mangle)]
extern "C" fn PtlFetchAtomic(
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
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    let (into, from) = ((get_md_handle, local_get_offset), (put_md_handle, local_put_offset));
    run(|| operate(&fetch_atomic(into, from, length, &to, (operation, datatype))))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlSwap(
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
) -> c_int {
    let to = To { target, table, bits, offset, user, data };
    let (into, from) = ((get_md_handle, local_get_offset), (put_md_handle, local_put_offset));
    run(|| {
        // SAFETY: `operand` is null or readable for an element (the crate's contract).
        operate(&unsafe { swap(into, from, length, &to, operand, (operation, datatype)) }?)
    })
}

/// Portals' atomics and this processor see the same memory at any time.
#[unsafe(no_mangle)]
extern "C" fn PtlAtomicSync() -> c_int {
    run(|| Ok(()))
}
