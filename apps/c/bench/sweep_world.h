/* What the operations of sweep.c share: who this rank is, its buffers, and what an operation is. */
#ifndef SWEEP_WORLD_H
#define SWEEP_WORLD_H

#include "sweep_times.h"

#include <mpi.h>

enum { WINDOW = 64 };

static int rank, ranks;
/* On pages of their own; the odd ones begin ODD bytes into other ones. */
enum { ODD = 3 };
static char *out, *in, *odd_out, *odd_in;
/* Parts of the v- and w-forms. */
static int *counts, *places, *places_in_bytes;
static MPI_Aint *far_places;
static MPI_Datatype *types;
static MPI_Request requests[WINDOW], kept = MPI_REQUEST_NULL;
static MPI_Win window;
/* A periodic line of all ranks. */
static MPI_Comm neighbours;

#define ALL MPI_COMM_WORLD

#endif
