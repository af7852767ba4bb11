/* Fortran bindings of the functions in margay/files.h. See fortran.h. */
#include "fortran.h"

/* Transfers of `count` items, where the file is or at an offset; their parts, if they are begun and ended apart. */
#define HERE(name)                                                                                                                 \
    FORTRAN(file_##name, (const MPI_Fint *file, void *buf, const MPI_Fint *count, const MPI_Fint *type, MPI_Fint *status,         \
                          MPI_Fint *ierror))                                                                                       \
    {                                                                                                                              \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), BUFFER(buf), *count, MPI_Type_f2c(*type), STATUS(status));                 \
    }
#define AT(name)                                                                                                                   \
    FORTRAN(file_##name, (const MPI_Fint *file, const MPI_Offset *offset, void *buf, const MPI_Fint *count, const MPI_Fint *type, \
                          MPI_Fint *status, MPI_Fint *ierror))                                                                     \
    {                                                                                                                              \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), *offset, BUFFER(buf), *count, MPI_Type_f2c(*type), STATUS(status));        \
    }
#define STARTED_HERE(name)                                                                                                         \
    FORTRAN(file_##name, (const MPI_Fint *file, void *buf, const MPI_Fint *count, const MPI_Fint *type, MPI_Fint *request,        \
                          MPI_Fint *ierror))                                                                                       \
    {                                                                                                                              \
        MPI_Request c_request = MPI_REQUEST_NULL;                                                                                  \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), BUFFER(buf), *count, MPI_Type_f2c(*type), &c_request);                     \
        PUT(Request, request, c_request);                                                                                          \
    }
#define STARTED_AT(name)                                                                                                           \
    FORTRAN(file_##name, (const MPI_Fint *file, const MPI_Offset *offset, void *buf, const MPI_Fint *count, const MPI_Fint *type, \
                          MPI_Fint *request, MPI_Fint *ierror))                                                                    \
    {                                                                                                                              \
        MPI_Request c_request = MPI_REQUEST_NULL;                                                                                  \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), *offset, BUFFER(buf), *count, MPI_Type_f2c(*type), &c_request);            \
        PUT(Request, request, c_request);                                                                                          \
    }
#define BEGUN_HERE(name)                                                                                                           \
    FORTRAN(file_##name, (const MPI_Fint *file, void *buf, const MPI_Fint *count, const MPI_Fint *type, MPI_Fint *ierror))        \
    {                                                                                                                              \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), BUFFER(buf), *count, MPI_Type_f2c(*type));                                 \
    }
#define BEGUN_AT(name)                                                                                                             \
    FORTRAN(file_##name, (const MPI_Fint *file, const MPI_Offset *offset, void *buf, const MPI_Fint *count, const MPI_Fint *type, \
                          MPI_Fint *ierror))                                                                                       \
    {                                                                                                                              \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), *offset, BUFFER(buf), *count, MPI_Type_f2c(*type));                        \
    }
#define ENDED(name)                                                                                                                \
    FORTRAN(file_##name, (const MPI_Fint *file, void *buf, MPI_Fint *status, MPI_Fint *ierror))                                   \
    {                                                                                                                              \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), BUFFER(buf), STATUS(status));                                              \
    }

HERE(read)
HERE(write)
HERE(read_all)
HERE(write_all)
HERE(read_shared)
HERE(write_shared)
HERE(read_ordered)
HERE(write_ordered)
AT(read_at)
AT(write_at)
AT(read_at_all)
AT(write_at_all)
STARTED_HERE(iread)
STARTED_HERE(iwrite)
STARTED_HERE(iread_all)
STARTED_HERE(iwrite_all)
STARTED_HERE(iread_shared)
STARTED_HERE(iwrite_shared)
STARTED_AT(iread_at)
STARTED_AT(iwrite_at)
STARTED_AT(iread_at_all)
STARTED_AT(iwrite_at_all)
BEGUN_HERE(read_all_begin)
BEGUN_HERE(write_all_begin)
BEGUN_HERE(read_ordered_begin)
BEGUN_HERE(write_ordered_begin)
BEGUN_AT(read_at_all_begin)
BEGUN_AT(write_at_all_begin)
ENDED(read_all_end)
ENDED(write_all_end)
ENDED(read_ordered_end)
ENDED(write_ordered_end)
ENDED(read_at_all_end)
ENDED(write_at_all_end)

/* Numbers of a file. */
#define TOLD(name)                                                                                \
    FORTRAN(file_##name, (const MPI_Fint *file, MPI_Offset *offset, MPI_Fint *ierror))           \
    {                                                                                             \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), offset);                                   \
    }
#define CHANGED(name)                                                                             \
    FORTRAN(file_##name, (const MPI_Fint *file, const MPI_Offset *offset, MPI_Fint *ierror))     \
    {                                                                                             \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), *offset);                                  \
    }
