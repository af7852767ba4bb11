/* Set-up, queries, the symmetric heap, teams, contexts, order, locks (the standard, 9.1 to 9.5, 9.12, 9.13). */
#include <stdlib.h>

#include "check.h"

static int global;

static void queries(void)
{
    int major = 0, minor = 0, provided = -1;
    char name[SHMEM_MAX_NAME_LEN];
    CHECK(me >= 0 && me < n && n >= 1);
    shmem_info_get_version(&major, &minor);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    shmem_info_get_name(name);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0 && strlen(name) < SHMEM_MAX_NAME_LEN);
    shmem_query_thread(&provided);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    int again = -1;
    CHECK(shmem_init_thread(SHMEM_THREAD_FUNNELED, &again) == 0 && again == provided);
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE + 1, &again) != 0);
    shmem_init();
    shmem_pcontrol(0);
    shmem_pcontrol(1, "a tool's own argument", 2);
}

/* Parts of the job whose PEs share memory: an argument says how many, and PEs are spread over them in their order. */
static int parts = 1;

static int part_of(int pe)
{
    return ((pe + 1) * parts - 1) / n;
}

static void reach(void)
{
    int local = 0;
    int *object = shmem_malloc(sizeof *object);
    for (int pe = 0; pe < n; pe++)
        CHECK(shmem_pe_accessible(pe) && shmem_addr_accessible(&global, pe) && shmem_addr_accessible(object, pe));
    CHECK(!shmem_pe_accessible(-1) && !shmem_pe_accessible(n));
    CHECK(!shmem_addr_accessible(&global, n) && !shmem_addr_accessible(&local, next));
    CHECK(shmem_ptr(&local, next) == NULL && shmem_ptr(&global, n) == NULL && shmem_ptr(&global, -1) == NULL);
    /* Direct loads and stores of what the next PE has, if it is of this part of the job. */
    *object = -1;
    global = -1;
    shmem_barrier_all();
    int *there = shmem_ptr(&global, next);
    CHECK((there != NULL) == (part_of(next) == part_of(me)));
    if (there != NULL)
        *there = me;
    else
        shmem_int_p(&global, me, next);
    there = shmem_ptr(object, next);
    CHECK((there != NULL) == (part_of(next) == part_of(me)));
    if (there != NULL)
        *there = 100 + me;
    else
        shmem_int_p(object, 100 + me, next);
    shmem_barrier_all();
    CHECK(global == previous && *object == 100 + previous);
    shmem_free(object);
}

