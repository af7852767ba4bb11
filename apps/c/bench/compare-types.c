/* Packing and unpacking of nested datatypes, by which MPIs are compared
 *
 * Every constructor over every other.
 *
 * Standard MPI-3.1 only: compiled unchanged by any mpicc. Each figure is a line `@name value` from rank 0, in microseconds: the median of REPETITIONS,
 * each long enough for the clock. What is packed and unpacked again is checked first. The time of a line handed over between the ranks stands
 * between the figures.
 *
 * `types_pack_A_of_B_us`: 8 blocks of A over 8 blocks of B, a double each; `types_pack_A_of_B_MxN_S_us`: M blocks of A over N of B of S bytes.
 *
 * Usage: compare-types [-q] [NAME ...]     -q: short repetitions; NAME: only figures that begin with it */
#include "figures.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 5, HANDOVERS = 1000, BLOCKS = 8, MOST = 512, ROOM = 8 << 20, FIGURES_A_LINE = 8 };

enum kind {
    CONTIGUOUS, VECTOR, HVECTOR, INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK, STRUCT, RESIZED, DUP, SUBARRAY, DARRAY, KINDS
};
static const char *const NAMES[KINDS] = {"contiguous", "vector", "hvector", "indexed", "hindexed", "indexed_block", "hindexed_block",
                                         "struct", "resized", "dup", "subarray", "darray"};

/* Kinds, blocks and bytes of a block that are measured beside 8 times 8 blocks of 8 bytes. */
static const struct { enum kind outer, inner; int outer_blocks, inner_blocks, bytes; } SHAPES[] = {
    {VECTOR, VECTOR, 64, 64, 8},   {VECTOR, VECTOR, 8, 8, 64},     {VECTOR, VECTOR, 64, 64, 24},  {VECTOR, VECTOR, 2, 2, 2048},
    {VECTOR, VECTOR, 512, 2, 8},   {VECTOR, VECTOR, 2, 512, 8},    {VECTOR, STRUCT, 64, 8, 8},    {STRUCT, VECTOR, 8, 64, 8},
    {HINDEXED, VECTOR, 64, 8, 8},  {HINDEXED, HINDEXED, 64, 64, 8}, {INDEXED_BLOCK, CONTIGUOUS, 512, 1, 8}, {INDEXED_BLOCK, CONTIGUOUS, 64, 1, 24},
    {SUBARRAY, SUBARRAY, 64, 64, 8}, {SUBARRAY, CONTIGUOUS, 64, 1, 256},
};

static double long_enough = 0.002;
static int rank;
static char *memory, *other, *packed, *again;
static int packed_bytes;
static MPI_Datatype type;
static char *shared[2];

