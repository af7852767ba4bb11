/* Copies a file that the job is given to /out, one copy a rank with a link to it; then ends, or dies of a bad access once every copy is
   there, or leaves a link that leads out of /out */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* An address that the compiler does not know to be bad. */
static volatile int *volatile nowhere = (volatile int *)16;

int main(int count, char **words)
{
    static char bytes[1 << 20];
    char name[64], done[64], link[64];
    FILE *file = fopen("/in/deep/data", "rb");
    if (!file)
        return 10;
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (mkdir("/out/copies", 0755) != 0 && errno != EEXIST)
        return 11;
    snprintf(name, sizeof name, "/out/copies/of-rank-%d", getpid());
    file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        return 12;
    snprintf(link, sizeof link, "/out/copies/link-of-rank-%d", getpid());
    if (symlink(name, link) != 0)
        return 14;
    if (count > 1 && !strcmp(words[1], "escape") && getpid() == 1 && symlink("/in", "/out/escape") != 0)
        return 15;
    printf("rank %d has copied %zu bytes\n", getpid(), length);
    fflush(stdout);
    /* Each waits for the other by its file, so that nobody dies before all is written. */
    snprintf(name, sizeof name, "/tmp/done-%d", getpid());
    snprintf(done, sizeof done, "/tmp/done-%d", 3 - getpid());
    file = fopen(name, "wb");
    if (!file || fclose(file) != 0)
        return 13;
    while (access(done, F_OK) != 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (count > 1 && !strcmp(words[1], "die"))
        *nowhere = 1;
    return 0;
}
