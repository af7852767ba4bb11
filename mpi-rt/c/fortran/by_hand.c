/* Fortran bindings that are more than a conversion of each argument: arrays of requests and datatypes, indices that count from one, texts,
   attributes, operations, and start. See fortran.h. */
#include "fortran.h"

#include <stdlib.h>
#include <string.h>

/* As gfortran aligns common blocks. */
#define COMMON __attribute__((aligned(16))) MPI_Fint
COMMON margay_bottom_, margay_in_place_, margay_buffer_automatic_, margay_unweighted_, margay_weights_empty_;
COMMON margay_status_ignore_[MPI_F_STATUS_SIZE], margay_statuses_ignore_[MPI_F_STATUS_SIZE];

/* A Fortran program has no argc and argv to give. */
FORTRAN(init, (MPI_Fint *ierror))
{
    *ierror = MPI_Init(NULL, NULL);
}

FORTRAN(init_thread, (const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror))
{
    *ierror = MPI_Init_thread(NULL, NULL, *required, provided);
}

double pmpi_wtime_(void);
double mpi_wtime_(void) __attribute__((weak, alias("pmpi_wtime_")));
double pmpi_wtime_(void)
{
    return MPI_Wtime();
}

double pmpi_wtick_(void);
double mpi_wtick_(void) __attribute__((weak, alias("pmpi_wtick_")));
double pmpi_wtick_(void)
{
    return MPI_Wtick();
}

/* Arrays of requests: the handles of the numbers, in memory of the C library's; NULL and an error if there is none. */
static MPI_Request *requests_in(MPI_Fint count, const MPI_Fint *numbers, MPI_Fint *ierror)
{
    MPI_Request *requests = malloc((count > 0 ? count : 1) * sizeof *requests);
    *ierror = requests ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (MPI_Fint i = 0; requests && i < count; i++)
        requests[i] = MPI_Request_f2c(numbers[i]);
    return requests;
}

static void requests_out(MPI_Fint count, MPI_Fint *numbers, MPI_Request *requests, MPI_Fint *ierror)
{
    for (MPI_Fint i = 0; i < count; i++)
        PUT_BACK(Request, &numbers[i], requests[i]);
    free(requests);
    (void)ierror;
}

