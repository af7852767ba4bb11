/* Collectives over teams: every routine for every type, and over a team that is not all PEs (the standard, 9.10). */
#include "check.h"

/* Element i of what PE `pe` gives. Fits a signed byte. */
#define VALUE(T, pe, i) ((T)(10 * (pe) + (i) + 1))
#define MOST 8

#define TYPED(N, T)                                                                                                 \
    static void typed_##N(void)                                                                                     \
    {                                                                                                               \
        static T source[4 * MOST], dest[4 * MOST * 2];                                                              \
        for (int i = 0; i < 4 * MOST; i++)                                                                          \
            source[i] = VALUE(T, me, i % 8);                                                                        \
        memset(dest, 0, sizeof dest);                                                                               \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_##N##_broadcast(SHMEM_TEAM_WORLD, dest, source, 3, n - 1) == 0);                                \
        for (int i = 0; i < 3; i++)                                                                                 \
            CHECK(dest[i] == VALUE(T, n - 1, i));                                                                   \
        CHECK(dest[3] == (T)0);                                                                                     \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_##N##_fcollect(SHMEM_TEAM_WORLD, dest, source, 3) == 0);                                        \
        for (int i = 0; i < 3 * n; i++)                                                                             \
            CHECK(dest[i] == VALUE(T, i / 3, i % 3));                                                               \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_##N##_collect(SHMEM_TEAM_WORLD, dest, source, (size_t)(me % 2 + 1)) == 0);                      \
        for (int pe = 0, at = 0; pe < n; pe++)                                                                      \
            for (int i = 0; i < pe % 2 + 1; i++, at++)                                                              \
                CHECK(dest[at] == VALUE(T, pe, i));                                                                 \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_##N##_alltoall(SHMEM_TEAM_WORLD, dest, source, 2) == 0);                                        \
        for (int i = 0; i < 2 * n; i++)                                                                             \
            CHECK(dest[i] == VALUE(T, i / 2, (2 * me + i % 2) % 8));                                                \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_##N##_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 1, 2) == 0);                                 \
        for (int i = 0; i < 2 * n; i++)                                                                             \
            CHECK(dest[2 * i] == VALUE(T, i / 2, (2 * me + i % 2) % 8));                                            \
        shmem_sync_all();                                                                                           \
    }
RMA_TYPES(TYPED)

static void memory(void)
{
    static char source[16 * MOST], dest[32 * MOST];
    for (int i = 0; i < 16 * MOST; i++)
        source[i] = VALUE(char, me, i % 16);
    shmem_sync_all();
    CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, 5, 0) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(dest[i] == VALUE(char, 0, i));
    shmem_sync_all();
    CHECK(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, 5) == 0);
    for (int i = 0; i < 5 * n; i++)
        CHECK(dest[i] == VALUE(char, i / 5, i % 5));
    shmem_sync_all();
    CHECK(shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, (size_t)me) == 0);
    for (int pe = 0, at = 0; pe < n; pe++)
        for (int i = 0; i < pe; i++, at++)
            CHECK(dest[at] == VALUE(char, pe, i));
    shmem_sync_all();
    CHECK(shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, 3) == 0);
    for (int i = 0; i < 3 * n; i++)
        CHECK(dest[i] == VALUE(char, i / 3, (3 * me + i % 3) % 16));
    shmem_sync_all();
    CHECK(shmem_alltoallsmem(SHMEM_TEAM_WORLD, dest, source, 1, 2, 2) == 0);
    for (int i = 0; i < 2 * n; i++)
        CHECK(dest[i] == VALUE(char, i / 2, 2 * (2 * me + i % 2) % 16));
    shmem_sync_all();
}

/* What all PEs' element i combine to, in the order of the PEs; exact for all types here. */
#define REDUCED(T, operator) \
    T wanted = INPUT(T, 0, i); \
    for (int pe = 1; pe < n; pe++) { T other = INPUT(T, pe, i); wanted = (operator); }
#define INPUT(T, pe, i) ((T)(((pe) + (i)) % 3 + 1))

