//! Collectives, blocking, non-blocking and persistent (MPI-5.0, chapter 6).

use crate::mpi;
use crate::types::{Comm, Datatype, Info, Number, Op, Request, array, give};
use core::ffi::c_int;
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts, Reducing};
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::{Error, Handle, Result};

/// Defines the three forms of a collective, each with its large-count form, from the engine's call that its arguments describe.
#[macro_export]
macro_rules! collective {
    () => {};
    (
        fn $name:ident + $name_c:ident, $begin:ident + $begin_c:ident, $init:ident + $init_c:ident
        <$n:ident> ($($arg:ident: $type:ty),* $(,)?) | $engine:ident, $comm:ident | $call:block
        $($rest:tt)*
    ) => {
        $crate::mpi! {
            fn $name + $name_c<$n>($($arg: $type,)* $comm: Comm) on Comm($comm) {
                with(|$engine| {
                    let call: Call = $call;
                    $engine.collective(&call, Handle($comm))
                })
            }

            fn $begin + $begin_c<$n>($($arg: $type,)* $comm: Comm, request: *mut Request) on Comm($comm) {
                $crate::collectives::requested(request, |$engine| {
                    let call: Call = $call;
                    $engine.begin_collective(&call, Handle($comm))
                })
            }

            fn $init + $init_c<$n>($($arg: $type,)* $comm: Comm, _info: Info, request: *mut Request) on Comm($comm) {
                $crate::collectives::requested(request, |$engine| {
                    let call: Call = $call;
                    $engine.collective_init(&call, Handle($comm))
                })
            }
        }
        $crate::collective! { $($rest)* }
    };
}

/// Calls the engine for a new request and gives its handle out.
///
/// # Safety
/// `request` must be null or writable.
pub unsafe fn requested(
    request: *mut Request,
    how: impl FnOnce(&mut Engine) -> Result<Handle>,
) -> Result<()> {
    if request.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `request` is not null (checked above), so it is writable (this function's contract).
    unsafe { give(request, with(how)?.0) }
}

/// A buffer of the caller.
pub fn part<N: Number>(address: *const u8, count: N, datatype: Datatype) -> BufferArgument {
    BufferArgument { address: address.cast_mut(), count: count.wide(), datatype }
}

/// A buffer of equal parts.
pub fn equal<'a, N: Number>(address: *const u8, count: N, datatype: Datatype) -> Parts<'a> {
    Parts { address: address.cast_mut(), division: Division::Equal(count.wide()), datatype }
}

/// An array of numbers of the caller.
///
/// # Safety
/// `start` must be null or readable for `count` numbers, as long as `'a`.
unsafe fn numbers<'a, N: Number + 'a>(start: *const N, count: usize) -> Result<Numbers<'a>> {
    // SAFETY: `start` is null or readable for `count` numbers during `'a` (this function's contract).
    Ok(N::numbers(unsafe { array(start, count)? }))
}

/// A buffer divided by counts and displacements, `length` of each.
///
/// # Safety
/// The arrays must be null or readable for `length` elements, as long as `'a`.
pub unsafe fn varying<'a, N: Number + 'a>(
    address: *const u8,
    counts: *const N,
    places: *const N,
    datatype: Datatype,
    length: usize,
) -> Result<Parts<'a>> {
    // SAFETY: both arrays are null or readable for `length` elements during `'a` (this function's contract).
    let division = unsafe { Division::Varying(numbers(counts, length)?, numbers(places, length)?) };
    Ok(Parts { address: address.cast_mut(), division, datatype })
}

/// A buffer divided by counts, displacements in bytes and datatypes, `length` of each.
///
/// # Safety
/// The arrays must be null or readable for `length` elements, as long as `'a`.
pub unsafe fn typed<'a, N: Number + 'a, D: Number + 'a>(
    address: *const u8,
    counts: *const N,
    places: *const D,
    datatypes: *const Datatype,
    length: usize,
) -> Result<Parts<'a>> {
    // SAFETY: all three arrays are null or readable for `length` elements during `'a` (this function's
    // contract).
    let division = unsafe {
        Division::Typed(numbers(counts, length)?, numbers(places, length)?, array(datatypes, length)?)
    };
    Ok(Parts { address: address.cast_mut(), division, datatype: 0 })
}

