/* The figures by which MPIs are compared on one node
 *
 * Messages, windows of messages, collectives, one-sided.
 *
 * Standard MPI-3.1 only: compiled unchanged by any mpicc. Each figure is a line `@name value` from rank 0; times are in microseconds, rates in
 * millions of messages a second, bandwidths in GB/s. Each is the median of REPETITIONS, each long enough for the clock. All data is checked
 * before anything is timed. The floors (a cache line handed over, a copy from the other rank's buffer) are measured in shared memory of the
 * same two ranks, the line before and after every figure: if the two differ much, the machine has changed its state in between.
 *
 * Usage: compare [-q] [-a] [NAME ...]     -q: short repetitions; -a: the ranks are on nodes of their own, and there are no floors; NAME: only
 * figures that begin with it */
#include "figures.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 5, HANDOVERS = 1000, WINDOW = 64, KIB = 1 << 10, MIB = 1 << 20, LARGEST = 4 * MIB };

/* A repetition takes at least this long, in seconds. */
static double long_enough = 0.01;
/* No memory is shared. */
static int apart;

static int rank, ranks;
static char *out, *in, *shared[2];
static MPI_Request requests[WINDOW];
static MPI_Win window, remote;

static void say(const char *name, double value)
{
    if (rank == 0) {
        printf("@%s %.6g\n", name, value);
        fflush(stdout);
    }
}

/* What rank 0 measured, told to all: every rank makes the same decisions. */
static double of_root(double value)
{
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

/* The median time of one of `calls` calls, in microseconds. Each call gives the time that counts, or a negative number: all of it. */
static double repeat(double (*call)(int), int bytes, int calls)
{
    double times[REPETITIONS];
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        double counted = 0, part = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < calls; i++) {
            part = call(bytes);
            counted += part;
        }
        times[repetition] = (part < 0 ? MPI_Wtime() - start : counted) / calls * 1e6;
    }
    qsort(times, REPETITIONS, sizeof *times, ascending);
    return of_root(times[REPETITIONS / 2]);
}

/* The median time of one call, in microseconds, with as many calls a repetition as the clock needs. */
static double time_of(double (*call)(int), int bytes)
{
    int calls = 4;
    double start, took;
    do {
        calls *= 4;
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            call(bytes);
        took = of_root(MPI_Wtime() - start);
    } while (took < long_enough);
    return repeat(call, bytes, calls);
}

/* Rewrites a buffer, so that its lines are in this core's caches alone. */
static void rewrite(char *buffer, int bytes)
{
    static unsigned char round;
    memset(buffer, ++round, (size_t)bytes);
}

/* Point to point, between ranks 0 and 1 */

static double ping_pong(int bytes)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return -1;
}

