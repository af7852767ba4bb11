/* Further names of files, symbolic links, copies inside of the system, and the file system as a whole, as POSIX and Linux have them */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sched.h>
#include <unistd.h>

/* An address that the compiler does not know to be bad. */
static char *volatile nowhere = (char *)16;

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    THAT(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Whether the file has exactly this text. */
static int has(const char *name, const char *text)
{
    char read[128] = "";
    FILE *file = fopen(name, "r");
    if (!file)
        return 0;
    size_t length = fread(read, 1, sizeof read - 1, file);
    fclose(file);
    return length == strlen(text) && !strcmp(read, text);
}

static ino_t number(const char *name)
{
    struct stat status;
    return lstat(name, &status) == 0 ? status.st_ino : 0;
}

static nlink_t names(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 ? status.st_nlink : 0;
}

static void hard(void)
{
    put("one", "content");
    THAT(mkdir("folder", 0755) == 0 && link("one", "folder/two") == 0 && link("folder/two", "three") == 0);
    THAT(names("one") == 3 && number("one") == number("folder/two") && number("one") == number("three"));
    put("folder/two", "changed");
    THAT(has("one", "changed") && has("three", "changed"));
    FAILS(link("one", "three"), EEXIST);
    FAILS(link("one", "folder"), EEXIST);
    FAILS(link("folder", "other"), EPERM);
    FAILS(link("not-there", "other"), ENOENT);
    FAILS(link("one", "not-there/other"), ENOENT);
    FAILS(link("one", "three/other"), ENOTDIR);
    FAILS(link("one", nowhere), EFAULT);
    FAILS(link(nowhere, "other"), EFAULT);
    FAILS(linkat(AT_FDCWD, "one", AT_FDCWD, "other", 0x10000), EINVAL);
    /* The first name may go first: the file is the same, and open ones stay. */
    ino_t before = number("one");
    int file = open("one", O_RDWR);
    THAT(unlink("one") == 0 && names("three") == 2 && number("three") == before && has("folder/two", "changed"));
    THAT(rename("three", "folder/two") == 0 && names("three") == 2);
    THAT(rename("three", "moved") == 0 && names("moved") == 2 && number("moved") == before);
    THAT(unlink("folder/two") == 0 && names("moved") == 1);
    struct stat status;
    THAT(unlink("moved") == 0 && fstat(file, &status) == 0 && status.st_nlink == 0);
    char text[8];
    THAT(pread(file, text, 7, 0) == 7 && !memcmp(text, "changed", 7));
    close(file);
    /* One name takes the place of another file. */
    put("a", "a");
    put("b", "b");
    THAT(link("a", "c") == 0 && rename("b", "a") == 0 && has("a", "b") && has("c", "a") && names("c") == 1);
    THAT(unlink("a") == 0 && unlink("c") == 0 && rmdir("folder") == 0);
}

static void symbolic(void)
{
    char text[64];
    struct stat status;
    THAT(mkdir("d", 0755) == 0);
    put("d/f", "file");
    THAT(symlink("d/f", "to-file") == 0 && symlink("d", "to-folder") == 0 && symlink("to-folder/f", "d/around") == 0);
    THAT(symlink("self", "self") == 0 && symlink("d/new", "open") == 0);
    THAT(has("to-file", "file") && has("to-folder/f", "file"));
    THAT(readlink("to-file", text, sizeof text) == 3 && !memcmp(text, "d/f", 3));
    THAT(readlink("to-file", text, 2) == 2);
    FAILS(readlink("d", text, sizeof text), EINVAL);
    FAILS(readlink("to-file", nowhere, 8), EFAULT);
    THAT(lstat("to-file", &status) == 0 && S_ISLNK(status.st_mode) && status.st_size == 3);
    THAT(stat("to-file", &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == number("d/f"));
    THAT(lstat("to-folder/", &status) == 0 && S_ISDIR(status.st_mode));
    FAILS(stat("to-file/", &status), ENOTDIR);
    FAILS(stat("open", &status), ENOENT);
    FAILS(stat("self", &status), ELOOP);
    FAILS(open("self/x", O_RDONLY), ELOOP);
    FAILS(open("d/around", O_RDONLY), ENOENT);
    FAILS(open("to-file", O_RDONLY | O_NOFOLLOW), ELOOP);
    FAILS(open("to-folder", O_RDONLY | O_NOFOLLOW | O_DIRECTORY), ENOTDIR);
    FAILS(open("open", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
    FAILS(mkdir("open", 0755), EEXIST);
    FAILS(symlink("x", "open"), EEXIST);
    FAILS(symlink("", "other"), ENOENT);
    FAILS(symlink("x", "not-there/other"), ENOENT);
    FAILS(symlink(nowhere, "other"), EFAULT);
    FAILS(symlink("x", nowhere), EFAULT);
    FAILS(symlink("x", "/"), EEXIST);
    char longest[4200];
    memset(longest, 'x', sizeof longest - 1);
    longest[4199] = 0;
    FAILS(symlink(longest, "other"), ENAMETOOLONG);
    /* A file is made where a link leads. */
    put("open", "made");
    THAT(has("d/new", "made") && lstat("open", &status) == 0 && S_ISLNK(status.st_mode));
    THAT(truncate("open", 2) == 0 && has("d/new", "ma") && access("open", R_OK) == 0 && chmod("open", 0600) == 0);
    THAT(stat("d/new", &status) == 0 && (status.st_mode & 0777) == 0600);
    /* Removing and moving a link is about the link. */
    THAT(rename("open", "moved") == 0 && unlink("moved") == 0 && has("d/new", "ma"));
    FAILS(rmdir("to-folder"), ENOTDIR);
    FAILS(access("moved", F_OK), ENOENT);
    /* `..` behind a link is the folder above where it leads. */
    THAT(mkdir("d/deep", 0755) == 0 && symlink("d/deep", "down") == 0 && has("down/../f", "file"));
    THAT(chdir("down") == 0 && getcwd(text, sizeof text) != NULL && strstr(text, "/d/deep") && chdir("../..") == 0);
    /* A link may have names of its own, and be named by what it leads to. */
    THAT(link("to-file", "same-link") == 0 && lstat("same-link", &status) == 0 && S_ISLNK(status.st_mode));
    THAT(status.st_nlink == 2 && status.st_ino == number("to-file"));
    THAT(linkat(AT_FDCWD, "to-file", AT_FDCWD, "same-file", AT_SYMLINK_FOLLOW) == 0 && names("d/f") == 2);
    THAT(number("same-file") == number("d/f") && unlink("same-file") == 0 && unlink("same-link") == 0);
    struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 7}};
    THAT(utimensat(AT_FDCWD, "to-file", times, AT_SYMLINK_NOFOLLOW) == 0 && lstat("to-file", &status) == 0);
    THAT(status.st_mtim.tv_sec == 7 && stat("to-file", &status) == 0 && status.st_mtim.tv_sec != 7);
    THAT(lchown("self", 0, 0) == 0);
    FAILS(chown("self", 0, 0), ELOOP);
    /* Forty links on the way are as many as may be. */
    char old[32] = "d/f", name[32];
    for (int count = 1; count <= 41; count++) {
        snprintf(name, sizeof name, "chain-%d", count);
        THAT(symlink(old, name) == 0);
        strcpy(old, name);
    }
    THAT(has("chain-40", "file"));
    FAILS(open("chain-41", O_RDONLY), ELOOP);
    int links = 0, folders = 0;
    DIR *list = opendir(".");
    for (struct dirent *entry; list && (entry = readdir(list));) {
        links += entry->d_type == DT_LNK;
        folders += entry->d_type == DT_DIR;
        if (entry->d_type == DT_LNK)
            THAT(unlink(entry->d_name) == 0);
    }
    THAT(list && closedir(list) == 0 && links == 41 + 4 && folders == 3);
    THAT(unlink("d/around") == 0 && unlink("d/new") == 0 && unlink("d/f") == 0 && rmdir("d/deep") == 0 && rmdir("d") == 0);
}

/* From file to file without a buffer of the program's. */
static void copies(void)
{
    static char block[100000];
    for (size_t index = 0; index < sizeof block; index++)
        block[index] = (char)(index * 7 + index / 1000);
    int from = open("from", O_RDWR | O_CREAT, 0644), to = open("to", O_RDWR | O_CREAT, 0644);
    THAT(write(from, block, sizeof block) == sizeof block && lseek(from, 0, SEEK_SET) == 0);
    static char copy[sizeof block];
    off_t offset = 1000;
    THAT(sendfile(to, from, NULL, 5000) == 5000 && lseek(from, 0, SEEK_CUR) == 5000 && lseek(to, 0, SEEK_CUR) == 5000);
    THAT(sendfile(to, from, &offset, 1 << 20) == 99000 && offset == 100000 && lseek(from, 0, SEEK_CUR) == 5000);
    THAT(pread(to, copy, 5000, 0) == 5000 && !memcmp(copy, block, 5000));
    THAT(pread(to, copy, sizeof copy, 5000) == 99000 && !memcmp(copy, block + 1000, 99000));
    THAT(sendfile(to, from, &offset, 10) == 0);
    off_t read = 10, wrote = 200000;
    THAT(copy_file_range(from, &read, to, &wrote, 3000, 0) == 3000 && read == 3010 && wrote == 203000);
    THAT(pread(to, copy, 3000, 200000) == 3000 && !memcmp(copy, block + 10, 3000));
    THAT(lseek(from, 0, SEEK_SET) == 0 && lseek(to, 0, SEEK_SET) == 0);
    THAT(copy_file_range(from, NULL, to, NULL, 1 << 20, 0) == sizeof block && lseek(to, 0, SEEK_CUR) == sizeof block);
    THAT(pread(to, copy, sizeof copy, 0) == sizeof copy && !memcmp(copy, block, sizeof block));
    read = 0, wrote = 2000;
    THAT(copy_file_range(from, &read, from, &wrote, 2000, 0) == 2000);
    THAT(pread(from, copy, 2000, 2000) == 2000 && !memcmp(copy, block, 2000));
    read = 0, wrote = 1000;
    FAILS(copy_file_range(from, &read, from, &wrote, 2000, 0), EINVAL);
    FAILS(copy_file_range(from, NULL, to, NULL, 10, 1), EINVAL);
    int null = open("/dev/null", O_WRONLY);
    FAILS(copy_file_range(from, NULL, null, NULL, 10, 0), EINVAL);
    FAILS(copy_file_range(99, NULL, to, NULL, 10, 0), EBADF);
    FAILS(sendfile(99, from, NULL, 10), EBADF);
    FAILS(sendfile(to, 0, NULL, 10), EINVAL);
    FAILS(sendfile(to, from, (off_t *)nowhere, 10), EFAULT);
    int end = open("to", O_WRONLY | O_APPEND), reader = open("to", O_RDONLY);
    FAILS(copy_file_range(from, NULL, end, NULL, 10, 0), EBADF);
    FAILS(copy_file_range(from, NULL, reader, NULL, 10, 0), EBADF);
    FAILS(copy_file_range(end, NULL, to, NULL, 10, 0), EBADF);
    FAILS(sendfile(reader, from, NULL, 10), EBADF);
    int ends[2];
    THAT(pipe(ends) == 0);
    offset = 0;
    THAT(sendfile(ends[1], from, &offset, 100) == 100 && offset == 100);
    char sent[100];
    FILE *stream = fdopen(dup(ends[0]), "r");
    THAT(stream && setvbuf(stream, NULL, _IONBF, 0) == 0 && fread(sent, 1, 100, stream) == 100 && fclose(stream) == 0);
    THAT(pread(from, copy, 100, 0) == 100 && !memcmp(sent, copy, 100));
    THAT(lseek(from, 0, SEEK_SET) == 0 && sendfile(null, from, NULL, 100) == 100);
    FILE *words = fopen("words", "w");
    THAT(words && fputs("sent to the console\n", words) >= 0 && fclose(words) == 0);
    int line = open("words", O_RDONLY);
    THAT(sendfile(1, line, NULL, 100) == 20);
    THAT(close(line) == 0 && close(null) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
    close(end), close(reader), close(to), close(from);
    THAT(unlink("from") == 0 && unlink("to") == 0 && unlink("words") == 0);
}

static void volume(void)
{
    struct statfs before, now, open_now;
    struct statvfs posix;
    THAT(statfs(".", &before) == 0 && before.f_bsize > 0 && before.f_namelen == 255 && before.f_blocks >= before.f_bfree);
    static char block[1 << 16];
    int file = open("some", O_RDWR | O_CREAT, 0644);
    THAT(write(file, block, sizeof block) == sizeof block && fstatfs(file, &open_now) == 0);
    THAT(statfs("some", &now) == 0 && now.f_type == before.f_type && now.f_blocks == before.f_blocks);
    THAT(open_now.f_bfree <= before.f_bfree - sizeof block / before.f_bsize);
    THAT(statvfs("some", &posix) == 0 && posix.f_frsize == (unsigned long)before.f_bsize && posix.f_namemax == 255);
    THAT(close(file) == 0 && unlink("some") == 0 && statfs(".", &now) == 0 && now.f_bfree > open_now.f_bfree);
    FAILS(statfs("not-there", &now), ENOENT);
    FAILS(fstatfs(99, &now), EBADF);
    sync();
    file = open(".", O_RDONLY | O_DIRECTORY);
    THAT(syncfs(file) == 0 && close(file) == 0);
    FAILS(syncfs(99), EBADF);
}

/* What programs ask about themselves. */
static void surroundings(void)
{
    uid_t ids[3] = {9, 9, 9};
    THAT(getresuid(&ids[0], &ids[1], &ids[2]) == 0 && ids[0] == getuid() && ids[1] == geteuid() && ids[2] == ids[1]);
    THAT(setuid(getuid()) == 0 && setgid(getgid()) == 0 && setresuid(-1, geteuid(), -1) == 0);
    THAT(getgroups(0, NULL) >= 0 && getpgid(0) > 0 && getsid(0) > 0);
    FAILS(getpgid(1000000), ESRCH);
    errno = 0;
    THAT(getpriority(PRIO_PROCESS, 0) <= 20 && errno == 0);
    long minimum = sched_get_priority_min(SCHED_FIFO), maximum = sched_get_priority_max(SCHED_FIFO);
    THAT(minimum == 1 && maximum == 99 && sched_get_priority_max(SCHED_OTHER) == 0);
    FAILS(sched_get_priority_max(77), EINVAL);
    static char memory[8192];
    THAT(mlock(memory, sizeof memory) == 0 && munlock(memory, sizeof memory) == 0);
    FAILS(mlock((void *)(1ul << 46), 100), ENOMEM);
    FAILS(mlockall(64), EINVAL);
}

int main(void)
{
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/links-of-%d", getpid());
    /* The file system is all ranks': what is free in it can be told only while nobody else writes. */
    int writing = open("/tmp/links-writing", O_RDWR | O_CREAT, 0644);
    THAT(flock(writing, LOCK_SH) == 0);
    THAT(mkdir(folder, 0755) == 0 && chdir(folder) == 0);
    hard();
    symbolic();
    copies();
    THAT(flock(writing, LOCK_UN) == 0 && flock(writing, LOCK_EX) == 0);
    volume();
    THAT(chdir("/") == 0 && rmdir(folder) == 0 && close(writing) == 0);
    surroundings();
    return report("links");
}
