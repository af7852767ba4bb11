/* Files (MPI-5.0, chapter 14).
   Included by mpi.h; every line declares a function under its MPI_ and its PMPI_ name. */

MARGAY_MPI(int, File_call_errhandler, (MPI_File fh, int errorcode))
MARGAY_MPI(int, File_close, (MPI_File *fh))
MARGAY_MPI(int, File_create_errhandler, (MPI_File_errhandler_function *file_errhandler_fn,
    MPI_Errhandler *errhandler))
MARGAY_MPI(int, File_delete, (const char *filename, MPI_Info info))
MARGAY_MPI(int, File_get_amode, (MPI_File fh, int *amode))
MARGAY_MPI(int, File_get_atomicity, (MPI_File fh, int *flag))
MARGAY_MPI(int, File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp))
MARGAY_MPI(int, File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler))
MARGAY_MPI(int, File_get_group, (MPI_File fh, MPI_Group *group))
MARGAY_MPI(int, File_get_info, (MPI_File fh, MPI_Info *info_used))
MARGAY_MPI(int, File_get_position, (MPI_File fh, MPI_Offset *offset))
MARGAY_MPI(int, File_get_position_shared, (MPI_File fh, MPI_Offset *offset))
MARGAY_MPI(int, File_get_size, (MPI_File fh, MPI_Offset *size))
MARGAY_MPI(int, File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent))
MARGAY_MPI(int, File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent))
MARGAY_MPI(int, File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
    char *datarep))
MARGAY_MPI(int, File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iread_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iread_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iwrite_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request))
MARGAY_MPI(int, File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iwrite_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
MARGAY_MPI(int, File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
MARGAY_MPI(int, File_preallocate, (MPI_File fh, MPI_Offset size))
MARGAY_MPI(int, File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
MARGAY_MPI(int, File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
MARGAY_MPI(int, File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status))
MARGAY_MPI(int, File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_read_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_read_at_all_begin, (MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype))
MARGAY_MPI(int, File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype))
MARGAY_MPI(int, File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status))
MARGAY_MPI(int, File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
MARGAY_MPI(int, File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
MARGAY_MPI(int, File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status))
MARGAY_MPI(int, File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_seek, (MPI_File fh, MPI_Offset offset, int whence))
MARGAY_MPI(int, File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence))
MARGAY_MPI(int, File_set_atomicity, (MPI_File fh, int flag))
MARGAY_MPI(int, File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler))
MARGAY_MPI(int, File_set_info, (MPI_File fh, MPI_Info info))
MARGAY_MPI(int, File_set_size, (MPI_File fh, MPI_Offset size))
MARGAY_MPI(int, File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
    const char *datarep, MPI_Info info))
MARGAY_MPI(int, File_sync, (MPI_File fh))
MARGAY_MPI(int, File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
MARGAY_MPI(int, File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count,
    MPI_Datatype datatype))
MARGAY_MPI(int, File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
MARGAY_MPI(int, File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_write_at_all_begin, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype))
MARGAY_MPI(int, File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype))
MARGAY_MPI(int, File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
MARGAY_MPI(int, File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status))
MARGAY_MPI(int, File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_ordered, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_ordered_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
MARGAY_MPI(int, File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count,
    MPI_Datatype datatype))
MARGAY_MPI(int, File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status))
MARGAY_MPI(int, File_write_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
MARGAY_MPI(int, Register_datarep, (const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
    MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
    void *extra_state))
MARGAY_MPI(int, Register_datarep_c, (const char *datarep,
    MPI_Datarep_conversion_function_c *read_conversion_fn,
    MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
    void *extra_state))
