/* The file system: opening, reading, writing, folders, renaming, errors, as POSIX has them */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[64];

/* An address that the compiler does not know to be bad. */
static char *volatile nowhere = (char *)16;

/* A name in this rank's own folder. */
static const char *in(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

static void opening(void)
{
    FAILS(open("/not/there", O_RDONLY), ENOENT);
    FAILS(open("/dev/null/x", O_RDONLY), ENOTDIR);
    FAILS(open("", O_RDONLY), ENOENT);
    FAILS(open("/tmp", O_WRONLY), EISDIR);
    FAILS(open("/proc/self/maps", O_WRONLY), EACCES);
    FAILS(open(nowhere, O_RDONLY), EFAULT);
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[299] = 0;
    FAILS(open(name, O_RDONLY), ENAMETOOLONG);
    FAILS(openat(77, "x", O_RDONLY), EBADF);
    FAILS(open(in("x"), O_RDWR), ENOENT);
    int file = open(in("x"), O_RDWR | O_CREAT | O_EXCL, 0600);
    THAT(file >= 3);
    FAILS(open(in("x"), O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
    THAT(write(file, "hello world", 11) == 11);
    THAT(lseek(file, 6, SEEK_SET) == 6);
    char text[32] = "";
    THAT(read(file, text, sizeof text) == 5 && !memcmp(text, "world", 5));
    THAT(read(file, text, sizeof text) == 0);
    THAT(pread(file, text, 5, 0) == 5 && !memcmp(text, "hello", 5));
    THAT(lseek(file, 0, SEEK_CUR) == 11);
    THAT(lseek(file, -1, SEEK_END) == 10);
    FAILS(lseek(file, -1, SEEK_SET), EINVAL);
    FAILS(lseek(file, 0, 99), EINVAL);
    FAILS(lseek(1, 0, SEEK_CUR), ESPIPE);
    FAILS(openat(file, "x", O_RDONLY), ENOTDIR);
    struct stat status;
    THAT(fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 11);
    THAT((status.st_mode & 0777) == 0600 && status.st_nlink == 1);
    THAT(close(file) == 0);
    FAILS(close(file), EBADF);
    FAILS(write(file, "x", 1), EBADF);
    FAILS(fstat(file, &status), EBADF);

    file = open(in("x"), O_WRONLY | O_APPEND);
    FAILS(read(file, text, 1), EBADF);
    THAT(lseek(file, 0, SEEK_SET) == 0 && write(file, "!", 1) == 1);
    close(file);
    THAT(stat(in("x"), &status) == 0 && status.st_size == 12);
    file = open(in("x"), O_RDONLY);
    FAILS(write(file, "x", 1), EBADF);
    FAILS(ftruncate(file, 0), EINVAL);
    close(file);
    file = open(in("x"), O_RDWR | O_TRUNC);
    THAT(fstat(file, &status) == 0 && status.st_size == 0);
    /* A hole reads as zeros. */
    THAT(pwrite(file, "z", 1, 1000000) == 1);
    THAT(pread(file, text, 4, 500000) == 4 && !memcmp(text, "\0\0\0\0", 4));
    THAT(fstat(file, &status) == 0 && status.st_size == 1000001 && status.st_blocks < 100);
    THAT(ftruncate(file, 3) == 0 && ftruncate(file, 2000) == 0);
    THAT(pread(file, text, 8, 0) == 8 && !memcmp(text, "\0\0\0\0\0\0\0\0", 8));
    FAILS(ftruncate(file, -1), EINVAL);
    FAILS(pread(file, text, 1, -1), EINVAL);
    FAILS(read(file, nowhere, 8), EFAULT);
    FAILS(write(file, nowhere, 8), EFAULT);
    THAT(fsync(file) == 0);
    struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
    THAT(lseek(file, 0, SEEK_SET) == 0 && writev(file, parts, 2) == 5);
    char one[3], two[3];
    struct iovec into[2] = {{one, 3}, {two, 3}};
    THAT(lseek(file, 0, SEEK_SET) == 0 && readv(file, into, 2) == 6 && !memcmp(one, "abc", 3));
    THAT(ioctl(file, TIOCGWINSZ, text) == -1 && errno == ENOTTY && !isatty(1));
    close(file);
    FAILS(truncate("/tmp", 0), EISDIR);
    THAT(truncate(in("x"), 1) == 0 && stat(in("x"), &status) == 0 && status.st_size == 1);
}

static void descriptors(void)
{
    int file = open(in("d"), O_RDWR | O_CREAT, 0644);
    int same = dup(file);
    THAT(same > file && write(file, "ab", 2) == 2 && lseek(same, 0, SEEK_CUR) == 2);
    THAT(dup2(file, 100) == 100 && write(100, "c", 1) == 1 && lseek(file, 0, SEEK_CUR) == 3);
    THAT(dup2(file, file) == file);
    FAILS(dup2(77, 5), EBADF);
    FAILS(dup2(file, 100000), EBADF);
    FAILS(dup3(file, file, 0), EINVAL);
    THAT(fcntl(file, F_GETFL) == O_RDWR || fcntl(file, F_GETFL) == (O_RDWR | O_LARGEFILE));
    THAT(fcntl(file, F_SETFL, O_APPEND) == 0 && (fcntl(same, F_GETFL) & O_APPEND));
    THAT(fcntl(file, F_SETFD, FD_CLOEXEC) == 0 && fcntl(file, F_GETFD) == FD_CLOEXEC);
    THAT(fcntl(same, F_GETFD) == 0);
    int high = fcntl(file, F_DUPFD, 50);
    THAT(high == 50);
    FAILS(fcntl(file, 9999), EINVAL);
    close(high);
    close(100);
    close(same);
    close(file);
    int last = -1, count = 0;
    for (int one; (one = open("/dev/null", O_RDWR)) >= 0; count++)
        last = one;
    THAT(errno == EMFILE && count > 100);
    for (int one = last - count + 1; one <= last; one++)
        close(one);
}

static void folders(void)
{
    struct stat status;
    THAT(mkdir(in("a"), 0755) == 0);
    FAILS(mkdir(in("a"), 0755), EEXIST);
    FAILS(mkdir(in("b/c"), 0755), ENOENT);
    FAILS(mkdir("/", 0755), EEXIST);
    THAT(stat(in("a"), &status) == 0 && S_ISDIR(status.st_mode));
    THAT(close(open(in("a/f"), O_CREAT | O_WRONLY, 0644)) == 0);
    FAILS(rmdir(in("a")), ENOTEMPTY);
    FAILS(rmdir(in("a/f")), ENOTDIR);
    FAILS(unlink(in("a")), EISDIR);
    FAILS(unlink(in("a/g")), ENOENT);
    FAILS(rename(in("a"), in("a/b")), EINVAL);
    FAILS(rename(in("g"), in("h")), ENOENT);
    THAT(rename(in("a/f"), in("a/g")) == 0 && access(in("a/g"), F_OK) == 0);
    FAILS(access(in("a/f"), F_OK), ENOENT);
    FAILS(access("/proc/meminfo", W_OK), EACCES);
    THAT(close(open(in("over"), O_CREAT | O_WRONLY, 0644)) == 0);
    FAILS(rename(in("a"), in("over")), ENOTDIR);
    FAILS(rename(in("over"), in("a")), EISDIR);
    THAT(rename(in("over"), in("a/g")) == 0);
    char before[256], now[256];
    THAT(getcwd(before, sizeof before) != NULL && !strcmp(before, "/"));
    THAT(chdir(in("a")) == 0 && getcwd(now, sizeof now) != NULL && !strcmp(now, in("a")));
    THAT(access("g", F_OK) == 0 && access("../a/./g", F_OK) == 0);
    THAT(getcwd(now, 3) == NULL && errno == ERANGE);
    FAILS(chdir("g"), ENOTDIR);
    for (int index = 0; index < 50; index++) {
        char name[32];
        snprintf(name, sizeof name, "file-%d", index);
        THAT(close(open(name, O_CREAT | O_WRONLY, 0644)) == 0);
    }
    /* Removing while listing leaves nothing out. */
    DIR *list = opendir(".");
    int found = 0;
    for (struct dirent *entry; (entry = readdir(list));) {
        if (entry->d_name[0] == '.')
            continue;
        found++;
        THAT(entry->d_type == DT_REG && unlink(entry->d_name) == 0);
    }
    closedir(list);
    THAT(found == 51);
    THAT(rmdir("../a") == 0);
    FAILS(open("x", O_CREAT | O_WRONLY, 0644), ENOENT);
    THAT(getcwd(now, sizeof now) == NULL && errno == ENOENT);
    THAT(chdir("/") == 0);
    FAILS(rmdir("/"), EBUSY);
    FAILS(unlink("/proc/meminfo"), EBUSY);
    /* A file without a name lives as long as it is open. */
    int file = open(in("gone"), O_CREAT | O_RDWR, 0644);
    THAT(unlink(in("gone")) == 0 && write(file, "abc", 3) == 3 && pread(file, now, 3, 0) == 3);
    THAT(close(file) == 0);
}

static void made_up(void)
{
    char text[4096];
    int file = open("/dev/zero", O_RDONLY);
    memset(text, 1, 100);
    THAT(read(file, text, 100) == 100 && text[0] == 0 && text[99] == 0);
    close(file);
    file = open("/dev/urandom", O_RDONLY);
    THAT(read(file, text, 64) == 64);
    close(file);
    file = open("/dev/null", O_RDWR);
    THAT(write(file, "x", 1) == 1 && read(file, text, 1) == 0);
    struct stat status;
    THAT(fstat(file, &status) == 0 && S_ISCHR(status.st_mode));
    close(file);
    FILE *lines = fopen("/proc/self/maps", "r");
    int has_stack = 0, has_here = 0;
    while (lines && fgets(text, sizeof text, lines)) {
        unsigned long start, end;
        has_stack |= strstr(text, "[stack]") != NULL;
        if (sscanf(text, "%lx-%lx", &start, &end) == 2)
            has_here |= (unsigned long)text >= start && (unsigned long)text < end;
    }
    THAT(has_stack && has_here && lines && fclose(lines) == 0);
    long kib = 0, processors = 0;
    lines = fopen("/proc/meminfo", "r");
    while (lines && fgets(text, sizeof text, lines))
        sscanf(text, "MemTotal: %ld kB", &kib);
    THAT(kib > 1024 && lines && fclose(lines) == 0);
    lines = fopen("/proc/cpuinfo", "r");
    while (lines && fgets(text, sizeof text, lines))
        processors += !strncmp(text, "processor", 9);
    THAT(processors >= 1 && lines && fclose(lines) == 0);
#ifdef __GLIBC__
    /* As /sys/devices/system/cpu/online has it; musl counts what this rank may run on. */
    THAT(processors == sysconf(_SC_NPROCESSORS_ONLN));
#endif
    ssize_t length = readlink("/proc/self/exe", text, sizeof text);
    THAT(length > 1 && text[0] == '/');
    FAILS(readlink("/tmp", text, sizeof text), EINVAL);
    struct pollfd ready[2] = {{.fd = 0, .events = POLLIN}, {.fd = 77, .events = POLLIN}};
    THAT(poll(ready, 2, 0) == 2 && ready[0].revents == POLLIN && ready[1].revents == POLLNVAL);
    THAT(read(0, text, 10) == 0);
}

static void mapped(void)
{
    int file = open(in("m"), O_RDWR | O_CREAT, 0644);
    THAT(write(file, "mapped", 6) == 6);
    char *memory = mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    THAT(memory != MAP_FAILED && !memcmp(memory, "mapped\0", 7));
    memory[0] = 'M';
    char text[6];
    THAT(pread(file, text, 6, 0) == 6 && text[0] == 'm');
    THAT(munmap(memory, 6) == 0);
    THAT(mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED && errno == ENODEV);
    close(file);
}

static void buffered(void)
{
    FILE *file = fopen(in("lines"), "w+");
    THAT(file && setvbuf(file, NULL, _IOFBF, 1000) == 0);
    for (int line = 0; line < 5000; line++)
        fprintf(file, "line %d\n", line);
    rewind(file);
    char *text = NULL;
    size_t room = 0;
    int count = 0, number;
    while (getline(&text, &room, file) > 0)
        count += sscanf(text, "line %d", &number) == 1 && number == count;
    free(text);
    THAT(count == 5000 && feof(file) && !ferror(file));
    THAT(fseek(file, 0, SEEK_END) == 0 && ftell(file) == 10 * 7 + 90 * 8 + 900 * 9 + 4000 * 10);
    THAT(fclose(file) == 0);
    THAT(fopen("/not/there", "r") == NULL && errno == ENOENT);
    THAT(remove(in("lines")) == 0);
    FILE *scratch = tmpfile();
    THAT(scratch && fputs("x", scratch) >= 0 && fclose(scratch) == 0);
}

static void full(void)
{
    int file = open(in("large"), O_CREAT | O_RDWR, 0644);
    static char block[1 << 16];
    memset(block, 7, sizeof block);
    long total = 0;
    ssize_t wrote;
    while ((wrote = write(file, block, sizeof block)) > 0)
        total += wrote;
    THAT(wrote == -1 && errno == ENOSPC);
    THAT(total > 1 << 20);
    int other = open(in("other"), O_CREAT | O_RDWR, 0644);
    FAILS(other < 0 ? -1 : write(other, "x", 1), ENOSPC);
    close(other);
    /* What was written is there, and room comes back. */
    THAT(pread(file, block, 1, total - 1) == 1 && block[0] == 7);
    THAT(ftruncate(file, 0) == 0 && write(file, block, sizeof block) == sizeof block);
    THAT(close(file) == 0 && unlink(in("large")) == 0);
}

static volatile sig_atomic_t too_large;

static void count_signal(int signal)
{
    too_large += signal == SIGXFSZ;
}

/* RLIMIT_FSIZE: what goes beyond is not written, and the call that would write nothing at all raises a signal. */
static void limited(void)
{
    struct rlimit limit, before, smaller = {4000, 5000};
    struct stat status;
    static char block[3000];
    int file = open(in("limited"), O_RDWR | O_CREAT, 0600);
    THAT(getrlimit(RLIMIT_FSIZE, &before) == 0 && before.rlim_cur == RLIM_INFINITY);
    THAT(signal(SIGXFSZ, count_signal) != SIG_ERR);
    FAILS(setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 4000}), EINVAL);
    THAT(prlimit(0, RLIMIT_FSIZE, &smaller, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
    THAT(getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == 4000 && limit.rlim_max == 5000);
    THAT(write(file, block, sizeof block) == 3000 && too_large == 0);
    THAT(write(file, block, sizeof block) == 1000 && too_large == 0);
    FAILS(write(file, block, sizeof block), EFBIG);
    THAT(too_large == 1);
    THAT(write(file, block, 0) == 0 && too_large == 1);
    FAILS(pwrite(file, block, 1, 9000), EFBIG);
    FAILS(ftruncate(file, 4001), EFBIG);
    FAILS(truncate(in("limited"), 4001), EFBIG);
    THAT(too_large == 4);
    THAT(fstat(file, &status) == 0 && status.st_size == 4000);
    THAT(ftruncate(file, 10) == 0 && ftruncate(file, 4000) == 0 && too_large == 4);
    /* The soft limit goes up to the hard one. */
    THAT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 5000}) == 0);
    FAILS(fallocate(file, 0, 4000, 1001), EFBIG);
    THAT(fallocate(file, 0, 4000, 1000) == 0 && too_large == 5);
    /* Pipes have no size. */
    int ends[2];
    THAT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 5000}) == 0);
    THAT(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && close(ends[0]) == 0 && close(ends[1]) == 0 && too_large == 5);
    THAT(close(file) == 0 && unlink(in("limited")) == 0);
    THAT(signal(SIGXFSZ, SIG_DFL) == count_signal);
}

int main(int count, char **words)
{
    snprintf(folder, sizeof folder, "/tmp/rank%d", getpid());
    THAT(mkdir(folder, 0755) == 0);
    opening();
    descriptors();
    folders();
    made_up();
    mapped();
    buffered();
    if (count > 1 && !strcmp(words[1], "full"))
        full();
    /* Last: nobody may raise the hard limit again. */
    limited();
    return report("files");
}
