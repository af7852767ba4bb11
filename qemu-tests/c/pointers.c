/* Every system call that takes a pointer: with memory of a peer it does what it does with one's own, and what is not mapped is EFAULT */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Commands of futex(2), for which musl has no header. */
enum { FUTEX_WAIT, FUTEX_WAKE };

/* Margay's own calls. */
enum { REPORT = 0x1002, JOB_LEAVE = 0x1004 };

#define ROOM 4096
#define RANKS_MAX 8
/* In every rank, one piece for each of its peers to play with: the same addresses everywhere, a slot apart. */
static _Alignas(4096) char scratch[RANKS_MAX][ROOM];
static _Alignas(4096) char own[ROOM];
/* Good arguments for the pointers that are not in question. */
static char other[ROOM];

static int rank, ranks, file, folder, null;

/* What the call does to the memory in question. */
enum { READS, WRITES, WRITES_THE_SAME };

struct row {
    const char *name;
    long number;
    /* The place of the pointer among the arguments. */
    int at;
    long a[6];
    /* READS: what it reads. */
    const void *content;
    size_t bytes;
    int what;
};

/* What lies under a system call: the negated error number. */
static long make(const struct row *row, uint64_t pointer)
{
    long a[6];
    memcpy(a, row->a, sizeof a);
    a[row->at] = (long)pointer;
    lseek(file, 0, SEEK_SET);
    lseek(folder, 0, SEEK_SET);
    long result = syscall(row->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result < 0)
        return -errno;
    if (row->number == SYS_open || row->number == SYS_openat || row->number == SYS_creat)
        return close((int)result);
    return result;
}

static char *seen_from_here(char *address, int peer)
{
    return (char *)((uint64_t)address | (uint64_t)(peer + 1) << 39);
}

static void fill(char *memory, const struct row *row)
{
    memset(memory, 0x55, ROOM);
    if (row->what == READS)
        memcpy(memory, row->content, row->bytes);
}

