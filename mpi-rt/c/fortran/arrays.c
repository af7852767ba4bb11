/* Fortran bindings of functions with arrays of requests or datatypes. See fortran.h. */
#include "fortran.h"

/* Arrays of requests: the handles of the numbers, in memory of the C library's; NULL and an error if there is none. */
static MPI_Request *requests_in(MPI_Fint count, const MPI_Fint *numbers, MPI_Fint *ierror)
{
    MPI_Request *requests = malloc((count > 0 ? count : 1) * sizeof *requests);
    *ierror = requests ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (MPI_Fint i = 0; requests && i < count; i++)
        requests[i] = MPI_Request_f2c(numbers[i]);
    return requests;
}

/* The first lines of a call on requests: `requests` are these for C, or the call ends with an error. */
#define REQUESTS_IN                                               \
    MPI_Request *requests = requests_in(*count, numbers, ierror); \
    if (!requests)                                                \
    return

static void requests_out(MPI_Fint count, MPI_Fint *numbers, MPI_Request *requests, MPI_Fint *ierror)
{
    for (MPI_Fint i = 0; i < count; i++)
        PUT_BACK(Request, &numbers[i], requests[i]);
    free(requests);
    (void)ierror;
}

FORTRAN(waitall, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *statuses, MPI_Fint *ierror))
{
    REQUESTS_IN;
    *ierror = MPI_Waitall(*count, requests, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
}

FORTRAN(testall, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror))
{
    REQUESTS_IN;
    *ierror = MPI_Testall(*count, requests, flag, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
}

/* Fortran counts elements from one. */
static void from_one(MPI_Fint *index)
{
    if (*index != MPI_UNDEFINED)
        ++*index;
}

FORTRAN(waitany, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *index, MPI_Fint *status, MPI_Fint *ierror))
{
    REQUESTS_IN;
    *index = MPI_UNDEFINED;
    *ierror = MPI_Waitany(*count, requests, index, STATUS(status));
    requests_out(*count, numbers, requests, ierror);
    from_one(index);
}

FORTRAN(testany,
        (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror))
{
    REQUESTS_IN;
    *index = MPI_UNDEFINED;
    *ierror = MPI_Testany(*count, requests, index, flag, STATUS(status));
    requests_out(*count, numbers, requests, ierror);
    from_one(index);
}

FORTRAN(waitsome, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,
                   MPI_Fint *ierror))
{
    REQUESTS_IN;
    *done = 0;
    *ierror = MPI_Waitsome(*count, requests, done, indices, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
    for (MPI_Fint i = 0; i < *done; i++)
        from_one(&indices[i]);
}

FORTRAN(testsome, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,
                   MPI_Fint *ierror))
{
    REQUESTS_IN;
    *done = 0;
    *ierror = MPI_Testsome(*count, requests, done, indices, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
    for (MPI_Fint i = 0; i < *done; i++)
        from_one(&indices[i]);
}

FORTRAN(startall, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *ierror))
{
    REQUESTS_IN;
    *ierror = MPI_Startall(*count, requests);
    requests_out(*count, numbers, requests, ierror);
}

/* Questions leave requests as they are. */
FORTRAN(request_get_status_all, (const MPI_Fint *count, const MPI_Fint *numbers, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror))
{
    REQUESTS_IN;
    *ierror = MPI_Request_get_status_all(*count, requests, flag, STATUSES(statuses));
    free(requests);
}

FORTRAN(request_get_status_any, (const MPI_Fint *count, const MPI_Fint *numbers, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status,
                                 MPI_Fint *ierror))
{
    REQUESTS_IN;
    *ierror = MPI_Request_get_status_any(*count, requests, index, flag, STATUS(status));
    free(requests);
    if (*ierror == MPI_SUCCESS && *flag)
        from_one(index);
}

FORTRAN(request_get_status_some, (const MPI_Fint *count, const MPI_Fint *numbers, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,
                                  MPI_Fint *ierror))
{
    REQUESTS_IN;
    *ierror = MPI_Request_get_status_some(*count, requests, done, indices, STATUSES(statuses));
    free(requests);
    for (MPI_Fint i = 0; *ierror == MPI_SUCCESS && i < *done; i++)
        from_one(&indices[i]);
}

/* Arrays of datatypes. */
static MPI_Datatype *types_in(MPI_Fint count, const MPI_Fint *numbers, MPI_Fint *ierror)
{
    MPI_Datatype *types = malloc((count > 0 ? count : 1) * sizeof *types);
    *ierror = types ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (MPI_Fint i = 0; types && i < count; i++)
        types[i] = MPI_Type_f2c(numbers[i]);
    return types;
}

