/* What every program of the OpenSHMEM part of the conformance suite uses. A program calls every routine of one group, for all types of
 * the standard's table, and checks what comes of it. The tables here are written after the standard, not taken from the header, so
 * that a row that the header forgets does not compile. */
#ifndef SHMEM_CHECK_H
#define SHMEM_CHECK_H

#include <shmem.h>
#include <stdio.h>
#include <string.h>

static int me, n, next, previous;
static long checks_, failures_;

static inline void check_(int holds, const char *what, const char *file, int line)
{
    checks_++;
    if (!holds) {
        failures_++;
        printf("%s:%d: PE %d of %d: not so: %s\n", file, line, me, n, what);
        fflush(stdout);
    }
}

/* The condition holds. */
#define CHECK(condition) check_(!!(condition), #condition, __FILE__, __LINE__)

static inline void places(void)
{
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
}

static inline void begin(void)
{
    shmem_init();
    places();
}

/* Ends the program: PE 0 prints the sums, and everybody's status is 1 if any check has failed. */
static inline int finish(const char *name)
{
    static long mine[2], all[2];
    mine[0] = checks_;
    mine[1] = failures_;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, all, mine, 2);
    if (me == 0) {
        printf("%s: %d PEs, %ld checks, %ld failures\n", name, n, all[0], all[1]);
        fflush(stdout);
    }
    long failures = all[1];
    shmem_finalize();
    return failures != 0;
}

#define STANDARD_AMO_TYPES(X)                                                                                       \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long)                  \
    X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)    \
    X(size, size_t) X(ptrdiff, ptrdiff_t)
#define EXTENDED_AMO_TYPES(X) X(float, float) X(double, double) STANDARD_AMO_TYPES(X)
#define BITWISE_AMO_TYPES(X)                                                                                        \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int32, int32_t)                \
    X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define WAIT_TYPES(X) X(short, short) X(ushort, unsigned short) STANDARD_AMO_TYPES(X)
#define RMA_TYPES(X)                                                                                                \
    X(float, float) X(double, double) X(longdouble, long double) X(char, char) X(schar, signed char)                \
    X(short, short) X(int, int) X(long, long) X(longlong, long long) X(uchar, unsigned char)                        \
    X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long)        \
    X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)     \
    X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)

#endif
