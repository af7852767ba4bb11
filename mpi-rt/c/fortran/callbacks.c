/* Functions that a Fortran program gives the library: of error handlers, of reductions, of its own operations (MPI-5.0, sections 9.3, 6.9.5
   and 13.2). Fortran gets everything by its address and handles as integers; what belongs to a request is the extra state of a C function.
   See fortran.h. */
#include "fortran.h"

/* Error handlers: the library itself shows a Fortran function the number of the object. */
#define HANDLERS(name, kind)                                                                                                 \
    FORTRAN(name##_create_errhandler, (margay_fortran_handler *function, MPI_Fint *errhandler, MPI_Fint *ierror))            \
    {                                                                                                                        \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                                           \
        *ierror = margay_errhandler_create(kind, function, &made);                                                           \
        PUT(Errhandler, errhandler, made);                                                                                   \
    }

HANDLERS(comm, 0)
HANDLERS(win, 1)
HANDLERS(file, 2)
HANDLERS(session, 3)

/* Reductions: the library itself shows a Fortran function the number of the datatype. */
FORTRAN(op_create, (margay_fortran_function *function, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror))
{
    MPI_Op made = MPI_OP_NULL;
    *ierror = margay_op_create(function, *commute, &made);
    PUT(Op, op, made);
}

FORTRAN(op_create_c, (margay_fortran_function_c *function, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror))
{
    MPI_Op made = MPI_OP_NULL;
    *ierror = margay_op_create_c(function, *commute, &made);
    PUT(Op, op, made);
}

/* Operations of the program's own. */
typedef void query_function(MPI_Aint *extra, MPI_Fint *status, MPI_Fint *ierror);
typedef void free_function(MPI_Aint *extra, MPI_Fint *ierror);
typedef void cancel_function(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *ierror);

struct operation {
    query_function *query;
    free_function *free;
    cancel_function *cancel;
    /* The program's variable itself: its functions may change it, and the program between their calls. */
    MPI_Aint *extra;
};

static int query_operation(void *extra, MPI_Status *status)
{
    struct operation *operation = extra;
    MPI_Fint ierror = MPI_SUCCESS;
    operation->query(operation->extra, (MPI_Fint *)status, &ierror);
    return ierror;
}

static int free_operation(void *extra)
{
    struct operation *operation = extra;
    MPI_Fint ierror = MPI_SUCCESS;
    operation->free(operation->extra, &ierror);
    /* The request's last call. */
    free(operation);
    return ierror;
}

static int cancel_operation(void *extra, int complete)
{
    struct operation *operation = extra;
    MPI_Fint ierror = MPI_SUCCESS, done = complete != 0;
    operation->cancel(operation->extra, &done, &ierror);
    return ierror;
}

FORTRAN(grequest_start, (query_function *query, free_function *free_, cancel_function *cancel, MPI_Aint *extra,
                         MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request made = MPI_REQUEST_NULL;
    struct operation *operation = malloc(sizeof *operation);
    if (!operation) {
        *ierror = MPI_ERR_NO_MEM;
        return;
    }
    *operation = (struct operation){query, free_, cancel, extra};
    *ierror = MPI_Grequest_start(query_operation, free_operation, cancel_operation, operation, &made);
    if (*ierror != MPI_SUCCESS)
        free(operation);
    PUT(Request, request, made);
}
