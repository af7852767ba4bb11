/* Fortran bindings that are more than a conversion of each argument: start, texts, buffers, functions of addresses. See fortran.h. */
#include "fortran.h"

#include <string.h>

/* As gfortran aligns common blocks. */
#define COMMON __attribute__((aligned(16))) MPI_Fint
COMMON margay_bottom_, margay_in_place_, margay_buffer_automatic_, margay_unweighted_, margay_weights_empty_;
COMMON margay_errcodes_ignore_;
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

FORTRAN(get_processor_name, (char *name, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_PROCESSOR_NAME] = "";
    int bytes;
    *ierror = MPI_Get_processor_name(text, &bytes);
    margay_text_out(name, room, text, length);
}

FORTRAN(get_library_version, (char *version, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int bytes;
    *ierror = MPI_Get_library_version(text, &bytes);
    margay_text_out(version, room, text, length);
}

FORTRAN(error_string, (const MPI_Fint *code, char *string, MPI_Fint *length, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int bytes;
    *ierror = MPI_Error_string(*code, text, &bytes);
    margay_text_out(string, room, text, length);
}

/* The name of an object, given and asked for: the same for every kind that has one. */
#define OBJECT_NAMES(kind, Kind)                                                                                      \
    FORTRAN(kind##_set_name, (const MPI_Fint *object, const char *name, MPI_Fint *ierror, size_t bytes))              \
    {                                                                                                                 \
        char *text = margay_text_in(name, bytes);                                                                     \
        *ierror = text ? MPI_##Kind##_set_name(MPI_##Kind##_f2c(*object), text) : MPI_ERR_NO_MEM;                     \
        free(text);                                                                                                   \
    }                                                                                                                 \
    FORTRAN(kind##_get_name, (const MPI_Fint *object, char *name, MPI_Fint *length, MPI_Fint *ierror, size_t room))   \
    {                                                                                                                 \
        char text[MPI_MAX_OBJECT_NAME] = "";                                                                          \
        int bytes;                                                                                                    \
        *ierror = MPI_##Kind##_get_name(MPI_##Kind##_f2c(*object), text, &bytes);                                     \
        margay_text_out(name, room, text, length);                                                                    \
    }

OBJECT_NAMES(comm, Comm)
OBJECT_NAMES(type, Type)
OBJECT_NAMES(win, Win)

FORTRAN(add_error_string, (const MPI_Fint *code, const char *string, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(string, bytes, MPI_Add_error_string(*code, text));
}

FORTRAN(info_delete, (const MPI_Fint *info, const char *key, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(key, bytes, MPI_Info_delete(MPI_Info_f2c(*info), text));
}

FORTRAN(info_get_nthkey, (const MPI_Fint *info, const MPI_Fint *n, char *key, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_INFO_KEY] = "";
    MPI_Fint length;
    *ierror = MPI_Info_get_nthkey(MPI_Info_f2c(*info), *n, text);
    margay_text_out(key, room, text, &length);
}

FORTRAN(info_get_valuelen, (const MPI_Fint *info, const char *key, MPI_Fint *length, MPI_Fint *flag, MPI_Fint *ierror,
                            size_t bytes))
{
    WITH_TEXT(key, bytes, MPI_Info_get_valuelen(MPI_Info_f2c(*info), text, length, flag));
}

FORTRAN(info_set, (const MPI_Fint *info, const char *key, const char *value, MPI_Fint *ierror, size_t key_bytes,
                   size_t value_bytes))
{
    char *key_text = margay_text_in(key, key_bytes), *value_text = margay_text_in(value, value_bytes);
    *ierror = key_text && value_text ? MPI_Info_set(MPI_Info_f2c(*info), key_text, value_text) : MPI_ERR_NO_MEM;
    free(key_text);
    free(value_text);
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

FORTRAN(info_create_env, (MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_INFO_NULL;
    *ierror = MPI_Info_create_env(0, NULL, &c_info);
    PUT(Info, info, c_info);
}

/* Packing, in a representation that has a name. */
FORTRAN(pack_external, (const char *datarep, const void *inbuf, const MPI_Fint *count, const MPI_Fint *type, void *outbuf,
                        const MPI_Aint *outsize, MPI_Aint *position, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(datarep, bytes, MPI_Pack_external(text, BUFFER(inbuf), *count, MPI_Type_f2c(*type), outbuf, *outsize, position));
}

FORTRAN(pack_external_size, (const char *datarep, const MPI_Fint *count, const MPI_Fint *type, MPI_Aint *size, MPI_Fint *ierror,
                             size_t bytes))
{
    WITH_TEXT(datarep, bytes, MPI_Pack_external_size(text, *count, MPI_Type_f2c(*type), size));
}

FORTRAN(unpack_external, (const char *datarep, const void *inbuf, const MPI_Aint *insize, MPI_Aint *position, void *outbuf,
                          const MPI_Fint *count, const MPI_Fint *type, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(datarep, bytes, MPI_Unpack_external(text, inbuf, *insize, position, BUFFER(outbuf), *count, MPI_Type_f2c(*type)));
}

FORTRAN(buffer_detach, (void *address, MPI_Fint *size, MPI_Fint *ierror))
{
    void *detached;
    /* Fortran's standard leaves the address out: a variable of the program is what it was. */
    (void)address;
    *ierror = MPI_Buffer_detach(&detached, size);
}

FORTRAN(pcontrol, (const MPI_Fint *level))
{
    MPI_Pcontrol(*level);
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

/* Values of a logical of any size. */
FORTRAN(abi_get_fortran_booleans, (const MPI_Fint *size, void *true_, void *false_, MPI_Fint *is_set, MPI_Fint *ierror))
{
    *ierror = MPI_Abi_get_fortran_booleans(*size, true_, false_, is_set);
}

FORTRAN(abi_set_fortran_booleans, (const MPI_Fint *size, void *true_, void *false_, MPI_Fint *ierror))
{
    *ierror = MPI_Abi_set_fortran_booleans(*size, true_, false_);
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
