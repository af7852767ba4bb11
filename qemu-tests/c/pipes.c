/* Pipes that a process tells itself something by, and what else lies beside plain files: statx, fallocate, links */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux's, as on a pipe. */
enum { CAPACITY = 65536, ATOMIC = 4096 };

static char *volatile nowhere = (char *)16;
static volatile int signals;

static void on_pipe(int number)
{
    signals += number == SIGPIPE;
}

static int ready(int fd, short events)
{
    struct pollfd it = {.fd = fd, .events = events};
    poll(&it, 1, 0);
    return it.revents;
}

static void there_and_back(void)
{
    int ends[2], twin;
    char text[32] = "";
    struct stat status;
    THAT(pipe(ends) == 0 && ends[0] != ends[1]);
    THAT(fstat(ends[0], &status) == 0 && S_ISFIFO(status.st_mode));
    THAT(fcntl(ends[0], F_GETFL) == O_RDONLY && fcntl(ends[1], F_GETFL) == O_WRONLY);
    THAT(ready(ends[0], POLLIN) == 0 && ready(ends[1], POLLOUT) == POLLOUT);
    THAT(write(ends[1], "hello", 5) == 5 && write(ends[1], " world", 6) == 6);
    THAT(ready(ends[0], POLLIN) == POLLIN);
    THAT(read(ends[0], text, 7) == 7 && !memcmp(text, "hello w", 7));
    THAT(read(ends[0], text, sizeof text) == 4 && !memcmp(text, "orld", 4));
    THAT(write(ends[1], text, 0) == 0 && read(ends[0], text, 0) == 0);
    FAILS(write(ends[0], "x", 1), EBADF);
    FAILS(read(ends[1], text, 1), EBADF);
    FAILS(lseek(ends[0], 0, SEEK_CUR), ESPIPE);
    FAILS(pread(ends[0], text, 1, 0), ESPIPE);
    FAILS(pwrite(ends[1], text, 1, 0), ESPIPE);
    FAILS(ftruncate(ends[1], 0), EINVAL);
    FAILS(write(ends[1], nowhere, 4), EFAULT);
    THAT(write(ends[1], "x", 1) == 1);
    FAILS(read(ends[0], nowhere, 4), EFAULT);
    THAT(read(ends[0], text, 1) == 1);
    /* Nobody but this process could end the wait. */
    FAILS(read(ends[0], text, 1), EDEADLK);
    THAT(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    FAILS(read(ends[0], text, 1), EAGAIN);
    /* The end of the stream comes with the last writer. */
    twin = dup(ends[1]);
    THAT(write(twin, "end", 3) == 3 && close(ends[1]) == 0);
    THAT(read(ends[0], text, 2) == 2);
    THAT(close(twin) == 0);
    THAT(ready(ends[0], POLLIN) == (POLLIN | POLLHUP));
    THAT(read(ends[0], text, 9) == 1 && read(ends[0], text, 9) == 0);
    THAT(ready(ends[0], POLLIN) == POLLHUP);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    THAT(select(ends[0] + 1, &set, NULL, NULL, &(struct timeval){0}) == 1 && FD_ISSET(ends[0], &set));
    THAT(close(ends[0]) == 0);
}

static void full(void)
{
    static char block[CAPACITY];
    int ends[2], wrong = 0;
    THAT(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    THAT(fcntl(ends[0], F_GETFD) == FD_CLOEXEC && fcntl(ends[1], F_GETFL) == (O_WRONLY | O_NONBLOCK));
    /* Round and round, so that it wraps at every place. */
    for (int round = 0; round < 50; round++) {
        unsigned char out[3000], in[3000];
        for (int i = 0; i < (int)sizeof out; i++)
            out[i] = (unsigned char)(round + i);
        wrong += write(ends[1], out, sizeof out) != sizeof out;
        wrong += read(ends[0], in, sizeof in) != sizeof in || memcmp(in, out, sizeof in) != 0;
    }
    THAT(wrong == 0);
    for (int i = 0; i < CAPACITY; i++)
        block[i] = (char)(i / 100);
    THAT(write(ends[1], block, CAPACITY) == CAPACITY);
    THAT(ready(ends[1], POLLOUT) == 0);
    FAILS(write(ends[1], "x", 1), EAGAIN);
    THAT(fcntl(ends[1], F_SETFL, 0) == 0);
    FAILS(write(ends[1], "x", 1), EDEADLK);
    THAT(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    THAT(read(ends[0], block, 100) == 100);
    /* What fits an atomic write goes whole or not at all; more goes as far as it fits. */
    FAILS(write(ends[1], block, ATOMIC), EAGAIN);
    THAT(write(ends[1], block, 2 * ATOMIC) == 100);
    THAT(read(ends[0], block, CAPACITY) == CAPACITY && block[0] == 1);
    THAT(close(ends[0]) == 0);
    THAT((ready(ends[1], POLLOUT) & POLLERR) == POLLERR);
    signal(SIGPIPE, on_pipe);
    FAILS(write(ends[1], "x", 1), EPIPE);
    THAT(signals == 1);
    signal(SIGPIPE, SIG_IGN);
    FAILS(write(ends[1], "x", 1), EPIPE);
    THAT(signals == 1 && close(ends[1]) == 0);
    signal(SIGPIPE, SIG_DFL);
}

static void limits(void)
{
    int ends[2], made = 0, all[256][2];
    FAILS(pipe2(ends, O_APPEND), EINVAL);
    FAILS(syscall(SYS_pipe, nowhere), EFAULT);
    while (made < 256 && pipe(all[made]) == 0)
        made++;
    THAT(made >= 16 && made < 256 && (errno == EMFILE || errno == ENFILE));
    for (int i = 0; i < made; i++)
        THAT(close(all[i][0]) == 0 && close(all[i][1]) == 0);
    THAT(pipe(ends) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void streams(void)
{
    /* stdio on both ends. */
    int ends[2];
    char line[64] = "";
    THAT(pipe(ends) == 0);
    FILE *out = fdopen(ends[1], "w"), *in = fdopen(ends[0], "r");
    THAT(out && in && fprintf(out, "%d lines\n", 7) > 0 && fclose(out) == 0);
    THAT(fgets(line, sizeof line, in) && !strcmp(line, "7 lines\n") && !fgets(line, sizeof line, in) && feof(in));
    THAT(fclose(in) == 0);
}

/* As the system has it: not every C library knows it. */
struct extended {
    unsigned mask, block_size;
    unsigned long long attributes;
    unsigned links, user, group;
    unsigned short mode, unused;
    unsigned long long number, size, blocks, attributes_mask;
    struct {
        long long seconds;
        unsigned nanoseconds;
        int unused;
    } accessed, born, changed, modified;
    unsigned rest[32];
};
_Static_assert(sizeof(struct extended) == 256, "statx writes 256 bytes");

enum { BASIC = 0x7ff, SIZE = 0x200, EMPTY_PATH = 0x1000, FORCE_SYNC = 0x2000 };

static int extended_stat(int folder, const char *path, int flags, unsigned mask, void *status)
{
    return (int)syscall(332, folder, path, flags, mask, status);
}

static void extended_status(void)
{
    char name[64];
    snprintf(name, sizeof name, "/tmp/statx-%d", getpid());
    int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
    THAT(write(file, "twelve bytes", 12) == 12);
    struct extended status;
    struct stat plain;
    memset(&status, 0xff, sizeof status);
    THAT(extended_stat(AT_FDCWD, name, 0, BASIC, &status) == 0);
    THAT(fstat(file, &plain) == 0);
    THAT((status.mask & BASIC) == BASIC && status.size == 12);
    THAT(status.mode == plain.st_mode && status.number == plain.st_ino && status.links == 1);
    THAT(status.modified.seconds == plain.st_mtime && status.blocks == (unsigned long long)plain.st_blocks);
    THAT(status.user == plain.st_uid && status.block_size == (unsigned)plain.st_blksize);
    memset(&status, 0, sizeof status);
    THAT(extended_stat(file, "", EMPTY_PATH | FORCE_SYNC, SIZE, &status) == 0 && status.size == 12);
    FAILS(extended_stat(AT_FDCWD, "/not/there", 0, SIZE, &status), ENOENT);
    FAILS(extended_stat(AT_FDCWD, name, 0x40000000, SIZE, &status), EINVAL);
    FAILS(extended_stat(AT_FDCWD, name, 0, 0x80000000u, &status), EINVAL);
    FAILS(extended_stat(AT_FDCWD, name, 0, SIZE, nowhere), EFAULT);
    /* Space for what is not written yet. */
    THAT(posix_fallocate(file, 6, 100000) == 0 && fstat(file, &plain) == 0 && plain.st_size == 100006);
    THAT(plain.st_blocks >= 100006 / 512);
    char text[16] = "";
    THAT(pread(file, text, 13, 0) == 13 && !memcmp(text, "twelve bytes", 13));
    THAT(posix_fallocate(file, 0, 10) == 0 && fstat(file, &plain) == 0 && plain.st_size == 100006);
    FAILS(fallocate(file, 0, 0, 1LL << 50), ENOSPC);
    THAT(fstat(file, &plain) == 0 && plain.st_size == 100006);
    FAILS(fallocate(file, 0, 0, 0), EINVAL);
    FAILS(fallocate(file, 0, -1, 5), EINVAL);
    FAILS(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 5), EOPNOTSUPP);
    FAILS(fallocate(99, 0, 0, 5), EBADF);
    THAT(close(file) == 0);
    file = open(name, O_RDONLY);
    FAILS(fallocate(file, 0, 0, 5), EBADF);
    THAT(close(file) == 0 && unlink(name) == 0);
}

/* A file has one owner, who is everybody, and one time. */
static void owners_times(void)
{
    struct stat status;
    int file = open("/tmp/one-name", O_RDWR | O_CREAT, 0600);
    THAT(chown("/tmp/one-name", 0, 0) == 0 && fchown(file, -1, -1) == 0);
    FAILS(chown("/tmp/one-name", 5, 0), EPERM);
    FAILS(chown("/not/there", 0, 0), ENOENT);
    FAILS(fchown(99, 0, 0), EBADF);
    THAT(fchmodat(AT_FDCWD, "/tmp/one-name", 0640, 0) == 0 && fstat(file, &status) == 0 && (status.st_mode & 0777) == 0640);
    struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 1000000000, .tv_nsec = 7}};
    THAT(futimens(file, times) == 0 && fstat(file, &status) == 0);
    THAT(status.st_mtim.tv_sec == 1000000000 && status.st_mtim.tv_nsec == 7);
    times[1].tv_nsec = UTIME_OMIT;
    THAT(utimensat(AT_FDCWD, "/tmp/one-name", times, 0) == 0 && stat("/tmp/one-name", &status) == 0);
    THAT(status.st_mtim.tv_sec == 1000000000);
    THAT(utimensat(AT_FDCWD, "/tmp/one-name", NULL, 0) == 0 && stat("/tmp/one-name", &status) == 0);
    THAT(status.st_mtim.tv_sec > 1000000000);
    times[1].tv_nsec = 1000000000;
    FAILS(futimens(file, times), EINVAL);
    FAILS(utimensat(AT_FDCWD, "/not/there", NULL, 0), ENOENT);
    THAT(posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL) == 0 && posix_fadvise(99, 0, 0, 0) == EBADF);
    THAT(close(file) == 0);
    unlink("/tmp/one-name");
}

/* What files there are, and whether there is a /tmp, is nothing to a pipe. */
static void names(void)
{
    int ends[2], file = open("/tmp/.pipe", O_CREAT | O_EXCL | O_RDWR, 0600);
    THAT(file >= 0 && pipe(ends) == 0 && !close(ends[0]) && !close(ends[1]));
    THAT(!close(file) && !unlink("/tmp/.pipe"));
    THAT(rename("/tmp", "/elsewhere") == 0);
    THAT(pipe(ends) == 0 && !close(ends[0]) && !close(ends[1]));
    THAT(rename("/elsewhere", "/tmp") == 0);
}

int main(void)
{
    there_and_back();
    names();
    full();
    limits();
    streams();
    extended_status();
    owners_times();
    return report("pipes");
}
