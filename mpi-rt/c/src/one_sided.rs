//! One-sided communication: windows, operations, synchronisation (MPI-5.0, chapter 12).

use crate::types::{Comm, Datatype, Info, Number, Op, Request, give, give_number};
use crate::{conversions, mpi};
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use lwk_mpi_rt::abi::WIN_NULL;
use lwk_mpi_rt::info::{self, Info as Hints};
use lwk_mpi_rt::path::WorldRank;
use lwk_mpi_rt::{Error, Handle, Result};
use lwk_mpi_window::{self as window, Buffer, LockKind, TargetBuffer, hints, with};

type Win = u64;
type Group = u64;
/// `MPI_Aint`.
type Aint = i64;

/// A target: rank, displacement, count and datatype.
type Target<N> = (c_int, Aint, N, Datatype);

/// A buffer of the origin: `count` items of the datatype.
#[inline(always)]
pub fn buffer<N: Number>(address: *const c_void, count: N, datatype: Datatype) -> Buffer {
    Buffer { address: address.cast_mut().cast(), count: count.wide(), datatype }
}

#[inline(always)]
fn place<N: Number>((rank, displacement, count, datatype): Target<N>) -> TargetBuffer {
    TargetBuffer { rank, displacement, count: count.wide(), datatype }
}

/// Makes a window, notes its hints, and writes where its memory is and its handle.
///
/// # Safety
/// `baseptr` and `win` must be null or writable, the first for a pointer.
unsafe fn make(
    info: Info,
    baseptr: Option<*mut c_void>,
    win: *mut Win,
    how: impl FnOnce(&Hints) -> Result<(Handle, *mut u8)>,
) -> Result<()> {
    let wanted = info::hints(Handle(info))?;
    if win.is_null() || baseptr.is_some_and(|place| place.is_null()) {
        return Err(Error::ARG);
    }
    let (window, base) = how(&wanted)?;
    with(|windows| windows.win_set_info(window, &wanted))?;
    // SAFETY: `win` and `baseptr`'s place are not null (checked above), so they are writable (this function's
    // contract).
    unsafe {
        if let Some(place) = baseptr {
            give(place.cast::<*mut u8>(), base)?;
        }
        give(win, window.0)
    }
}

/// The world ranks of a group.
fn members(group: Group) -> Result<Vec<WorldRank>> {
    with(|windows| Ok(windows.groups.get(Handle(group))?.members().to_vec()))
}

/// # Safety
/// `request` must be null or writable.
unsafe fn requested(request: *mut Request, begin: impl FnOnce() -> Result<Handle>) -> Result<()> {
    if request.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `request` is not null (checked above), so it is writable (this function's contract).
    unsafe { give(request, begin()?.0) }
}

/// The window at an address that a program has passed.
///
/// # Safety
/// `win` is null or readable.
unsafe fn named(win: *const Win) -> Win {
    if win.is_null() {
        return WIN_NULL;
    }
    // SAFETY: not null (checked above), so readable (this function's contract).
    unsafe { *win }
}

mpi! {
    fn Win_create + Win_create_c<N>(base: *mut c_void, size: Aint, disp_unit: N, info: Info, comm: Comm, win: *mut Win) on Comm(comm) {
        make(info, None, win, |_| {
            let made = with(|windows| windows.win_create(base.cast(), size, disp_unit.wide(), Handle(comm)))?;
            Ok((made, base.cast()))
        })
    }

    fn Win_allocate + Win_allocate_c<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: *mut c_void, win: *mut Win)
    on Comm(comm) {
        make(info, Some(baseptr), win, |_| with(|windows| windows.win_allocate(size, disp_unit.wide(), Handle(comm))))
    }

    fn Win_allocate_shared + Win_allocate_shared_c<N>(
        size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: *mut c_void, win: *mut Win,
    ) on Comm(comm) {
        make(info, Some(baseptr), win, |wanted| {
            let apart = hints::asks_noncontiguous(wanted);
            with(|windows| windows.win_allocate_shared(size, disp_unit.wide(), apart, Handle(comm)))
        })
    }

    fn Win_create_dynamic(info: Info, comm: Comm, win: *mut Win) on Comm(comm) {
        make(info, None, win, |_| Ok((with(|windows| windows.win_create_dynamic(Handle(comm)))?, core::ptr::null_mut())))
    }

    fn Win_attach(win: Win, base: *mut c_void, size: Aint) on Win(win) {
        with(|windows| windows.win_attach(Handle(win), base.cast(), size))
    }

    fn Win_detach(win: Win, base: *const c_void) on Win(win) {
        with(|windows| windows.win_detach(Handle(win), base.cast()))
    }

    fn Win_shared_query + Win_shared_query_c<N>(win: Win, rank: c_int, size: *mut Aint, disp_unit: *mut N, baseptr: *mut c_void)
    on Win(win) {
        let shape = with(|windows| windows.win_shared_query(Handle(win), rank))?;
        give(size, shape.size as Aint)?;
        give_number(disp_unit, shape.unit as i64)?;
        give(baseptr.cast::<*mut u8>(), shape.base)
    }

    fn Win_free(win: *mut Win) on Win({
        // SAFETY: null, or readable as the standard asks.
        unsafe { named(win) }
    }) {
        if win.is_null() {
            return Err(Error::ARG);
        }
        let handle = *win;
        window::free(Handle(handle))?;
        conversions::forget(handle);
        give(win, WIN_NULL)
    }

    fn Win_get_group(win: Win, group: *mut Group) on Win(win) {
        if group.is_null() {
            return Err(Error::ARG);
        }
        give(group, with(|windows| windows.win_group(Handle(win)))?.0)
    }

    fn Win_set_info(win: Win, info: Info) on Win(win) {
        let wanted = info::content(Handle(info))?;
        with(|windows| windows.win_set_info(Handle(win), &wanted))
    }

    fn Win_get_info(win: Win, info_used: *mut Info) on Win(win) {
        if info_used.is_null() {
            return Err(Error::ARG);
        }
        let used = with(|windows| windows.win_info(Handle(win)).cloned())?;
        give(info_used, info::insert(used)?.0)
    }
}

