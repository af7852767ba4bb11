/* Functions that a Fortran program gives the library: of error handlers, of reductions, of its own operations (MPI-5.0, sections 9.3, 6.9.5
   and 13.2). Fortran gets everything by its address and handles as integers, so a C function stands in between.

   What belongs to a request is the extra state of the C function. An error handler has none: the function is looked up by the handle, which
   the object still has while its handler runs. See fortran.h. */
#include "fortran.h"

/* Error handlers: the functions by handle. A handle that is used again gets its new function. */
typedef void handler_function(MPI_Fint *object, MPI_Fint *code, ...);

static struct handler {
    struct handler *next;
    MPI_Errhandler handle;
    handler_function *function;
} *handlers;

static void remember(MPI_Errhandler handle, handler_function *function, MPI_Fint *ierror)
{
    struct handler *handler = handlers;
    while (handler && handler->handle != handle)
        handler = handler->next;
    if (!handler) {
        handler = malloc(sizeof *handler);
        if (!handler) {
            *ierror = MPI_ERR_NO_MEM;
            return;
        }
        *handler = (struct handler){handlers, handle, NULL};
        handlers = handler;
    }
    handler->function = function;
}

static void handle(MPI_Errhandler errhandler, MPI_Fint object, int *code)
{
    for (struct handler *handler = handlers; handler; handler = handler->next)
        if (handler->handle == errhandler)
            handler->function(&object, code);
}

#define HANDLERS(name, Kind)                                                                              \
    static void handle_##name(MPI_##Kind *object, int *code, ...)                                         \
    {                                                                                                     \
        MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;                                                  \
        if (MPI_##Kind##_get_errhandler(*object, &errhandler) != MPI_SUCCESS)                             \
            return;                                                                                       \
        handle(errhandler, MPI_##Kind##_c2f(*object), code);                                              \
        /* The reference that was given for the question. */                                              \
        MPI_Errhandler_free(&errhandler);                                                                 \
    }                                                                                                     \
    FORTRAN(name##_create_errhandler, (handler_function *function, MPI_Fint *errhandler, MPI_Fint *ierror)) \
    {                                                                                                     \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                        \
        *ierror = MPI_##Kind##_create_errhandler(handle_##name, &made);                                   \
        if (*ierror == MPI_SUCCESS)                                                                       \
            remember(made, function, ierror);                                                             \
        PUT(Errhandler, errhandler, made);                                                                \
    }

HANDLERS(comm, Comm)
HANDLERS(win, Win)
HANDLERS(session, Session)
HANDLERS(file, File)

FORTRAN(file_set_errhandler, (const MPI_Fint *file, const MPI_Fint *errhandler, MPI_Fint *ierror))
{
    *ierror = MPI_File_set_errhandler(MPI_File_f2c(*file), MPI_Errhandler_f2c(*errhandler));
}

FORTRAN(file_get_errhandler, (const MPI_Fint *file, MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    *ierror = MPI_File_get_errhandler(MPI_File_f2c(*file), &got);
    PUT(Errhandler, errhandler, got);
}

FORTRAN(file_call_errhandler, (const MPI_Fint *file, const MPI_Fint *code, MPI_Fint *ierror))
{
    *ierror = MPI_File_call_errhandler(MPI_File_f2c(*file), *code);
}

/* Reductions: the library itself shows a Fortran function the number of the datatype. */
FORTRAN(op_create, (margay_fortran_function *function, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror))
{
    MPI_Op made = MPI_OP_NULL;
    *ierror = margay_op_create(function, *commute, &made);
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
    MPI_Aint extra;
};

static int query_operation(void *extra, MPI_Status *status)
{
    struct operation *operation = extra;
    MPI_Fint ierror = MPI_SUCCESS;
    operation->query(&operation->extra, (MPI_Fint *)status, &ierror);
    return ierror;
}

static int free_operation(void *extra)
{
    struct operation *operation = extra;
    MPI_Fint ierror = MPI_SUCCESS;
    operation->free(&operation->extra, &ierror);
    /* The request's last call. */
    free(operation);
    return ierror;
}

static int cancel_operation(void *extra, int complete)
{
    struct operation *operation = extra;
    MPI_Fint ierror = MPI_SUCCESS, done = complete != 0;
    operation->cancel(&operation->extra, &done, &ierror);
    return ierror;
}

FORTRAN(grequest_start, (query_function *query, free_function *free_, cancel_function *cancel, const MPI_Aint *extra,
                         MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request made = MPI_REQUEST_NULL;
    struct operation *operation = malloc(sizeof *operation);
    if (!operation) {
        *ierror = MPI_ERR_NO_MEM;
        return;
    }
    *operation = (struct operation){query, free_, cancel, *extra};
    *ierror = MPI_Grequest_start(query_operation, free_operation, cancel_operation, operation, &made);
    if (*ierror != MPI_SUCCESS)
        free(operation);
    PUT(Request, request, made);
}
