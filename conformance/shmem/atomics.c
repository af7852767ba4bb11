/* Atomics: every routine for every type of its table, with and without a context, alone and from all PEs at once (the standard, 9.9). */
#include "check.h"

static shmem_ctx_t ctx;

/* A word of the next PE's that only this PE uses; the forms with a context do the same after those without. */
#define EXTENDED(N, T)                                                                                              \
    static void extended_##N(void)                                                                                  \
    {                                                                                                               \
        static T word;                                                                                              \
        T old = (T)0;                                                                                               \
        shmem_##N##_atomic_set(&word, (T)5, next);                                                                  \
        CHECK(shmem_##N##_atomic_fetch(&word, next) == (T)5);                                                       \
        CHECK(shmem_##N##_atomic_swap(&word, (T)7, next) == (T)5);                                                  \
        shmem_##N##_atomic_fetch_nbi(&old, &word, next);                                                            \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)7);                                                                                         \
        shmem_##N##_atomic_swap_nbi(&old, &word, (T)9, next);                                                       \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)7 && shmem_##N##_atomic_fetch(&word, next) == (T)9);                                        \
        shmem_ctx_##N##_atomic_set(ctx, &word, (T)15, next);                                                        \
        CHECK(shmem_ctx_##N##_atomic_fetch(ctx, &word, next) == (T)15);                                             \
        CHECK(shmem_ctx_##N##_atomic_swap(ctx, &word, (T)17, next) == (T)15);                                       \
        shmem_ctx_##N##_atomic_fetch_nbi(ctx, &old, &word, next);                                                   \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)17);                                                                                        \
        shmem_ctx_##N##_atomic_swap_nbi(ctx, &old, &word, (T)19, next);                                             \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)17 && shmem_ctx_##N##_atomic_fetch(ctx, &word, next) == (T)19);                             \
        shmem_barrier_all();                                                                                        \
        CHECK(word == (T)19);                                                                                       \
    }
EXTENDED_AMO_TYPES(EXTENDED)

#define STANDARD(N, T)                                                                                              \
    static void standard_##N(void)                                                                                  \
    {                                                                                                               \
        static T word, sum, count;                                                                                  \
        T old = (T)0;                                                                                               \
        CHECK(shmem_##N##_atomic_compare_swap(&word, (T)1, (T)2, next) == (T)0);                                    \
        CHECK(shmem_##N##_atomic_compare_swap(&word, (T)0, (T)2, next) == (T)0);                                    \
        CHECK(shmem_##N##_atomic_fetch_inc(&word, next) == (T)2);                                                   \
        shmem_##N##_atomic_inc(&word, next);                                                                        \
        CHECK(shmem_##N##_atomic_fetch_add(&word, (T)10, next) == (T)4);                                            \
        shmem_##N##_atomic_add(&word, (T)-1, next);                                                                 \
        shmem_##N##_atomic_compare_swap_nbi(&old, &word, (T)13, (T)20, next);                                       \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)13);                                                                                        \
        shmem_##N##_atomic_fetch_inc_nbi(&old, &word, next);                                                        \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)20);                                                                                        \
        shmem_##N##_atomic_fetch_add_nbi(&old, &word, (T)4, next);                                                  \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)21 && shmem_##N##_g(&word, next) == (T)25);                                                 \
        CHECK(shmem_ctx_##N##_atomic_compare_swap(ctx, &word, (T)25, (T)2, next) == (T)25);                         \
        CHECK(shmem_ctx_##N##_atomic_fetch_inc(ctx, &word, next) == (T)2);                                          \
        shmem_ctx_##N##_atomic_inc(ctx, &word, next);                                                               \
        CHECK(shmem_ctx_##N##_atomic_fetch_add(ctx, &word, (T)10, next) == (T)4);                                   \
        shmem_ctx_##N##_atomic_add(ctx, &word, (T)-1, next);                                                        \
        shmem_ctx_##N##_atomic_compare_swap_nbi(ctx, &old, &word, (T)13, (T)20, next);                              \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)13);                                                                                        \
        shmem_ctx_##N##_atomic_fetch_inc_nbi(ctx, &old, &word, next);                                               \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)20);                                                                                        \
        shmem_ctx_##N##_atomic_fetch_add_nbi(ctx, &old, &word, (T)4, next);                                         \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)21 && shmem_##N##_g(&word, next) == (T)25);                                                 \
        for (int i = 0; i < 50; i++) {                                                                              \
            shmem_##N##_atomic_inc(&count, 0);                                                                      \
            shmem_ctx_##N##_atomic_add(ctx, &sum, (T)(me + 1), 0);                                                  \
            shmem_##N##_atomic_fetch_inc(&count, 0);                                                                \
        }                                                                                                           \
        shmem_ctx_quiet(ctx);                                                                                       \
        shmem_barrier_all();                                                                                        \
        CHECK(me != 0 || (count == (T)(100 * n) && sum == (T)(50 * n * (n + 1) / 2)));                              \
    }
STANDARD_AMO_TYPES(STANDARD)

#define BITWISE(N, T)                                                                                               \
    static void bitwise_##N(void)                                                                                   \
    {                                                                                                               \
        static T word, bits;                                                                                        \
        T old = (T)0;                                                                                               \
        shmem_##N##_atomic_or(&word, (T)0xff, next);                                                                \
        shmem_##N##_atomic_and(&word, (T)0x3c, next);                                                               \
        shmem_##N##_atomic_xor(&word, (T)0x0f, next);                                                               \
        CHECK(shmem_##N##_atomic_fetch_or(&word, (T)0xc0, next) == (T)0x33);                                        \
        CHECK(shmem_##N##_atomic_fetch_and(&word, (T)0xf0, next) == (T)0xf3);                                       \
        CHECK(shmem_##N##_atomic_fetch_xor(&word, (T)0xff, next) == (T)0xf0);                                       \
        shmem_##N##_atomic_fetch_or_nbi(&old, &word, (T)0x80, next);                                                \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)0x0f);                                                                                      \
        shmem_##N##_atomic_fetch_and_nbi(&old, &word, (T)0x88, next);                                               \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)0x8f);                                                                                      \
        shmem_##N##_atomic_fetch_xor_nbi(&old, &word, (T)0x88, next);                                               \
        shmem_quiet();                                                                                              \
        CHECK(old == (T)0x88 && shmem_##N##_g(&word, next) == (T)0);                                                \
        shmem_ctx_##N##_atomic_or(ctx, &word, (T)0xff, next);                                                       \
        shmem_ctx_##N##_atomic_and(ctx, &word, (T)0x3c, next);                                                      \
        shmem_ctx_##N##_atomic_xor(ctx, &word, (T)0x0f, next);                                                      \
        CHECK(shmem_ctx_##N##_atomic_fetch_or(ctx, &word, (T)0xc0, next) == (T)0x33);                               \
        CHECK(shmem_ctx_##N##_atomic_fetch_and(ctx, &word, (T)0xf0, next) == (T)0xf3);                              \
        CHECK(shmem_ctx_##N##_atomic_fetch_xor(ctx, &word, (T)0xff, next) == (T)0xf0);                              \
        shmem_ctx_##N##_atomic_fetch_or_nbi(ctx, &old, &word, (T)0x80, next);                                       \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)0x0f);                                                                                      \
        shmem_ctx_##N##_atomic_fetch_and_nbi(ctx, &old, &word, (T)0x88, next);                                      \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)0x8f);                                                                                      \
        shmem_ctx_##N##_atomic_fetch_xor_nbi(ctx, &old, &word, (T)0x88, next);                                      \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(old == (T)0x88 && shmem_##N##_g(&word, next) == (T)0);                                                \
        for (int i = 0; i < 21; i++)                                                                                \
            shmem_##N##_atomic_fetch_xor(&bits, (T)1 << me, 0);                                                     \
        shmem_barrier_all();                                                                                        \
        CHECK(me != 0 || bits == (T)((1UL << n) - 1));                                                              \
    }
BITWISE_AMO_TYPES(BITWISE)

int main(void)
{
    begin();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
#define CALL(N, T) extended_##N();
    EXTENDED_AMO_TYPES(CALL)
#undef CALL
#define CALL(N, T) standard_##N();
    STANDARD_AMO_TYPES(CALL)
#undef CALL
#define CALL(N, T) bitwise_##N();
    BITWISE_AMO_TYPES(CALL)
    shmem_ctx_destroy(ctx);
    return finish("shmem-atomics");
}
