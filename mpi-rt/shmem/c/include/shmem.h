/* OpenSHMEM 1.5 for C and C++, on Margay.
 *
 * Every routine of the standard, the deprecated ones too, is a function under its own name; none is inlined, so that a profiler can
 * take the place of any (the standard, section 10; the names that lead to the library itself are in pshmem.h). In C11 the
 * type-generic names are macros over them. */
#ifndef SHMEM_H
#define SHMEM_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#include "margay-shmem/constants.h"
#include "margay-shmem/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_NAME(name) shmem_##name
#define SHMEM_OLD_NAME(name) name
#include "margay-shmem/functions.h"
#undef SHMEM_NAME
#undef SHMEM_OLD_NAME

#ifdef __cplusplus
}
#endif

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "margay-shmem/generic.h"
#endif

#endif
