/* Data caches of a node's cores, by numbers of lines; see misses.c. */
#ifndef CACHES_H
#define CACHES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LINE_BITS 6
#define WAYS 16
#define SETS (2 * 1024 * 1024 / WAYS >> LINE_BITS)
#define CORES 16

/* A line by its number plus 1, in the upper bits, and whether no other core has it; 0 is no line. */
typedef uint64_t entry;
#define SOLE 1
#define ENTRY(line) (((line) + 1) << 1)

/* The last used first. */
static entry caches[CORES][SETS][WAYS];
static uint64_t misses;

/* Where a line is in a set; WAYS if it is not there. */
static unsigned find(const entry *set, uint64_t line)
{
    unsigned way = 0;
    while (way < WAYS && (set[way] | SOLE) != (ENTRY(line) | SOLE))
        way++;
    return way;
}

static void use(unsigned core, uint64_t line, bool is_store)
{
    entry *set = caches[core][line % SETS];
    unsigned way = find(set, line);
    entry own = way < WAYS ? set[way] : 0;
    if (own == 0)
        misses++;
    if (own == 0 || (is_store && !(own & SOLE))) {
        bool elsewhere = false;
        for (unsigned other = 0; other < CORES; other++) {
            entry *theirs = caches[other][line % SETS];
            unsigned at = other == core ? WAYS : find(theirs, line);
            if (at == WAYS)
                continue;
            elsewhere = true;
            theirs[at] = is_store ? 0 : ENTRY(line);
        }
        own = ENTRY(line) | (is_store || !elsewhere ? SOLE : 0);
    }
    /* A way that was emptied is used again before the last is lost. */
    if (way == WAYS)
        for (way = 0; way < WAYS - 1 && set[way] != 0; way++)
            ;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = own;
}

#endif
