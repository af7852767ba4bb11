/* Fortran bindings of the functions in margay/topologies.h. See fortran.h. */
#include "fortran.h"

FORTRAN(cart_coords, (const MPI_Fint *comm, const MPI_Fint *rank, const MPI_Fint *maxdims, MPI_Fint *coords,
        MPI_Fint *ierror))
{
    *ierror = MPI_Cart_coords(MPI_Comm_f2c(*comm), *rank, *maxdims, coords);
}

FORTRAN(cart_create, (const MPI_Fint *comm_old, const MPI_Fint *ndims, const MPI_Fint *dims, const MPI_Fint *periods,
        const MPI_Fint *reorder, MPI_Fint *comm_cart, MPI_Fint *ierror))
{
    MPI_Comm c_comm_cart = MPI_COMM_NULL;
    *ierror = MPI_Cart_create(MPI_Comm_f2c(*comm_old), *ndims, dims, periods, *reorder, &c_comm_cart);
    PUT(Comm, comm_cart, c_comm_cart);
}

FORTRAN(cart_get, (const MPI_Fint *comm, const MPI_Fint *maxdims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *coords,
        MPI_Fint *ierror))
{
    *ierror = MPI_Cart_get(MPI_Comm_f2c(*comm), *maxdims, dims, periods, coords);
}

FORTRAN(cart_map, (const MPI_Fint *comm, const MPI_Fint *ndims, const MPI_Fint *dims, const MPI_Fint *periods,
        MPI_Fint *newrank, MPI_Fint *ierror))
{
    *ierror = MPI_Cart_map(MPI_Comm_f2c(*comm), *ndims, dims, periods, newrank);
}

FORTRAN(cart_rank, (const MPI_Fint *comm, const MPI_Fint *coords, MPI_Fint *rank, MPI_Fint *ierror))
{
    *ierror = MPI_Cart_rank(MPI_Comm_f2c(*comm), coords, rank);
}

FORTRAN(cart_shift, (const MPI_Fint *comm, const MPI_Fint *direction, const MPI_Fint *disp, MPI_Fint *rank_source,
        MPI_Fint *rank_dest, MPI_Fint *ierror))
{
    *ierror = MPI_Cart_shift(MPI_Comm_f2c(*comm), *direction, *disp, rank_source, rank_dest);
}

