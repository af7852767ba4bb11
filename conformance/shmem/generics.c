/* The type-generic names of C11: each, for each type it must know, with and without a context; the right function is found. */
#include "check.h"

static shmem_ctx_t ctx;

#define C_TYPES(X)                                                                                                  \
    X(float) X(double) X(long double) X(char) X(signed char) X(short) X(int) X(long) X(long long)                   \
    X(unsigned char) X(unsigned short) X(unsigned int) X(unsigned long) X(unsigned long long)                       \
    X(int8_t) X(int16_t) X(int32_t) X(int64_t) X(uint8_t) X(uint16_t) X(uint32_t) X(uint64_t) X(size_t) X(ptrdiff_t)
#define WORD_TYPES(X)                                                                                               \
    X(int) X(long) X(long long) X(unsigned int) X(unsigned long) X(unsigned long long) X(int32_t) X(int64_t)        \
    X(uint32_t) X(uint64_t) X(size_t) X(ptrdiff_t)
#define BIT_TYPES(X)                                                                                                \
    X(unsigned int) X(unsigned long) X(unsigned long long) X(int32_t) X(int64_t) X(uint32_t) X(uint64_t)
#define OLD_TYPES(X) X(int) X(long) X(long long)

/* All of a type's statements are in one block, with objects of its own. */
#define REMOTE(T)                                                                                                   \
    {                                                                                                               \
        static T target[16];                                                                                        \
        static uint64_t signal[2];                                                                                  \
        T source[2] = {(T)(me + 1), (T)(me + 2)}, got[2];                                                           \
        const T *constant = source;                                                                                 \
        shmem_put(target, source, 2, next);                                                                         \
        shmem_put(ctx, target + 2, constant, 2, next);                                                              \
        shmem_put_nbi(target + 4, source, 2, next);                                                                 \
        shmem_put_nbi(ctx, target + 6, source, 2, next);                                                            \
        shmem_p(target + 8, source[0], next);                                                                       \
        shmem_p(ctx, &target[9], source[1], next);                                                                  \
        shmem_iput(target + 10, source, 1, 1, 2, next);                                                             \
        shmem_iput(ctx, target + 12, source, 1, 1, 2, next);                                                        \
        shmem_put_signal(target + 14, source, 1, &signal[0], 1, SHMEM_SIGNAL_SET, next);                            \
        shmem_put_signal_nbi(ctx, target + 15, source + 1, 1, &signal[1], 1, SHMEM_SIGNAL_SET, next);               \
        shmem_signal_wait_until(&signal[0], SHMEM_CMP_EQ, 1);                                                       \
        shmem_signal_wait_until(&signal[1], SHMEM_CMP_EQ, 1);                                                       \
        shmem_ctx_quiet(ctx);                                                                                       \
        shmem_barrier_all();                                                                                        \
        for (int i = 0; i < 16; i++)                                                                                \
            CHECK(target[i] == (T)(previous + 1 + i % 2));                                                          \
        const T *there = target;                                                                                    \
        shmem_get(got, there, 2, next);                                                                             \
        CHECK(got[0] == source[0] && got[1] == source[1]);                                                          \
        shmem_get(ctx, got, target + 1, 2, next);                                                                   \
        CHECK(got[0] == source[1] && got[1] == source[0]);                                                          \
        shmem_get_nbi(got, target, 2, next);                                                                        \
        shmem_quiet();                                                                                              \
        CHECK(got[0] == source[0] && got[1] == source[1]);                                                          \
        shmem_get_nbi(ctx, got, target + 1, 2, next);                                                               \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(got[0] == source[1] && got[1] == source[0]);                                                          \
        shmem_iget(got, target, 1, 2, 2, next);                                                                     \
        CHECK(got[0] == source[0] && got[1] == source[0]);                                                          \
        shmem_iget(ctx, got, target, 1, 3, 2, next);                                                                \
        CHECK(got[0] == source[0] && got[1] == source[1]);                                                          \
        CHECK(shmem_g(there, next) == source[0] && shmem_g(ctx, target + 1, next) == source[1]);                    \
        CHECK(sizeof shmem_g(target, next) == sizeof(T));                                                           \
        shmem_barrier_all();                                                                                        \
    }
#define COLLECTIVE(T)                                                                                               \
    {                                                                                                               \
        static T source[16], dest[16];                                                                              \
        for (int i = 0; i < 16; i++)                                                                                \
            source[i] = (T)(me + 1);                                                                                \
        shmem_sync_all();                                                                                           \
        CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, 1, n - 1) == 0 && dest[0] == (T)n);                   \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
        CHECK(shmem_collect(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[n - 1] == (T)n);                        \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
        CHECK(shmem_fcollect(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[n - 1] == (T)n);                       \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
        CHECK(shmem_alltoall(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[n - 1] == (T)n);                       \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
        CHECK(shmem_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 1, 1) == 0 && dest[n - 1] == (T)n);                \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
        CHECK(shmem_max_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == (T)n);                         \
        CHECK(shmem_min_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == (T)1);                         \
        CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == (T)(n * (n + 1) / 2));         \
        T product = (T)1;                                                                                           \
        for (int pe = 0; pe < n; pe++)                                                                              \
            product = (T)(product * (T)(pe + 1));                                                                   \
        CHECK(shmem_prod_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == product);                     \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
    }
