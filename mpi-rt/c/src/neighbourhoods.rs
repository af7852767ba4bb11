//! Neighbourhood collectives (MPI-5.0, section 8.6).

use crate::collective;
use crate::collectives::{equal, part, typed, varying};
use crate::types::{Comm, Datatype, Info, Request};
use lwk_mpi_rt::Handle;
use lwk_mpi_rt::collective::Call;
use lwk_mpi_rt::engine::with;

collective! {
    fn Neighbor_allgather + Neighbor_allgather_c, Ineighbor_allgather + Ineighbor_allgather_c, Neighbor_allgather_init + Neighbor_allgather_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype,
    ) |engine, comm| {
        let send = part(sendbuf, sendcount, sendtype);
        Call::NeighbourAllgather { send, receive: equal(recvbuf, recvcount, recvtype) }
    }

    fn Neighbor_allgatherv + Neighbor_allgatherv_c, Ineighbor_allgatherv + Ineighbor_allgatherv_c, Neighbor_allgatherv_init + Neighbor_allgatherv_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcounts: *const N, displs: *const N, recvtype: Datatype,
    ) |engine, comm| {
        let (sources, _) = engine.neighbour_counts(Handle(comm))?;
        let receive = varying(recvbuf, recvcounts, displs, recvtype, sources)?;
        Call::NeighbourAllgather { send: part(sendbuf, sendcount, sendtype), receive }
    }

    fn Neighbor_alltoall + Neighbor_alltoall_c, Ineighbor_alltoall + Ineighbor_alltoall_c, Neighbor_alltoall_init + Neighbor_alltoall_init_c<N>(
        sendbuf: *const u8, sendcount: N, sendtype: Datatype,
        recvbuf: *mut u8, recvcount: N, recvtype: Datatype,
    ) |engine, comm| {
        let send = equal(sendbuf, sendcount, sendtype);
        Call::NeighbourAlltoall { send, receive: equal(recvbuf, recvcount, recvtype) }
    }

    fn Neighbor_alltoallv + Neighbor_alltoallv_c, Ineighbor_alltoallv + Ineighbor_alltoallv_c, Neighbor_alltoallv_init + Neighbor_alltoallv_init_c<N>(
        sendbuf: *const u8, sendcounts: *const N, sdispls: *const N, sendtype: Datatype,
        recvbuf: *mut u8, recvcounts: *const N, rdispls: *const N, recvtype: Datatype,
    ) |engine, comm| {
        let (sources, destinations) = engine.neighbour_counts(Handle(comm))?;
        let send = varying(sendbuf, sendcounts, sdispls, sendtype, destinations)?;
        Call::NeighbourAlltoall { send, receive: varying(recvbuf, recvcounts, rdispls, recvtype, sources)? }
    }

    fn Neighbor_alltoallw + Neighbor_alltoallw_c, Ineighbor_alltoallw + Ineighbor_alltoallw_c, Neighbor_alltoallw_init + Neighbor_alltoallw_init_c<N>(
        sendbuf: *const u8, sendcounts: *const N, sdispls: *const i64, sendtypes: *const Datatype,
        recvbuf: *mut u8, recvcounts: *const N, rdispls: *const i64, recvtypes: *const Datatype,
    ) |engine, comm| {
        let (sources, destinations) = engine.neighbour_counts(Handle(comm))?;
        let send = typed(sendbuf, sendcounts, sdispls, sendtypes, destinations)?;
        Call::NeighbourAlltoall { send, receive: typed(recvbuf, recvcounts, rdispls, recvtypes, sources)? }
    }
}
