/* Checks of the C test programs: each that fails is one line on standard error; report() counts them. */
#ifndef CHECK_H
#define CHECK_H
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int checks_made, checks_failed;

#define THAT(condition)                                                                                   \
    do {                                                                                                  \
        checks_made++;                                                                                    \
        if (!(condition)) {                                                                               \
            checks_failed++;                                                                              \
            fprintf(stderr, "%s:%d: failed: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);     \
        }                                                                                                 \
    } while (0)

/* The call fails with this error number. */
#define FAILS(call, number)                                                                               \
    do {                                                                                                  \
        errno = 0;                                                                                        \
        THAT((call) == -1 && errno == (number));                                                          \
    } while (0)

static int report(const char *what)
{
    printf("%s: %d checks, %d failed\n", what, checks_made, checks_failed);
    return checks_failed != 0;
}
#endif