FORTRAN(cart_sub, (const MPI_Fint *comm, const MPI_Fint *remain_dims, MPI_Fint *newcomm, MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Cart_sub(MPI_Comm_f2c(*comm), remain_dims, &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(cartdim_get, (const MPI_Fint *comm, MPI_Fint *ndims, MPI_Fint *ierror))
{
    *ierror = MPI_Cartdim_get(MPI_Comm_f2c(*comm), ndims);
}

FORTRAN(dims_create, (const MPI_Fint *nnodes, const MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *ierror))
{
    *ierror = MPI_Dims_create(*nnodes, *ndims, dims);
}

FORTRAN(dist_graph_create, (const MPI_Fint *comm_old, const MPI_Fint *n, const MPI_Fint *sources,
        const MPI_Fint *degrees, const MPI_Fint *destinations, const MPI_Fint *weights, const MPI_Fint *info,
        const MPI_Fint *reorder, MPI_Fint *comm_dist_graph, MPI_Fint *ierror))
{
    MPI_Comm c_comm_dist_graph = MPI_COMM_NULL;
    *ierror = MPI_Dist_graph_create(MPI_Comm_f2c(*comm_old), *n, sources, degrees, destinations, WEIGHTS(weights),
        MPI_Info_f2c(*info), *reorder, &c_comm_dist_graph);
    PUT(Comm, comm_dist_graph, c_comm_dist_graph);
}

FORTRAN(dist_graph_create_adjacent, (const MPI_Fint *comm_old, const MPI_Fint *indegree, const MPI_Fint *sources,
        const MPI_Fint *sourceweights, const MPI_Fint *outdegree, const MPI_Fint *destinations,
        const MPI_Fint *destweights, const MPI_Fint *info, const MPI_Fint *reorder, MPI_Fint *comm_dist_graph,
        MPI_Fint *ierror))
{
    MPI_Comm c_comm_dist_graph = MPI_COMM_NULL;
    *ierror = MPI_Dist_graph_create_adjacent(MPI_Comm_f2c(*comm_old), *indegree, sources, WEIGHTS(sourceweights),
        *outdegree, destinations, WEIGHTS(destweights), MPI_Info_f2c(*info), *reorder, &c_comm_dist_graph);
    PUT(Comm, comm_dist_graph, c_comm_dist_graph);
}

FORTRAN(dist_graph_neighbors, (const MPI_Fint *comm, const MPI_Fint *maxindegree, MPI_Fint *sources,
        MPI_Fint *sourceweights, const MPI_Fint *maxoutdegree, MPI_Fint *destinations, MPI_Fint *destweights,
        MPI_Fint *ierror))
{
    *ierror = MPI_Dist_graph_neighbors(MPI_Comm_f2c(*comm), *maxindegree, sources, WEIGHTS(sourceweights),
        *maxoutdegree, destinations, WEIGHTS(destweights));
}

FORTRAN(dist_graph_neighbors_count, (const MPI_Fint *comm, MPI_Fint *indegree, MPI_Fint *outdegree,
        MPI_Fint *weighted, MPI_Fint *ierror))
{
    *ierror = MPI_Dist_graph_neighbors_count(MPI_Comm_f2c(*comm), indegree, outdegree, weighted);
}

FORTRAN(graph_create, (const MPI_Fint *comm_old, const MPI_Fint *nnodes, const MPI_Fint *indx, const MPI_Fint *edges,
        const MPI_Fint *reorder, MPI_Fint *comm_graph, MPI_Fint *ierror))
{
    MPI_Comm c_comm_graph = MPI_COMM_NULL;
    *ierror = MPI_Graph_create(MPI_Comm_f2c(*comm_old), *nnodes, indx, edges, *reorder, &c_comm_graph);
    PUT(Comm, comm_graph, c_comm_graph);
}

FORTRAN(graph_get, (const MPI_Fint *comm, const MPI_Fint *maxindex, const MPI_Fint *maxedges, MPI_Fint *indx,
        MPI_Fint *edges, MPI_Fint *ierror))
{
    *ierror = MPI_Graph_get(MPI_Comm_f2c(*comm), *maxindex, *maxedges, indx, edges);
}

FORTRAN(graph_map, (const MPI_Fint *comm, const MPI_Fint *nnodes, const MPI_Fint *indx, const MPI_Fint *edges,
        MPI_Fint *newrank, MPI_Fint *ierror))
{
    *ierror = MPI_Graph_map(MPI_Comm_f2c(*comm), *nnodes, indx, edges, newrank);
}

FORTRAN(graph_neighbors, (const MPI_Fint *comm, const MPI_Fint *rank, const MPI_Fint *maxneighbors,
        MPI_Fint *neighbors, MPI_Fint *ierror))
{
    *ierror = MPI_Graph_neighbors(MPI_Comm_f2c(*comm), *rank, *maxneighbors, neighbors);
}

FORTRAN(graph_neighbors_count, (const MPI_Fint *comm, const MPI_Fint *rank, MPI_Fint *nneighbors, MPI_Fint *ierror))
{
    *ierror = MPI_Graph_neighbors_count(MPI_Comm_f2c(*comm), *rank, nneighbors);
}

FORTRAN(graphdims_get, (const MPI_Fint *comm, MPI_Fint *nnodes, MPI_Fint *nedges, MPI_Fint *ierror))
{
    *ierror = MPI_Graphdims_get(MPI_Comm_f2c(*comm), nnodes, nedges);
}

FORTRAN(ineighbor_allgather, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ineighbor_allgather(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ineighbor_allgatherv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
        void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype,
        const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ineighbor_allgatherv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, displs, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ineighbor_alltoall, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ineighbor_alltoall(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ineighbor_alltoallv, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,
        const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ineighbor_alltoallv(BUFFER(sendbuf), sendcounts, sdispls, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, rdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(neighbor_allgather, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Neighbor_allgather(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(neighbor_allgather_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
        void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm,
        const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Neighbor_allgather_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(neighbor_allgatherv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *comm,
        MPI_Fint *ierror))
{
    *ierror = MPI_Neighbor_allgatherv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, displs, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(neighbor_allgatherv_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
        void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype,
        const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Neighbor_allgatherv_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, displs, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(neighbor_alltoall, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Neighbor_alltoall(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf), *recvcount,
        MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(neighbor_alltoall_init, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
        void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm,
        const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Neighbor_alltoall_init(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(neighbor_alltoallv, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,
        const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Neighbor_alltoallv(BUFFER(sendbuf), sendcounts, sdispls, MPI_Type_f2c(*sendtype), BUFFER(recvbuf),
        recvcounts, rdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
}

FORTRAN(neighbor_alltoallv_init, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
        const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,
        const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Neighbor_alltoallv_init(BUFFER(sendbuf), sendcounts, sdispls, MPI_Type_f2c(*sendtype),
        BUFFER(recvbuf), recvcounts, rdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info),
        &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(topo_test, (const MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror))
{
    *ierror = MPI_Topo_test(MPI_Comm_f2c(*comm), status);
}
