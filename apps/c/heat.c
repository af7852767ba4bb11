/* A 2-D heat equation by Jacobi's method: args [NX [NY [STEPS]]].
 *
 * A plate of NX by NY inner points is cut into a grid of blocks, one a rank. Its upper edge is held at 100 degrees, the other edges at 0.
 * In each step a rank exchanges the edges of its block with four neighbours, columns as a strided datatype. A point's value does not
 * depend on how the plate is cut, and the checksum adds the bits of all values as integers, so that every number of ranks prints the
 * same. */
#include "args.h"

#include <mpi.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORTH, SOUTH, WEST, EAST };
/* Points of a side: far more than memory holds, and counts of a block's edge fit an int. */
enum { MOST = 1000000 };

/* A block of the plate, with a border one point wide. */
struct block {
    int rows, columns;   /* points of one's own */
    int row, column;     /* where the block begins in the plate */
    int neighbour[4];
    double *now, *next;  /* (rows + 2) * (columns + 2) */
};

#define AT(b, field, i, j) ((b)->field[(size_t)(i) * ((b)->columns + 2) + (j)])

/* The most nearly square grid of `ranks` blocks. */
static void grid(int ranks, int *down, int *across)
{
    *down = 1;
    for (int d = 1; d * d <= ranks; d++)
        if (ranks % d == 0)
            *down = d;
    *across = ranks / *down;
}

/* Part `index` of `count` of `points` points: where it begins and how many it has. */
static void part(int points, int count, int index, int *begin, int *length)
{
    *begin = (int)((int64_t)points * index / count);
    *length = (int)((int64_t)points * (index + 1) / count) - *begin;
}

static void lay(struct block *b, int nx, int ny, int rank, int ranks)
{
    int down, across;
    grid(ranks, &down, &across);
    int r = rank / across, c = rank % across;
    part(ny, down, r, &b->row, &b->rows);
    part(nx, across, c, &b->column, &b->columns);
    b->neighbour[NORTH] = r > 0 ? rank - across : MPI_PROC_NULL;
    b->neighbour[SOUTH] = r + 1 < down ? rank + across : MPI_PROC_NULL;
    b->neighbour[WEST] = c > 0 ? rank - 1 : MPI_PROC_NULL;
    b->neighbour[EAST] = c + 1 < across ? rank + 1 : MPI_PROC_NULL;
    size_t points = (size_t)(b->rows + 2) * (size_t)(b->columns + 2);
    b->now = calloc(points, sizeof *b->now);
    b->next = calloc(points, sizeof *b->next);
    if (b->now == NULL || b->next == NULL) {
        fprintf(stderr, "heat: rank %d: no memory for a block of %d by %d points\n", rank, b->columns, b->rows);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (r == 0)
        for (int j = 0; j < b->columns + 2; j++)
            AT(b, now, 0, j) = AT(b, next, 0, j) = 100.0;
}

static void exchange(struct block *b, MPI_Datatype column)
{
    MPI_Request requests[8];
    int n = 0, rows = b->rows, columns = b->columns;
    MPI_Irecv(&AT(b, now, 0, 1), columns, MPI_DOUBLE, b->neighbour[NORTH], SOUTH, MPI_COMM_WORLD, &requests[n++]);
    MPI_Irecv(&AT(b, now, rows + 1, 1), columns, MPI_DOUBLE, b->neighbour[SOUTH], NORTH, MPI_COMM_WORLD, &requests[n++]);
    MPI_Irecv(&AT(b, now, 1, 0), 1, column, b->neighbour[WEST], EAST, MPI_COMM_WORLD, &requests[n++]);
    MPI_Irecv(&AT(b, now, 1, columns + 1), 1, column, b->neighbour[EAST], WEST, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(&AT(b, now, 1, 1), columns, MPI_DOUBLE, b->neighbour[NORTH], NORTH, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(&AT(b, now, rows, 1), columns, MPI_DOUBLE, b->neighbour[SOUTH], SOUTH, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(&AT(b, now, 1, 1), 1, column, b->neighbour[WEST], WEST, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(&AT(b, now, 1, columns), 1, column, b->neighbour[EAST], EAST, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* One step; the greatest change of a point. */
static double relax(struct block *b)
{
    double most = 0;
    for (int i = 1; i <= b->rows; i++)
        for (int j = 1; j <= b->columns; j++) {
            double value = 0.25 * (AT(b, now, i - 1, j) + AT(b, now, i + 1, j) + AT(b, now, i, j - 1) + AT(b, now, i, j + 1));
            double change = value > AT(b, now, i, j) ? value - AT(b, now, i, j) : AT(b, now, i, j) - value;
            most = change > most ? change : most;
            AT(b, next, i, j) = value;
        }
    double *old = b->now;
    b->now = b->next;
    b->next = old;
    return most;
}

static uint64_t checksum(const struct block *b)
{
    uint64_t sum = 0;
    for (int i = 1; i <= b->rows; i++)
        for (int j = 1; j <= b->columns; j++) {
            uint64_t bits;
            memcpy(&bits, &AT(b, now, i, j), sizeof bits);
            sum += bits;
        }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int down, across;
    grid(ranks, &down, &across);
    int nx = (int)argument(argc, argv, 1, 256, across, MOST), ny = (int)argument(argc, argv, 2, nx, down, MOST);
    int steps = (int)argument(argc, argv, 3, 200, 1, INT_MAX);
    if (argc > 4 || nx < across || ny < down || steps < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: heat [NX [NY [STEPS]]]; %d ranks need at least %d by %d points, and no side has more than %d\n", ranks,
                    across, down, MOST);
        MPI_Finalize();
        return 2;
    }
    struct block block;
    lay(&block, nx, ny, rank, ranks);
    MPI_Datatype column;
    MPI_Type_vector(block.rows, 1, block.columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double change = 0, most, started = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        exchange(&block, column);
        change = relax(&block);
    }
    double seconds = MPI_Wtime() - started;
    MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    uint64_t mine = checksum(&block), all;
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("heat: %d x %d points, %d steps, last change %.9f, checksum %016llx\n", nx, ny, steps, most, (unsigned long long)all);
        if (getenv("TIMES") != NULL)
            printf("heat: %d ranks, %.3f s\n", ranks, seconds);
    }
    MPI_Type_free(&column);
    free(block.now);
    free(block.next);
    MPI_Finalize();
    return 0;
}
