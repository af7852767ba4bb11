/* Who waits for long for another node leaves its core to others, in whatever call it waits: rank 0 computes, all others wait for it, and use less than a third of that time. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define SECONDS 0.7

static int too_busy;

static double processor(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Rank 0 computes; `wait` is what the others wait in, and `end` how rank 0 ends it. */
static void while_it_computes(int rank, void (*end)(void), void (*wait)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    double from = MPI_Wtime(), used = processor();
    if (rank == 0) {
        while (MPI_Wtime() - from < SECONDS)
            ;
        end();
        return;
    }
    wait();
    double waited = MPI_Wtime() - from;
    used = processor() - used;
    if (used > waited / 3) {
        too_busy++;
        fprintf(stderr, "rank %d has used %.2f s of %.2f\n", rank, used, waited);
    }
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int peer = 1; peer < size; peer++)
        MPI_Send(&peer, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
}

static void receive(void)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_any(void)
{
    int values[2], index;
    MPI_Request requests[2];
    MPI_Irecv(&values[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Cancel(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void probe(void)
{
    MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive();
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while_it_computes(rank, barrier, barrier);
    while_it_computes(rank, send, receive);
    while_it_computes(rank, send, wait_for_any);
    while_it_computes(rank, send, probe);
    int all = 0;
    MPI_Allreduce(&too_busy, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("long waits: %d too busy\n", all);
    MPI_Finalize();
    return all != 0;
}
