//! Network interfaces, identifiers, and the map of ranks (the reference, sections 3.5, 3.8 and 3.9).

use core::ffi::{c_int, c_uint, c_ulong};
use core::sync::atomic::{AtomicU32, Ordering};

use lwk_user::abi::syscall::portals as call;
use lwk_user::job;
use lwk_user::portals::abi::{self, ANY, status as code};
use lwk_user::portals::{distance, physical};

use crate::status::{Result, Status, address, ask, give, read, run};
use crate::types::{Handle, Limits, Process};
use crate::{counters, queues};

/// `PTL_IFACE_DEFAULT`.
const DEFAULT: c_uint = c_uint::MAX;

/// Handles of this rank's four interfaces, and how often each is open.
static HANDLES: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
static OPEN: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// Which of a rank's interfaces a handle of an interface names: the kernel numbers them so.
fn slot(interface: Handle) -> usize {
    interface as usize % 4
}

pub fn is_logical(interface: Handle) -> bool {
    slot(interface) & 1 != 0
}

pub fn is_matching(interface: Handle) -> bool {
    slot(interface) & 2 != 0
}

/// The interface that a handle is of.
pub fn of(handle: Handle) -> Result<Handle> {
    // SAFETY: no memory is involved.
    unsafe { ask(call::HANDLE_INTERFACE, [handle.into(), 0, 0, 0]) }
}