#define BIT_REDUCTION(T)                                                                                            \
    {                                                                                                               \
        static T source = (T)5, dest;                                                                               \
        CHECK(shmem_and_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1) == 0 && dest == (T)5);                          \
        CHECK(shmem_or_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1) == 0 && dest == (T)5);                           \
        CHECK(shmem_xor_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1) == 0 && dest == (T)(n % 2 ? 5 : 0));            \
        shmem_sync(SHMEM_TEAM_WORLD);                                                                               \
    }
#define EXTENDED(T)                                                                                                 \
    {                                                                                                               \
        static T word;                                                                                              \
        T old;                                                                                                      \
        shmem_atomic_set(&word, (T)3, next);                                                                        \
        CHECK(shmem_atomic_fetch(&word, next) == (T)3 && shmem_atomic_swap(&word, (T)4, next) == (T)3);             \
        shmem_atomic_fetch_nbi(&old, &word, next);                                                                  \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)4);                                                                                         \
        shmem_atomic_swap_nbi(&old, &word, (T)5, next);                                                             \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)4);                                                                                         \
        shmem_atomic_set(ctx, &word, (T)3, next);                                                                   \
        CHECK(shmem_atomic_fetch(ctx, &word, next) == (T)3 && shmem_atomic_swap(ctx, &word, (T)4, next) == (T)3);   \
        shmem_atomic_fetch_nbi(ctx, &old, &word, next);                                                             \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)4);                                                                                         \
        shmem_atomic_swap_nbi(ctx, &old, &word, (T)5, next);                                                        \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)4);                                                                                         \
    }
#define STANDARD(T)                                                                                                 \
    {                                                                                                               \
        static T word;                                                                                              \
        T old;                                                                                                      \
        CHECK(shmem_atomic_compare_swap(&word, (T)0, (T)5, next) == (T)0);                                          \
        CHECK(shmem_atomic_fetch_inc(&word, next) == (T)5);                                                         \
        shmem_atomic_inc(&word, next);                                                                              \
        CHECK(shmem_atomic_fetch_add(&word, (T)3, next) == (T)7);                                                   \
        shmem_atomic_add(&word, (T)10, next);                                                                       \
        CHECK(shmem_atomic_compare_swap(ctx, &word, (T)20, (T)30, next) == (T)20);                                  \
        CHECK(shmem_atomic_fetch_inc(ctx, &word, next) == (T)30);                                                   \
        shmem_atomic_inc(ctx, &word, next);                                                                         \
        CHECK(shmem_atomic_fetch_add(ctx, &word, (T)3, next) == (T)32);                                             \
        shmem_atomic_add(ctx, &word, (T)5, next);                                                                   \
        shmem_atomic_compare_swap_nbi(&old, &word, (T)40, (T)50, next);                                             \
        shmem_atomic_fetch_inc_nbi(&old, &word, next);                                                              \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)50);                                                                                        \
        shmem_atomic_fetch_add_nbi(&old, &word, (T)9, next);                                                        \
        shmem_atomic_compare_swap_nbi(ctx, &old, &word, (T)60, (T)70, next);                                        \
        shmem_atomic_fetch_inc_nbi(ctx, &old, &word, next);                                                         \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)70);                                                                                        \
        shmem_atomic_fetch_add_nbi(ctx, &old, &word, (T)9, next);                                                   \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)71 && shmem_atomic_fetch(&word, next) == (T)80);                                            \
    }
#define BITWISE(T)                                                                                                  \
    {                                                                                                               \
        static T word;                                                                                              \
        T old;                                                                                                      \
        shmem_atomic_or(&word, (T)0xf0, next);                                                                      \
        shmem_atomic_and(&word, (T)0x3c, next);                                                                     \
        shmem_atomic_xor(&word, (T)0x0f, next);                                                                     \
        CHECK(shmem_atomic_fetch_or(&word, (T)0xc0, next) == (T)0x3f);                                              \
        CHECK(shmem_atomic_fetch_and(&word, (T)0x0f, next) == (T)0xff);                                             \
        CHECK(shmem_atomic_fetch_xor(&word, (T)0x0f, next) == (T)0x0f);                                             \
        shmem_atomic_or(ctx, &word, (T)0xf0, next);                                                                 \
        shmem_atomic_and(ctx, &word, (T)0x3c, next);                                                                \
        shmem_atomic_xor(ctx, &word, (T)0x0f, next);                                                                \
        CHECK(shmem_atomic_fetch_or(ctx, &word, (T)0xc0, next) == (T)0x3f);                                         \
        CHECK(shmem_atomic_fetch_and(ctx, &word, (T)0x0f, next) == (T)0xff);                                        \
        CHECK(shmem_atomic_fetch_xor(ctx, &word, (T)0x0f, next) == (T)0x0f);                                        \
        shmem_atomic_fetch_or_nbi(&old, &word, (T)1, next);                                                         \
        shmem_atomic_fetch_xor_nbi(&old, &word, (T)2, next);                                                        \
        shmem_atomic_fetch_and_nbi(&old, &word, (T)1, next);                                                        \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)3);                                                                                         \
        shmem_atomic_fetch_or_nbi(ctx, &old, &word, (T)4, next);                                                    \
        shmem_atomic_fetch_xor_nbi(ctx, &old, &word, (T)8, next);                                                   \
        shmem_atomic_fetch_and_nbi(ctx, &old, &word, (T)8, next);                                                   \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)13);                                                                                        \
    }
