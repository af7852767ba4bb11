/* A profiler takes the place of a routine at link time and calls the library's own by its other name (the standard, section 10). The
 * type-generic name leads to it as well. */
#include <pshmem.h>

#include "check.h"

static int puts_seen, barriers_seen;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

int main(void)
{
    static long target[2];
    long source[2] = {1, 2};
    static long double wide;
    begin();
    shmem_long_put(target, source, 2, next);
    shmem_put(target, source, 2, next);
    shmem_barrier_all();
    CHECK(puts_seen == 2 && barriers_seen == 1);
    CHECK(target[0] == 1 && target[1] == 2);
    pshmem_longdouble_p(&wide, 1.5L, next);
    pshmem_barrier_all();
    CHECK(pshmem_longdouble_g(&wide, next) == 1.5L && wide == 1.5L && barriers_seen == 1);
    return finish("shmem-profile");
}
