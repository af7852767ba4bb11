/* Arguments of the bundled programs: whole numbers, each with a least and a greatest value. */
#ifndef ARGS_H
#define ARGS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Argument number `index`, or `otherwise` if there are not so many; -1 if it is no number from `least`, which is not negative, to `most`. */
static inline long argument(int argc, char **argv, int index, long otherwise, long least, long most)
{
    char *end;
    if (index >= argc)
        return otherwise;
    errno = 0;
    long value = strtol(argv[index], &end, 10);
    return end == argv[index] || *end != 0 || errno != 0 || value < least || value > most ? -1 : value;
}

#endif