FORTRAN(type_create_struct, (const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Aint *displacements,
                             const MPI_Fint *numbers, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL, *types = types_in(*count, numbers, ierror);
    if (!types)
        return;
    *ierror = MPI_Type_create_struct(*count, lengths, displacements, types, &made);
    PUT(Type, newtype, made);
    free(types);
}

FORTRAN(type_get_contents, (const MPI_Fint *type, const MPI_Fint *max_integers, const MPI_Fint *max_addresses, const MPI_Fint *max_types,
                            MPI_Fint *integers, MPI_Aint *addresses, MPI_Fint *numbers, MPI_Fint *ierror))
{
    int some_integers, some_addresses, count = 0, combiner;
    MPI_Datatype c_type = MPI_Type_f2c(*type);
    *ierror = MPI_Type_get_envelope(c_type, &some_integers, &some_addresses, &count, &combiner);
    if (*ierror != MPI_SUCCESS)
        return;
    MPI_Datatype *types = malloc((*max_types > 0 ? *max_types : 1) * sizeof *types);
    if (!types) {
        *ierror = MPI_ERR_NO_MEM;
        return;
    }
    *ierror = MPI_Type_get_contents(c_type, *max_integers, *max_addresses, *max_types, integers, addresses, types);
    for (int i = 0; *ierror == MPI_SUCCESS && i < count; i++)
        numbers[i] = MPI_Type_c2f(types[i]);
    free(types);
}

/* Collective operations with a datatype for each rank, in their three forms. How many there are depends on the communicator: ranks of the
   other group, or neighbours that are sent to and received from; none where there is no such thing, which the call itself then says. The
   library reads arrays of datatypes when it is called and not later. */
static void ranks_of(MPI_Comm comm, int *sources, int *destinations)
{
    int inter = 0;
    *sources = 0;
    if (MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS)
        (void)(inter ? MPI_Comm_remote_size : MPI_Comm_size)(comm, sources);
    *destinations = *sources;
}

static void neighbours_of(MPI_Comm comm, int *sources, int *destinations)
{
    int topology = MPI_UNDEFINED, rank = 0, weighted;
    *sources = *destinations = 0;
    if (MPI_Topo_test(comm, &topology) != MPI_SUCCESS)
        return;
    if (topology == MPI_DIST_GRAPH) {
        MPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
    } else if (topology == MPI_GRAPH && MPI_Comm_rank(comm, &rank) == MPI_SUCCESS) {
        MPI_Graph_neighbors_count(comm, rank, sources);
        *destinations = *sources;
    } else if (topology == MPI_CART && MPI_Cartdim_get(comm, sources) == MPI_SUCCESS) {
        /* Two in each dimension. */
        *sources *= 2;
        *destinations = *sources;
    }
}

#define WITH_TYPES(number_of, call)                                                             \
    do {                                                                                        \
        int sources, destinations;                                                              \
        MPI_Comm c_comm = MPI_Comm_f2c(*comm);                                                  \
        number_of(c_comm, &sources, &destinations);                                             \
        int in_place = BUFFER(sendbuf) == MPI_IN_PLACE;                                         \
        MPI_Datatype *from = types_in(in_place ? 0 : destinations, sendtypes, ierror);          \
        MPI_Datatype *to = types_in(sources, recvtypes, ierror);                                \
        *ierror = from && to ? call : MPI_ERR_NO_MEM;                                           \
        free(from);                                                                             \
        free(to);                                                                               \
    } while (0)
#define W_ARGUMENTS(Displacement)                                                                                             \
    const void *sendbuf, const MPI_Fint *sendcounts, const Displacement *sdispls, const MPI_Fint *sendtypes, void *recvbuf,   \
        const MPI_Fint *recvcounts, const Displacement *rdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm
#define W_VALUES BUFFER(sendbuf), sendcounts, sdispls, from, BUFFER(recvbuf), recvcounts, rdispls, to, c_comm
#define W_FORMS(name, Name, iname, Iname, Displacement, number_of)                                                            \
    FORTRAN(name, (W_ARGUMENTS(Displacement), MPI_Fint *ierror))                                                              \
    {                                                                                                                         \
        WITH_TYPES(number_of, MPI_##Name(W_VALUES));                                                                          \
    }                                                                                                                         \
    FORTRAN(iname, (W_ARGUMENTS(Displacement), MPI_Fint *request, MPI_Fint *ierror))                                          \
    {                                                                                                                         \
        MPI_Request c_request = MPI_REQUEST_NULL;                                                                             \
        WITH_TYPES(number_of, MPI_##Iname(W_VALUES, &c_request));                                                             \
        PUT(Request, request, c_request);                                                                                     \
    }                                                                                                                         \
    FORTRAN(name##_init, (W_ARGUMENTS(Displacement), const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror))              \
    {                                                                                                                         \
        MPI_Request c_request = MPI_REQUEST_NULL;                                                                             \
        WITH_TYPES(number_of, MPI_##Name##_init(W_VALUES, MPI_Info_f2c(*info), &c_request));                                  \
        PUT(Request, request, c_request);                                                                                     \
    }

W_FORMS(alltoallw, Alltoallw, ialltoallw, Ialltoallw, MPI_Fint, ranks_of)
W_FORMS(neighbor_alltoallw, Neighbor_alltoallw, ineighbor_alltoallw, Ineighbor_alltoallw, MPI_Aint, neighbours_of)