/// A send buffer's parts, which are not looked at in place.
fn unless_in_place(address: *const u8, length: usize) -> usize {
    if address.addr() == lwk_mpi_rt::abi::IN_PLACE { 0 } else { length }
}

/// Parts of a buffer that matters in the root only.
fn at_root(engine: &Engine, comm: Comm, root: c_int) -> Result<usize> {
    if engine.is_root(Handle(comm), root)? { engine.parts_of(Handle(comm)) } else { Ok(0) }
}

fn reducing<N: Number>(
    send: *const u8,
    receive: *mut u8,
    count: N,
    datatype: Datatype,
    operation: Op,
) -> Reducing {
    Reducing { send, receive, count: count.wide(), datatype, operation }
}

mpi! {
    fn Barrier(comm: Comm) on Comm(comm) {
        with(|engine| engine.barrier_on(Handle(comm)))
    }

    fn Ibarrier(comm: Comm, request: *mut Request) on Comm(comm) {
        requested(request, |engine| engine.begin_collective(&Call::Barrier, Handle(comm)))
    }

    fn Barrier_init(comm: Comm, _info: Info, request: *mut Request) on Comm(comm) {
        requested(request, |engine| engine.collective_init(&Call::Barrier, Handle(comm)))
    }
}

collective! {
    fn Bcast + Bcast_c, Ibcast + Ibcast_c, Bcast_init + Bcast_init_c<N>(
        buffer: *mut u8, count: N, datatype: Datatype, root: c_int,
    ) |engine, comm| {
        Call::Broadcast { buffer: part(buffer, count, datatype), root }
    }

    fn Gather + Gather_c, Igather + Igather_c, Gather_init + Gather_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int,
    ) |engine, comm| {
        let send = part(sendbuf, sendcount, sendtype);
        Call::Gather { send, receive: equal(recvbuf, recvcount, recvtype), root }
    }

    fn Gatherv + Gatherv_c, Igatherv + Igatherv_c, Gatherv_init + Gatherv_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcounts: *const N, displs: *const N, recvtype: Datatype, root: c_int,
    ) |engine, comm| {
        let length = at_root(engine, comm, root)?;
        let receive = varying(recvbuf, recvcounts, displs, recvtype, length)?;
        Call::Gather { send: part(sendbuf, sendcount, sendtype), receive, root }
    }

    fn Scatter + Scatter_c, Iscatter + Iscatter_c, Scatter_init + Scatter_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int,
    ) |engine, comm| {
        let receive = part(recvbuf, recvcount, recvtype);
        Call::Scatter { send: equal(sendbuf, sendcount, sendtype), receive, root }
    }

    fn Scatterv + Scatterv_c, Iscatterv + Iscatterv_c, Scatterv_init + Scatterv_init_c<N>(
        sendbuf: *const u8, sendcounts: *const N, displs: *const N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype, root: c_int,
    ) |engine, comm| {
        let length = at_root(engine, comm, root)?;
        let send = varying(sendbuf, sendcounts, displs, sendtype, length)?;
        Call::Scatter { send, receive: part(recvbuf, recvcount, recvtype), root }
    }

    fn Allgather + Allgather_c, Iallgather + Iallgather_c, Allgather_init + Allgather_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype,
    ) |engine, comm| {
        let send = part(sendbuf, sendcount, sendtype);
        Call::Allgather { send, receive: equal(recvbuf, recvcount, recvtype) }
    }

    fn Allgatherv + Allgatherv_c, Iallgatherv + Iallgatherv_c, Allgatherv_init + Allgatherv_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcounts: *const N, displs: *const N, recvtype: Datatype,
    ) |engine, comm| {
        let length = engine.parts_of(Handle(comm))?;
        let receive = varying(recvbuf, recvcounts, displs, recvtype, length)?;
        Call::Allgather { send: part(sendbuf, sendcount, sendtype), receive }
    }

    fn Alltoall + Alltoall_c, Ialltoall + Ialltoall_c, Alltoall_init + Alltoall_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype,
    ) |engine, comm| {
        let send = equal(sendbuf, sendcount, sendtype);
        Call::Alltoall { send, receive: equal(recvbuf, recvcount, recvtype) }
    }

    fn Alltoallv + Alltoallv_c, Ialltoallv + Ialltoallv_c, Alltoallv_init + Alltoallv_init_c<N>(
        sendbuf: *const u8, sendcounts: *const N, sdispls: *const N, sendtype: Datatype,
        recvbuf: *mut u8, recvcounts: *const N, rdispls: *const N, recvtype: Datatype,
    ) |engine, comm| {
        let length = engine.parts_of(Handle(comm))?;
        let send = varying(sendbuf, sendcounts, sdispls, sendtype, unless_in_place(sendbuf, length))?;
        Call::Alltoall { send, receive: varying(recvbuf, recvcounts, rdispls, recvtype, length)? }
    }

    fn Alltoallw + Alltoallw_c, Ialltoallw + Ialltoallw_c, Alltoallw_init + Alltoallw_init_c<N>(
        sendbuf: *const u8, sendcounts: *const N, sdispls: *const N, sendtypes: *const Datatype,
        recvbuf: *mut u8, recvcounts: *const N, rdispls: *const N, recvtypes: *const Datatype,
    ) |engine, comm| {
        let length = engine.parts_of(Handle(comm))?;
        let send = typed(sendbuf, sendcounts, sdispls, sendtypes, unless_in_place(sendbuf, length))?;
        Call::Alltoall { send, receive: typed(recvbuf, recvcounts, rdispls, recvtypes, length)? }
    }

    fn Reduce + Reduce_c, Ireduce + Ireduce_c, Reduce_init + Reduce_init_c<N>(
        sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op, root: c_int,
    ) |engine, comm| {
        let reducing = reducing(sendbuf, recvbuf, count, datatype, op);
        Call::Reduce { reducing, root }
    }

    fn Allreduce + Allreduce_c, Iallreduce + Iallreduce_c, Allreduce_init + Allreduce_init_c<N>(
        sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op,
    ) |engine, comm| {
        Call::Allreduce { reducing: reducing(sendbuf, recvbuf, count, datatype, op) }
    }

    fn Reduce_scatter + Reduce_scatter_c, Ireduce_scatter + Ireduce_scatter_c, Reduce_scatter_init + Reduce_scatter_init_c<N>(
        sendbuf: *const u8, recvbuf: *mut u8, recvcounts: *const N, datatype: Datatype, op: Op,
    ) |engine, comm| {
        let blocks = numbers(recvcounts, engine.communicators.size(Handle(comm))? as usize)?;
        Call::ReduceScatter { reducing: reducing(sendbuf, recvbuf, 0, datatype, op), blocks }
    }

    fn Reduce_scatter_block + Reduce_scatter_block_c, Ireduce_scatter_block + Ireduce_scatter_block_c, Reduce_scatter_block_init + Reduce_scatter_block_init_c<N>(
        sendbuf: *const u8, recvbuf: *mut u8, recvcount: N, datatype: Datatype, op: Op,
    ) |engine, comm| {
        Call::ReduceScatterBlock { reducing: reducing(sendbuf, recvbuf, recvcount, datatype, op) }
    }

    fn Scan + Scan_c, Iscan + Iscan_c, Scan_init + Scan_init_c<N>(
        sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op,
    ) |engine, comm| {
        Call::Scan { reducing: reducing(sendbuf, recvbuf, count, datatype, op) }
    }

    fn Exscan + Exscan_c, Iexscan + Iexscan_c, Exscan_init + Exscan_init_c<N>(
        sendbuf: *const u8, recvbuf: *mut u8, count: N, datatype: Datatype, op: Op,
    ) |engine, comm| {
        Call::Exscan { reducing: reducing(sendbuf, recvbuf, count, datatype, op) }
    }
}
