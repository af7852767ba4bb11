/* What the benchmark programs share: options, the columns of OSU's benchmarks, JSON, and memory.
 *
 *   PROGRAM TEST [-m [MIN:]MAX] [-i ITERATIONS] [-x SKIPPED] [-c] [-j]
 *
 * -m: smallest and greatest message, in bytes, with k or m after it if you like; -i: measured repetitions; -x: repetitions before them;
 * -c: check the data in a pass of its own, which is not timed; -j: one JSON object a line instead of columns. Long messages
 * are repeated less often: as many times as make about the same traffic, at least an eighth of the count. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From this size on, in bytes, a message is repeated less often. */
#define LARGE 8192
/* Alignment of buffers, and distance of two of them beyond it: equal addresses in two ranks would collide in a cache. */
#define PAGE 4096

struct options {
    const char *test;
    size_t least, most;
    long iterations, skipped;
    int check, json;
};

struct test {
    const char *name;
    void (*run)(void);
    /* Unit of the results, and whether they are for each size of message. */
    const char *unit;
    int sized;
};

static struct options options = {NULL, 1, 1 << 20, 0, 0, 0, 0};
static const struct test *current;
static int speaker;

static inline size_t bytes_of(const char *text, char **end)
{
    size_t value = strtoul(text, end, 10);
    if (**end == 'k' || **end == 'K')
        value <<= 10, ++*end;
    else if (**end == 'm' || **end == 'M')
        value <<= 20, ++*end;
    return value;
}

static inline void list(const struct test *tests, size_t count, FILE *to)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s\n", tests[i].name);
}

/* Reads the command line. Gives the test; NULL with `status` if there is nothing to run. */
static inline const struct test *choose(int argc, char **argv, const struct test *tests, size_t count, int *status)
{
    const char *wrong = NULL;
    *status = 2;
    for (int i = 1; i < argc && wrong == NULL; i++) {
        char *end = "";
        if (argv[i][0] != '-' && options.test == NULL) {
            options.test = argv[i];
        } else if (strcmp(argv[i], "-c") == 0) {
            options.check = 1;
        } else if (strcmp(argv[i], "-j") == 0) {
            options.json = 1;
        } else if (i + 1 < argc && strcmp(argv[i], "-m") == 0) {
            options.most = bytes_of(argv[++i], &end);
            if (*end == ':') {
                options.least = options.most;
                options.most = bytes_of(end + 1, &end);
            }
        } else if (i + 1 < argc && strcmp(argv[i], "-i") == 0) {
            options.iterations = strtol(argv[++i], &end, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "-x") == 0) {
            options.skipped = strtol(argv[++i], &end, 10);
        } else {
            wrong = argv[i];
        }
        if (*end != '\0' || options.iterations < 0 || options.skipped < 0 || options.least > options.most || options.most > 1UL << 30)
            wrong = argv[i];
    }
    if (wrong == NULL && options.test != NULL && strcmp(options.test, "list") == 0) {
        if (speaker)
            list(tests, count, stdout);
        *status = 0;
        return NULL;
    }
    for (size_t i = 0; wrong == NULL && options.test != NULL && i < count; i++)
        if (strcmp(options.test, tests[i].name) == 0)
            return current = &tests[i];
    if (speaker) {
        if (wrong != NULL)
            fprintf(stderr, "%s: what is %s?\n", argv[0], wrong);
        fprintf(stderr, "usage: %s TEST [-m [MIN:]MAX] [-i ITERATIONS] [-x SKIPPED] [-c] [-j]; the tests are:\n", argv[0]);
        list(tests, count, stderr);
    }
    return NULL;
}

/* Measured and skipped repetitions for a size. */
static inline long iterations(size_t size)
{
    long count = options.iterations > 0 ? options.iterations : 1000;
    if (size > LARGE)
        count = count / 8 > 0 ? count / 8 : 1;
    return count;
}

static inline long skipped(size_t size)
{
    return options.skipped > 0 ? options.skipped : iterations(size) / 10 + 1;
}

/* The head of the columns. */
static inline void head(const char *what)
{
    if (!speaker || options.json)
        return;
    printf("# %s\n", what);
    if (current->sized)
        printf("# Size%*s\n", 19, current->unit);
    else
        printf("# %s\n", current->unit);
    fflush(stdout);
}

/* A result; `size` counts only where the test has sizes. */
static inline void result(size_t size, double value)
{
    if (!speaker)
        return;
    if (options.json && current->sized)
        printf("{\"test\":\"%s\",\"size\":%zu,\"value\":%.6g,\"unit\":\"%s\"}\n", current->name, size, value, current->unit);
    else if (options.json)
        printf("{\"test\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", current->name, value, current->unit);
    else if (current->sized)
        printf("%-10zu%15.3f\n", size, value);
    else
        printf("%.3f\n", value);
    fflush(stdout);
}

/* The size after `size`: powers of two. */
static inline size_t following(size_t size)
{
    return size == 0 ? 1 : 2 * size;
}

#define FOR_SIZES(size) for (size_t size = options.least; size <= options.most; size = following(size))

/* The byte that `rank` sends at place `i`. */
static inline char pattern(int rank, size_t i)
{
    return (char)(31 * rank + 7 * (int)(i % 1021) + 1);
}

static inline void fill(char *buffer, size_t size, int rank)
{
    for (size_t i = 0; i < size; i++)
        buffer[i] = pattern(rank, i);
}

static inline int filled(const char *buffer, size_t size, int rank)
{
    for (size_t i = 0; i < size; i++)
        if (buffer[i] != pattern(rank, i))
            return 0;
    return 1;
}

#endif
