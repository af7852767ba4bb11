/* What the programs share that print figures for `cargo lwk bench`, one a line: how samples are put in order, which figures are wanted, what /proc says. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that the figures asked for begin with; none asks for all. */
static int wanted_count;
static char **wanted;

static inline int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static inline int is_wanted(const char *name)
{
    for (int i = 0; i < wanted_count; i++)
        if (!strncmp(name, wanted[i], strlen(wanted[i])))
            return 1;
    return wanted_count == 0;
}

/* The number after a name at the start of a line of a file; -1 if there is none. */
static inline long long number_in(const char *path, const char *name)
{
    FILE *file = fopen(path, "r");
    static char line[1 << 16];
    long long number = -1;
    if (!file)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            number = strtoll(line + strlen(name), NULL, 10);
    fclose(file);
    return number;
}

#endif
