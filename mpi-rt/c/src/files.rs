//! Files (MPI-5.0, chapter 14). The files of a node are in its memory and a rank's own; shared ones are not there, so that every function
//! answers `MPI_ERR_UNSUPPORTED_OPERATION`, through the error handler of `MPI_FILE_NULL`, which returns unless a program says otherwise.

use crate::mpi;
use lwk_mpi_rt::Error;

/// `MPI_FILE_NULL`.
const FILE_NULL: u64 = 0x118;

/// Functions that have nothing to do with their arguments.
macro_rules! unsupported {
    ($($name:ident)*) => {
        mpi! {
            $(
                fn $name() on File(FILE_NULL) {
                    Err(Error::UNSUPPORTED_OPERATION)
                }
            )*
        }
    };
}

unsupported! {
    File_close File_delete File_get_amode File_get_atomicity File_get_byte_offset File_get_group File_get_info
    File_get_position File_get_position_shared File_get_size File_get_type_extent File_get_type_extent_c
    File_get_view File_iread File_iread_all File_iread_all_c File_iread_at File_iread_at_all
    File_iread_at_all_c File_iread_at_c File_iread_c File_iread_shared File_iread_shared_c File_iwrite
    File_iwrite_all File_iwrite_all_c File_iwrite_at File_iwrite_at_all File_iwrite_at_all_c File_iwrite_at_c
    File_iwrite_c File_iwrite_shared File_iwrite_shared_c File_open File_preallocate File_read File_read_all
    File_read_all_begin File_read_all_begin_c File_read_all_c File_read_all_end File_read_at File_read_at_all
    File_read_at_all_begin File_read_at_all_begin_c File_read_at_all_c File_read_at_all_end File_read_at_c
    File_read_c File_read_ordered File_read_ordered_begin File_read_ordered_begin_c File_read_ordered_c
    File_read_ordered_end File_read_shared File_read_shared_c File_seek File_seek_shared File_set_atomicity
    File_set_info File_set_size File_set_view File_sync File_write File_write_all File_write_all_begin
    File_write_all_begin_c File_write_all_c File_write_all_end File_write_at File_write_at_all
    File_write_at_all_begin File_write_at_all_begin_c File_write_at_all_c File_write_at_all_end
    File_write_at_c File_write_c File_write_ordered File_write_ordered_begin File_write_ordered_begin_c
    File_write_ordered_c File_write_ordered_end File_write_shared File_write_shared_c Register_datarep
    Register_datarep_c
}
