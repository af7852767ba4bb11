/* Updates of the same elements by all ranks at once, of one element and of many, by every call that updates, in windows of every kind: none may be lost.
 *
 * Usage: updates [ROUNDS [SEED [apart]]]     apart: no shared windows, where not all ranks can share memory */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 300, KINDS = 4, PHASES = 3 };

static int rank, ranks, wrong;
static uint64_t state;

static unsigned chosen(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* Elements of one type: how many bytes, and how a number is stored and loaded. */
struct type {
    MPI_Datatype datatype;
    int bytes;
    /* Of the standard's integers, which can be compared. */
    int is_integer;
};

static void set(const struct type *type, char *at, int64_t value)
{
    double real = (double)value;
    float small = (float)value;
    int32_t word = (int32_t)value;
    int16_t half = (int16_t)value;
    if (type->datatype == MPI_DOUBLE)
        memcpy(at, &real, sizeof real);
    else if (type->datatype == MPI_FLOAT)
        memcpy(at, &small, sizeof small);
    else if (type->bytes == 4)
        memcpy(at, &word, sizeof word);
    else if (type->bytes == 2)
        memcpy(at, &half, sizeof half);
    else
        memcpy(at, &value, sizeof value);
}

static int64_t get(const struct type *type, const char *at)
{
    double real;
    float small;
    int32_t word;
    int16_t half;
    int64_t value;
    if (type->datatype == MPI_DOUBLE)
        return memcpy(&real, at, sizeof real), (int64_t)real;
    if (type->datatype == MPI_FLOAT)
        return memcpy(&small, at, sizeof small), (int64_t)small;
    if (type->bytes == 4)
        return memcpy(&word, at, sizeof word), word;
    if (type->bytes == 2)
        return memcpy(&half, at, sizeof half), half;
    return memcpy(&value, at, sizeof value), value;
}

static void check(int good, const char *what)
{
    if (!good) {
        wrong++;
        fprintf(stderr, "rank %d: %s\n", rank, what);
    }
}

/* One update of elements of a target by 1 each; `added` counts them. */
static void act(const struct type *type, int target, MPI_Aint base, MPI_Win window, int only_single, int64_t *added)
{
    char ones[ELEMENTS * 8], seen[ELEMENTS * 8], compared[8];
    int most = only_single ? 2 : ELEMENTS, count = 1 + (int)chosen((unsigned)(chosen(3) ? 8 < most ? 8 : most : most));
    int first = (int)chosen((unsigned)(ELEMENTS - count + 1));
    MPI_Aint at = base + (MPI_Aint)first * type->bytes;
    for (int i = 0; i < count; i++)
        set(type, ones + i * type->bytes, 1);
    switch (chosen(5)) {
    case 0:
        MPI_Accumulate(ones, count, type->datatype, target, at, count, type->datatype, MPI_SUM, window);
        break;
    case 1:
        MPI_Get_accumulate(ones, count, type->datatype, seen, count, type->datatype, target, at, count, type->datatype, MPI_SUM, window);
        MPI_Win_flush(target, window);
        break;
    case 2: {
        /* Every second element of as many as there is room for. */
        MPI_Datatype apart;
        int room = (ELEMENTS - first + 1) / 2;
        count = count < room ? count : room;
        MPI_Type_vector(count, 1, 2, type->datatype, &apart);
        MPI_Type_commit(&apart);
        MPI_Accumulate(ones, count, type->datatype, target, at, 1, apart, MPI_SUM, window);
        MPI_Type_free(&apart);
        for (int i = 0; i < count; i++)
            added[first + 2 * i]++;
        return;
    }
    case 3:
        count = 1;
        if (type->is_integer) {
            int64_t old = 0, was;
            char next[8];
            for (;; old = was) {
                set(type, compared, old);
                set(type, next, old + 1);
                MPI_Compare_and_swap(next, compared, seen, type->datatype, target, at, window);
                MPI_Win_flush(target, window);
                if ((was = get(type, seen)) == old)
                    break;
            }
            break;
        }
        /* fallthrough */
    default:
        count = 1;
        MPI_Fetch_and_op(ones, seen, type->datatype, target, at, MPI_SUM, window);
        MPI_Win_flush(target, window);
        check(get(type, seen) >= 0, "a value that was never there");
        break;
    }
    for (int i = 0; i < count; i++)
        added[first + i]++;
}

/* Updates of all targets by all ranks; what each element is in the end. */
static void play(const struct type *type, int kind, int rounds)
{
    static int64_t added[8][ELEMENTS], total[ELEMENTS];
    size_t bytes = (size_t)ELEMENTS * 8;
    char *base = NULL;
    MPI_Aint places[8] = {0};
    MPI_Win window;
    MPI_Info hints;
    MPI_Info_create(&hints);
    /* Without a lock of many elements where the program asks for instructions. */
    if (chosen(4) == 0)
        MPI_Info_set(hints, "mpi_accumulate_granularity", chosen(2) ? "8" : "64");
    if (kind == 0) {
        base = malloc(bytes);
        MPI_Win_create(base, (MPI_Aint)bytes, 1, hints, MPI_COMM_WORLD, &window);
    } else if (kind == 1) {
        MPI_Win_allocate((MPI_Aint)bytes, 1, hints, MPI_COMM_WORLD, &base, &window);
    } else if (kind == 2) {
        MPI_Win_allocate_shared((MPI_Aint)bytes, 1, hints, MPI_COMM_WORLD, &base, &window);
    } else {
        base = malloc(bytes);
        MPI_Win_create_dynamic(hints, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, base, (MPI_Aint)bytes);
        MPI_Get_address(base, &places[rank]);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, places, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    MPI_Info_free(&hints);
    /* Hints are the same in all ranks; everything else is each rank's own. */
    state += (uint64_t)rank * 7919;
    if (base == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(base, 0, bytes);
    memset(added, 0, sizeof added);
    for (int i = 0; i < ELEMENTS; i++)
        set(type, base + i * type->bytes, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Single updates of all ranks, single ones of some, then of all sorts. */
    for (int phase = 0; phase < PHASES; phase++) {
        int target = (int)chosen((unsigned)ranks), one = (int)chosen(2);
        if (one)
            MPI_Win_lock(chosen(8) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, window);
        else
            MPI_Win_lock_all(0, window);
        for (int round = 0; round < rounds; round++) {
            int only_single = phase == 0 || (phase == 1 && rank % 2);
            int to = one ? target : (int)chosen((unsigned)ranks);
            act(type, to, places[to], window, only_single, added[to]);
        }
        if (one)
            MPI_Win_unlock(target, window);
        else
            MPI_Win_unlock_all(window);
    }
    MPI_Win_fence(0, window);
    for (int round = 0; round < 2; round++) {
        char ones[ELEMENTS * 8];
        int to = (rank + 1) % ranks, count = round ? ELEMENTS : 1;
        for (int i = 0; i < count; i++)
            set(type, ones + i * type->bytes, 1), added[to][i]++;
        MPI_Accumulate(ones, count, type->datatype, to, places[to], count, type->datatype, MPI_SUM, window);
        MPI_Win_fence(0, window);
    }
    for (int target = 0; target < ranks; target++)
        MPI_Reduce(added[target], total, ELEMENTS, MPI_INT64_T, MPI_SUM, target, MPI_COMM_WORLD);
    for (int i = 0; i < ELEMENTS; i++)
        check(get(type, base + i * type->bytes) == total[i], "an update is lost, or one too many");
    if (kind == 3)
        MPI_Win_detach(window, base);
    MPI_Win_free(&window);
    if (kind == 0 || kind == 3)
        free(base);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct type types[] = {
        {MPI_INT64_T, 8, 1}, {MPI_INT32_T, 4, 1}, {MPI_DOUBLE, 8, 0}, {MPI_FLOAT, 4, 0}, {MPI_INT16_T, 2, 1},
    };
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (ranks > 8 || rounds < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: updates [ROUNDS [SEED [apart]]] on 1 to 8 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t type = 0; type < sizeof types / sizeof *types; type++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (kind == 2 && argc > 3)
                continue;
            state = seed * 1000 + type * 10 + (uint64_t)kind;
            play(&types[type], kind, rounds);
        }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: seed %llu\n", wrong ? "wrong" : "all updates are there", (unsigned long long)seed);
    MPI_Finalize();
    return wrong != 0;
}
