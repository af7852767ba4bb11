//! List entries and match list entries (the reference, sections 3.11 and 3.12).

use core::ffi::{c_int, c_uchar, c_void};

use lwk_user::abi::syscall::portals as call;
use lwk_user::portals::abi::{ANY, Entry, EntryOptions};

use crate::interfaces::{checked, is_matching};
use crate::status::{Result, Status, address, ask, give, read, run};
use crate::types::{Handle, ListEntry, MatchEntry};

/// An entry as the kernel has it.
fn of_match(it: &MatchEntry, user: *mut c_void) -> Entry {
    Entry {
        start: address(it.start),
        bytes: it.length,
        counter: it.ct_handle,
        uid: it.uid,
        options: EntryOptions::from_bits_retain(it.options),
        node: it.match_id.first,
        process: it.match_id.pid,
        reserved: 0,
        bits: it.match_bits,
        ignore: it.ignore_bits,
        min_free: it.min_free,
        user: address(user),
    }
}

/// The same of an entry that takes messages from everybody.
fn of_list(it: &ListEntry, user: *mut c_void) -> Entry {
    Entry {
        start: address(it.start),
        bytes: it.length,
        counter: it.ct_handle,
        uid: it.uid,
        options: EntryOptions::from_bits_retain(it.options),
        node: ANY,
        process: ANY,
        user: address(user),
        ..Entry::default()
    }
}

/// The interface, if it has entries of this kind.
fn with(interface: Handle, matching: bool) -> Result<Handle> {
    if is_matching(checked(interface)?) == matching { Ok(interface) } else { Err(Status::ARG_INVALID) }
}

/// Appends an entry, or searches with it.
fn hand_over(number: u64, interface: Handle, index: u32, entry: &Entry, what: c_uchar) -> Result<u32> {
    let arguments = [interface.into(), index.into(), address(entry), what.into()];
    // SAFETY: the program leaves the entry's memory to whomever it names (the reference's contract).
    unsafe { ask(number, arguments) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlMEAppend(
    ni_handle: Handle,
    pt_index: u32,
    me: *const MatchEntry,
    ptl_list: c_uchar,
    user_ptr: *mut c_void,
    me_handle: *mut Handle,
) -> c_int {
    let append = || {
        // SAFETY: `me` is null or readable (the crate's contract).
        let entry = of_match(&unsafe { read(me) }?, user_ptr);
        hand_over(call::ENTRY_APPEND, with(ni_handle, true)?, pt_index, &entry, ptl_list)
    };
    // SAFETY: `me_handle` is null or writable (the crate's contract).
    unsafe { give(me_handle, append) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlLEAppend(
    ni_handle: Handle,
    pt_index: u32,
    le: *const ListEntry,
    ptl_list: c_uchar,
    user_ptr: *mut c_void,
    le_handle: *mut Handle,
) -> c_int {
    let append = || {
        // SAFETY: `le` is null or readable (the crate's contract).
        let entry = of_list(&unsafe { read(le) }?, user_ptr);
        hand_over(call::ENTRY_APPEND, with(ni_handle, false)?, pt_index, &entry, ptl_list)
    };
    // SAFETY: `le_handle` is null or writable (the crate's contract).
    unsafe { give(le_handle, append) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlMESearch(
    ni_handle: Handle,
    pt_index: u32,
    me: *const MatchEntry,
    ptl_search_op: c_uchar,
    user_ptr: *mut c_void,
) -> c_int {
    run(|| {
        // SAFETY: `me` is null or readable (the crate's contract).
        let entry = of_match(&unsafe { read(me) }?, user_ptr);
        hand_over(call::ENTRY_SEARCH, with(ni_handle, true)?, pt_index, &entry, ptl_search_op).map(drop)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlLESearch(
    ni_handle: Handle,
    pt_index: u32,
    le: *const ListEntry,
    ptl_search_op: c_uchar,
    user_ptr: *mut c_void,
) -> c_int {
    run(|| {
        // SAFETY: `le` is null or readable (the crate's contract).
        let entry = of_list(&unsafe { read(le) }?, user_ptr);
        hand_over(call::ENTRY_SEARCH, with(ni_handle, false)?, pt_index, &entry, ptl_search_op).map(drop)
    })
}

fn unlink(entry: Handle) -> Result<()> {
    // SAFETY: no memory is involved: others reach less.
    unsafe { ask(call::ENTRY_UNLINK, [entry.into(), 0, 0, 0]) }.map(drop)
}

#[unsafe(no_mangle)]
extern "C" fn PtlMEUnlink(me_handle: Handle) -> c_int {
    run(|| unlink(me_handle))
}

#[unsafe(no_mangle)]
extern "C" fn PtlLEUnlink(le_handle: Handle) -> c_int {
    run(|| unlink(le_handle))
}
