/* Put, get, p, g, strided and non-blocking, put with signal: all types, all sizes, with and without a context (the standard, 9.6 to
 * 9.8). Every PE writes to the next one, each routine to a part of its own, and then reads from the next one. */
#include "check.h"

static shmem_ctx_t ctx;

/* Element i of what PE `pe` sends. Fits a signed byte. */
#define VALUE(T, pe, i) ((T)(10 * (pe) + (i) + 1))
#define PART(k) (target + 4 * (k))

#define TYPED(N, T)                                                                                                 \
    static void typed_##N(void)                                                                                     \
    {                                                                                                               \
        static T target[60];                                                                                        \
        static uint64_t signal[4];                                                                                  \
        T source[4], spread[8];                                                                                     \
        memset(spread, 0, sizeof spread);                                                                           \
        for (int i = 0; i < 4; i++)                                                                                 \
            source[i] = spread[2 * i] = VALUE(T, me, i);                                                            \
        shmem_##N##_put(PART(0), source, 4, next);                                                                  \
        shmem_ctx_##N##_put(ctx, PART(1), source, 4, next);                                                         \
        shmem_##N##_put_nbi(PART(2), source, 4, next);                                                              \
        shmem_ctx_##N##_put_nbi(ctx, PART(3), source, 4, next);                                                     \
        shmem_##N##_put_signal(PART(4), source, 4, &signal[0], 7, SHMEM_SIGNAL_SET, next);                          \
        shmem_ctx_##N##_put_signal(ctx, PART(5), source, 4, &signal[1], 5, SHMEM_SIGNAL_ADD, next);                 \
        shmem_##N##_put_signal_nbi(PART(6), source, 4, &signal[2], 7, SHMEM_SIGNAL_SET, next);                      \
        shmem_ctx_##N##_put_signal_nbi(ctx, PART(7), source, 4, &signal[3], 5, SHMEM_SIGNAL_ADD, next);             \
        for (int i = 0; i < 4; i++) {                                                                               \
            shmem_##N##_p(PART(8) + i, source[i], next);                                                            \
            shmem_ctx_##N##_p(ctx, PART(9) + i, source[i], next);                                                   \
        }                                                                                                           \
        shmem_##N##_iput(PART(10), source, 2, 1, 4, next);                                                          \
        shmem_ctx_##N##_iput(ctx, PART(12), spread, 1, 2, 4, next);                                                 \
        CHECK(shmem_signal_wait_until(&signal[0], SHMEM_CMP_EQ, 7) == 7);                                           \
        CHECK(shmem_signal_wait_until(&signal[1], SHMEM_CMP_GE, 5) == 5);                                           \
        for (int i = 0; i < 4; i++)                                                                                 \
            CHECK(PART(4)[i] == VALUE(T, previous, i) && PART(5)[i] == VALUE(T, previous, i));                      \
        shmem_ctx_quiet(ctx);                                                                                       \
        shmem_barrier_all();                                                                                        \
        CHECK(shmem_signal_fetch(&signal[2]) == 7 && shmem_signal_fetch(&signal[3]) == 5);                          \
        for (int part = 0; part < 10; part++)                                                                       \
            for (int i = 0; i < 4; i++)                                                                             \
                CHECK(PART(part)[i] == VALUE(T, previous, i));                                                      \
        for (int i = 0; i < 4; i++) {                                                                               \
            CHECK(PART(10)[2 * i] == VALUE(T, previous, i) && PART(10)[2 * i + 1] == (T)0);                         \
            CHECK(PART(12)[i] == VALUE(T, previous, i) && PART(13)[i] == (T)0);                                     \
        }                                                                                                           \
        T got[6][4], apart[8];                                                                                      \
        memset(apart, 0, sizeof apart);                                                                             \
        shmem_##N##_get(got[0], PART(0), 4, next);                                                                  \
        shmem_ctx_##N##_get(ctx, got[1], PART(1), 4, next);                                                         \
        shmem_##N##_get_nbi(got[2], PART(2), 4, next);                                                              \
        shmem_ctx_##N##_get_nbi(ctx, got[3], PART(3), 4, next);                                                     \
        shmem_##N##_iget(got[4], PART(10), 1, 2, 4, next);                                                          \
        shmem_ctx_##N##_iget(ctx, apart, PART(12), 2, 1, 4, next);                                                  \
        shmem_quiet();                                                                                              \
        shmem_ctx_quiet(ctx);                                                                                       \
        for (int i = 0; i < 4; i++) {                                                                               \
            for (int k = 0; k < 5; k++)                                                                             \
                CHECK(got[k][i] == VALUE(T, me, i));                                                                \
            CHECK(apart[2 * i] == VALUE(T, me, i) && apart[2 * i + 1] == (T)0);                                     \
            CHECK(shmem_##N##_g(PART(8) + i, next) == VALUE(T, me, i));                                             \
            CHECK(shmem_ctx_##N##_g(ctx, PART(9) + i, next) == VALUE(T, me, i));                                    \
        }                                                                                                           \
    }
RMA_TYPES(TYPED)

/* Blocks: `count` elements of `size` bytes with the given calls, into parts of 64 bytes. */
#define BLOCKS(SIZE, bytes)                                                                                         \
    static void blocks_##SIZE(void)                                                                                 \
    {                                                                                                               \
        static char target[9 * 64];                                                                                 \
        static uint64_t signal[4];                                                                                  \
        const size_t count = 64 / (bytes);                                                                          \
        char source[64], expected[64], got[64];                                                                     \
        for (int i = 0; i < 64; i++) {                                                                              \
            source[i] = VALUE(char, me, i);                                                                         \
            expected[i] = VALUE(char, previous, i);                                                                 \
        }                                                                                                           \
        shmem_put##SIZE(target, source, count, next);                                                               \
        shmem_ctx_put##SIZE(ctx, target + 64, source, count, next);                                                 \
        shmem_put##SIZE##_nbi(target + 128, source, count, next);                                                   \
        shmem_ctx_put##SIZE##_nbi(ctx, target + 192, source, count, next);                                          \
        shmem_put##SIZE##_signal(target + 256, source, count, &signal[0], 1, SHMEM_SIGNAL_ADD, next);               \
        shmem_ctx_put##SIZE##_signal(ctx, target + 320, source, count, &signal[1], 1, SHMEM_SIGNAL_SET, next);      \
        shmem_put##SIZE##_signal_nbi(target + 384, source, count, &signal[2], 1, SHMEM_SIGNAL_ADD, next);           \
        shmem_ctx_put##SIZE##_signal_nbi(                                                                           \
            ctx, target + 448, source, count, &signal[3], 1, SHMEM_SIGNAL_SET, next);                               \
        for (int k = 0; k < 4; k++)                                                                                 \
            CHECK(shmem_signal_wait_until(&signal[k], SHMEM_CMP_NE, 0) == 1);                                       \
        shmem_ctx_quiet(ctx);                                                                                       \
        shmem_barrier_all();                                                                                        \
        for (int part = 0; part < 8; part++)                                                                        \
            CHECK(memcmp(target + 64 * part, expected, 64) == 0);                                                   \
        for (int i = 0; i < 64; i++)                                                                                \
            CHECK(target[512 + i] == 0);                                                                            \
        shmem_get##SIZE(got, target, count, next);                                                                  \
        CHECK(memcmp(got, source, 64) == 0);                                                                        \
        memset(got, 0, 64);                                                                                         \
        shmem_ctx_get##SIZE(ctx, got, target + 64, count, next);                                                    \
        CHECK(memcmp(got, source, 64) == 0);                                                                        \
        memset(got, 0, 64);                                                                                         \
        shmem_get##SIZE##_nbi(got, target + 128, count, next);                                                      \
        shmem_quiet();                                                                                              \
        CHECK(memcmp(got, source, 64) == 0);                                                                        \
        memset(got, 0, 64);                                                                                         \
        shmem_ctx_get##SIZE##_nbi(ctx, got, target + 192, count, next);                                             \
        shmem_ctx_quiet(ctx);                                                                                       \
        CHECK(memcmp(got, source, 64) == 0);                                                                        \
    }
BLOCKS(8, 1)
BLOCKS(16, 2)
BLOCKS(32, 4)
BLOCKS(64, 8)
BLOCKS(128, 16)
BLOCKS(mem, 1)

/* Every other element of two, there and back. */
#define STRIDED(SIZE, bytes)                                                                                        \
    static void strided_##SIZE(void)                                                                                \
    {                                                                                                               \
        static char target[2][4 * (bytes)];                                                                         \
        char source[2 * (bytes)], back[2 * (bytes)];                                                                \
        for (int i = 0; i < 2 * (bytes); i++)                                                                       \
            source[i] = VALUE(char, me, i);                                                                         \
        shmem_iput##SIZE(target[0], source, 2, 1, 2, next);                                                         \
        shmem_ctx_iput##SIZE(ctx, target[1], source, 3, 1, 2, next);                                                \
        shmem_ctx_quiet(ctx);                                                                                       \
        shmem_barrier_all();                                                                                        \
        for (int i = 0; i < (bytes); i++) {                                                                         \
            char first = VALUE(char, previous, i), second = VALUE(char, previous, (bytes) + i);                     \
            CHECK(target[0][i] == first && target[0][(bytes) + i] == 0 && target[0][2 * (bytes) + i] == second);    \
            CHECK(target[1][i] == first && target[1][2 * (bytes) + i] == 0 && target[1][3 * (bytes) + i] == second); \
        }                                                                                                           \
        shmem_iget##SIZE(back, target[0], 1, 2, 2, next);                                                           \
        CHECK(memcmp(back, source, sizeof back) == 0);                                                              \
        memset(back, 0, sizeof back);                                                                               \
        shmem_ctx_iget##SIZE(ctx, back, target[1], 1, 3, 2, next);                                                  \
        CHECK(memcmp(back, source, sizeof back) == 0);                                                              \
    }
STRIDED(8, 1)
STRIDED(16, 2)
STRIDED(32, 4)
STRIDED(64, 8)
STRIDED(128, 16)

/* What crosses every copy loop's limits, at odd places. */
static void sizes(void)
{
    static char target[70000];
    static char source[70000], got[70000];
    static const size_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 63, 65, 127, 129, 255, 1000, 4097, 32767, 32769, 65537};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t odd = 0; odd < 3; odd += 2) {
            size_t bytes = sizes[k];
            for (size_t i = 0; i < bytes + 8; i++) {
                source[i] = (char)(i * 7 + (size_t)me + k);
                target[i] = 0;
            }
            shmem_barrier_all();
            shmem_putmem(target + odd, source + 1, bytes, next);
            shmem_barrier_all();
            int same = 1;
            for (size_t i = 0; i < bytes; i++)
                same &= target[odd + i] == (char)((i + 1) * 7 + (size_t)previous + k);
            CHECK(same && target[odd + bytes] == 0 && (odd == 0 || target[odd - 1] == 0));
            shmem_getmem(got + 3, target + odd, bytes, next);
            CHECK(memcmp(got + 3, source + 1, bytes) == 0);
            shmem_barrier_all();
        }
}

int main(void)
{
    begin();
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
#define CALL(N, T) typed_##N();
    RMA_TYPES(CALL)
    blocks_8();
    blocks_16();
    blocks_32();
    blocks_64();
    blocks_128();
    blocks_mem();
    strided_8();
    strided_16();
    strided_32();
    strided_64();
    strided_128();
    sizes();
    shmem_ctx_destroy(ctx);
    return finish("shmem-remote");
}
