/* The first program of the Linux guest: says when it got the processor, mounts what programs need, runs the script /job, and switches off.
 *
 * Before that it waits for the serial line: what is still on its way when the machine is off is lost, on a busy host half a page.
 *
 * The kernel's own clock starts when it finds the time-stamp counter, after the image has been unpacked: the figure is in
 * Linux's favour. It is read before anything else is done, and printed when there is a console. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mkdir("/tmp", 01777);
    mkdir("/dev", 0755);
    if (mount("proc", "/proc", "proc", 0, "") || mount("sysfs", "/sys", "sysfs", 0, "")
        || mount("devtmpfs", "/dev", "devtmpfs", 0, "")) {
        perror("mount");
        return 1;
    }
    mkdir("/dev/shm", 01777);
    mkdir("/dev/pts", 0755);
    if (mount("tmpfs", "/dev/shm", "tmpfs", 0, "") || mount("devpts", "/dev/pts", "devpts", 0, "")) {
        perror("mount");
        return 1;
    }
    for (int file = 0; file < 3; file++) {
        close(file);
        if (open("/dev/ttyS0", O_RDWR) != file)
            return 1;
    }
    printf("\n@entry_us %lld\n", now.tv_sec * 1000000LL + now.tv_nsec / 1000);
    fflush(stdout);
    char *words[] = {"/bin/sh", "/job", NULL};
    char *environment[] = {"PATH=/bin:/usr/bin", "HOME=/tmp", "TMPDIR=/tmp", NULL};
    pid_t job = fork();
    if (job == 0) {
        execve(words[0], words, environment);
        perror("execve /bin/sh");
        _exit(1);
    }
    if (job < 0) {
        perror("fork");
        return 1;
    }
    /* The first program inherits whatever loses its parent. */
    while (wait(NULL) != job)
        ;
    tcdrain(1);
    reboot(RB_POWER_OFF);
    perror("reboot");
    return 1;
}
