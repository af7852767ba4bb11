/* The old place of shmem.h. */
#include "../shmem.h"
