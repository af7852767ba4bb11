/* Fortran bindings that are more than a conversion of each argument, and what the others use. See fortran.h. */
#include "fortran.h"

#include <string.h>

/* As gfortran aligns common blocks, of integers and of a status. */
#define COMMON __attribute__((aligned(32))) MPI_Fint
COMMON margay_bottom_, margay_in_place_, margay_buffer_automatic_, margay_unweighted_, margay_weights_empty_;
COMMON margay_errcodes_ignore_;
COMMON margay_status_ignore_[MPI_F_STATUS_SIZE], margay_statuses_ignore_[MPI_F_STATUS_SIZE];

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

/* Texts: Fortran's are filled with blanks and have their length as a last, hidden argument. */
void margay_text_out(char *place, size_t room, const char *text, MPI_Fint *length)
{
    size_t bytes = strlen(text) < room ? strlen(text) : room;
    memcpy(place, text, bytes);
    memset(place + bytes, ' ', room - bytes);
    *length = (MPI_Fint)bytes;
}

void margay_text_part(char *place, size_t room, char *text, int bytes, MPI_Fint *length)
{
    MPI_Fint shown;
    if (*length > 0) {
        if ((size_t)*length < strlen(text))
            text[*length] = 0;
        margay_text_out(place, room, text, &shown);
    }
    *length = bytes - 1;
}

char *margay_text_in(const char *text, size_t bytes)
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

FORTRAN(info_get, (const MPI_Fint *info, const char *key, const MPI_Fint *valuelen, char *value, MPI_Fint *flag,
                   MPI_Fint *ierror, size_t key_bytes, size_t room))
{
    char text[MPI_MAX_INFO_VAL + 1] = "", *key_text = margay_text_in(key, key_bytes);
    int bytes = *valuelen < MPI_MAX_INFO_VAL ? *valuelen + 1 : MPI_MAX_INFO_VAL + 1;
    MPI_Fint length;
    *ierror = key_text ? MPI_Info_get_string(MPI_Info_f2c(*info), key_text, &bytes, text, flag) : MPI_ERR_NO_MEM;
    if (*ierror == MPI_SUCCESS && *flag)
        margay_text_out(value, room, text, &length);
    free(key_text);
}

FORTRAN(info_get_string, (const MPI_Fint *info, const char *key, MPI_Fint *length, char *value, MPI_Fint *flag, MPI_Fint *ierror,
                          size_t key_bytes, size_t room))
{
    char text[MPI_MAX_INFO_VAL + 1] = "", *key_text = margay_text_in(key, key_bytes);
    int bytes = sizeof text;
    *ierror = key_text ? MPI_Info_get_string(MPI_Info_f2c(*info), key_text, &bytes, text, flag) : MPI_ERR_NO_MEM;
    if (*ierror == MPI_SUCCESS && *flag)
        margay_text_part(value, room, text, bytes, length);
    free(key_text);
}

/* In C a length counts the zero behind the text, in Fortran it does not. */
FORTRAN(session_get_nth_pset, (const MPI_Fint *session, const MPI_Fint *info, const MPI_Fint *n, MPI_Fint *length, char *name,
                               MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_PSET_NAME_LEN] = "";
    int bytes = sizeof text;
    *ierror = MPI_Session_get_nth_pset(MPI_Session_f2c(*session), MPI_Info_f2c(*info), *n, &bytes, text);
    if (*ierror == MPI_SUCCESS)
        margay_text_part(name, room, text, bytes, length);
}

FORTRAN(info_create_env, (MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_INFO_NULL;
    *ierror = MPI_Info_create_env(0, NULL, &c_info);
    PUT(Info, info, c_info);
}

FORTRAN(buffer_detach, (void *address, MPI_Fint *size, MPI_Fint *ierror))
{
    void *detached;
    /* Fortran's standard leaves the address out: a variable of the program is what it was. */
    (void)address;
    *ierror = MPI_Buffer_detach(&detached, size);
}

FORTRAN(comm_detach_buffer, (const MPI_Fint *comm, void *address, MPI_Fint *size, MPI_Fint *ierror))
{
    void *detached;
    (void)address;
    *ierror = MPI_Comm_detach_buffer(MPI_Comm_f2c(*comm), &detached, size);
}

FORTRAN(session_detach_buffer, (const MPI_Fint *session, void *address, MPI_Fint *size, MPI_Fint *ierror))
{
    void *detached;
    (void)address;
    *ierror = MPI_Session_detach_buffer(MPI_Session_f2c(*session), &detached, size);
}

FORTRAN(pcontrol, (const MPI_Fint *level))
{
    MPI_Pcontrol(*level);
}

/* Functions of addresses. */
MPI_Aint pmpi_aint_add_(const MPI_Aint *base, const MPI_Aint *displacement);
MPI_Aint mpi_aint_add_(const MPI_Aint *base, const MPI_Aint *displacement) __attribute__((weak, alias("pmpi_aint_add_")));
MPI_Aint pmpi_aint_add_(const MPI_Aint *base, const MPI_Aint *displacement)
{
    return MPI_Aint_add(*base, *displacement);
}

MPI_Aint pmpi_aint_diff_(const MPI_Aint *first, const MPI_Aint *second);
MPI_Aint mpi_aint_diff_(const MPI_Aint *first, const MPI_Aint *second) __attribute__((weak, alias("pmpi_aint_diff_")));
MPI_Aint pmpi_aint_diff_(const MPI_Aint *first, const MPI_Aint *second)
{
    return MPI_Aint_diff(*first, *second);
}

FORTRAN(errhandler_free, (MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler c_errhandler = MPI_Errhandler_f2c(*errhandler);
    /* The number may still be in use: MPI_Errhandler_free knows. */
    *ierror = MPI_Errhandler_free(&c_errhandler);
    PUT(Errhandler, errhandler, c_errhandler);
}

/* A job cannot grow nor meet another: these hand on what the C library says to that. What the program would be told is not converted: nobody
   gets to read it. */
FORTRAN(comm_spawn, (const char *command, const char *arguments, const MPI_Fint *most, const MPI_Fint *info, const MPI_Fint *root,
                     const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *codes, MPI_Fint *ierror, size_t bytes, size_t argument_bytes))
{
    MPI_Comm made = MPI_COMM_NULL;
    (void)arguments, (void)argument_bytes;
    WITH_TEXT(command, bytes,
              MPI_Comm_spawn(text, MPI_ARGV_NULL, *most, MPI_Info_f2c(*info), *root, MPI_Comm_f2c(*comm), &made,
                  ERRCODES(codes)));
    PUT(Comm, intercomm, made);
}

FORTRAN(comm_spawn_multiple, (const MPI_Fint *count, const char *commands, const char *arguments, const MPI_Fint *most,
                              const MPI_Fint *infos, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm,
                              MPI_Fint *codes, MPI_Fint *ierror, size_t bytes, size_t argument_bytes))
{
    MPI_Comm made = MPI_COMM_NULL;
    (void)commands, (void)arguments, (void)infos, (void)bytes, (void)argument_bytes;
    *ierror = MPI_Comm_spawn_multiple(*count, NULL, MPI_ARGVS_NULL, most, NULL, *root, MPI_Comm_f2c(*comm), &made, ERRCODES(codes));
    PUT(Comm, intercomm, made);
}
