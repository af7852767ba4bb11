/* Mistakes that the standard gives no code for, by argument: each ends the job with one line that names it. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static long word;
static long array[8];

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_ctx_t ctx;
    if (strcmp(what, "early") == 0)
        shmem_barrier_all();
    shmem_init();
    int n = shmem_n_pes();
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
