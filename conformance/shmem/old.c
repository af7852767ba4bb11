/* What the standard has deprecated and still wants: collectives over active sets, old names of atomics, waiting, heap and queries, the
 * cache routines, start_pes. The set is all PEs, and then every other one. */
#include <mpp/shmemx.h>

#include "check.h"

#define MOST 8
#define INPUT(T, pe, i) ((T)(((pe) + (i)) % 3 + 1))

static long sync_array[SHMEM_SYNC_SIZE], reduce_sync[SHMEM_REDUCE_SYNC_SIZE];
static int start, log_stride, size;

#define REDUCE(N, T, name, operator)                                                                                \
    {                                                                                                               \
        static T source[20], dest[20], work[20 / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];                            \
        for (int i = 0; i < 20; i++)                                                                                \
            source[i] = INPUT(T, me, i);                                                                            \
        shmem_##N##_##name##_to_all(dest, source, 20, start, log_stride, size, work, reduce_sync);                  \
        for (int i = 0; i < 20; i++) {                                                                              \
            T wanted = INPUT(T, start, i);                                                                          \
            for (int k = 1; k < size; k++) {                                                                        \
                T other = INPUT(T, start + (k << log_stride), i);                                                   \
                wanted = (operator);                                                                                \
            }                                                                                                       \
            CHECK(dest[i] == wanted);                                                                               \
        }                                                                                                           \
        shmem_barrier(start, log_stride, size, sync_array);                                                         \
    }
#define BITS(N, T)                                                                                                  \
    static void bits_##N(void)                                                                                      \
    {                                                                                                               \
        REDUCE(N, T, and, (T)(wanted & other))                                                                      \
        REDUCE(N, T, or, (T)(wanted | other))                                                                       \
        REDUCE(N, T, xor, (T)(wanted ^ other))                                                                      \
    }
#define ORDERED(N, T)                                                                                               \
    static void ordered_##N(void)                                                                                   \
    {                                                                                                               \
        REDUCE(N, T, max, other > wanted ? other : wanted)                                                          \
        REDUCE(N, T, min, other < wanted ? other : wanted)                                                          \
    }
#define ARITHMETIC(N, T)                                                                                            \
    static void arithmetic_##N(void)                                                                                \
    {                                                                                                               \
        REDUCE(N, T, sum, (T)(wanted + other))                                                                      \
        REDUCE(N, T, prod, (T)(wanted * other))                                                                     \
    }
#define BIT_TYPES(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define ORDERED_TYPES(X) BIT_TYPES(X) X(float, float) X(double, double) X(longdouble, long double)
#define COMPLEX_TYPES(X) X(complexd, double _Complex) X(complexf, float _Complex)
BIT_TYPES(BITS)
ORDERED_TYPES(ORDERED)
ORDERED_TYPES(ARITHMETIC)
COMPLEX_TYPES(ARITHMETIC)

#define BLOCKS(SIZE, T)                                                                                             \
    static void blocks_##SIZE(void)                                                                                 \
    {                                                                                                               \
        static T source[4 * MOST], dest[4 * MOST];                                                                  \
        int index = (me - start) >> log_stride;                                                                     \
        for (int i = 0; i < 4 * MOST; i++) {                                                                        \
            source[i] = (T)(100 * index + i);                                                                       \
            dest[i] = 7777;                                                                                         \
        }                                                                                                           \
        shmem_sync(start, log_stride, size, sync_array);                                                            \
        shmem_broadcast##SIZE(dest, source, 3, size - 1, start, log_stride, size, sync_array);                      \
        for (int i = 0; i < 3; i++)                                                                                 \
            CHECK(dest[i] == (T)(index == size - 1 ? 7777 : 100 * (size - 1) + i));                                 \
        shmem_sync(start, log_stride, size, sync_array);                                                            \
        shmem_fcollect##SIZE(dest, source, 2, start, log_stride, size, sync_array);                                 \
        for (int i = 0; i < 2 * size; i++)                                                                          \
            CHECK(dest[i] == (T)(100 * (i / 2) + i % 2));                                                           \
        shmem_sync(start, log_stride, size, sync_array);                                                            \
        shmem_collect##SIZE(dest, source, (size_t)(index % 2 + 1), start, log_stride, size, sync_array);            \
        for (int k = 0, at = 0; k < size; k++)                                                                      \
            for (int i = 0; i < k % 2 + 1; i++, at++)                                                               \
                CHECK(dest[at] == (T)(100 * k + i));                                                                \
        shmem_sync(start, log_stride, size, sync_array);                                                            \
        shmem_alltoall##SIZE(dest, source, 2, start, log_stride, size, sync_array);                                 \
        for (int i = 0; i < 2 * size; i++)                                                                          \
            CHECK(dest[i] == (T)(100 * (i / 2) + 2 * index + i % 2));                                               \
        shmem_sync(start, log_stride, size, sync_array);                                                            \
        shmem_alltoalls##SIZE(dest, source, 1, 2, 1, start, log_stride, size, sync_array);                          \
        for (int i = 0; i < size; i++)                                                                              \
            CHECK(dest[i] == (T)(100 * i + 2 * index));                                                             \
        shmem_sync(start, log_stride, size, sync_array);                                                            \
    }