static void say(const char *name, double value)
{
    if (rank == 0) {
        printf("@%s %.6g\n", name, value);
        fflush(stdout);
    }
}

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double of_root(double value)
{
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

static double once(void (*call)(void), int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call();
    return of_root(MPI_Wtime() - start);
}

/* The median time of one call, in microseconds, with as many calls a repetition as the clock needs. */
static double time_of(void (*call)(void), int calls)
{
    double times[REPETITIONS];
    while (once(call, calls) < long_enough)
        calls *= 4;
    for (int repetition = 0; repetition < REPETITIONS; repetition++)
        times[repetition] = once(call, calls) / calls * 1e6;
    qsort(times, REPETITIONS, sizeof *times, ascending);
    return of_root(times[REPETITIONS / 2]);
}

/* A line handed over and back. */
static void line(void)
{
    static unsigned round;
    _Atomic unsigned *mine = (_Atomic unsigned *)shared[rank & 1], *theirs = (_Atomic unsigned *)shared[~rank & 1];
    if (rank > 1)
        return;
    round++;
    if (rank == 0)
        atomic_store_explicit(theirs, round, memory_order_release);
    while (atomic_load_explicit(mine, memory_order_acquire) != round)
        __builtin_ia32_pause();
    if (rank == 1)
        atomic_store_explicit(theirs, round, memory_order_release);
}

static void probe(void)
{
    say("line_us", time_of(line, HANDOVERS) / 2);
}

/* Packing */

static void pack(void)
{
    int position = 0;
    MPI_Pack(memory + ROOM / 2, 1, type, packed, ROOM, &position, MPI_COMM_WORLD);
    packed_bytes = position;
}

static void unpack(void)
{
    int position = 0;
    MPI_Unpack(packed, packed_bytes, &position, other + ROOM / 2, 1, type, MPI_COMM_WORLD);
}

/* `blocks` blocks of `length` items of an old type, which it frees; irregular where the constructor can be. */
static MPI_Datatype make(enum kind kind, int blocks, int length, MPI_Datatype old)
{
    static int lengths[MOST], places[MOST];
    static MPI_Aint bytes[MOST];
    MPI_Datatype made, part;
    MPI_Aint low, extent;
    MPI_Type_get_extent(old, &low, &extent);
    for (int i = 0; i < blocks; i++) {
        lengths[i] = length;
        places[i] = 2 * i * length + (i % 3 == 1);
        bytes[i] = places[i] * extent;
    }
    switch (kind) {
    case CONTIGUOUS: MPI_Type_contiguous(blocks * length, old, &made); break;
    case VECTOR: MPI_Type_vector(blocks, length, 2 * length, old, &made); break;
    case HVECTOR: MPI_Type_create_hvector(blocks, length, 2 * length * extent + 8, old, &made); break;
    case INDEXED: MPI_Type_indexed(blocks, lengths, places, old, &made); break;
    case HINDEXED: MPI_Type_create_hindexed(blocks, lengths, bytes, old, &made); break;
    case INDEXED_BLOCK: MPI_Type_create_indexed_block(blocks, length, places, old, &made); break;
    case HINDEXED_BLOCK: MPI_Type_create_hindexed_block(blocks, length, bytes, old, &made); break;
    case STRUCT: {
        int sizes[3] = {blocks / 2 * length, 1, blocks / 2 * length};
        MPI_Aint at[3] = {0, blocks * length * extent, blocks * length * extent + 8};
        MPI_Datatype types[3] = {old, MPI_INT, old};
        MPI_Type_create_struct(3, sizes, at, types, &made);
        break;
    }
    case RESIZED:
        MPI_Type_contiguous(length, old, &part);
        MPI_Type_create_resized(part, 0, 2 * length * extent, &made);
        MPI_Type_free(&part);
        part = made;
        MPI_Type_contiguous(blocks, part, &made);
        MPI_Type_free(&part);
        break;
    case DUP:
        MPI_Type_vector(blocks, length, 2 * length, old, &part);
        MPI_Type_dup(part, &made);
        MPI_Type_free(&part);
        break;
    case SUBARRAY: {
        int sizes[2] = {blocks, 2 * length}, part_sizes[2] = {blocks, length}, starts[2] = {0, length};
        MPI_Type_create_subarray(2, sizes, part_sizes, starts, MPI_ORDER_C, old, &made);
        break;
    }
    default: {
        int sizes[2] = {blocks, 2 * length}, grid[2] = {1, 2};
        int how[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, length};
        MPI_Type_create_darray(2, 1, 2, sizes, how, arguments, grid, MPI_ORDER_C, old, &made);
        break;
    }
    }
    if (old != MPI_DOUBLE)
        MPI_Type_free(&old);
    return made;
}

/* What was unpacked is what was packed. */
static void check(void)
{
    MPI_Aint low, extent;
    MPI_Type_get_true_extent(type, &low, &extent);
    if (low < -ROOM / 2 || low + extent > ROOM / 2)
        fail("a type is larger than the memory for it");
    int size;
    MPI_Type_size(type, &size);
    memset(other, 0, ROOM);
    pack();
    unpack();
    if (packed_bytes < size)
        fail("fewer bytes were packed than the type has");
    char *first = packed;
    packed = again;
    char *source = memory;
    memory = other;
    pack();
    memory = source;
    packed = first;
    if (memcmp(packed, again, (size_t)packed_bytes))
        fail("what was unpacked is not what was packed");
}

/* Both figures of a type. */
static void figures(const char *name, enum kind outer, int outer_blocks, enum kind inner, int inner_blocks, int bytes)
{
    static int taken;
    char pack_name[128], unpack_name[128];
    snprintf(pack_name, sizeof pack_name, "types_pack_%s_us", name);
    snprintf(unpack_name, sizeof unpack_name, "types_unpack_%s_us", name);
    if (!is_wanted(pack_name) && !is_wanted(unpack_name))
        return;
    type = make(outer, outer_blocks, 1, make(inner, inner_blocks, bytes / 8, MPI_DOUBLE));
    MPI_Type_commit(&type);
    check();
    if (is_wanted(pack_name))
        say(pack_name, time_of(pack, 16));
    pack();
    if (is_wanted(unpack_name))
        say(unpack_name, time_of(unpack, 16));
    MPI_Type_free(&type);
    if (++taken % FIGURES_A_LINE == 0)
        probe();
}

static char *buffer(size_t bytes)
{
    char *made = malloc(bytes);
    if (!made)
        fail("no memory for the buffers");
    for (size_t i = 0; i < bytes; i++)
        made[i] = (char)(i * 7 + (i >> 8));
    return made;
}

int main(int argc, char **argv)
{
    MPI_Win window;
    int ranks;
    char *mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = 1;
    if (argc > 1 && !strcmp(argv[1], "-q")) {
        long_enough /= 20;
        first = 2;
    }
    wanted = argv + first;
    wanted_count = argc > first ? argc - first : 0;
    if (ranks < 2)
        fail("compare-types needs 2 ranks or more; start it with -n 2");
    memory = buffer(ROOM), other = buffer(ROOM), packed = buffer(ROOM), again = buffer(ROOM);
    MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    memset(mine, 0, 4096);
    for (int i = 0; i < 2; i++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &shared[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    probe();
    for (enum kind outer = 0; outer < KINDS; outer++)
        for (enum kind inner = 0; inner < KINDS; inner++) {
            char name[96];
            snprintf(name, sizeof name, "%s_of_%s", NAMES[outer], NAMES[inner]);
            figures(name, outer, BLOCKS, inner, BLOCKS, 8);
        }
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        char name[96];
        enum kind outer = SHAPES[i].outer, inner = SHAPES[i].inner;
        int m = SHAPES[i].outer_blocks, n = SHAPES[i].inner_blocks, bytes = SHAPES[i].bytes;
        snprintf(name, sizeof name, "%s_of_%s_%dx%d_%d", NAMES[outer], NAMES[inner], m, n, bytes);
        figures(name, outer, m, inner, n, bytes);
    }
    probe();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
