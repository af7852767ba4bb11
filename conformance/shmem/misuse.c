/* Mistakes that the standard gives no code for, by argument: each ends the job with one line that names it. */
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long word;
static long array[8];

/* One element, and as many more as make a length that an address cannot tell: less its upper bits it is that of the one. */
#define MANY(bytes) (SIZE_MAX / (bytes) + 2)

static void many(const char *call)
{
    static short little[8];
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    if (strcmp(call, "put") == 0)
        shmem_long_put(array, &word, MANY(8), next);
    if (strcmp(call, "get") == 0)
        shmem_long_get(array, &word, MANY(8), next);
    if (strcmp(call, "short-put") == 0)
        shmem_short_put(little, little + 4, SIZE_MAX / 2 + 5, next);
    if (strcmp(call, "put-nbi") == 0)
        shmem_put64_nbi(array, &word, MANY(8), next);
    if (strcmp(call, "get128") == 0)
        shmem_get128(array, array + 4, MANY(16), next);
    if (strcmp(call, "iput") == 0)
        shmem_long_iput(array, &word, 1, 1, MANY(8), next);
    if (strcmp(call, "put-signal") == 0)
        shmem_long_put_signal(array, &word, MANY(8), (uint64_t *)array + 7, 1, SHMEM_SIGNAL_SET, next);
    if (strcmp(call, "broadcast") == 0)
        shmem_long_broadcast(SHMEM_TEAM_WORLD, array, &word, MANY(8), 0);
    if (strcmp(call, "broadcast64") == 0)
        shmem_broadcast64(array, &word, MANY(8), 0, 0, 0, shmem_n_pes(), array + 1);
    if (strcmp(call, "collect") == 0)
        shmem_long_collect(SHMEM_TEAM_WORLD, array, &word, MANY(8));
    if (strcmp(call, "fcollect") == 0)
        shmem_long_fcollect(SHMEM_TEAM_WORLD, array, &word, MANY(8));
    if (strcmp(call, "fcollect-of-all") == 0)
        shmem_fcollectmem(SHMEM_TEAM_WORLD, array, &word, SIZE_MAX / 2 + 1);
    if (strcmp(call, "alltoall") == 0)
        shmem_long_alltoall(SHMEM_TEAM_WORLD, array, array + 4, MANY(8));
    if (strcmp(call, "alltoalls") == 0)
        shmem_long_alltoalls(SHMEM_TEAM_WORLD, array, array + 4, 1, 1, MANY(8));
    if (strcmp(call, "reduction") == 0)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, array, &word, MANY(8));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_ctx_t ctx;
    if (strcmp(what, "early") == 0)
        shmem_barrier_all();
    shmem_init();
    int n = shmem_n_pes();
    if (argc > 2)
        many(argv[2]);
    if (strcmp(what, "local") == 0) {
        long local = 0;
        shmem_long_p(&local, 1, (shmem_my_pe() + 1) % n);
    }
    if (strcmp(what, "pe") == 0)
        shmem_long_p(&word, 1, n);
    if (strcmp(what, "negative-pe") == 0)
        shmem_getmem(array, &word, sizeof word, -1);
    if (strcmp(what, "context") == 0 && shmem_ctx_create(0, &ctx) == 0) {
        shmem_ctx_destroy(ctx);
        shmem_ctx_long_p(ctx, &word, 1, 0);
    }
    if (strcmp(what, "context-pe") == 0 && shmem_ctx_create(0, &ctx) == 0)
        shmem_ctx_long_p(ctx, &word, 1, n);
    if (strcmp(what, "team") == 0)
        shmem_team_destroy(SHMEM_TEAM_WORLD);
    if (strcmp(what, "comparison") == 0)
        shmem_long_wait_until(&word, 99, 1);
    if (strcmp(what, "signal") == 0)
        shmem_putmem_signal(array, &word, sizeof word, (uint64_t *)array, 1, 99, 0);
    if (strcmp(what, "atomic-pe") == 0)
        shmem_long_atomic_fetch_add(&word, 1, n);
    if (strcmp(what, "comparison-of-any") == 0)
        shmem_long_wait_until_any(array, 2, NULL, 99, 1);
    if (strcmp(what, "comparison-of-signals") == 0)
        shmem_signal_wait_until((uint64_t *)array, 99, 1);
    if (strcmp(what, "team-twice") == 0) {
        shmem_team_t team;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team);
        shmem_team_destroy(team);
        shmem_team_destroy(team);
    }
    if (strcmp(what, "free-twice") == 0) {
        long *object = shmem_malloc(64);
        shmem_free(object);
        shmem_free(object);
    }
    if (strcmp(what, "realloc") == 0)
        array[0] = shmem_realloc(array, 100) == NULL;
    if (strcmp(what, "allocation") == 0)
        array[0] = shmem_malloc(shmem_my_pe() == 0 ? 64 : 128) == NULL;
    if (strcmp(what, "strided-pe") == 0)
        shmem_long_iput(array, &word, 1, 1, 2, -5);
    if (strcmp(what, "free") == 0)
        shmem_free(array);
    if (strcmp(what, "lock") == 0)
        shmem_clear_lock(&word);
    if (strcmp(what, "set") == 0)
        shmem_barrier(0, 0, n + 1, array);
    if (strcmp(what, "late") == 0) {
        shmem_finalize();
        shmem_barrier_all();
    }
    return 0;
}
