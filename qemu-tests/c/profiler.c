/* A profiling library as tools write them (MPI-5.0, section 15.2): it defines some of MPI's functions, which the program then calls instead of the
   library's weak ones, and calls the library's own under their PMPI names. It counts between MPI_Pcontrol(1) and MPI_Pcontrol(0), and rank 0
   prints the sums of all ranks when the program ends. */
#include <mpi.h>
#include <stdio.h>

enum { SENDS, SENT_BYTES, RECEIVES, REDUCTIONS, WAITS, KINDS };

static long counted[KINDS];
static int on;

static void count(int kind, long amount)
{
    if (on)
        counted[kind] += amount;
}

static void count_send(int items, MPI_Datatype type)
{
    int size = 0;
    /* A profiler's own calls are not counted. */
    PMPI_Type_size(type, &size);
    count(SENDS, 1);
    count(SENT_BYTES, (long)items * size);
}

int MPI_Pcontrol(const int level, ...)
{
    on = level != 0;
    return MPI_SUCCESS;
}

int MPI_Send(const void *buf, int items, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    count_send(items, type);
    return PMPI_Send(buf, items, type, dest, tag, comm);
}

int MPI_Isend(const void *buf, int items, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    count_send(items, type);
    return PMPI_Isend(buf, items, type, dest, tag, comm, request);
}

int MPI_Recv(void *buf, int items, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    count(RECEIVES, 1);
    return PMPI_Recv(buf, items, type, source, tag, comm, status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    count(WAITS, 1);
    return PMPI_Wait(request, status);
}

int MPI_Allreduce(const void *in, void *out, int items, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    count(REDUCTIONS, 1);
    return PMPI_Allreduce(in, out, items, type, op, comm);
}

int MPI_Finalize(void)
{
    long sums[KINDS] = {0};
    int rank = -1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(counted, sums, KINDS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld sends of %ld bytes, %ld receives, %ld waits, %ld reductions\n", sums[SENDS], sums[SENT_BYTES], sums[RECEIVES],
               sums[WAITS], sums[REDUCTIONS]);
    return PMPI_Finalize();
}
