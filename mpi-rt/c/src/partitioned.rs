//! Partitioned communication (MPI-5.0, chapter 4).

use crate::mpi;
use crate::point_to_point::{receiving, sending};
use crate::types::{Comm, Datatype, Info, Request, array, give};
use core::ffi::c_int;
use lwk_mpi_partitioned::with;
use lwk_mpi_rt::{Error, Handle};

mpi! {
    fn Psend_init(
        buf: *const u8, partitions: c_int, count: i64, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, info: Info,
        request: *mut Request,
    ) on Comm(comm) {
        // There are no hints for it.
        let _ = info;
        let arguments = sending(buf, count, datatype, (dest, tag, comm));
        give(request, with(|calls| calls.psend_init(&arguments, partitions))?.0)
    }

    fn Precv_init(
        buf: *mut u8, partitions: c_int, count: i64, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, info: Info,
        request: *mut Request,
    ) on Comm(comm) {
        let _ = info;
        let arguments = receiving(buf, count, datatype, (source, tag, comm));
        give(request, with(|calls| calls.precv_init(&arguments, partitions))?.0)
    }

    fn Pready(partition: c_int, request: Request) on Nothing {
        with(|calls| calls.pready(Handle(request), partition))
    }

    fn Pready_range(partition_low: c_int, partition_high: c_int, request: Request) on Nothing {
        if partition_low > partition_high {
            return Err(Error::ARG);
        }
        with(|calls| {
            (partition_low..=partition_high).try_for_each(|partition| calls.pready(Handle(request), partition))
        })
    }

    fn Pready_list(length: c_int, array_of_partitions: *const c_int, request: Request) on Nothing {
        let list = array(array_of_partitions, length)?;
        with(|calls| list.iter().try_for_each(|partition| calls.pready(Handle(request), *partition)))
    }

    fn Parrived(request: Request, partition: c_int, flag: *mut c_int) on Nothing {
        give(flag, with(|calls| calls.parrived(Handle(request), partition))? as c_int)
    }
}
