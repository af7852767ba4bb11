/* The curves by which MPIs are compared on one node: every operation by sizes
 *
 * Standard MPI-3.1 only, but for persistent collectives, where the library says that it has MPI-4: compiled unchanged by any mpicc. Each point is a line `@OPERATION.BYTES value` from rank 0: microseconds for one operation, and for one
 * message of a window of messages, so that less is always better. Each is the median of REPETITIONS, each long enough for the clock. With two ranks the time of
 * a cache line between them is printed before and after every operation, from which the reader sees whether the machine has changed its state.
 * compare.c checks that data arrives; here only time is taken.
 *
 * Usage: sweep [-q] [-m BYTES] [OPERATION ...]     -q: short repetitions, few sizes; -m: greatest size; OPERATION: only those that begin with it. `start_end` alone
 * does nothing between start and end, which the reader times. */
#include "sweep_collectives.h"
#include "sweep_messages.h"
#include "sweep_windows.h"

#include <stdatomic.h>

static size_t most = 4 * MIB;
static int is_quick;
static _Atomic unsigned *words[2];

/* How an operation is measured: what its time is divided by, whether an epoch is around it, its sizes from least to most (0: the greatest), and what is done
 * before and after the time of a size is taken. */
enum epoch { NONE, LOCKED, FENCED };
static const struct operation {
    const char *name;
    action *run;
    double parts;
    enum epoch epoch;
    int least, most;
    action *open;
    void (*close)(void);
} operations[] = {
    {"latency", ping_pong, 2, NONE, 0, 0, NULL, NULL},
    {"stream", stream, WINDOW, NONE, 1, 0, NULL, NULL},
    {"both_ways", both_ways, WINDOW, NONE, 1, 0, NULL, NULL},
    {"barrier", barrier, 1, NONE, 0, NO_SIZES, NULL, NULL},
    {"bcast", bcast, 1, NONE, 1, 0, NULL, NULL},
    {"reduce", reduce, 1, NONE, 8, 0, NULL, NULL},
    {"allreduce", allreduce, 1, NONE, 8, 0, NULL, NULL},
    {"allreduce_float", allreduce_float, 1, NONE, 8, 0, NULL, NULL},
    {"allreduce_max_float", allreduce_max_float, 1, NONE, 8, 0, NULL, NULL},
    {"allreduce_int", allreduce_int, 1, NONE, 8, 0, NULL, NULL},
    {"allreduce_long", allreduce_long, 1, NONE, 8, 0, NULL, NULL},
    {"reduce_float", reduce_float, 1, NONE, 8, 0, NULL, NULL},
    {"reduce_scatter_block", reduce_scatter_block, 1, NONE, 8, 0, NULL, NULL},
    {"reduce_scatter", reduce_scatter, 1, NONE, 8, 0, NULL, NULL},
    {"scan", scan, 1, NONE, 8, 0, NULL, NULL},
    {"exscan", exscan, 1, NONE, 8, 0, NULL, NULL},
    {"gather", gather, 1, NONE, 1, 0, NULL, NULL},
    {"gatherv", gatherv, 1, NONE, 1, 0, NULL, NULL},
    {"scatter", scatter, 1, NONE, 1, 0, NULL, NULL},
    {"scatterv", scatterv, 1, NONE, 1, 0, NULL, NULL},
    {"allgather", allgather, 1, NONE, 1, 0, NULL, NULL},
    {"allgatherv", allgatherv, 1, NONE, 1, 0, NULL, NULL},
    {"alltoall", alltoall, 1, NONE, 1, 0, NULL, NULL},
    {"alltoallv", alltoallv, 1, NONE, 1, 0, NULL, NULL},
    {"put_flush", put_flush, 1, LOCKED, 1, 0, NULL, NULL},
    {"put_fence", put_fence, 1, FENCED, 1, 0, NULL, NULL},
    {"put_lock", put_lock, 1, NONE, 1, 0, NULL, NULL},
    {"get_flush", get_flush, 1, LOCKED, 1, 0, NULL, NULL},
    {"get_fence", get_fence, 1, FENCED, 1, 0, NULL, NULL},
    {"get_lock", get_lock, 1, NONE, 1, 0, NULL, NULL},
    {"accumulate_flush", accumulate_flush, 1, LOCKED, 8, 0, NULL, NULL},
    {"accumulate_fence", accumulate_fence, 1, FENCED, 8, 0, NULL, NULL},
    {"accumulate_lock", accumulate_lock, 1, NONE, 8, 0, NULL, NULL},
    {"get_accumulate_flush", get_accumulate_flush, 1, LOCKED, 8, 0, NULL, NULL},
    {"get_accumulate_fence", get_accumulate_fence, 1, FENCED, 8, 0, NULL, NULL},
    {"get_accumulate_lock", get_accumulate_lock, 1, NONE, 8, 0, NULL, NULL},
    {"fetch_and_op_flush", fetch_and_op_flush, 1, LOCKED, 8, NO_SIZES, NULL, NULL},
    {"fetch_and_op_fence", fetch_and_op_fence, 1, FENCED, 8, NO_SIZES, NULL, NULL},
    {"fetch_and_op_lock", fetch_and_op_lock, 1, NONE, 8, NO_SIZES, NULL, NULL},
    {"compare_and_swap_flush", compare_and_swap_flush, 1, LOCKED, 8, NO_SIZES, NULL, NULL},
    {"compare_and_swap_fence", compare_and_swap_fence, 1, FENCED, 8, NO_SIZES, NULL, NULL},
    {"compare_and_swap_lock", compare_and_swap_lock, 1, NONE, 8, NO_SIZES, NULL, NULL},
    {"latency_odd", ping_pong_odd, 2, NONE, 1, 0, NULL, NULL},
    {"latency_malloc", ping_pong_malloc, 2, NONE, 1, 0, open_malloc, close_malloc},
    {"latency_stack", ping_pong_stack, 2, NONE, 1, STACK_BYTES, NULL, NULL},
    {"stream_odd", stream_odd, WINDOW, NONE, 1, 0, NULL, NULL},
    {"exchange_persistent", exchange_persistent, 1, NONE, 0, 0, open_persistent, close_persistent},
    {"pack_vector", pack, 1, NONE, 8, MIB, open_vector, close_packed},
    {"unpack_vector", unpack, 1, NONE, 8, MIB, open_vector, close_packed},
    {"latency_vector", send_packed, 2, NONE, 8, MIB, open_vector, close_packed},
    {"pack_nested", pack, 1, NONE, 64, MIB, open_nested, close_packed},
    {"unpack_nested", unpack, 1, NONE, 64, MIB, open_nested, close_packed},
    {"latency_nested", send_packed, 2, NONE, 64, MIB, open_nested, close_packed},
    {"pack_records", pack, 1, NONE, 16, MIB, open_records, close_packed},
    {"unpack_records", unpack, 1, NONE, 16, MIB, open_records, close_packed},
    {"latency_records", send_packed, 2, NONE, 16, MIB, open_records, close_packed},
    {"alltoallw", alltoallw, 1, NONE, 1, 0, NULL, NULL},
    {"bcast_odd", bcast_odd, 1, NONE, 1, 0, NULL, NULL},
    {"allgather_odd", allgather_odd, 1, NONE, 1, 0, NULL, NULL},
    {"alltoall_odd", alltoall_odd, 1, NONE, 1, 0, NULL, NULL},
    {"neighbor_allgather", neighbor_allgather, 1, NONE, 1, 0, NULL, NULL},
    {"neighbor_allgatherv", neighbor_allgatherv, 1, NONE, 1, 0, NULL, NULL},
    {"neighbor_alltoall", neighbor_alltoall, 1, NONE, 1, 0, NULL, NULL},
    {"neighbor_alltoallv", neighbor_alltoallv, 1, NONE, 1, 0, NULL, NULL},
    {"neighbor_alltoallw", neighbor_alltoallw, 1, NONE, 1, 0, NULL, NULL},
    {"ibarrier", ibarrier, 1, NONE, 0, NO_SIZES, NULL, NULL},
    {"ibarrier_overlap", ibarrier_overlap, 1, NONE, 0, NO_SIZES, NULL, NULL},
    {"ibcast", ibcast, 1, NONE, 1, 0, NULL, NULL},
    {"ibcast_overlap", ibcast_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ireduce", ireduce, 1, NONE, 8, 0, NULL, NULL},
    {"ireduce_overlap", ireduce_overlap, 1, NONE, 8, 0, NULL, NULL},
    {"iallreduce", iallreduce, 1, NONE, 8, 0, NULL, NULL},
    {"iallreduce_overlap", iallreduce_overlap, 1, NONE, 8, 0, NULL, NULL},
    {"ireduce_scatter_block", ireduce_scatter_block, 1, NONE, 8, 0, NULL, NULL},
    {"ireduce_scatter_block_overlap", ireduce_scatter_block_overlap, 1, NONE, 8, 0, NULL, NULL},
    {"ireduce_scatter", ireduce_scatter, 1, NONE, 8, 0, NULL, NULL},
    {"ireduce_scatter_overlap", ireduce_scatter_overlap, 1, NONE, 8, 0, NULL, NULL},
    {"iexscan", iexscan, 1, NONE, 8, 0, NULL, NULL},
    {"iexscan_overlap", iexscan_overlap, 1, NONE, 8, 0, NULL, NULL},
    {"iscan", iscan, 1, NONE, 8, 0, NULL, NULL},
    {"iscan_overlap", iscan_overlap, 1, NONE, 8, 0, NULL, NULL},
    {"igather", igather, 1, NONE, 1, 0, NULL, NULL},
    {"igather_overlap", igather_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"igatherv", igatherv, 1, NONE, 1, 0, NULL, NULL},
    {"igatherv_overlap", igatherv_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"iscatter", iscatter, 1, NONE, 1, 0, NULL, NULL},
    {"iscatter_overlap", iscatter_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"iscatterv", iscatterv, 1, NONE, 1, 0, NULL, NULL},
    {"iscatterv_overlap", iscatterv_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"iallgather", iallgather, 1, NONE, 1, 0, NULL, NULL},
    {"iallgather_overlap", iallgather_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"iallgatherv", iallgatherv, 1, NONE, 1, 0, NULL, NULL},
    {"iallgatherv_overlap", iallgatherv_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ialltoall", ialltoall, 1, NONE, 1, 0, NULL, NULL},
    {"ialltoall_overlap", ialltoall_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ialltoallv", ialltoallv, 1, NONE, 1, 0, NULL, NULL},
    {"ialltoallv_overlap", ialltoallv_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ialltoallw", ialltoallw, 1, NONE, 1, 0, NULL, NULL},
    {"ialltoallw_overlap", ialltoallw_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ineighbor_allgather", ineighbor_allgather, 1, NONE, 1, 0, NULL, NULL},
    {"ineighbor_allgather_overlap", ineighbor_allgather_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ineighbor_alltoallv", ineighbor_alltoallv, 1, NONE, 1, 0, NULL, NULL},
    {"ineighbor_alltoallv_overlap", ineighbor_alltoallv_overlap, 1, NONE, 1, 0, NULL, NULL},
    {"ineighbor_alltoall", ineighbor_alltoall, 1, NONE, 1, 0, NULL, NULL},
    {"ineighbor_alltoall_overlap", ineighbor_alltoall_overlap, 1, NONE, 1, 0, NULL, NULL},
#if MPI_VERSION >= 4
    {"bcast_init", start_kept, 1, NONE, 1, 0, open_bcast_init, close_kept},
    {"reduce_init", start_kept, 1, NONE, 8, 0, open_reduce_init, close_kept},
    {"allreduce_init", start_kept, 1, NONE, 8, 0, open_allreduce_init, close_kept},
    {"barrier_init", start_kept, 1, NONE, 0, NO_SIZES, open_barrier_init, close_kept},
    {"reduce_scatter_block_init", start_kept, 1, NONE, 8, 0, open_reduce_scatter_block_init, close_kept},
    {"scan_init", start_kept, 1, NONE, 8, 0, open_scan_init, close_kept},
    {"allgatherv_init", start_kept, 1, NONE, 1, 0, open_allgatherv_init, close_kept},
    {"alltoallv_init", start_kept, 1, NONE, 1, 0, open_alltoallv_init, close_kept},
    {"gather_init", start_kept, 1, NONE, 1, 0, open_gather_init, close_kept},
    {"allgather_init", start_kept, 1, NONE, 1, 0, open_allgather_init, close_kept},
    {"alltoall_init", start_kept, 1, NONE, 1, 0, open_alltoall_init, close_kept},
    {"neighbor_alltoall_init", start_kept, 1, NONE, 1, 0, open_neighbor_alltoall_init, close_kept},
#endif
    {"put_odd_flush", put_odd_flush, 1, LOCKED, 1, 0, NULL, NULL},
    {"put_post", put_post, 1, NONE, 1, 0, NULL, NULL},
    {"get_post", get_post, 1, NONE, 1, 0, NULL, NULL},
    {"accumulate_post", accumulate_post, 1, NONE, 8, 0, NULL, NULL},
    {"get_accumulate_post", get_accumulate_post, 1, NONE, 8, 0, NULL, NULL},
    {"fetch_and_op_post", fetch_and_op_post, 1, NONE, 8, NO_SIZES, NULL, NULL},
    {"compare_and_swap_post", compare_and_swap_post, 1, NONE, 8, NO_SIZES, NULL, NULL},
    {"accumulate_float_flush", accumulate_float_flush, 1, LOCKED, 8, 0, NULL, NULL},
    {"accumulate_int_flush", accumulate_int_flush, 1, LOCKED, 8, 0, NULL, NULL},
    {"accumulate_replace_flush", accumulate_replace_flush, 1, LOCKED, 8, 0, NULL, NULL},
    {"get_odd_flush", get_odd_flush, 1, LOCKED, 1, 0, NULL, NULL},
};

static double of_root(double value)
{
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double now(void)
{
    return MPI_Wtime();
}

static void say(const char *name, int bytes, double value)
{
    if (rank == 0) {
        printf("@%s.%d %.6g\n", name, bytes, value);
        fflush(stdout);
    }
}

/* A line handed over and back; for two ranks, each on a core of its own. */
static void line(int unused)
{
    static unsigned round;
    (void)unused;
    round++;
    if (rank == 0)
        atomic_store_explicit(words[1], round, memory_order_release);
    while (atomic_load_explicit(words[rank], memory_order_acquire) != round)
        __builtin_ia32_pause();
    if (rank == 1)
        atomic_store_explicit(words[0], round, memory_order_release);
}

static void probe(void)
{
    if (ranks > 2)
        return;
    double took = median_of(line, 0, HANDOVERS) / 2;
    if (rank == 0) {
        printf("@line_us %.6g\n", took);
        fflush(stdout);
    }
}

static void sweep(const struct operation *it)
{
    /* A window for each operation: what an MPI has learned of one does not count for the next. */
    char *base;
    MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    memset(base, 0, most);
    MPI_Barrier(MPI_COMM_WORLD);
    if (it->epoch == LOCKED)
        MPI_Win_lock_all(0, window);
    if (it->epoch == FENCED)
        MPI_Win_fence(0, window);
    size_t last = it->most > 0 && (size_t)it->most < most ? (size_t)it->most : most;
    for (size_t bytes = (size_t)it->least; bytes <= last; bytes = bytes == 0 ? 1 : is_quick ? bytes * 16 : bytes * 2) {
        for (int i = 0; i < ranks; i++) {
            counts[i] = (int)bytes;
            places[i] = places_in_bytes[i] = i * (int)bytes;
            far_places[i] = places[i];
            types[i] = MPI_CHAR;
        }
        if (it->open)
            it->open((int)bytes);
        say(it->name, (int)bytes, time_of(it->run, (int)bytes) / it->parts);
        if (it->close)
            it->close();
        if (it->most == NO_SIZES)
            break;
    }
    if (it->epoch == LOCKED)
        MPI_Win_unlock_all(window);
    if (it->epoch == FENCED)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    probe();
}

/* On a page of its own. */
static char *buffer(size_t bytes)
{
    char *memory = malloc(bytes + 4096);
    if (!memory) {
        fprintf(stderr, "no memory for the buffers of rank %d\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memory += 4096 - (size_t)memory % 4096;
    memset(memory, 0, bytes);
    return memory;
}

/* Buffers and communicators of all operations. A rank has two neighbours, and types with gaps take up to three times their data. */
static void prepare(void)
{
    size_t parts = ranks > 3 ? (size_t)ranks : 3;
    counts = malloc(3 * sizeof *counts * parts);
    types = malloc(sizeof *types * parts);
    far_places = malloc(sizeof *far_places * parts);
    if (!counts || !types || !far_places)
        MPI_Abort(MPI_COMM_WORLD, 2);
    places = counts + parts;
    places_in_bytes = places + parts;
    out = buffer(most * parts);
    in = buffer(most * parts);
    odd_out = buffer(most * parts + ODD) + ODD;
    odd_in = buffer(most * parts + ODD) + ODD;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 0, &neighbours);
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){rank == 0}, &peer);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (!strcmp(argv[first], "-q")) {
            is_quick = 1;
            long_enough /= 20;
            most = 64 << 10;
        } else if (!strcmp(argv[first], "-m") && first + 1 < argc) {
            most = strtoul(argv[++first], NULL, 10);
        }
    }
    wanted = argv + first;
    wanted_count = argc > first ? argc - first : 0;
    if (ranks < 2 || most > 64 * MIB) {
        if (rank == 0)
            fprintf(stderr, "sweep needs 2 ranks or more (start it with -n 2), and sizes up to 64 MiB\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (wanted_count == 1 && !strcmp(wanted[0], "start_end")) {
        MPI_Finalize();
        return 0;
    }
    prepare();
    MPI_Win lines;
    char *mine;
    MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &lines);
    memset(mine, 0, 4096);
    for (int i = 0; i < 2; i++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(lines, i, &bytes, &unit, &words[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    probe();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (is_wanted(operations[i].name))
            sweep(&operations[i]);
    MPI_Win_free(&lines);
    MPI_Group_free(&peer);
    MPI_Comm_free(&neighbours);
    MPI_Finalize();
    return 0;
}
