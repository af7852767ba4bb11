/* What `cargo lwk bench instructions` counts: calls of MPI and OpenSHMEM from a rank to itself, or, `described`, from the first of two to the
 * other when all that they would wait for is there, so that nobody waits for anybody
 *
 * Each call is in a function of its own, which a tool finds by its name; the function's own few instructions count with it. The argument
 * says what is called: `blocking` sends and receives, windows whose messages have `arrived` when their receives begin, windows whose receives
 * were `posted` before, a `put`, a column's `pack` and unpack, or a short one's (`pack-few`), and long messages that the system copies (`described`). Standard output says
 * how many calls of each function were made. */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 16, WINDOW = 64, TAG = 1, ELEMENTS = 1024, FEW = 4 };

#define COUNTED __attribute__((noinline))

static int rank;
static long out = 7, in[WINDOW], target;
static MPI_Request sends[WINDOW], receives[WINDOW];
static long apart[2 * ELEMENTS], packed[ELEMENTS];
static MPI_Datatype column, short_column;
static long described[ELEMENTS], fetched[ELEMENTS];

COUNTED void counted_send(void)
{
    MPI_Send(&out, 8, MPI_BYTE, rank, TAG, MPI_COMM_WORLD);
}

COUNTED void counted_recv(int i)
{
    MPI_Recv(&in[i], 8, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

COUNTED void counted_isend(int i)
{
    MPI_Isend(&out, 8, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &sends[i]);
}

COUNTED void counted_irecv(int i)
{
    MPI_Irecv(&in[i], 8, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &receives[i]);
}

COUNTED void counted_waitall(MPI_Request *requests)
{
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

COUNTED void counted_put(void)
{
    shmem_long_p(&target, out, rank);
}

COUNTED void counted_pack(void)
{
    int position = 0;
    MPI_Pack(apart, 1, column, packed, sizeof packed, &position, MPI_COMM_WORLD);
}

COUNTED void counted_unpack(void)
{
    int position = 0;
    MPI_Unpack(packed, sizeof packed, &position, apart, 1, column, MPI_COMM_WORLD);
}

COUNTED void counted_pack_few(void)
{
    int position = 0;
    MPI_Pack(apart, 1, short_column, packed, sizeof packed, &position, MPI_COMM_WORLD);
}

COUNTED void counted_unpack_few(void)
{
    int position = 0;
    MPI_Unpack(packed, sizeof packed, &position, apart, 1, short_column, MPI_COMM_WORLD);
}

COUNTED void counted_describe(int i)
{
    MPI_Isend(described, ELEMENTS, MPI_LONG, 1, TAG, MPI_COMM_WORLD, &sends[i]);
}

COUNTED void counted_fetch(void)
{
    MPI_Recv(fetched, ELEMENTS, MPI_LONG, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

COUNTED void counted_complete(int i)
{
    MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
}

static void blocking(void)
{
    for (int i = 0; i < WINDOW; i++) {
        counted_send();
        counted_recv(i);
    }
}

static void arrived(void)
{
    /* Fewer than a ring takes. */
    for (int part = 0; part < WINDOW; part += WINDOW / 4) {
        for (int i = part; i < part + WINDOW / 4; i++)
            counted_isend(i);
        for (int i = part; i < part + WINDOW / 4; i++)
            counted_irecv(i);
    }
    counted_waitall(receives);
    MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE);
}

static void posted(void)
{
    for (int i = 0; i < WINDOW; i++)
        counted_irecv(i);
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(&out, 8, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &sends[i]);
    counted_waitall(receives);
    MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE);
}

static void put(void)
{
    for (int i = 0; i < WINDOW; i++)
        counted_put();
    in[0] = target;
}

static void pack(void)
{
    apart[2 * (ELEMENTS - 1)] = out;
    for (int i = 0; i < WINDOW; i++)
        counted_pack();
    apart[2 * (ELEMENTS - 1)] = 0;
    for (int i = 0; i < WINDOW; i++)
        counted_unpack();
    in[0] = apart[2 * (ELEMENTS - 1)];
}

static void pack_few(void)
{
    apart[2 * (FEW - 1)] = out;
    for (int i = 0; i < WINDOW; i++)
        counted_pack_few();
    apart[2 * (FEW - 1)] = 0;
    for (int i = 0; i < WINDOW; i++)
        counted_unpack_few();
    in[0] = apart[2 * (FEW - 1)];
}

static void describe(void)
{
    described[0] = out;
    fetched[0] = rank ? 0 : out;
    for (int i = 0; rank == 0 && i < WINDOW; i++)
        counted_describe(i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < WINDOW; i++)
        counted_fetch();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < WINDOW; i++)
        counted_complete(i);
    in[0] = fetched[0];
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } WAYS[] = {{"blocking", blocking}, {"arrived", arrived}, {"posted", posted}, {"put", put}, {"pack", pack},
                {"pack-few", pack_few}, {"described", describe}};
    MPI_Init(&argc, &argv);
    shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(ELEMENTS, 1, 2, MPI_LONG, &column);
    MPI_Type_commit(&column);
    MPI_Type_vector(FEW, 1, 2, MPI_LONG, &short_column);
    MPI_Type_commit(&short_column);
    int status = 2;
    for (size_t way = 0; argc == 2 && way < sizeof WAYS / sizeof *WAYS; way++)
        if (!strcmp(argv[1], WAYS[way].name)) {
            for (int round = 0; round < ROUNDS; round++) {
                in[0] = 0;
                WAYS[way].run();
                status = in[0] == out ? 0 : 1;
            }
            if (rank == 0)
                printf("counted %d\n", ROUNDS * WINDOW);
        }
    if (status == 2)
        fprintf(stderr, "usage: instructions blocking|arrived|posted|put|pack|pack-few|described\n");
    MPI_Type_free(&short_column);
    MPI_Type_free(&column);
    shmem_finalize();
    MPI_Finalize();
    return status;
}