FORTRAN(waitall, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *statuses, MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Waitall(*count, requests, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
}

FORTRAN(testall, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Testall(*count, requests, flag, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
}

/* Fortran counts elements from one. */
static void from_one(MPI_Fint *index)
{
    if (*index != MPI_UNDEFINED)
        ++*index;
}

FORTRAN(waitany, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *index, MPI_Fint *status, MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Waitany(*count, requests, index, STATUS(status));
    requests_out(*count, numbers, requests, ierror);
    from_one(index);
}

FORTRAN(testany,
        (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Testany(*count, requests, index, flag, STATUS(status));
    requests_out(*count, numbers, requests, ierror);
    from_one(index);
}

FORTRAN(waitsome, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,
                   MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Waitsome(*count, requests, done, indices, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
    for (MPI_Fint i = 0; i < *done; i++)
        from_one(&indices[i]);
}

FORTRAN(testsome, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,
                   MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Testsome(*count, requests, done, indices, STATUSES(statuses));
    requests_out(*count, numbers, requests, ierror);
    for (MPI_Fint i = 0; i < *done; i++)
        from_one(&indices[i]);
}

FORTRAN(startall, (const MPI_Fint *count, MPI_Fint *numbers, MPI_Fint *ierror))
{
    MPI_Request *requests = requests_in(*count, numbers, ierror);
    if (!requests)
        return;
    *ierror = MPI_Startall(*count, requests);
    requests_out(*count, numbers, requests, ierror);
}

/* Arrays of datatypes. */
static MPI_Datatype *types_in(MPI_Fint count, const MPI_Fint *numbers, MPI_Fint *ierror)
{
    MPI_Datatype *types = malloc((count > 0 ? count : 1) * sizeof *types);
    *ierror = types ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (MPI_Fint i = 0; types && i < count; i++)
        types[i] = MPI_Type_f2c(numbers[i]);
    return types;
}

FORTRAN(type_create_struct, (const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Aint *displacements,
                             const MPI_Fint *numbers, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL, *types = types_in(*count, numbers, ierror);
    if (!types)
        return;
    *ierror = MPI_Type_create_struct(*count, lengths, displacements, types, &made);
    PUT(Type, newtype, made);
    free(types);
}

FORTRAN(alltoallw, (const void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls, const MPI_Fint *sendtypes,
                    void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls, const MPI_Fint *recvtypes,
                    const MPI_Fint *comm, MPI_Fint *ierror))
{
    int size = 0;
    MPI_Comm c_comm = MPI_Comm_f2c(*comm);
    *ierror = MPI_Comm_size(c_comm, &size);
    if (*ierror != MPI_SUCCESS)
        return;
    MPI_Datatype *from = types_in(BUFFER(sendbuf) == MPI_IN_PLACE ? 0 : size, sendtypes, ierror);
    MPI_Datatype *to = types_in(size, recvtypes, ierror);
    if (from && to)
        *ierror = MPI_Alltoallw(BUFFER(sendbuf), sendcounts, sdispls, from, BUFFER(recvbuf), recvcounts, rdispls, to, c_comm);
    else
        *ierror = MPI_ERR_NO_MEM;
    free(from);
    free(to);
}

/* Texts: Fortran's are filled with blanks and have their length as a last, hidden argument. */
static void text_out(char *place, size_t room, const char *text, MPI_Fint *length)
{
    size_t bytes = strlen(text) < room ? strlen(text) : room;
    memcpy(place, text, bytes);
    memset(place + bytes, ' ', room - bytes);
    *length = (MPI_Fint)bytes;
}

static char *text_in(const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == ' ')
        bytes--;
    char *copy = malloc(bytes + 1);
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = 0;
    }
    return copy;
}

FORTRAN(get_processor_name, (char *name, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_PROCESSOR_NAME] = "";
    int bytes;
    *ierror = MPI_Get_processor_name(text, &bytes);
    text_out(name, room, text, length);
}

FORTRAN(get_library_version, (char *version, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int bytes;
    *ierror = MPI_Get_library_version(text, &bytes);
    text_out(version, room, text, length);
}

FORTRAN(error_string, (const MPI_Fint *code, char *string, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int bytes;
    *ierror = MPI_Error_string(*code, text, &bytes);
    text_out(string, room, text, length);
}

FORTRAN(comm_set_name, (const MPI_Fint *comm, const char *name, MPI_Fint *ierror, size_t bytes))
{
    char *text = text_in(name, bytes);
    *ierror = text ? MPI_Comm_set_name(MPI_Comm_f2c(*comm), text) : MPI_ERR_NO_MEM;
    free(text);
}

FORTRAN(comm_get_name, (const MPI_Fint *comm, char *name, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_OBJECT_NAME] = "";
    int bytes;
    *ierror = MPI_Comm_get_name(MPI_Comm_f2c(*comm), text, &bytes);
    text_out(name, room, text, length);
}

FORTRAN(info_set, (const MPI_Fint *info, const char *key, const char *value, MPI_Fint *ierror, size_t key_bytes,
                   size_t value_bytes))
{
    char *key_text = text_in(key, key_bytes), *value_text = text_in(value, value_bytes);
    *ierror = key_text && value_text ? MPI_Info_set(MPI_Info_f2c(*info), key_text, value_text) : MPI_ERR_NO_MEM;
    free(key_text);
    free(value_text);
}

FORTRAN(info_get, (const MPI_Fint *info, const char *key, const MPI_Fint *valuelen, char *value, MPI_Fint *flag,
                   MPI_Fint *ierror, size_t key_bytes, size_t room))
{
    char text[MPI_MAX_INFO_VAL + 1] = "", *key_text = text_in(key, key_bytes);
    int bytes = *valuelen < MPI_MAX_INFO_VAL ? *valuelen + 1 : MPI_MAX_INFO_VAL + 1;
    MPI_Fint length;
    *ierror = key_text ? MPI_Info_get_string(MPI_Info_f2c(*info), key_text, &bytes, text, flag) : MPI_ERR_NO_MEM;
    if (*ierror == MPI_SUCCESS && *flag)
        text_out(value, room, text, &length);
    free(key_text);
}

/* Attributes: a value is an integer of an address's size; the predefined ones, which are addresses of integers in C, are those integers. */
FORTRAN(comm_get_attr, (const MPI_Fint *comm, const MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror))
{
    void *attribute = NULL;
    *ierror = MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &attribute, flag);
    if (*ierror != MPI_SUCCESS || !*flag)
        return;
    int predefined = *keyval >= MPI_TAG_UB && *keyval <= MPI_UNIVERSE_SIZE;
    *value = predefined ? *(int *)attribute : (MPI_Aint)(intptr_t)attribute;
}

FORTRAN(comm_set_attr, (const MPI_Fint *comm, const MPI_Fint *keyval, const MPI_Aint *value, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, (void *)(intptr_t)*value);
}

/* A Fortran function is called as a C one is: everything by its address. It sees the number of a predefined datatype. */
FORTRAN(op_create, (MPI_User_function *function, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror))
{
    MPI_Op made = MPI_OP_NULL;
    *ierror = MPI_Op_create(function, *commute, &made);
    PUT(Op, op, made);
}

FORTRAN(buffer_detach, (void *address, MPI_Fint *size, MPI_Fint *ierror))
{
    void *detached;
    /* Fortran's standard leaves the address out: a variable of the program is what it was. */
    (void)address;
    *ierror = MPI_Buffer_detach(&detached, size);
}
