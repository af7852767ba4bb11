/* Extensions of OpenSHMEM: there are none. */
#include "shmem.h"
