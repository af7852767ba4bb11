/* Messages between ranks of one node and of several: every pair, sizes around the limits, wildcards, and what a rank is told of its place.
 * The only output is rank 0's: how many ranks share its node, and "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int SIZES[] = {0, 8, 200, 256, 257, 512, 513, 5000, 8192, 8193, 100000, 3000000};
enum { COUNT = sizeof SIZES / sizeof SIZES[0], LARGEST = 3000000, WILD = 40 };

static int rank, size;
static unsigned char *out, *in;

static unsigned char byte(int from, int to, int bytes, int at) { return (unsigned char)(from * 31 + to * 7 + bytes + at); }

static void check(int good, const char *what)
{
    if (!good) {
        printf("rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void fill(int from, int to, int bytes)
{
    for (int at = 0; at < bytes; at++)
        out[at] = byte(from, to, bytes, at);
}

static void compare(int from, int to, int bytes)
{
    for (int at = 0; at < bytes; at++)
        check(in[at] == byte(from, to, bytes, at), "wrong data");
}

static void pairs(void)
{
    for (int distance = 1; distance < size; distance++) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        for (int which = 0; which < COUNT; which++) {
            MPI_Status status;
            int bytes = SIZES[which], count;
            fill(rank, to, bytes);
            memset(in, 0, bytes);
            MPI_Sendrecv(out, bytes, MPI_BYTE, to, which, in, LARGEST, MPI_BYTE, from, which, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            check(count == bytes && status.MPI_SOURCE == from && status.MPI_TAG == which, "wrong status");
            compare(from, rank, bytes);
            /* The same with nobody ready, and waiting for it. */
            MPI_Request request;
            MPI_Issend(out, bytes, MPI_BYTE, to, which, MPI_COMM_WORLD, &request);
            MPI_Recv(in, bytes, MPI_BYTE, from, which, MPI_COMM_WORLD, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            compare(from, rank, bytes);
        }
    }
}

/* Everybody sends to rank 0, which receives from anybody, in each sender's order, short and long ones mixed. */
static void anybody(void)
{
    if (rank != 0) {
        for (int number = 0; number < WILD; number++) {
            int bytes = SIZES[1 + (number * 7 + rank) % (COUNT - 2)];
            fill(rank, number, bytes);
            MPI_Send(out, bytes, MPI_BYTE, 0, 77, MPI_COMM_WORLD);
        }
        return;
    }
    int *next = calloc(size, sizeof *next);
    for (int number = 0; number < WILD * (size - 1); number++) {
        MPI_Status status;
        int count;
        MPI_Recv(in, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        int from = status.MPI_SOURCE, its = next[from]++;
        check(count == SIZES[1 + (its * 7 + from) % (COUNT - 2)], "a message has overtaken another");
        compare(from, its, count);
    }
    free(next);
}

/* A column of a matrix to the next rank, into a row of another form. */
static void layouts(void)
{
    enum { N = 300 };
    static double matrix[N][N], columns[N][2];
    MPI_Datatype column, half;
    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &half);
    MPI_Type_commit(&column);
    MPI_Type_commit(&half);
    for (int row = 0; row < N; row++)
        matrix[row][3] = rank * 1000 + row;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 2; round++) {
        MPI_Request request;
        if (round)
            MPI_Issend(&matrix[0][3], 1, column, to, 5, MPI_COMM_WORLD, &request);
        else
            MPI_Isend(&matrix[0][3], 1, column, to, 5, MPI_COMM_WORLD, &request);
        memset(columns, 0, sizeof columns);
        MPI_Recv(&columns[0][1], 1, half, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int row = 0; row < N; row++)
            check(columns[row][1] == from * 1000 + row && columns[row][0] == 0, "wrong column");
    }
    MPI_Type_free(&column);
    MPI_Type_free(&half);
}

/* Ranks that share memory have the same processor name, and others have not. */
static int places(void)
{
    MPI_Comm node;
    int here, length;
    char mine[MPI_MAX_PROCESSOR_NAME] = "", *all = malloc((size_t)size * MPI_MAX_PROCESSOR_NAME);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Get_processor_name(mine, &length);
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    int same = 0;
    for (int other = 0; other < size; other++)
        same += strcmp(all + other * sizeof mine, mine) == 0;
    check(same == here, "names and nodes differ");
    MPI_Comm_free(&node);
    free(all);
    return here;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = malloc(LARGEST);
    in = malloc(LARGEST);
    pairs();
    anybody();
    MPI_Barrier(MPI_COMM_WORLD);
    layouts();
    int here = places(), sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size * (size - 1) / 2, "wrong sum");
    if (rank == 0)
        printf("%d of %d ranks here\ndone\n", here, size);
    MPI_Finalize();
    return 0;
}
