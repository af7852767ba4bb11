/* The C interface of Margay's MPI. Constants, handles, MPI_Status and types are those of the standard binary interface (MPI-5.0,
   chapter 20): an object file that was compiled against any header of that interface links with this library. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The standard that is followed, and the binary interface. */
#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

/* Addresses and their differences; positions in files; whichever is larger. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
/* Fortran's default INTEGER. */
typedef int MPI_Fint;

/* What a completed operation says. The order of the fields is fixed; those that have no name here are the library's. */
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* The same in Fortran's mpi_f08. */
typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

#include "margay/handles.h"
#include "margay/constants.h"

/* Addresses with a meaning of their own. */
#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_BUFFER_AUTOMATIC ((void *)2)
#define MPI_UNWEIGHTED ((int *)10)
#define MPI_WEIGHTS_EMPTY ((int *)11)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_F_STATUS_IGNORE ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *)0)
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)0)
#define MPI_ARGV_NULL ((char **)0)
#define MPI_ARGVS_NULL ((char ***)0)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)

#include "margay/callbacks.h"
#include "margay/tool_types.h"

/* Every function has two names: a tool may define the first and call the second (MPI-5.0, section 15.2). The prototypes, and the handles and
   constants above, are made of mpi-rt/c/description when the header is installed. */
#define MARGAY_MPI(type, name, arguments) \
    type MPI_##name arguments;            \
    type PMPI_##name arguments;

#include "margay/point_to_point.h"
#include "margay/datatypes.h"
#include "margay/collectives.h"
#include "margay/communicators.h"
#include "margay/topologies.h"
#include "margay/environment.h"
#include "margay/processes.h"
#include "margay/one_sided.h"
#include "margay/files.h"
#include "margay/tools.h"
#include "margay/conversions.h"
#include "margay/removed_types.h"
#include "margay/removed.h"

#undef MARGAY_MPI
#undef MARGAY_REMOVED_MPI
#undef MARGAY_REMOVED

#ifdef __cplusplus
}
#endif

#endif