static void heap(void)
{
    CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
    CHECK(shmem_malloc(SIZE_MAX) == NULL && shmem_calloc(SIZE_MAX, SIZE_MAX) == NULL);
    CHECK(shmem_align(48, 100) == NULL && shmem_align(64, 0) == NULL);
    shmem_free(NULL);
    int *zero = shmem_calloc(100, sizeof *zero);
    int clear = 1;
    for (int i = 0; i < 100; i++)
        clear &= zero[i] == 0;
    CHECK(clear);
    char *page = shmem_align(4096, 10);
    CHECK(page != NULL && (uintptr_t)page % 4096 == 0);
    int *grown = shmem_realloc(NULL, 10 * sizeof *grown);
    for (int i = 0; i < 10; i++)
        grown[i] = i;
    grown = shmem_realloc(grown, 100000 * sizeof *grown);
    CHECK(grown != NULL);
    for (int i = 0; i < 10; i++)
        CHECK(grown[i] == i);
    /* Hints that nobody knows are none. */
    long *unknown = shmem_malloc_with_hints(64, 1L << 20 | SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(unknown != NULL && shmem_addr_accessible(unknown, 0));
    shmem_free(unknown);
    long *hinted = shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(hinted != NULL);
    /* The same address everywhere: a PE's own address reaches the next one's object. */
    *hinted = 0;
    shmem_barrier_all();
    shmem_long_p(hinted, me + 1, next);
    shmem_barrier_all();
    CHECK(*hinted == previous + 1);
    shmem_free(hinted);
    CHECK(shmem_realloc(grown, 0) == NULL);
    shmem_free(page);
    shmem_free(zero);
}

static void teams(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, rows, columns, part;
    shmem_team_config_t config = {.num_contexts = 3}, got = {.num_contexts = -1};
    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == n);
    int before = 0, sharing = 0;
    for (int pe = 0; pe < n; pe++) {
        sharing += part_of(pe) == part_of(me);
        before += part_of(pe) == part_of(me) && pe < me;
        CHECK((shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0) == (part_of(pe) == part_of(me)));
    }
    CHECK(shmem_team_my_pe(SHMEM_TEAM_SHARED) == before && shmem_team_n_pes(SHMEM_TEAM_SHARED) == sharing);
    CHECK(shmem_team_sync(SHMEM_TEAM_SHARED) == 0);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1);
    /* All but the first, the last of them first. */
    if (n > 1) {
        CHECK(shmem_team_split_strided(
            SHMEM_TEAM_WORLD, n - 1, -1, n - 1, &config, SHMEM_TEAM_NUM_CONTEXTS, &part) == 0);
        CHECK((part == SHMEM_TEAM_INVALID) == (me == 0));
        if (part != SHMEM_TEAM_INVALID) {
            CHECK(shmem_team_my_pe(part) == n - 1 - me && shmem_team_n_pes(part) == n - 1);
            CHECK(shmem_team_translate_pe(part, 0, SHMEM_TEAM_WORLD) == n - 1);
            CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, part) == -1);
            CHECK(shmem_team_get_config(part, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3);
            CHECK(shmem_team_sync(part) == 0);
            shmem_team_destroy(part);
        }
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &rows, NULL, 0, &columns) == 0);
    CHECK(shmem_team_my_pe(rows) == me % 2 && shmem_team_my_pe(columns) == me / 2);
    CHECK(shmem_team_n_pes(rows) == (me / 2 * 2 + 1 < n ? 2 : 1));
    shmem_team_destroy(rows);
    shmem_team_destroy(columns);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &rows, NULL, 0, &columns) != 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &got) != 0);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
    shmem_barrier_all();
}

static void contexts(void)
{
    static long word;
    shmem_ctx_t ctx = SHMEM_CTX_INVALID, nostore;
    shmem_team_t back, of = SHMEM_TEAM_INVALID;
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0 && ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
    CHECK(shmem_ctx_create(SHMEM_CTX_NOSTORE, &nostore) == 0 && nostore != ctx);
    CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == SHMEM_TEAM_WORLD);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of) == 0 && of == SHMEM_TEAM_WORLD);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &of) != 0 && of == SHMEM_TEAM_INVALID);
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_WORLD, 1L << 40, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_ctx_create(1L << 40, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    shmem_ctx_fence(nostore);
    shmem_ctx_quiet(nostore);
    shmem_ctx_destroy(nostore);
    shmem_ctx_destroy(ctx);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    /* PEs of a context count in its team: here backwards. */
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, n > 1 ? -1 : 1, n, NULL, 0, &back) == 0);
    CHECK(shmem_team_create_ctx(back, 0, &ctx) == 0);
    CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == back);
    shmem_ctx_long_p(ctx, &word, 1000 + me, n - 1 - next);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(word == 1000 + previous);
    shmem_team_destroy(back);
}

static void order(void)
{
    static long data, flag;
    for (long round = 1; round <= 100; round++) {
        shmem_long_p(&data, round * 10, next);
        shmem_fence();
        shmem_long_p(&flag, round, next);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK(data >= round * 10);
        shmem_sync_all();
    }
    shmem_quiet();
    shmem_barrier_all();
}

static void locks(void)
{
    static long lock, tried;
    static long counter;
    for (int i = 0; i < 100; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(me != 0 || counter == 100L * n);
    shmem_barrier_all();
    if (me == 0)
        CHECK(shmem_test_lock(&tried) == 0);
    shmem_barrier_all();
    if (me != 0)
        CHECK(shmem_test_lock(&tried) != 0);
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(&tried);
    shmem_barrier_all();
    if (me == n - 1) {
        CHECK(shmem_test_lock(&tried) == 0);
        shmem_clear_lock(&tried);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        parts = atoi(argv[1]);
    int provided = -1;
    if (shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0)
        return 1;
    places();
    CHECK(provided == SHMEM_THREAD_SINGLE);
    queries();
    reach();
    heap();
    teams();
    contexts();
    order();
    locks();
    return finish("shmem-setup");
}