static void close_pipe(const struct row *row, const char *memory)
{
    int ends[2];
    if (row->number != SYS_pipe && row->number != SYS_pipe2)
        return;
    memcpy(ends, memory, sizeof ends);
    THAT(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void walk(const struct row *row)
{
    int peer = (rank + 1) % ranks;
    char *theirs = seen_from_here(scratch[rank], peer);
    char *mine_by_slot = seen_from_here(own, rank);
    fill(own, row);
    long expected = make(row, (uint64_t)own);
    close_pipe(row, own);
    int fine = expected != -EFAULT && expected != -ENOSYS;
    static char first[ROOM];
    memcpy(first, own, ROOM);
    char *places[] = {theirs, mine_by_slot};
    for (int index = 0; index < 2; index++) {
        fill(places[index], row);
        long result = make(row, (uint64_t)places[index]);
        close_pipe(row, places[index]);
        /* Random bytes, clocks and free memory differ from call to call, but something is there. */
        int moved = row->what == READS || memcmp(places[index], "UUUUUUUU", row->bytes < 8 ? row->bytes : 8) != 0;
        int same = row->what != WRITES_THE_SAME || memcmp(places[index], first, row->bytes) == 0;
        int agrees = row->number == SYS_times || row->number == SYS_time ? result > 0 : result == expected;
        fine = fine && moved && same && agrees;
        if (!fine)
            fprintf(stderr, "%s: place %d gives %ld, own memory %ld\n", row->name, index, result, expected);
    }
    THAT(fine);
    uint64_t bad[] = {
        16,                                       /* the first MiB */
        0x1ff000 + 4096,                          /* behind the job page */
        (uint64_t)(ranks + 1) << 39 | (uint64_t)own, /* a rank that there is not */
        (uint64_t)1 << 47,                        /* no address */
        0xffff800000000000,                       /* the kernel's */
        UINT64_MAX - 7,
        0x1ff000,                                 /* the job page, to be read only */
    };
    int count = sizeof bad / sizeof *bad - (row->what == READS);
    for (int index = 0; index < count; index++) {
        uint64_t address = row->number == SYS_futex || row->number == JOB_LEAVE ? bad[index] & ~3ul : bad[index];
        long result = make(row, address);
        if (result != -EFAULT)
            fprintf(stderr, "%s of %#lx gives %ld\n", row->name, (unsigned long)address, result);
        THAT(result == -EFAULT);
    }
}

int main(int count, char **words)
{
    rank = getpid() - 1;
    ranks = count > 1 ? atoi(words[1]) : 1;
    char name[64], missing[80], link[80], made[80];
    snprintf(name, sizeof name, "/tmp/of-rank-%d", rank);
    snprintf(missing, sizeof missing, "%s/not-there", name);
    snprintf(link, sizeof link, "%s/link", name);
    snprintf(made, sizeof made, "%s/made", name);
    THAT(mkdir(name, 0755) == 0 && symlink("anything", link) == 0);
    file = open(made, O_RDWR | O_CREAT, 0644);
    null = open("/dev/null", O_RDWR);
    folder = open(name, O_RDONLY | O_DIRECTORY);
    THAT(write(file, "0123456789abcdef", 16) == 16);
    long here = AT_FDCWD, o = (long)other, path = (long)made;
    struct iovec to_own = {other, 8};
    struct timespec at_once = {0, 0}, times[2] = {{1, 0}, {2, 0}};
    struct timeval at_once_too = {0, 0};
    struct pollfd ready = {.fd = null, .events = POLLIN};
    uint64_t offset = 4, set[1] = {1ul << null}, mask = 0;
    uint32_t word = 7;
    struct rlimit nothing = {0, 0};
    stack_t no_stack = {.ss_flags = SS_DISABLE};
    uint64_t action[4] = {(uint64_t)SIG_DFL, 0, 0, 0};
    struct flock part = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 4};
    unsigned long core;
    cpu_set_t cores;
    THAT(sched_getaffinity(0, sizeof cores, &cores) == 0);
    core = sizeof cores;
    const char *report_text = "walk key=1";
#define PATH(text) text, strlen(text) + 1, READS
#define DATA(object) &(object), sizeof(object), READS
#define INTO(bytes) NULL, bytes, WRITES_THE_SAME
#define CHANGING(bytes) NULL, bytes, WRITES
    const struct row rows[] = {
        {"read", SYS_read, 1, {file, 0, 8}, INTO(8)},
        {"write", SYS_write, 1, {file, 0, 8}, "01234567", 8, READS},
        {"write to null", SYS_write, 1, {null, 0, 8}, "01234567", 8, READS},
        {"pread64", SYS_pread64, 1, {file, 0, 8, 3}, INTO(8)},
        {"pwrite64", SYS_pwrite64, 1, {file, 0, 8, 0}, "01234567", 8, READS},
        {"readv", SYS_readv, 1, {file, 0, 1}, DATA(to_own)},
        {"writev", SYS_writev, 1, {null, 0, 1}, DATA(to_own)},
        {"preadv", SYS_preadv, 1, {file, 0, 1, 0}, DATA(to_own)},
        {"pwritev", SYS_pwritev, 1, {file, 0, 1, 100}, DATA(to_own)},
        {"open", SYS_open, 0, {0, O_RDONLY}, PATH(made)},
        {"openat", SYS_openat, 1, {here, 0, O_RDONLY}, PATH(made)},
        {"creat", SYS_creat, 0, {0, 0644}, PATH("/tmp")},
        {"stat", SYS_stat, 0, {0, o}, PATH(made)},
        {"stat into", SYS_stat, 1, {path}, INTO(144)},
        {"lstat", SYS_lstat, 0, {0, o}, PATH(link)},
        {"lstat into", SYS_lstat, 1, {path}, INTO(144)},
        {"fstat", SYS_fstat, 1, {file}, INTO(144)},
        {"newfstatat", SYS_newfstatat, 1, {here, 0, o, 0}, PATH(made)},
        {"newfstatat into", SYS_newfstatat, 2, {here, path}, INTO(144)},
        {"statx", SYS_statx, 1, {here, 0, 0, 0x7ff, o}, PATH(made)},
        {"statx into", SYS_statx, 4, {here, path, 0, 0x7ff}, INTO(256)},
        {"statfs", SYS_statfs, 0, {0, o}, PATH(made)},
        {"statfs into", SYS_statfs, 1, {path}, CHANGING(120)},
        {"fstatfs", SYS_fstatfs, 1, {file}, CHANGING(120)},
        {"access", SYS_access, 0, {0, R_OK}, PATH(made)},
        {"faccessat", SYS_faccessat, 1, {here, 0, R_OK}, PATH(made)},
        {"faccessat2", SYS_faccessat2, 1, {here, 0, R_OK, 0}, PATH(made)},
        {"readlink", SYS_readlink, 0, {0, o, 64}, PATH(link)},
        {"readlink into", SYS_readlink, 1, {(long)link, 0, 64}, INTO(8)},
        {"readlinkat", SYS_readlinkat, 1, {here, 0, o, 64}, PATH(link)},
        {"readlinkat into", SYS_readlinkat, 2, {here, (long)link, 0, 64}, INTO(8)},
        {"unlink", SYS_unlink, 0, {0}, PATH(missing)},
        {"unlinkat", SYS_unlinkat, 1, {here, 0, 0}, PATH(missing)},
        {"rmdir", SYS_rmdir, 0, {0}, PATH(missing)},
        {"mkdir", SYS_mkdir, 0, {0, 0755}, PATH(name)},
        {"mkdirat", SYS_mkdirat, 1, {here, 0, 0755}, PATH(name)},
        {"rename", SYS_rename, 0, {0, path}, PATH(missing)},
        {"rename to", SYS_rename, 1, {path}, PATH(made)},
        {"renameat", SYS_renameat, 1, {here, 0, here, path}, PATH(missing)},
        {"renameat to", SYS_renameat, 3, {here, path, here}, PATH(made)},
        {"renameat2", SYS_renameat2, 1, {here, 0, here, path, 0}, PATH(missing)},
        {"renameat2 to", SYS_renameat2, 3, {here, path, here, 0, 0}, PATH(made)},
        {"link", SYS_link, 0, {0, path}, PATH(made)},
        {"link to", SYS_link, 1, {path}, PATH(made)},
        {"linkat", SYS_linkat, 1, {here, 0, here, path, 0}, PATH(made)},
        {"linkat to", SYS_linkat, 3, {here, path, here, 0, 0}, PATH(made)},
        {"symlink", SYS_symlink, 0, {0, path}, PATH("anything")},
        {"symlink at", SYS_symlink, 1, {path}, PATH(made)},
        {"symlinkat", SYS_symlinkat, 0, {0, here, path}, PATH("anything")},
        {"symlinkat at", SYS_symlinkat, 2, {path, here}, PATH(made)},
        {"utimensat", SYS_utimensat, 1, {here, 0, 0, 0}, PATH(made)},
        {"utimensat to", SYS_utimensat, 2, {here, path, 0, 0}, DATA(times)},
        {"chown", SYS_chown, 0, {0, 0, 0}, PATH(made)},
        {"lchown", SYS_lchown, 0, {0, 0, 0}, PATH(link)},
        {"fchownat", SYS_fchownat, 1, {here, 0, 0, 0, 0}, PATH(made)},
        {"chmod", SYS_chmod, 0, {0, 0644}, PATH(made)},
        {"fchmodat", SYS_fchmodat, 1, {here, 0, 0644}, PATH(made)},
        {"truncate", SYS_truncate, 0, {0, 16}, PATH(made)},
        {"fcntl, lock", SYS_fcntl, 2, {file, F_SETLK}, DATA(part)},
        {"fcntl, lock in the way", SYS_fcntl, 2, {file, F_GETLK}, DATA(part)},
        {"getcwd", SYS_getcwd, 0, {0, 64}, INTO(2)},
        {"chdir", SYS_chdir, 0, {0}, PATH("/")},
        {"getdents64", SYS_getdents64, 1, {folder, 0, 1024}, INTO(64)},
        {"pipe", SYS_pipe, 0, {0}, INTO(8)},
        {"pipe2", SYS_pipe2, 0, {0, 0}, INTO(8)},
        {"sendfile", SYS_sendfile, 2, {null, file, 0, 4}, DATA(offset)},
        {"copy_file_range from", SYS_copy_file_range, 1, {file, 0, file, 0, 2, 0}, DATA(offset)},
        {"copy_file_range to", SYS_copy_file_range, 3, {file, 0, file, 0, 2, 0}, DATA(offset)},
        {"poll", SYS_poll, 0, {0, 1, 0}, DATA(ready)},
        {"ppoll", SYS_ppoll, 0, {0, 1, (long)&at_once, 0, 8}, DATA(ready)},
        {"ppoll for", SYS_ppoll, 2, {o, 0, 0, 0, 8}, DATA(at_once)},
        {"select", SYS_select, 1, {16, 0, 0, 0, (long)&at_once_too}, DATA(set)},
        {"select to write", SYS_select, 2, {16, 0, 0, 0, (long)&at_once_too}, DATA(set)},
        {"select for exceptions", SYS_select, 3, {16, 0, 0, 0, (long)&at_once_too}, DATA(set)},
        {"select for", SYS_select, 4, {0}, DATA(at_once_too)},
        {"pselect6", SYS_pselect6, 1, {16, 0, 0, 0, (long)&at_once, 0}, DATA(set)},
        {"pselect6 for", SYS_pselect6, 4, {0}, DATA(at_once)},
        {"clock_gettime", SYS_clock_gettime, 1, {CLOCK_MONOTONIC}, CHANGING(16)},
        {"clock_getres", SYS_clock_getres, 1, {CLOCK_MONOTONIC}, INTO(16)},
        {"gettimeofday", SYS_gettimeofday, 0, {0, 0}, CHANGING(16)},
        {"gettimeofday, zone", SYS_gettimeofday, 1, {0, 0}, INTO(8)},
        {"time", SYS_time, 0, {0}, CHANGING(8)},
        {"times", SYS_times, 0, {0}, CHANGING(32)},
        {"getrusage", SYS_getrusage, 1, {RUSAGE_SELF}, CHANGING(144)},
        {"nanosleep", SYS_nanosleep, 0, {0, 0}, DATA(at_once)},
        {"clock_nanosleep", SYS_clock_nanosleep, 2, {CLOCK_MONOTONIC, 0, 0, 0}, DATA(at_once)},
        {"futex, wait", SYS_futex, 0, {0, FUTEX_WAIT, 8, (long)&at_once}, DATA(word)},
        {"futex, wait for", SYS_futex, 3, {(long)&word, FUTEX_WAIT, 7}, DATA(at_once)},
        {"futex, wake", SYS_futex, 0, {0, FUTEX_WAKE, 1}, DATA(word)},
        {"rt_sigaction", SYS_rt_sigaction, 1, {SIGUSR1, 0, 0, 8}, DATA(action)},
        {"rt_sigaction, old", SYS_rt_sigaction, 2, {SIGUSR1, 0, 0, 8}, INTO(32)},
        {"rt_sigprocmask", SYS_rt_sigprocmask, 1, {SIG_BLOCK, 0, 0, 8}, DATA(mask)},
        {"rt_sigprocmask, old", SYS_rt_sigprocmask, 2, {SIG_BLOCK, 0, 0, 8}, INTO(8)},
        {"rt_sigpending", SYS_rt_sigpending, 0, {0, 8}, INTO(8)},
        {"sigaltstack", SYS_sigaltstack, 0, {0, 0}, DATA(no_stack)},
        {"sigaltstack, old", SYS_sigaltstack, 1, {0, 0}, INTO(24)},
        {"getrandom", SYS_getrandom, 0, {0, 32, 0}, CHANGING(32)},
        {"uname", SYS_uname, 0, {0}, INTO(390)},
        {"sysinfo", SYS_sysinfo, 0, {0}, CHANGING(112)},
        {"getrlimit", SYS_getrlimit, 1, {RLIMIT_STACK}, INTO(16)},
        {"setrlimit", SYS_setrlimit, 1, {RLIMIT_CORE}, DATA(nothing)},
        {"prlimit64", SYS_prlimit64, 2, {0, RLIMIT_CORE, 0, 0}, DATA(nothing)},
        {"prlimit64, old", SYS_prlimit64, 3, {0, RLIMIT_STACK, 0, 0}, INTO(16)},
        {"sched_getaffinity", SYS_sched_getaffinity, 2, {0, (long)core}, INTO(8)},
        {"sched_setaffinity", SYS_sched_setaffinity, 2, {0, (long)core}, DATA(cores)},
        {"sched_getparam", SYS_sched_getparam, 1, {0}, INTO(4)},
        {"getcpu", SYS_getcpu, 0, {0, 0, 0}, INTO(4)},
        {"getcpu, node", SYS_getcpu, 1, {0, 0, 0}, INTO(4)},
        {"getresuid", SYS_getresuid, 0, {0, o, o}, INTO(4)},
        {"getresuid, effective", SYS_getresuid, 1, {o, 0, o}, INTO(4)},
        {"getresgid, saved", SYS_getresgid, 2, {o, o, 0}, INTO(4)},
        {"arch_prctl", SYS_arch_prctl, 1, {0x1003}, INTO(8)},
        {"report", REPORT, 0, {0, (long)strlen(report_text)}, report_text, strlen(report_text), READS},
        {"job_leave", JOB_LEAVE, 0, {0}, DATA(word)},
    };
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++)
        walk(&rows[index]);
    /* What a vector leads to, and what it says is not there. */
    static struct iovec bad = {(void *)16, 8};
    struct iovec to_peer = {seen_from_here(scratch[rank], (rank + 1) % ranks), 8};
    FAILS(writev(null, &bad, 1), EFAULT);
    FAILS(readv(file, &bad, 1), EFAULT);
    THAT(pread(file, own, 8, 0) == 8 && lseek(file, 0, SEEK_SET) == 0 && readv(file, &to_peer, 1) == 8);
    THAT(memcmp(to_peer.iov_base, own, 8) == 0 && pwritev(file, &to_peer, 1, 50) == 8);
    THAT(pread(file, own + 8, 8, 50) == 8 && !memcmp(own, own + 8, 8));
    return report("pointers");
}
