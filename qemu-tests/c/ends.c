/* Ways for a program to end: abort, assert, signals by default, what is on the stack of a handler, exit with functions at exit */
#define _GNU_SOURCE
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An address that the compiler does not know to be bad. */
static volatile int *volatile nowhere = (volatile int *)16;

static void at_exit(void)
{
    printf("at exit\n");
}

static void on_abort(int number)
{
    printf("handler of signal %d\n", number);
    fflush(stdout);
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "";
    printf("about to end by %s\n", way);
    fflush(stdout);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "caught-abort")) {
        signal(SIGABRT, on_abort);
        abort();
    }
    if (!strcmp(way, "assert"))
        assert(count == 77);
    if (!strcmp(way, "term"))
        raise(SIGTERM);
    if (!strcmp(way, "blocked-fault")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        signal(SIGSEGV, on_abort);
        *nowhere = 1;
    }
    if (!strcmp(way, "ignored-fault")) {
        signal(SIGSEGV, SIG_IGN);
        *nowhere = 1;
    }
    if (!strcmp(way, "bad-return")) {
        /* No frame is there. */
        syscall(SYS_rt_sigreturn);
    }
    if (!strcmp(way, "exit")) {
        atexit(at_exit);
        printf("not flushed by hand");
        exit(3);
    }
    if (!strcmp(way, "quick"))
        _exit(4);
    return 0;
}
