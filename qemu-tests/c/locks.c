/* Locks on files: ranks that count in one file, one after the other, and what one rank alone can see of locks */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static char *volatile nowhere = (char *)16;

static int lock(int file, int command, int type, long start, long length)
{
    struct flock it = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(file, command, &it);
}

/* Adds one to the number in a file, which nobody else may do meanwhile; the number it has become. */
static long add(int file)
{
    long number = 0;
    THAT(pread(file, &number, sizeof number, 0) >= 0);
    number++;
    THAT(pwrite(file, &number, sizeof number, 0) == sizeof number);
    return number;
}

static void count_together(int ranks)
{
    int parts = open("/tmp/parts", O_RDWR | O_CREAT, 0644), whole = open("/tmp/whole", O_RDWR | O_CREAT, 0644);
    for (int round = 0; round < ROUNDS; round++) {
        THAT(lock(parts, F_SETLKW, F_WRLCK, 0, 8) == 0);
        add(parts);
        THAT(lock(parts, F_SETLK, F_UNLCK, 0, 8) == 0);
        THAT(flock(whole, LOCK_EX) == 0);
        add(whole);
        THAT(flock(whole, LOCK_UN) == 0);
    }
    int ended = open("/tmp/ended", O_RDWR | O_CREAT, 0644);
    THAT(flock(ended, LOCK_EX) == 0);
    long number = 0;
    if (add(ended) == ranks) {
        THAT(pread(parts, &number, sizeof number, 0) == sizeof number && number == (long)ranks * ROUNDS);
        THAT(pread(whole, &number, sizeof number, 0) == sizeof number && number == (long)ranks * ROUNDS);
        printf("%ld turns\n", number);
    }
    /* The lock goes with the description. */
    THAT(close(ended) == 0 && close(parts) == 0 && close(whole) == 0);
}

static void alone(void)
{
    char name[64];
    snprintf(name, sizeof name, "/tmp/locks-of-%d", getpid());
    int one = open(name, O_RDWR | O_CREAT, 0644), two = open(name, O_RDWR), reader = open(name, O_RDONLY);
    THAT(flock(one, LOCK_SH) == 0 && flock(two, LOCK_SH) == 0);
    FAILS(flock(one, LOCK_EX | LOCK_NB), EAGAIN);
    THAT(flock(two, LOCK_UN) == 0 && flock(one, LOCK_EX) == 0);
    FAILS(flock(two, LOCK_SH | LOCK_NB), EAGAIN);
    int same = dup(one);
    THAT(close(one) == 0);
    FAILS(flock(two, LOCK_SH | LOCK_NB), EAGAIN);
    THAT(close(same) == 0 && flock(two, LOCK_EX | LOCK_NB) == 0 && flock(two, LOCK_UN) == 0);
    FAILS(flock(99, LOCK_EX), EBADF);
    FAILS(flock(two, 77), EINVAL);
    /* One's own locks of parts are never in the way. */
    THAT(lock(two, F_SETLK, F_WRLCK, 0, 0) == 0 && lock(two, F_SETLK, F_UNLCK, 10, 5) == 0);
    THAT(lock(two, F_SETLK, F_RDLCK, 12, 1) == 0 && lock(two, F_SETLK, F_RDLCK, -1 + 5, 3) == 0);
    struct flock it = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    THAT(fcntl(two, F_GETLK, &it) == 0 && it.l_type == F_UNLCK);
    FAILS(lock(reader, F_SETLK, F_WRLCK, 0, 1), EBADF);
    FAILS(lock(two, F_SETLK, 9, 0, 1), EINVAL);
    FAILS(lock(two, F_SETLK, F_RDLCK, -5, 1), EINVAL);
    FAILS(lock(two, F_SETLK, F_RDLCK, 5, -6), EINVAL);
    FAILS(fcntl(two, F_SETLK, nowhere), EFAULT);
    FAILS(fcntl(99, F_SETLK, &it), EBADF);
    THAT(close(two) == 0 && close(reader) == 0 && unlink(name) == 0);
}

int main(int count, char **words)
{
    alone();
    if (count > 1)
        count_together(atoi(words[1]));
    return report("locks");
}
