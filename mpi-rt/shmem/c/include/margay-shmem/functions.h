/* Declarations of all functions. Included once for each set of names: SHMEM_NAME(x) is the name of shmem_x, SHMEM_OLD_NAME(x) that of
 * a routine x without the prefix. Sections are the standard's. */

#include "setup.h"
#include "memory.h"
#include "teams.h"
#include "remote.h"
#include "atomics.h"
#include "waits.h"
#include "collectives.h"
#include "active_sets.h"
