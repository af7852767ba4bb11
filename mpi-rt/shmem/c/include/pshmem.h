/* The profiling names of OpenSHMEM (the standard, section 10): every routine of shmem.h with a `p` in front. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_NAME(name) pshmem_##name
#define SHMEM_OLD_NAME(name) p##name
#include "margay-shmem/functions.h"
#undef SHMEM_NAME
#undef SHMEM_OLD_NAME

#ifdef __cplusplus
}
#endif

#endif
