/* PEs that exit without shmem_finalize: one by a failure or at its end while the others wait for it, all by returning from main, or all but
   one that waits for what nobody is left to do */
#include <shmem.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long flag, values[8];
static volatile long come;
static int lingers;

/* Registered before shmem_init, so it runs when the library has taken leave: a tenth of a second in which those who wait for this PE could do
   something wrong. Nothing depends on how long it is. */
static void linger(void)
{
    while (lingers && come < shmem_n_pes() - 1)
        sched_yield();
    for (clock_t start = clock(); lingers && clock() - start < CLOCKS_PER_SEC / 10;)
        ;
}

/* A collective call of all PEs but the last, which is gone, or of a team of the first and the last. */
static void meet(const char *call, shmem_team_t team)
{
    shmem_long_atomic_inc((long *)&come, shmem_n_pes() - 1);
    if (!strcmp(call, "barrier"))
        shmem_barrier_all();
    if (!strcmp(call, "reduction"))
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, values, values + 1, 1);
    if (!strcmp(call, "team"))
        shmem_team_sync(team);
    if (!strcmp(call, "finalize"))
        shmem_finalize();
}

/* A wait of the first PE that nobody ends. */
static void be_alone(const char *call)
{
    static long lock, words[2];
    static uint64_t sent;
    if (shmem_my_pe() == shmem_n_pes() - 1)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() > 0)
        exit(0);
    if (!strcmp(call, "wait"))
        shmem_long_wait_until(words, SHMEM_CMP_NE, 0);
    if (!strcmp(call, "wait-any"))
        shmem_long_wait_until_any(words, 2, NULL, SHMEM_CMP_NE, 0);
    if (!strcmp(call, "signal"))
        shmem_signal_wait_until(&sent, SHMEM_CMP_NE, 0);
    if (!strcmp(call, "lock"))
        shmem_set_lock(&lock);
    printf("PE 0 goes on\n");
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "";
    if (count > 2)
        atexit(linger);
    shmem_init();
    int me = shmem_my_pe(), all = shmem_n_pes();
    if (!strcmp(way, "alone")) {
        be_alone(words[2]);
        return 0;
    }
    if (count > 2) {
        shmem_team_t team = SHMEM_TEAM_INVALID;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, all - 1, 2, NULL, 0, &team);
        if (me == all - 1) {
            lingers = 1;
            exit(!strcmp(way, "fails"));
        }
        meet(words[2], me == 0 ? team : SHMEM_TEAM_INVALID);
        printf("PE %d goes on\n", me);
        return 0;
    }
    if (!strcmp(way, "failure")) {
        if (me == all - 1)
            exit(7);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    }
    if (!strcmp(way, "gone")) {
        /* Says nothing to anybody, not even to the C library. */
        if (me == all - 1)
            _Exit(0);
        shmem_barrier_all();
    }
    /* Some finalize, the others leave it to their exit. */
    shmem_long_p(&values[me], me + 1, (me + 1) % all);
    shmem_barrier_all();
    int from = (me + all - 1) % all;
    printf("PE %d has %ld\n", me, values[from]);
    if (me % 2 == 0)
        shmem_finalize();
    return 0;
}
