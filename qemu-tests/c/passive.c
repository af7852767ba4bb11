/* Windows across nodes whose targets call nothing: rank 0 computes until a word in its window says that all others have done what they do there, by locks, puts, gets and
 * updates. Then updates by all ranks at once, of one element and of many, by calls that Portals carries out and by those that it does not, beside those of ranks that
 * reach the memory: none may be lost. */
#include "check.h"
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 4096, MANY = 300, ROUNDS = 40, LONG = 3000 };

static int rank, size;
static int64_t data[WORDS];

/* Where in the window: what says that the target may go on, counters, a row, a column, a long block. */
enum { DONE = 0, LOCKED = 8, FETCHED = 16, SWAPPED = 24, BYTES = 32, SHORTS = 40, TAKEN = 48, ROW = 64, COLUMN = 128, BLOCK = 1024 };

static MPI_Win make(int kind, int64_t **base)
{
    MPI_Win window;
    static int64_t *own;
    if (kind == 0) {
        MPI_Win_allocate(WORDS * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, base, &window);
    } else {
        *base = kind == 1 ? data : (own = realloc(own, WORDS * sizeof(int64_t)));
        MPI_Win_create(*base, WORDS * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    memset(*base, 0, WORDS * sizeof(int64_t));
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

/* Updates of elements of one and two bytes, each next to its like. */
static void use_short(MPI_Win window)
{
    int8_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, old[8];
    int16_t two = 2, before;
    uint8_t none = 0, mine = (uint8_t)rank, taken;
    MPI_Accumulate(ones, 8, MPI_INT8_T, 0, BYTES, 8, MPI_INT8_T, MPI_SUM, window);
    MPI_Get_accumulate(ones, 8, MPI_INT8_T, old, 8, MPI_INT8_T, 0, BYTES, 8, MPI_INT8_T, MPI_SUM, window);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Fetch_and_op(&two, &before, MPI_INT16_T, 0, SHORTS, MPI_SUM, window);
    MPI_Compare_and_swap(&mine, &none, &taken, MPI_UINT8_T, 0, TAKEN, window);
    MPI_Win_flush(0, window);
    for (int i = 0; i < 8; i++)
        THAT(old[i] >= 1 && old[i] < 2 * size);
    THAT(before >= 2 * (ROUNDS - 1) && before < 2 * ROUNDS * size && taken < size);
}

/* What an origin does at a target that calls nothing. */
static void use(MPI_Win window)
{
    int64_t one = 1, was, seen, block[LONG], back[LONG];
    for (int i = 0; i < LONG; i++)
        block[i] = i * 7 + rank;
    for (int i = 0; i < ROUNDS; i++) {
        /* Not atomic by itself: the lock is what keeps the sum. */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&seen, 1, MPI_INT64_T, 0, LOCKED, 1, MPI_INT64_T, window);
        MPI_Win_flush(0, window);
        seen++;
        MPI_Put(&seen, 1, MPI_INT64_T, 0, LOCKED, 1, MPI_INT64_T, window);
        MPI_Win_unlock(0, window);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, FETCHED, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        THAT(was >= i && was < (int64_t)ROUNDS * size);
    }
    MPI_Win_lock_all(0, window);
    for (;;) {
        int64_t old, new;
        MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, 0, SWAPPED, MPI_NO_OP, window);
        MPI_Win_flush(0, window);
        new = old + rank;
        MPI_Compare_and_swap(&new, &old, &was, MPI_INT64_T, 0, SWAPPED, window);
        MPI_Win_flush_local(0, window);
        if (was == old)
            break;
    }
    use_short(window);
    MPI_Datatype column;
    MPI_Type_vector(8, 1, size, MPI_INT64_T, &column);
    MPI_Type_commit(&column);
    MPI_Put(block, 8, MPI_INT64_T, 0, COLUMN + rank, 1, column, window);
    MPI_Accumulate(block, 8, MPI_INT64_T, 0, ROW, 8, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_flush(0, window);
    MPI_Request request;
    MPI_Rget(back, 1, column, 0, COLUMN + rank, 1, column, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        THAT(back[i * size] == block[i]);
    MPI_Win_unlock_all(window);
    MPI_Type_free(&column);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Rput(block, LONG, MPI_INT64_T, 0, BLOCK, LONG, MPI_INT64_T, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(0, window);
    MPI_Get(back, LONG, MPI_INT64_T, 0, BLOCK, LONG, MPI_INT64_T, window);
    MPI_Win_unlock(0, window);
    THAT(memcmp(block, back, sizeof block) == 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, DONE, 1, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_unlock(0, window);
}

static void target_that_calls_nothing(int kind)
{
    int64_t *base;
    MPI_Win window = make(kind, &base);
    if (rank == 0) {
        volatile int64_t *done = base + DONE;
        while (*done < size - 1)
            ;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        int64_t sum = 0;
        for (int i = 1; i < size; i++)
            sum += i;
        THAT(base[LOCKED] == (int64_t)ROUNDS * (size - 1));
        THAT(base[FETCHED] == (int64_t)ROUNDS * (size - 1));
        THAT(base[SWAPPED] == sum);
        THAT(base[BYTES] == 2 * (size - 1) * INT64_C(0x0101010101010101));
        THAT(base[SHORTS] == 2 * (int64_t)ROUNDS * (size - 1));
        THAT(base[TAKEN] > 0 && base[TAKEN] < size);
        for (int i = 0; i < 8; i++)
            THAT(base[ROW + i] == i * 7 * (int64_t)(size - 1) + sum);
        MPI_Win_unlock(0, window);
    } else {
        use(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
}

/* A word that the target awaits without a call, after a put and a flush. */
static void awaited(void)
{
    int64_t *base, value = 42;
    MPI_Win window = make(0, &base);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (rank == 0) {
        volatile int64_t *word = base;
        while (*word != 42)
            ;
        THAT(*word == 42);
    } else if (rank == size - 1) {
        MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* All ranks on the same elements of all ranks, many and one, reals and integers of every length, by updates that go every way. */
static void at_once(MPI_Datatype type, int bytes)
{
    int64_t *base;
    MPI_Win window = make(0, &base);
    char *from = calloc(MANY, (size_t)bytes), *was = calloc(MANY, (size_t)bytes);
    for (int i = 0; i < MANY; i++) {
        if (type == MPI_DOUBLE)
            ((double *)from)[i] = 1;
        else if (type == MPI_FLOAT)
            ((float *)from)[i] = 1;
        else if (type == MPI_LONG_DOUBLE)
            ((long double *)from)[i] = 1;
        else
            from[i * bytes] = 1;
    }
    /* Displacements are of words, and elements lie one behind the other. */
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < ROUNDS; i++)
        for (int to = 0; to < size; to++) {
            MPI_Accumulate(from, MANY, type, to, 0, MANY, type, MPI_SUM, window);
            MPI_Accumulate(from, 1, type, to, 0, 1, type, MPI_SUM, window);
            MPI_Fetch_and_op(from, was, type, to, 0, MPI_SUM, window);
            MPI_Get_accumulate(from, MANY, type, was, MANY, type, to, 0, MANY, type, MPI_SUM, window);
        }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    for (int i = 0; i < MANY; i++) {
        long long expected = (long long)ROUNDS * size * (i == 0 ? 4 : 2), seen;
        char *at = (char *)base + (size_t)i * bytes;
        if (type == MPI_DOUBLE)
            seen = (long long)*(double *)at;
        else if (type == MPI_FLOAT)
            seen = (long long)*(float *)at;
        else if (type == MPI_LONG_DOUBLE)
            seen = (long long)*(long double *)at;
        else if (bytes == 1)
            seen = *(uint8_t *)at, expected &= 0xff;
        else if (bytes == 2)
            seen = *(uint16_t *)at;
        else if (bytes == 4)
            seen = *(int32_t *)at;
        else
            seen = *(int64_t *)at;
        THAT(seen == expected);
    }
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    free(from);
    free(was);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int kind = 0; kind < 3; kind++)
        target_that_calls_nothing(kind);
    awaited();
    at_once(MPI_INT64_T, 8);
    at_once(MPI_INT32_T, 4);
    at_once(MPI_UINT16_T, 2);
    at_once(MPI_UINT8_T, 1);
    at_once(MPI_DOUBLE, 8);
    at_once(MPI_FLOAT, 4);
    at_once(MPI_LONG_DOUBLE, (int)sizeof(long double));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        report("passive");
    MPI_Finalize();
    return checks_failed != 0;
}
