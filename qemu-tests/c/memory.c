/* Memory: malloc and its kin inside the segment, mmap, mremap, mprotect, limits; a peer's memory in system calls */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Operations of futex(2): musl has no header for them. */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

/* Where a rank (from 0) has what is at this address here. */
static void *of_rank(void *here, int rank)
{
    return (void *)((uintptr_t)here | ((uintptr_t)rank + 1) << 39);
}

static int compare(const void *one, const void *other)
{
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

static void heap(void)
{
    char *large = malloc(4 << 20), *small = malloc(100), *zeros = calloc(1000, 1000);
    THAT(large && small && zeros);
    /* All of it is where peers can reach it: in slot 0. */
    THAT((uintptr_t)large < (uintptr_t)1 << 39 && (uintptr_t)small < (uintptr_t)1 << 39);
    int clear = 1;
    for (int index = 0; index < 1000000; index++)
        clear &= zeros[index] == 0;
    THAT(clear);
    memset(large, 5, 4 << 20);
    char *longer = realloc(large, 6 << 20);
    THAT(longer && longer[(4 << 20) - 1] == 5);
    large = realloc(longer, 1 << 20);
    THAT(large && large[(1 << 20) - 1] == 5);
    errno = 0;
    THAT(malloc((size_t)1 << 36) == NULL && errno == ENOMEM);
    THAT(malloc((size_t)PTRDIFF_MAX) == NULL);
    free(large);
    free(small);
    free(zeros);
    int all = 0;
    while (malloc(1 << 20))
        all++;
    THAT(all > 5 && all < 64 && errno == ENOMEM);
    static int numbers[10000];
    for (int index = 0; index < 10000; index++)
        numbers[index] = (index * 7919) % 10007;
    qsort(numbers, 10000, sizeof *numbers, compare);
    int sorted = 1;
    for (int index = 1; index < 10000; index++)
        sorted &= numbers[index - 1] <= numbers[index];
    THAT(sorted);
}

static void maps(void)
{
    char *area = mmap(NULL, 8 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    THAT(area != MAP_FAILED && area[0] == 0);
    memset(area, 3, 8 << 12);
    char *longer = mremap(area, 8 << 12, 40 << 12, MREMAP_MAYMOVE);
    THAT(longer != MAP_FAILED && longer[(8 << 12) - 1] == 3 && longer[8 << 12] == 0);
    char *shorter = mremap(longer, 40 << 12, 2 << 12, 0);
    THAT(shorter == longer && shorter[0] == 3);
    THAT(mremap(shorter, 2 << 12, (size_t)1 << 40, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOMEM);
    THAT(mremap(shorter + 1, 1 << 12, 1 << 12, 0) == MAP_FAILED && errno == EINVAL);
    THAT(mremap((void *)maps, 1 << 12, 2 << 12, 0) == MAP_FAILED);
    THAT(mprotect(shorter, 2 << 12, PROT_READ) == 0);
    THAT(mprotect(shorter, 2 << 12, PROT_READ | PROT_WRITE) == 0 && (shorter[0] = 9) == 9);
    FAILS(mprotect(shorter, 1 << 12, PROT_READ | PROT_EXEC), EACCES);
    void *code = (void *)((uintptr_t)maps & ~(uintptr_t)4095);
    FAILS(mprotect(code, 1 << 12, PROT_READ | PROT_WRITE), EACCES);
    THAT(mprotect(code, 1 << 12, PROT_READ | PROT_EXEC) == 0);
    /* By its number: musl rounds the address. */
    FAILS(syscall(SYS_mprotect, shorter + 1, 1 << 12, PROT_READ), EINVAL);
    FAILS(mprotect((void *)0x1000, 1 << 12, PROT_READ), ENOMEM);
    THAT(madvise(shorter, 2 << 12, MADV_DONTNEED) == 0 && shorter[0] == 0);
    THAT(madvise(shorter, 2 << 12, MADV_HUGEPAGE) == 0);
    FAILS(madvise(shorter, 1 << 12, 9999), EINVAL);
    THAT(mmap(NULL, 1 << 12, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EACCES);
    THAT(munmap(shorter, 2 << 12) == 0);
}

static void clocks(void)
{
    struct timespec one, two, resolution;
    THAT(clock_gettime(CLOCK_MONOTONIC, &one) == 0 && nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL) == 0);
    THAT(clock_gettime(CLOCK_MONOTONIC, &two) == 0);
    long elapsed = (two.tv_sec - one.tv_sec) * 1000000000L + two.tv_nsec - one.tv_nsec;
    THAT(elapsed >= 3000000 && elapsed < 300000000000L);
    FAILS(nanosleep(&(struct timespec){.tv_nsec = 1000000000}, NULL), EINVAL);
    two.tv_nsec = 0;
    THAT(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &two, NULL) == 0);
    THAT(clock_getres(CLOCK_REALTIME, &resolution) == 0 && resolution.tv_nsec >= 1);
    struct timeval day;
    THAT(gettimeofday(&day, NULL) == 0 && labs(day.tv_sec - time(NULL)) <= 60 && day.tv_sec > 1600000000);
    struct tm broken;
    char text[64];
    time_t noon = 951782400 + 12 * 3600;
    THAT(strftime(text, sizeof text, "%Y-%m-%d %H:%M", gmtime_r(&noon, &broken)) && !strcmp(text, "2000-02-29 12:00"));
    struct tms used;
    struct rusage usage;
    THAT(times(&used) != (clock_t)-1 && getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 0);
    FAILS(getrusage(77, &usage), EINVAL);
}

static void system_facts(void)
{
    struct rlimit limit;
    struct utsname names;
    struct sysinfo info;
    cpu_set_t cores;
    THAT(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= 1 << 16 && limit.rlim_cur < 1 << 30);
    THAT(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 256);
    THAT(uname(&names) == 0 && !strcmp(names.sysname, "Margay"));
    THAT(sysinfo(&info) == 0 && info.totalram > 1 << 20 && info.mem_unit >= 1);
    THAT(sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) == 1);
    THAT(CPU_ISSET(sched_getcpu(), &cores));
    THAT(getuid() == 0 && geteuid() == 0 && getgid() == 0 && getegid() == 0 && getpid() > 0);
    THAT(getenv("MARGAY_TEST") && !strcmp(getenv("MARGAY_TEST"), "yes"));
    FAILS(fork(), ENOSYS);
    int word = 5;
    FAILS(syscall(SYS_futex, &word, FUTEX_WAIT, 6, NULL, NULL, 0), EAGAIN);
    FAILS(syscall(SYS_futex, &word, FUTEX_WAIT, 5, NULL, NULL, 0), EDEADLK);
    FAILS(syscall(SYS_futex, &word, FUTEX_WAIT, 5, &(struct timespec){.tv_nsec = 1000000}, NULL, 0), ETIMEDOUT);
    FAILS(syscall(SYS_futex, (char *)&word + 1, FUTEX_WAIT, 5, NULL, NULL, 0), EINVAL);
    THAT(syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);
}

static char constant_text[] = "written from a peer's memory";
static char inboxes[8][4096];

/* A peer's memory is as good as one's own: to write from, to read into, and as a path. */
static void peers(int ranks)
{
    int me = getpid() - 1, right = (me + 1) % ranks;
    char path[64], text[64];
    snprintf(path, sizeof path, "/tmp/from-%d", me);
    int file = open(path, O_RDWR | O_CREAT, 0644);
    THAT(write(file, of_rank(constant_text, right), sizeof constant_text) == sizeof constant_text);
    THAT(pread(file, text, sizeof text, 0) == sizeof constant_text && !strcmp(text, constant_text));
    char *theirs = of_rank(inboxes[me], right);
    THAT(pread(file, theirs, sizeof constant_text, 0) == sizeof constant_text && !strcmp(theirs, constant_text));
    struct timespec *time_there = of_rank(inboxes[me] + 64, right);
    THAT(clock_gettime(CLOCK_REALTIME, time_there) == 0 && time_there->tv_sec > 1600000000);
    strcpy(theirs + 128, path);
    THAT(access(theirs + 128, F_OK) == 0);
    FAILS(write(file, of_rank(constant_text, ranks), 1), EFAULT);
    FAILS(pread(file, of_rank((void *)((uintptr_t)peers & ~(uintptr_t)7), right), 8, 0), EFAULT);
    close(file);
}

int main(int count, char **words)
{
    int ranks = count > 1 ? atoi(words[1]) : 1;
    maps();
    clocks();
    system_facts();
    peers(ranks);
    heap();
    return report("memory");
}