mpi! {
    fn Put + Put_c<N>(
        origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        with(|windows| windows.put(&origin, &target, Handle(win)))
    }

    fn Get + Get_c<N>(
        origin_addr: *mut c_void, origin_count: N, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        with(|windows| windows.get(&origin, &target, Handle(win)))
    }

    fn Rput + Rput_c<N>(
        origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win, request: *mut Request,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        requested(request, || with(|windows| windows.rput(&origin, &target, Handle(win))))
    }

    fn Rget + Rget_c<N>(
        origin_addr: *mut c_void, origin_count: N, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, win: Win, request: *mut Request,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        requested(request, || with(|windows| windows.rget(&origin, &target, Handle(win))))
    }

    fn Accumulate + Accumulate_c<N>(
        origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        with(|windows| windows.accumulate(&origin, &target, op, Handle(win)))
    }

    fn Raccumulate + Raccumulate_c<N>(
        origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win, request: *mut Request,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        requested(request, || with(|windows| windows.raccumulate(&origin, &target, op, Handle(win))))
    }

    fn Get_accumulate + Get_accumulate_c<N>(
        origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype,
        result_addr: *mut c_void, result_count: N, result_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let result = buffer(result_addr, result_count, result_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        with(|windows| windows.get_accumulate(&origin, &result, &target, op, Handle(win)))
    }

    fn Rget_accumulate + Rget_accumulate_c<N>(
        origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype,
        result_addr: *mut c_void, result_count: N, result_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: N, target_datatype: Datatype, op: Op, win: Win, request: *mut Request,
    ) on Win(win) {
        let origin = buffer(origin_addr, origin_count, origin_datatype);
        let result = buffer(result_addr, result_count, result_datatype);
        let target = place((target_rank, target_disp, target_count, target_datatype));
        requested(request, || with(|windows| windows.rget_accumulate(&origin, &result, &target, op, Handle(win))))
    }

    fn Fetch_and_op(
        origin_addr: *const c_void, result_addr: *mut c_void, datatype: Datatype, target_rank: c_int, target_disp: Aint, op: Op, win: Win,
    ) on Win(win) {
        let (origin, result) = (origin_addr.cast(), result_addr.cast());
        with(|windows| windows.fetch_and_op(origin, result, datatype, target_rank, target_disp, op, Handle(win)))
    }

    fn Compare_and_swap(
        origin_addr: *const c_void, compare_addr: *const c_void, result_addr: *mut c_void, datatype: Datatype,
        target_rank: c_int, target_disp: Aint, win: Win,
    ) on Win(win) {
        let (origin, compare, result) = (origin_addr.cast(), compare_addr.cast(), result_addr.cast());
        with(|windows| windows.compare_and_swap(origin, compare, result, datatype, target_rank, target_disp, Handle(win)))
    }
}

mpi! {
    fn Win_fence(assertions: c_int, win: Win) on Win(win) {
        with(|windows| windows.win_fence(assertions, Handle(win)))
    }

    fn Win_post(group: Group, assertions: c_int, win: Win) on Win(win) {
        let members = members(group)?;
        with(|windows| windows.win_post(&members, assertions, Handle(win)))
    }

    fn Win_start(group: Group, assertions: c_int, win: Win) on Win(win) {
        let members = members(group)?;
        with(|windows| windows.win_start(&members, assertions, Handle(win)))
    }

    fn Win_complete(win: Win) on Win(win) {
        with(|windows| windows.win_complete(Handle(win)))
    }

    fn Win_wait(win: Win) on Win(win) {
        with(|windows| windows.win_wait(Handle(win)))
    }

    fn Win_test(win: Win, flag: *mut c_int) on Win(win) {
        if flag.is_null() {
            return Err(Error::ARG);
        }
        give(flag, with(|windows| windows.win_test(Handle(win)))? as c_int)
    }

    fn Win_lock(lock_type: c_int, rank: c_int, assertions: c_int, win: Win) on Win(win) {
        let kind = LockKind::from_number(lock_type)?;
        with(|windows| windows.win_lock(kind, rank, assertions, Handle(win)))
    }

    fn Win_unlock(rank: c_int, win: Win) on Win(win) {
        with(|windows| windows.win_unlock(rank, Handle(win)))
    }

    fn Win_lock_all(assertions: c_int, win: Win) on Win(win) {
        with(|windows| windows.win_lock_all(assertions, Handle(win)))
    }

    fn Win_unlock_all(win: Win) on Win(win) {
        with(|windows| windows.win_unlock_all(Handle(win)))
    }

    fn Win_flush(rank: c_int, win: Win) on Win(win) {
        with(|windows| windows.win_flush(rank, Handle(win)))
    }

    fn Win_flush_all(win: Win) on Win(win) {
        with(|windows| windows.win_flush_all(Handle(win)))
    }

    fn Win_flush_local(rank: c_int, win: Win) on Win(win) {
        with(|windows| windows.win_flush_local(rank, Handle(win)))
    }

    fn Win_flush_local_all(win: Win) on Win(win) {
        with(|windows| windows.win_flush_local_all(Handle(win)))
    }

    fn Win_sync(win: Win) on Win(win) {
        with(|windows| windows.win_sync(Handle(win)))
    }
}
