/* What every program of the conformance suite uses. A program checks one group of functions against the standard's text and prints what
   it has found; the same program must print the same under every MPI. Each rank counts its checks; rank 0 prints the sum at the end. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank_, size_, checks_, failures_;

static inline void check_(int holds, const char *what, const char *file, int line)
{
    checks_++;
    if (!holds) {
        failures_++;
        printf("%s:%d: rank %d of %d: not so: %s\n", file, line, rank_, size_, what);
        fflush(stdout);
    }
}

static inline int class_of_(int code)
{
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static inline void outcome_(int code, int wanted, const char *what, const char *file, int line)
{
    checks_++;
    int class = class_of_(code);
    if (class != wanted) {
        failures_++;
        char text[MPI_MAX_ERROR_STRING] = "success";
        int length;
        if (code != MPI_SUCCESS)
            MPI_Error_string(code, text, &length);
        printf("%s:%d: rank %d of %d: %s gives class %d (%s), not %d\n", file, line, rank_, size_, what, class, text, wanted);
        fflush(stdout);
    }
}

static inline void carried_(int code, int wanted, const char *what, const char *file, int line)
{
    outcome_(code, wanted, what, file, line);
}

/* The condition holds. */
#define CHECK(condition) check_(!!(condition), #condition, __FILE__, __LINE__)
/* The call succeeds. */
#define OK(call) outcome_((call), MPI_SUCCESS, #call, __FILE__, __LINE__)
/* The call fails with an error of that class. */
#define FAILS(class, call) outcome_((call), (class), #call, __FILE__, __LINE__)

/* The call fails with an error that a function of the program's own has answered: nothing else here gives that class. */
#define CARRIES(class, call) carried_((call), (class), #call, __FILE__, __LINE__)
/* The call does not return. */
#define NEVER_RETURNS(call) check_(((void)(call), 0), #call " returns", __FILE__, __LINE__)

/* As CHECK and OK, but not counted: for loops that go round as often as it takes. */
#define HOLDS(condition) (checks_--, CHECK(condition))
#define MUST(call) (checks_--, OK(call))

static inline void begin(int *argc, char ***argv)
{
    OK(MPI_Init(argc, argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

/* Ends the program: rank 0 prints the sums, and everybody's status is 1 if any check has failed. */
static inline int finish(const char *name)
{
    int mine[2] = {checks_, failures_}, all[2] = {0, 0};
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ == 0) {
        printf("%s: %d ranks, %d checks, %d failures\n", name, size_, all[0], all[1]);
        fflush(stdout);
    }
    OK(MPI_Finalize());
    return all[1] != 0 || failures_ != mine[1];
}

#endif