/// The same for the handle of an interface. Errors: it is another's or none.
pub fn checked(interface: Handle) -> Result<Handle> {
    if of(interface)? == interface { Ok(interface) } else { Err(Status::ARG_INVALID) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlNIInit(
    iface: c_uint,
    options: c_uint,
    pid: u32,
    desired: *const Limits,
    actual: *mut Limits,
    ni_handle: *mut Handle,
) -> c_int {
    let open = || {
        if iface != DEFAULT && iface != 0 {
            return Err(Status::ARG_INVALID);
        }
        // A process has the number that the job gives it.
        match pid {
            ANY => {}
            pid if pid == job().node_rank().0 => {}
            pid if pid < job().node_size() => return Err(Status(code::PID_IN_USE)),
            _ => return Err(Status::ARG_INVALID),
        }
        // SAFETY: `desired` is not null and so readable (the crate's contract).
        let wish = if desired.is_null() { None } else { Some(kernels(&unsafe { read(desired) }?)) };
        let mut told = abi::Limits::default();
        let wish = wish.as_ref().map_or(0, |wish| address(wish));
        let arguments = [options.into(), wish, address(&raw mut told), 0];
        // SAFETY: the call reads the limits of this function, and writes them.
        let interface = unsafe { ask(call::INTERFACE_OPEN, arguments) }?;
        HANDLES[slot(interface)].store(interface, Ordering::Relaxed);
        OPEN[slot(interface)].fetch_add(1, Ordering::Relaxed);
        if !actual.is_null() {
            // SAFETY: `actual` is not null and so writable (the crate's contract).
            unsafe { actual.write(programs(&told)) };
        }
        Ok(interface)
    };
    // SAFETY: `ni_handle` is null or writable (the crate's contract).
    unsafe { give(ni_handle, open) }
}

/// Limits as the kernel has them.
fn kernels(limits: &Limits) -> abi::Limits {
    // Less than nothing is nothing, which stands for what the system has.
    let count = |count: c_int| count.max(0) as u32;
    abi::Limits {
        entries: count(limits.max_entries),
        unexpected_headers: count(limits.max_unexpected_headers),
        descriptors: count(limits.max_mds),
        queues: count(limits.max_eqs),
        counters: count(limits.max_cts),
        table_index: count(limits.max_pt_index),
        iovecs: count(limits.max_iovecs),
        list_size: count(limits.max_list_size),
        triggered: count(limits.max_triggered_ops),
        ..abi::Limits::default()
    }
}

/// Limits as programs have them.
fn programs(limits: &abi::Limits) -> Limits {
    let count = |count: u32| c_int::try_from(count).unwrap_or(c_int::MAX);
    Limits {
        max_entries: count(limits.entries),
        max_unexpected_headers: count(limits.unexpected_headers),
        max_mds: count(limits.descriptors),
        max_cts: count(limits.counters),
        max_eqs: count(limits.queues),
        max_pt_index: count(limits.table_index),
        max_iovecs: count(limits.iovecs),
        max_list_size: count(limits.list_size),
        max_triggered_ops: count(limits.triggered),
        max_msg_size: limits.message_bytes,
        max_atomic_size: limits.atomic_bytes,
        max_fetch_atomic_size: limits.fetch_atomic_bytes,
        max_waw_ordered_size: limits.ordered_bytes,
        max_war_ordered_size: limits.ordered_bytes,
        max_volatile_size: limits.volatile_bytes,
        features: 0,
    }
}

#[unsafe(no_mangle)]
extern "C" fn PtlNIFini(ni_handle: Handle) -> c_int {
    run(|| close(ni_handle))
}

fn close(interface: Handle) -> Result<()> {
    // SAFETY: no memory is involved: others reach less.
    unsafe { ask(call::INTERFACE_CLOSE, [interface.into(), 0, 0, 0]) }?;
    let open = &OPEN[slot(interface)];
    let left = open.load(Ordering::Relaxed).saturating_sub(1);
    open.store(left, Ordering::Relaxed);
    if left == 0 {
        queues::forget_all(interface);
        counters::forget_all(interface);
    }
    Ok(())
}

/// Closes what is open. An interface with operations under way stays open till the job's end.
pub fn close_all() {
    for (handle, open) in HANDLES.iter().zip(&OPEN) {
        let handle = handle.load(Ordering::Relaxed);
        while open.load(Ordering::Relaxed) > 0 && close(handle).is_ok() {}
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlNIStatus(ni_handle: Handle, register: c_uint, status: *mut c_int) -> c_int {
    let ask = || {
        // SAFETY: no memory is involved.
        let count = unsafe { ask(call::INTERFACE_STATUS, [ni_handle.into(), register.into(), 0, 0]) }?;
        Ok(c_int::try_from(count).unwrap_or(c_int::MAX))
    };
    // SAFETY: `status` is null or writable (the crate's contract).
    unsafe { give(status, ask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlNIHandle(handle: Handle, ni_handle: *mut Handle) -> c_int {
    // SAFETY: `ni_handle` is null or writable (the crate's contract).
    unsafe { give(ni_handle, || of(handle)) }
}

/// The ranks of the job as physical interfaces name them.
fn physically(rank: u32) -> Process {
    let (first, pid) = physical(rank);
    Process { first, pid }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlSetMap(ni_handle: Handle, map_size: u64, mapping: *const Process) -> c_int {
    run(|| {
        let logical = is_logical(checked(ni_handle)?);
        if !logical || map_size == 0 || mapping.is_null() {
            return Err(Status::ARG_INVALID);
        }
        let size = job().size();
        let same = map_size == u64::from(size)
            && (0..size).all(|rank| {
                // SAFETY: `mapping` has `map_size` readable elements (the crate's contract), of which this is one.
                unsafe { *mapping.add(rank as usize) == physically(rank) }
            });
        // The job's map is the only one.
        if same { Ok(()) } else { Err(Status(code::IGNORED)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlGetMap(
    ni_handle: Handle,
    map_size: u64,
    mapping: *mut Process,
    actual_map_size: *mut u64,
) -> c_int {
    let map = || {
        let logical = is_logical(checked(ni_handle)?);
        if !logical || (map_size > 0 && mapping.is_null()) {
            return Err(Status::ARG_INVALID);
        }
        let size = job().size();
        for rank in 0..size.min(u32::try_from(map_size).unwrap_or(u32::MAX)) {
            // SAFETY: `mapping` has `map_size` writable elements (the crate's contract), of which this is one.
            unsafe { mapping.add(rank as usize).write(physically(rank)) };
        }
        Ok(u64::from(size))
    };
    // SAFETY: `actual_map_size` is null or writable (the crate's contract).
    unsafe { give(actual_map_size, map) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlGetUid(ni_handle: Handle, uid: *mut u32) -> c_int {
    // All users are user 0.
    // SAFETY: `uid` is null or writable (the crate's contract).
    unsafe { give(uid, || checked(ni_handle).map(|_| 0)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlGetId(ni_handle: Handle, id: *mut Process) -> c_int {
    let me = || {
        let rank = job().rank().0;
        let logical = is_logical(checked(ni_handle)?);
        Ok(if logical { Process { first: rank, pid: 0 } } else { physically(rank) })
    };
    // SAFETY: `id` is null or writable (the crate's contract).
    unsafe { give(id, me) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlGetPhysId(ni_handle: Handle, id: *mut Process) -> c_int {
    // SAFETY: `id` is null or writable (the crate's contract).
    unsafe { give(id, || checked(ni_handle).map(|_| physically(job().rank().0))) }
}

/// Of Portals 3.3: 0 for this process, 1 for another of this node, 2 for one of another.
#[unsafe(no_mangle)]
unsafe extern "C" fn PtlNIDist(ni_handle: Handle, process: Process, distance_to: *mut c_ulong) -> c_int {
    let far = || {
        let logical = is_logical(checked(ni_handle)?);
        let there = |rank: &u32| logical || physically(*rank) == process;
        let rank = if logical { process.first } else { rank_of(process) };
        let known = Some(rank).filter(|rank| *rank < job().size()).filter(there);
        known.map(|rank| distance(rank).into()).ok_or(Status::ARG_INVALID)
    };
    // SAFETY: `distance_to` is null or writable (the crate's contract).
    unsafe { give(distance_to, far) }
}

/// The rank that node and process would have; any if there is none.
fn rank_of(process: Process) -> u32 {
    let (size, nodes) = (job().size(), job().nodes());
    let first = if process.first < nodes { abi::first_rank_of(process.first, size, nodes) } else { size };
    first.saturating_add(process.pid)
}

#[unsafe(no_mangle)]
extern "C" fn PtlStartBundle(ni_handle: Handle) -> c_int {
    run(|| bundle(ni_handle, true))
}

#[unsafe(no_mangle)]
extern "C" fn PtlEndBundle(ni_handle: Handle) -> c_int {
    run(|| bundle(ni_handle, false))
}

fn bundle(interface: Handle, start: bool) -> Result<()> {
    // SAFETY: no memory is involved.
    unsafe { ask(call::BUNDLE, [interface.into(), start.into(), 0, 0]) }.map(drop)
}

/// Not 0 if two handles name the same.
#[unsafe(no_mangle)]
extern "C" fn PtlHandleIsEqual(handle1: Handle, handle2: Handle) -> c_int {
    (handle1 == handle2).into()
}