#define MOVED(name)                                                                                                       \
    FORTRAN(file_##name, (const MPI_Fint *file, const MPI_Offset *offset, const MPI_Fint *whence, MPI_Fint *ierror))     \
    {                                                                                                                     \
        *ierror = MPI_File_##name(MPI_File_f2c(*file), *offset, *whence);                                                 \
    }

TOLD(get_position)
TOLD(get_position_shared)
TOLD(get_size)
CHANGED(preallocate)
CHANGED(set_size)
MOVED(seek)
MOVED(seek_shared)

FORTRAN(file_get_byte_offset, (const MPI_Fint *file, const MPI_Offset *offset, MPI_Offset *displacement, MPI_Fint *ierror))
{
    *ierror = MPI_File_get_byte_offset(MPI_File_f2c(*file), *offset, displacement);
}

FORTRAN(file_get_amode, (const MPI_Fint *file, MPI_Fint *amode, MPI_Fint *ierror))
{
    *ierror = MPI_File_get_amode(MPI_File_f2c(*file), amode);
}

FORTRAN(file_get_atomicity, (const MPI_Fint *file, MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_File_get_atomicity(MPI_File_f2c(*file), flag);
}

FORTRAN(file_set_atomicity, (const MPI_Fint *file, const MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_File_set_atomicity(MPI_File_f2c(*file), *flag);
}

FORTRAN(file_sync, (const MPI_Fint *file, MPI_Fint *ierror))
{
    *ierror = MPI_File_sync(MPI_File_f2c(*file));
}

/* What a file is, and how it is seen. */
FORTRAN(file_get_group, (const MPI_Fint *file, MPI_Fint *group, MPI_Fint *ierror))
{
    MPI_Group c_group = MPI_GROUP_NULL;
    *ierror = MPI_File_get_group(MPI_File_f2c(*file), &c_group);
    PUT(Group, group, c_group);
}

FORTRAN(file_get_info, (const MPI_Fint *file, MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_INFO_NULL;
    *ierror = MPI_File_get_info(MPI_File_f2c(*file), &c_info);
    PUT(Info, info, c_info);
}

FORTRAN(file_set_info, (const MPI_Fint *file, const MPI_Fint *info, MPI_Fint *ierror))
{
    *ierror = MPI_File_set_info(MPI_File_f2c(*file), MPI_Info_f2c(*info));
}

FORTRAN(file_get_type_extent, (const MPI_Fint *file, const MPI_Fint *type, MPI_Aint *extent, MPI_Fint *ierror))
{
    *ierror = MPI_File_get_type_extent(MPI_File_f2c(*file), MPI_Type_f2c(*type), extent);
}

FORTRAN(file_set_view, (const MPI_Fint *file, const MPI_Offset *displacement, const MPI_Fint *etype, const MPI_Fint *filetype,
                        const char *datarep, const MPI_Fint *info, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(datarep, bytes,
              MPI_File_set_view(MPI_File_f2c(*file), *displacement, MPI_Type_f2c(*etype), MPI_Type_f2c(*filetype), text,
                  MPI_Info_f2c(*info)));
}

FORTRAN(file_get_view, (const MPI_Fint *file, MPI_Offset *displacement, MPI_Fint *etype, MPI_Fint *filetype, char *datarep,
                        MPI_Fint *ierror, size_t room))
{
    MPI_Datatype c_etype = MPI_DATATYPE_NULL, c_filetype = MPI_DATATYPE_NULL;
    char text[MPI_MAX_DATAREP_STRING] = "";
    MPI_Fint length;
    *ierror = MPI_File_get_view(MPI_File_f2c(*file), displacement, &c_etype, &c_filetype, text);
    PUT(Type, etype, c_etype);
    PUT(Type, filetype, c_filetype);
    margay_text_out(datarep, room, text, &length);
}

FORTRAN(file_open, (const MPI_Fint *comm, const char *name, const MPI_Fint *amode, const MPI_Fint *info, MPI_Fint *file,
                    MPI_Fint *ierror, size_t bytes))
{
    MPI_File c_file = MPI_FILE_NULL;
    WITH_TEXT(name, bytes, MPI_File_open(MPI_Comm_f2c(*comm), text, *amode, MPI_Info_f2c(*info), &c_file));
    PUT(File, file, c_file);
}

FORTRAN(file_close, (MPI_Fint *file, MPI_Fint *ierror))
{
    MPI_File c_file = MPI_File_f2c(*file);
    *ierror = MPI_File_close(&c_file);
    PUT_BACK(File, file, c_file);
}

FORTRAN(file_delete, (const char *name, const MPI_Fint *info, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(name, bytes, MPI_File_delete(text, MPI_Info_f2c(*info)));
}