#define REDUCE(N, T, name, operator)                                                                                \
    {                                                                                                               \
        static T source[20], dest[20];                                                                              \
        for (int i = 0; i < 20; i++)                                                                                \
            source[i] = INPUT(T, me, i);                                                                            \
        CHECK(shmem_##N##_##name##_reduce(SHMEM_TEAM_WORLD, dest, source, 20) == 0);                                \
        for (int i = 0; i < 20; i++) {                                                                              \
            REDUCED(T, operator)                                                                                    \
            CHECK(dest[i] == wanted);                                                                               \
        }                                                                                                           \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_##N##_##name##_reduce(SHMEM_TEAM_WORLD, source, source, 20) == 0);                              \
        CHECK(memcmp(source, dest, sizeof source) == 0 || sizeof(T) == 16);                                         \
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
        /* The greatest number of an unsigned type, -1 of a signed one, and 1. */                                   \
        static T source[2], dest[2];                                                                                \
        source[0] = me == n - 1 ? (T)-1 : (T)1;                                                                     \
        source[1] = (T)1;                                                                                           \
        CHECK(shmem_##N##_max_reduce(SHMEM_TEAM_WORLD, dest, source, 2) == 0);                                      \
        CHECK(dest[0] == ((T)-1 > (T)1 || n == 1 ? (T)-1 : (T)1) && dest[1] == (T)1);                               \
        CHECK(shmem_##N##_min_reduce(SHMEM_TEAM_WORLD, dest, source, 2) == 0);                                      \
        CHECK(dest[0] == ((T)-1 < (T)1 || n == 1 ? (T)-1 : (T)1) && dest[1] == (T)1);                               \
        shmem_sync_all();                                                                                           \
    }
#define ARITHMETIC(N, T)                                                                                            \
    static void arithmetic_##N(void)                                                                                \
    {                                                                                                               \
        REDUCE(N, T, sum, (T)(wanted + other))                                                                      \
        REDUCE(N, T, prod, (T)(wanted * other))                                                                     \
    }
#define BIT_TYPES(X)                                                                                                \
    X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long)                 \
    X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t)          \
    X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t)
#define COMPLEX_TYPES(X) X(complexd, double _Complex) X(complexf, float _Complex)
BIT_TYPES(BITS)
RMA_TYPES(ORDERED)
RMA_TYPES(ARITHMETIC)
COMPLEX_TYPES(ARITHMETIC)

/* Long ones, which are cut into slices. */
static void long_reductions(void)
{
    enum { COUNT = 5000 };
    double *source = shmem_malloc(COUNT * sizeof *source), *dest = shmem_malloc(COUNT * sizeof *dest);
    CHECK(source != NULL && dest != NULL);
    for (int i = 0; i < COUNT; i++)
        source[i] = i + me;
    CHECK(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, COUNT) == 0);
    int same = 1;
    for (int i = 0; i < COUNT; i++)
        same &= dest[i] == (double)i * n + n * (n - 1) / 2;
    CHECK(same);
    shmem_free(dest);
    shmem_free(source);
}

/* The even PEs by themselves, and codes for teams that are none. */
static void teams(void)
{
    static int source, dest[MOST];
    shmem_team_t even = SHMEM_TEAM_INVALID;
    int size = (n + 1) / 2;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, size, NULL, 0, &even) == 0);
    CHECK((even != SHMEM_TEAM_INVALID) == (me % 2 == 0));
    source = me + 1;
    if (even != SHMEM_TEAM_INVALID) {
        CHECK(shmem_int_sum_reduce(even, dest, &source, 1) == 0);
        CHECK(dest[0] == size * size);
        CHECK(shmem_team_sync(even) == 0);
        CHECK(shmem_int_fcollect(even, dest, &source, 1) == 0);
        for (int i = 0; i < size; i++)
            CHECK(dest[i] == 2 * i + 1);
        CHECK(shmem_team_sync(even) == 0);
        CHECK(shmem_int_broadcast(even, dest, &source, 1, size - 1) == 0);
        CHECK(dest[0] == 2 * size - 1);
        CHECK(shmem_int_broadcast(even, dest, &source, 1, size) != 0);
        CHECK(shmem_int_broadcast(even, dest, &source, 1, -1) != 0);
        shmem_team_destroy(even);
    }
    CHECK(shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
    CHECK(shmem_int_sum_reduce(SHMEM_TEAM_INVALID, dest, &source, 1) != 0);
    CHECK(shmem_int_collect(SHMEM_TEAM_INVALID, dest, &source, 1) != 0);
    CHECK(shmem_int_alltoalls(SHMEM_TEAM_WORLD, dest, &source, 0, 1, 1) != 0);
    CHECK(shmem_int_sum_reduce((shmem_team_t)(uintptr_t)12345678901, dest, &source, 1) != 0);
    shmem_barrier_all();
}

int main(void)
{
    begin();
#define CALL(N, T) typed_##N();
    RMA_TYPES(CALL)
#undef CALL
    memory();
#define CALL(N, T) bits_##N();
    BIT_TYPES(CALL)
#undef CALL
#define CALL(N, T) ordered_##N();
    RMA_TYPES(CALL)
#undef CALL
#define CALL(N, T) arithmetic_##N();
    RMA_TYPES(CALL)
    COMPLEX_TYPES(CALL)
    long_reductions();
    teams();
    return finish("shmem-collectives");
}
