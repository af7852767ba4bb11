/* What the programs share that print figures for `cargo lwk bench`, one a line: how samples are put in order, and which figures are wanted. */
#ifndef FIGURES_H
#define FIGURES_H

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

#endif