/* Only the exchange counts, not the writing. */
static double ping_pong_rewritten(int bytes)
{
    rewrite(out, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    ping_pong(bytes);
    return MPI_Wtime() - start;
}

/* A window of messages from rank 0 to rank 1, and one back. */
static double stream(int bytes)
{
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(out, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(in, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(in, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(out, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    return -1;
}

/* Collectives */

static double barrier(int unused)
{
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
    return -1;
}

static double broadcast(int bytes)
{
    MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    return -1;
}

static double reduce(int bytes)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return -1;
}

static double allreduce(int bytes)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return -1;
}

static double alltoall(int bytes)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    return -1;
}

/* One-sided: rank 0 acts on rank 1 */

static double put_fence(int bytes)
{
    if (rank == 0)
        MPI_Put(out, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, remote);
    MPI_Win_fence(0, remote);
    return -1;
}

static double put_flush(int bytes)
{
    if (rank == 0) {
        MPI_Put(out, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, remote);
        MPI_Win_flush(1, remote);
    }
    return -1;
}

static double get_flush(int bytes)
{
    if (rank == 0) {
        MPI_Get(in, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, remote);
        MPI_Win_flush(1, remote);
    }
    return -1;
}

static double put_lock_all(double (*call)(int), int bytes)
{
    MPI_Win_lock_all(0, remote);
    double time = time_of(call, bytes);
    MPI_Win_unlock_all(remote);
    return time;
}

/* Floors: what the processor takes for it, in shared memory */

/* A line handed over and back. */
static double line(int unused)
{
    static unsigned round;
    _Atomic unsigned *mine = (_Atomic unsigned *)shared[rank & 1], *theirs = (_Atomic unsigned *)shared[~rank & 1];
    (void)unused;
    if (rank > 1)
        return -1;
    round++;
    if (rank == 0)
        atomic_store_explicit(theirs, round, memory_order_release);
    while (atomic_load_explicit(mine, memory_order_acquire) != round)
        __builtin_ia32_pause();
    if (rank == 1)
        atomic_store_explicit(theirs, round, memory_order_release);
    return -1;
}

/* A copy of what the other rank has just written; only the copy counts. */
static double copy(int bytes)
{
    rewrite(shared[rank & 1] + KIB, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (rank == 0)
        memcpy(in, shared[1] + KIB, (size_t)bytes);
    double took = MPI_Wtime() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

/* Copies of what the other rank has written once. */
static double copy_again(int bytes)
{
    if (rank == 0)
        memcpy(in, shared[1] + KIB, (size_t)bytes);
    /* Each copy is made: as far as the compiler knows, somebody reads it. */
    atomic_signal_fence(memory_order_seq_cst);
    return -1;
}

/* Whether everything that is timed moves its data. */
static void check(void)
{
    static const int SIZES[] = {0, 8, 8 * KIB, 64 * KIB, MIB, LARGEST};
    int wrong = 0;
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        const int bytes = SIZES[s], numbers = bytes / 8;
        const size_t room = (size_t)(unsigned)bytes;
        double *sent = (double *)out, *received = (double *)in;
        for (int i = 0; i < bytes; i++)
            out[i] = (char)(i * 7 + rank);
        memset(in, 0, room);
        ping_pong(bytes);
        for (int i = 0; rank < 2 && i < bytes; i++)
            wrong += in[i] != (char)(i * 7 + 1 - rank);
        memset(in, rank == 0 ? 5 : 0, room);
        broadcast(bytes);
        for (int i = 0; i < bytes; i++)
            wrong += in[i] != 5;
        for (int i = 0; i < numbers; i++)
            sent[i] = i + rank;
        allreduce(bytes);
        for (int i = 0; i < numbers; i++)
            wrong += received[i] != (double)i * ranks + ranks * (ranks - 1) / 2.0;
        memset(in, 0, room);
        reduce(bytes);
        for (int i = 0; rank == 0 && i < numbers; i++)
            wrong += received[i] != (double)i * ranks + ranks * (ranks - 1) / 2.0;
        if (bytes > 64 * KIB)
            continue;
        for (int i = 0; i < bytes * ranks; i++)
            out[i] = (char)(i * 3 + rank);
        alltoall(bytes);
        for (int from = 0; from < ranks; from++)
            for (int i = 0; i < bytes; i++)
                wrong += in[from * bytes + i] != (char)((rank * bytes + i) * 3 + from);
    }
    memset(out, 9, 8);
    memset(in, 0, 8);
    MPI_Win_fence(0, remote);
    put_fence(8);
    if (rank == 0)
        MPI_Get(in, 8, MPI_CHAR, 1, 0, 8, MPI_CHAR, remote);
    MPI_Win_fence(0, remote);
    wrong += rank == 0 && memcmp(in, out, 8) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (wrong) {
        if (rank == 0)
            fprintf(stderr, "%d bytes or numbers arrived wrong\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static char *buffer(size_t bytes)
{
    char *memory = malloc(bytes + 4096);
    if (!memory) {
        fprintf(stderr, "no memory for the buffers of rank %d\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memory += 4096 - (size_t)memory % 4096;
    memset(memory, 1, bytes);
    return memory;
}

/* What a line takes now. */
static void probe(void)
{
    if (!apart)
        say("line_us", repeat(line, 0, HANDOVERS) / 2);
}

/* A figure, and the line after it; the line before it is the last one. */
static void figure(const char *name, double value)
{
    say(name, value);
    probe();
}

static void timed(const char *name, double (*call)(int), int bytes, double parts)
{
    if (is_wanted(name))
        figure(name, time_of(call, bytes) / parts);
}

static void bandwidth(const char *name, int bytes)
{
    if (is_wanted(name))
        figure(name, (double)bytes * WINDOW / time_of(stream, bytes) / 1e3);
}

/* Memory of both ranks for the floors. */
static void share(void)
{
    char *mine;
    MPI_Win_allocate_shared(LARGEST + KIB, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    memset(mine, 0, LARGEST + KIB);
    for (int i = 0; i < 2; i++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &shared[i]);
    }
}

static void floors(void)
{
    probe();
    timed("copy_64k_us", copy, 64 * KIB, 1);
    timed("copy_4m_us", copy, LARGEST, 1);
    timed("copy_again_8k_us", copy_again, 8 * KIB, 1);
    timed("copy_again_64k_us", copy_again, 64 * KIB, 1);
    timed("copy_again_1m_us", copy_again, MIB, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (!strcmp(argv[first], "-q"))
            long_enough /= 20;
        else
            apart |= !strcmp(argv[first], "-a");
    }
    wanted = argv + first;
    wanted_count = argc - first;
    if (ranks < 2) {
        fprintf(stderr, "compare needs 2 ranks or more; start it with -n 2\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size_t room = LARGEST > (size_t)64 * KIB * ranks ? LARGEST : (size_t)64 * KIB * ranks;
    out = buffer(room);
    in = buffer(room);
    if (!apart)
        share();
    char *exposed;
    MPI_Win_allocate(MIB, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &remote);
    MPI_Barrier(MPI_COMM_WORLD);
    check();

    if (!apart)
        floors();

    timed("latency_0_us", ping_pong, 0, 2);
    timed("latency_8_us", ping_pong, 8, 2);
    timed("latency_64k_us", ping_pong_rewritten, 64 * KIB, 2);
    timed("latency_4m_us", ping_pong, LARGEST, 2);
    if (is_wanted("rate_8_mps"))
        figure("rate_8_mps", WINDOW / time_of(stream, 8));
    bandwidth("bw_8k_gbs", 8 * KIB);
    bandwidth("bw_64k_gbs", 64 * KIB);
    bandwidth("bw_1m_gbs", MIB);

    timed("barrier_us", barrier, 0, 1);
    timed("bcast_8_us", broadcast, 8, 1);
    timed("bcast_64k_us", broadcast, 64 * KIB, 1);
    timed("reduce_8_us", reduce, 8, 1);
    timed("reduce_64k_us", reduce, 64 * KIB, 1);
    timed("reduce_1m_us", reduce, MIB, 1);
    timed("allreduce_8_us", allreduce, 8, 1);
    timed("allreduce_64k_us", allreduce, 64 * KIB, 1);
    timed("allreduce_1m_us", allreduce, MIB, 1);
    timed("alltoall_8_us", alltoall, 8, 1);
    timed("alltoall_64k_us", alltoall, 64 * KIB, 1);

    MPI_Win_fence(0, remote);
    timed("put_fence_8_us", put_fence, 8, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, remote);
    if (is_wanted("put_flush_8_us"))
        figure("put_flush_8_us", put_lock_all(put_flush, 8));
    if (is_wanted("get_flush_8_us"))
        figure("get_flush_8_us", put_lock_all(get_flush, 8));

    MPI_Win_free(&remote);
    if (!apart)
        MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
