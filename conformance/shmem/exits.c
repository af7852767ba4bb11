/* Ways to end, by argument: `main` returns without shmem_finalize in all PEs but the first, whose shmem_finalize waits for them, after
 * which their puts have arrived; the others are shmem_global_exit by one PE, which writes out what is buffered, while the others wait for
 * ever (`zero`, `three`) or never look (`zero-while-others-compute`). */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long word;

static void tell(void)
{
    if (shmem_my_pe() == 0)
        printf("PE 0 ends with %ld\n", word);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    /* Registered before set-up, so it runs after what the exit does for shmem_finalize. */
    if (strcmp(how, "main") == 0 && atexit(tell) != 0)
        return 1;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (strcmp(how, "main") == 0) {
        shmem_long_p(&word, 7, (me + 1) % n);
        if (me == 0)
            shmem_finalize();
        return 0;
    }
    int waits = strcmp(how, "zero") == 0 || strcmp(how, "three") == 0;
    if (!waits && strcmp(how, "zero-while-others-compute") != 0)
        return 1;
    if (me == n - 1) {
        printf("buffered");
        shmem_global_exit(strcmp(how, "three") == 0 ? 3 : 0);
    }
    if (waits)
        shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
    for (volatile long passed = 0;;)
        passed++;
}
