/* Arrays of requests and of datatypes, and how long they are where no argument says it. See fortran.h. */
#include "fortran.h"

MPI_Request *margay_requests_in(MPI_Count count, const MPI_Fint *numbers)
{
    MPI_Request *requests = malloc((count > 0 ? (size_t)count : 1) * sizeof *requests);
    for (MPI_Count i = 0; requests && i < count; i++)
        requests[i] = MPI_Request_f2c(numbers[i]);
    return requests;
}

void margay_requests_out(MPI_Count count, MPI_Fint *numbers, const MPI_Request *requests)
{
    for (MPI_Count i = 0; i < count; i++)
        PUT_BACK(Request, &numbers[i], requests[i]);
}

MPI_Datatype *margay_types_in(MPI_Count count, const MPI_Fint *numbers)
{
    MPI_Datatype *types = malloc((count > 0 ? (size_t)count : 1) * sizeof *types);
    for (MPI_Count i = 0; types && i < count; i++)
        types[i] = MPI_Type_f2c(numbers[i]);
    return types;
}

void margay_from_one(MPI_Fint *index)
{
    if (*index != MPI_UNDEFINED)
        ++*index;
}

int margay_ranks(MPI_Comm comm, const void *buffer)
{
    int inter = 0, ranks = 0;
    if (BUFFER(buffer) != MPI_IN_PLACE && MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS)
        (void)(inter ? MPI_Comm_remote_size : MPI_Comm_size)(comm, &ranks);
    return ranks;
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

int margay_sources(MPI_Comm comm, const void *buffer)
{
    int sources, destinations;
    (void)buffer;
    neighbours_of(comm, &sources, &destinations);
    return sources;
}

int margay_destinations(MPI_Comm comm, const void *buffer)
{
    int sources, destinations;
    (void)buffer;
    neighbours_of(comm, &sources, &destinations);
    return destinations;
}

/* The datatypes of one that was made of others: as many as its envelope says are handed out. */
static void types_out(int count, const MPI_Datatype *types, MPI_Fint *numbers)
{
    for (int i = 0; i < count; i++)
        numbers[i] = MPI_Type_c2f(types[i]);
}

FORTRAN(type_get_contents, (const MPI_Fint *type, const MPI_Fint *max_integers, const MPI_Fint *max_addresses, const MPI_Fint *max_types,
                            MPI_Fint *integers, MPI_Aint *addresses, MPI_Fint *numbers, MPI_Fint *ierror))
{
    int some_integers, some_addresses, count = 0, combiner;
    MPI_Datatype c_type = MPI_Type_f2c(*type);
    *ierror = MPI_Type_get_envelope(c_type, &some_integers, &some_addresses, &count, &combiner);
    if (*ierror != MPI_SUCCESS)
        return;
    MPI_Datatype *types = malloc((*max_types > 0 ? (size_t)*max_types : 1) * sizeof *types);
    *ierror = MPI_ERR_NO_MEM;
    if (types)
        *ierror = MPI_Type_get_contents(c_type, *max_integers, *max_addresses, *max_types, integers, addresses, types);
    if (*ierror == MPI_SUCCESS)
        types_out(count, types, numbers);
    free(types);
}

FORTRAN(type_get_contents_c, (const MPI_Fint *type, const MPI_Count *max_integers, const MPI_Count *max_addresses,
                              const MPI_Count *max_large_counts, const MPI_Count *max_types, MPI_Fint *integers, MPI_Aint *addresses,
                              MPI_Count *large_counts, MPI_Fint *numbers, MPI_Fint *ierror))
{
    MPI_Count some_integers, some_addresses, some_counts, count = 0;
    int combiner;
    MPI_Datatype c_type = MPI_Type_f2c(*type);
    *ierror = MPI_Type_get_envelope_c(c_type, &some_integers, &some_addresses, &some_counts, &count, &combiner);
    if (*ierror != MPI_SUCCESS)
        return;
    MPI_Datatype *types = malloc((*max_types > 0 ? (size_t)*max_types : 1) * sizeof *types);
    *ierror = MPI_ERR_NO_MEM;
    if (types)
        *ierror = MPI_Type_get_contents_c(c_type, *max_integers, *max_addresses, *max_large_counts, *max_types, integers, addresses,
                                          large_counts, types);
    if (*ierror == MPI_SUCCESS)
        types_out((int)count, types, numbers);
    free(types);
}
