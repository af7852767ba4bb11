/* The old place of shmemx.h. */
#include "../shmemx.h"
