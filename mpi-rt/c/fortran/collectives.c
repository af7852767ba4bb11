/* Fortran bindings of the functions in margay/collectives.h. See fortran.h. */
#include "fortran.h"

FORTRAN(allgather, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Allgather(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(allgather_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info,
        MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Allgather_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(allgatherv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *comm,
        MPI_Fint *ierror))
{
    *ierror = MPI_Allgatherv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), recvcounts,
        displs, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(allgatherv_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *comm,
        const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Allgatherv_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), recvcounts,
        displs, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(allreduce, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Allreduce(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm));
}

FORTRAN(allreduce_init, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Allreduce_init(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(alltoall, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Alltoall(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(alltoall_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info,
        MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Alltoall_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(alltoallv, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,
        const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Alltoallv(BUFFER(sendbuf), sendcounts, sdispls, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, rdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(alltoallv_init, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,
        const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Alltoallv_init(BUFFER(sendbuf), sendcounts, sdispls, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, rdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(barrier, (const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Barrier(MPI_Comm_f2c(*comm));
}

FORTRAN(barrier_init, (const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Barrier_init(MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(bcast, (void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *root,
        const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Bcast(BUFFER(buffer), *count, MPI_Type_f2c(*datatype), *root, MPI_Comm_f2c(*comm));
}

FORTRAN(bcast_init, (void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *root,
        const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Bcast_init(BUFFER(buffer), *count, MPI_Type_f2c(*datatype), *root, MPI_Comm_f2c(*comm),
        MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(exscan, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Exscan(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm));
}

FORTRAN(exscan_init, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Exscan_init(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(gather, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
        MPI_Fint *ierror))
{
    *ierror = MPI_Gather(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm));
}

FORTRAN(gather_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
        const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Gather_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(gatherv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *root,
        const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Gatherv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), recvcounts, displs,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm));
}

FORTRAN(gatherv_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *root,
        const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Gatherv_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), recvcounts,
        displs, MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iallgather, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iallgather(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iallgatherv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *comm,
        MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iallgatherv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), recvcounts,
        displs, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iallreduce, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iallreduce(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ialltoall, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ialltoall(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ialltoallv, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,
        const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ialltoallv(BUFFER(sendbuf), sendcounts, sdispls, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, rdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ibarrier, (const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ibarrier(MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ibcast, (void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *root,
        const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ibcast(BUFFER(buffer), *count, MPI_Type_f2c(*datatype), *root, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iexscan, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iexscan(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(igather, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
        MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Igather(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(igatherv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *root,
        const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Igatherv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), recvcounts, displs,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ireduce, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ireduce(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op), *root,
        MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ireduce_scatter, (const void *sendbuf, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ireduce_scatter(BUFFER(sendbuf), BUFFER(recvbuf), recvcounts, MPI_Type_f2c(*datatype),
        MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ireduce_scatter_block, (const void *sendbuf, void *recvbuf, const MPI_Fint *recvcount,
        const MPI_Fint *datatype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ireduce_scatter_block(BUFFER(sendbuf), BUFFER(recvbuf), *recvcount, MPI_Type_f2c(*datatype),
        MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iscan, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iscan(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iscatter, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
        MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iscatter(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(iscatterv, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *displs, const MPI_Fint *sendtype,
        void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root,
        const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Iscatterv(BUFFER(sendbuf), sendcounts, displs, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(op_commutative, (const MPI_Fint *op, MPI_Fint *commute, MPI_Fint *ierror))
{
    *ierror = MPI_Op_commutative(MPI_Op_f2c(*op), commute);
}

FORTRAN(op_free, (MPI_Fint *op, MPI_Fint *ierror))
{
    MPI_Op c_op = MPI_Op_f2c(*op);
    *ierror = MPI_Op_free(&c_op);
    PUT_BACK(Op, op, c_op);
}

FORTRAN(reduce, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Reduce(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op), *root,
        MPI_Comm_f2c(*comm));
}

FORTRAN(reduce_init, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *root, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Reduce_init(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        *root, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(reduce_local, (const void *inbuf, void *inoutbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, MPI_Fint *ierror))
{
    *ierror = MPI_Reduce_local(BUFFER(inbuf), BUFFER(inoutbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op));
}

FORTRAN(reduce_scatter, (const void *sendbuf, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Reduce_scatter(BUFFER(sendbuf), BUFFER(recvbuf), recvcounts, MPI_Type_f2c(*datatype),
        MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
}

FORTRAN(reduce_scatter_block, (const void *sendbuf, void *recvbuf, const MPI_Fint *recvcount,
        const MPI_Fint *datatype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Reduce_scatter_block(BUFFER(sendbuf), BUFFER(recvbuf), *recvcount, MPI_Type_f2c(*datatype),
        MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
}

FORTRAN(reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, const MPI_Fint *recvcount,
        const MPI_Fint *datatype, const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Reduce_scatter_block_init(BUFFER(sendbuf), BUFFER(recvbuf), *recvcount, MPI_Type_f2c(*datatype),
        MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(reduce_scatter_init, (const void *sendbuf, void *recvbuf, const MPI_Fint *recvcounts,
        const MPI_Fint *datatype, const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Reduce_scatter_init(BUFFER(sendbuf), BUFFER(recvbuf), recvcounts, MPI_Type_f2c(*datatype),
        MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(scan, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Scan(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm));
}

FORTRAN(scan_init, (const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
        const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Scan_init(BUFFER(sendbuf), BUFFER(recvbuf), *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
        MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(scatter, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
        MPI_Fint *ierror))
{
    *ierror = MPI_Scatter(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm));
}

FORTRAN(scatter_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
        const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Scatter_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(scatterv, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *displs, const MPI_Fint *sendtype,
        void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root,
        const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Scatterv(BUFFER(sendbuf), sendcounts, displs, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm));
}

FORTRAN(scatterv_init, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *displs,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
        const MPI_Fint *root, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Scatterv_init(BUFFER(sendbuf), sendcounts, displs, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), *root, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}