#define WAITS(T)                                                                                                    \
    {                                                                                                               \
        static T objects[2];                                                                                        \
        T values[2] = {(T)1, (T)2};                                                                                 \
        size_t indices[2];                                                                                          \
        shmem_p(objects, (T)1, next);                                                                               \
        shmem_p(objects + 1, (T)2, next);                                                                           \
        shmem_wait_until(objects, SHMEM_CMP_EQ, (T)1);                                                              \
        shmem_wait_until_all(objects, 2, NULL, SHMEM_CMP_NE, (T)0);                                                 \
        CHECK(shmem_wait_until_any(objects, 2, NULL, SHMEM_CMP_EQ, (T)2) == 1);                                     \
        CHECK(shmem_wait_until_some(objects, 2, indices, NULL, SHMEM_CMP_GE, (T)1) == 2);                           \
        shmem_wait_until_all_vector(objects, 2, NULL, SHMEM_CMP_EQ, values);                                        \
        CHECK(shmem_wait_until_any_vector(objects, 2, NULL, SHMEM_CMP_EQ, values) < 2);                             \
        CHECK(shmem_wait_until_some_vector(objects, 2, indices, NULL, SHMEM_CMP_EQ, values) == 2);                  \
        CHECK(shmem_test(objects, SHMEM_CMP_EQ, (T)1) && shmem_test_all(objects, 2, NULL, SHMEM_CMP_LE, (T)2));     \
        CHECK(shmem_test_any(objects, 2, NULL, SHMEM_CMP_EQ, (T)2) == 1);                                           \
        CHECK(shmem_test_some(objects, 2, indices, NULL, SHMEM_CMP_EQ, (T)1) == 1 && indices[0] == 0);              \
        CHECK(shmem_test_all_vector(objects, 2, NULL, SHMEM_CMP_EQ, values));                                       \
        CHECK(shmem_test_any_vector(objects, 2, NULL, SHMEM_CMP_GT, values) == SIZE_MAX);                           \
        CHECK(shmem_test_some_vector(objects, 2, indices, NULL, SHMEM_CMP_EQ, values) == 2);                        \
        shmem_barrier_all();                                                                                        \
    }
#define OLD_WORDS(T)                                                                                                \
    {                                                                                                               \
        static T word;                                                                                              \
        shmem_set(&word, (T)3, next);                                                                               \
        CHECK(shmem_fetch(&word, next) == (T)3 && shmem_swap(&word, (T)4, next) == (T)3);                           \
    }
#define OLD_INTEGERS(T)                                                                                             \
    {                                                                                                               \
        static T word;                                                                                              \
        CHECK(shmem_cswap(&word, (T)0, (T)5, next) == (T)0 && shmem_finc(&word, next) == (T)5);                     \
        shmem_inc(&word, next);                                                                                     \
        CHECK(shmem_fadd(&word, (T)1, next) == (T)7);                                                               \
        shmem_add(&word, (T)1, next);                                                                               \
        CHECK(shmem_fetch(&word, next) == (T)9);                                                                    \
    }

static void complex_reductions(void)
{
    static double _Complex source, dest;
    static float _Complex small, result;
    source = me + 1;
    small = 2;
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1) == 0 && dest == (double)(n * (n + 1) / 2));
    CHECK(shmem_prod_reduce(SHMEM_TEAM_WORLD, &result, &small, 1) == 0 && result == (float)(1 << n));
}

int main(void)
{
    static long sync_array[SHMEM_BARRIER_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
    begin();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    C_TYPES(REMOTE)
    C_TYPES(COLLECTIVE)
    BIT_TYPES(BIT_REDUCTION)
    BIT_REDUCTION(unsigned char)
    BIT_REDUCTION(unsigned short)
    BIT_REDUCTION(int8_t)
    BIT_REDUCTION(int16_t)
    BIT_REDUCTION(size_t)
    WORD_TYPES(EXTENDED)
    EXTENDED(float)
    EXTENDED(double)
    WORD_TYPES(STANDARD)
    BIT_TYPES(BITWISE)
    WORD_TYPES(WAITS)
    WAITS(short)
    WAITS(unsigned short)
    OLD_TYPES(OLD_WORDS)
    OLD_WORDS(float)
    OLD_WORDS(double)
    OLD_TYPES(OLD_INTEGERS)
    complex_reductions();
    /* The name of the team's form is also that of the active set's. */
    shmem_sync(0, 0, n, sync_array);
    shmem_ctx_destroy(ctx);
    return finish("shmem-generics");
}