BLOCKS(32, uint32_t)
BLOCKS(64, uint64_t)

static void over_the_set(void)
{
#define CALL(N, T) bits_##N();
    BIT_TYPES(CALL)
#undef CALL
#define CALL(N, T) ordered_##N();
    ORDERED_TYPES(CALL)
#undef CALL
#define CALL(N, T) arithmetic_##N();
    ORDERED_TYPES(CALL)
    COMPLEX_TYPES(CALL)
#undef CALL
    blocks_32();
    blocks_64();
}

#define WORDS(N, T)                                                                                                 \
    static void words_##N(void)                                                                                     \
    {                                                                                                               \
        static T word;                                                                                              \
        shmem_##N##_set(&word, (T)3, next);                                                                         \
        CHECK(shmem_##N##_fetch(&word, next) == (T)3);                                                              \
        CHECK(shmem_##N##_swap(&word, (T)4, next) == (T)3);                                                         \
        shmem_barrier_all();                                                                                        \
        CHECK(word == (T)4);                                                                                        \
        shmem_barrier_all();                                                                                        \
    }
#define INTEGERS(N, T)                                                                                              \
    static void integers_##N(void)                                                                                  \
    {                                                                                                               \
        static T word, waited;                                                                                      \
        CHECK(shmem_##N##_cswap(&word, (T)0, (T)5, next) == (T)0);                                                  \
        CHECK(shmem_##N##_finc(&word, next) == (T)5);                                                               \
        shmem_##N##_inc(&word, next);                                                                               \
        CHECK(shmem_##N##_fadd(&word, (T)10, next) == (T)7);                                                        \
        shmem_##N##_add(&word, (T)1, next);                                                                         \
        CHECK(shmem_##N##_fetch(&word, next) == (T)18);                                                             \
        shmem_##N##_p(&waited, (T)1, next);                                                                         \
        shmem_##N##_wait(&waited, (T)0);                                                                            \
        CHECK(waited == (T)1);                                                                                      \
        shmem_barrier_all();                                                                                        \
    }
#define INTEGER_TYPES(X) X(int, int) X(long, long) X(longlong, long long)
INTEGER_TYPES(INTEGERS)
INTEGER_TYPES(WORDS)
WORDS(float, float)
WORDS(double, double)

static void waits(void)
{
    static short brief;
    static long word;
    shmem_short_p(&brief, 1, next);
    shmem_short_wait(&brief, 0);
    CHECK(brief == 1);
    shmem_long_p(&word, 1, next);
    shmem_wait(&word, 0);
    CHECK(word == 1);
    shmem_barrier_all();
    shmem_long_p(&word, 5, next);
    /* The function, not the type-generic macro of that name. */
    (shmem_wait_until)(&word, SHMEM_CMP_EQ, 5);
    CHECK(word == 5);
}

static void names(void)
{
    CHECK(_my_pe() == me && _num_pes() == n);
    CHECK(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_SYNC_VALUE == SHMEM_SYNC_VALUE);
    int *object = shmalloc(10 * sizeof *object);
    CHECK(object != NULL);
    object[9] = 9;
    object = shrealloc(object, 1000 * sizeof *object);
    CHECK(object != NULL && object[9] == 9);
    void *aligned = shmemalign(256, 100);
    CHECK(aligned != NULL && (uintptr_t)aligned % 256 == 0);
    shfree(aligned);
    shfree(object);
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&size);
    shmem_clear_cache_line_inv(&size);
    shmem_clear_cache_inv();
    shmem_udcflush_line(&size);
    shmem_udcflush();
}

int main(void)
{
    start_pes(0);
    places();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        reduce_sync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_array[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    size = n;
    over_the_set();
    shmem_barrier_all();
    /* Every other PE, beginning with 1 if there is such a PE. */
    start = n > 1 ? 1 : 0;
    log_stride = 1;
    size = n > 1 ? n / 2 : 1;
    if (me % 2 == start)
        over_the_set();
    shmem_barrier_all();
    integers_int();
    integers_long();
    integers_longlong();
    words_int();
    words_long();
    words_longlong();
    words_float();
    words_double();
    waits();
    names();
    return finish("shmem-old");
}
