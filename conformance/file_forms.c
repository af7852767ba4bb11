/* Files (MPI-5.0, chapter 14): functions with counts of type MPI_Count, and data representations. MPICH has neither representations of the
   program's own nor external32 throughout, so that what it lacks is checked and not counted. */
#define _GNU_SOURCE
#include "check.h"
#include <stdint.h>
#include <unistd.h>

static char path[64];

#if MPI_VERSION >= 4
static int count_of(const MPI_Status *status)
{
    int count = -1;
    MUST(MPI_Get_count(status, MPI_INT, &count));
    return count;
}

typedef int transfer_at(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Status *);
typedef int start_at(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Request *);
typedef int transfer(MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Status *);
typedef int start(MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Request *);

/* The functions that write, which take a pointer to const, beside those that read. */
static int write_at(MPI_File f, MPI_Offset o, void *b, MPI_Count n, MPI_Datatype t, MPI_Status *s) { return MPI_File_write_at_c(f, o, b, n, t, s); }
static int write_at_all(MPI_File f, MPI_Offset o, void *b, MPI_Count n, MPI_Datatype t, MPI_Status *s) { return MPI_File_write_at_all_c(f, o, b, n, t, s); }
static int iwrite_at(MPI_File f, MPI_Offset o, void *b, MPI_Count n, MPI_Datatype t, MPI_Request *r) { return MPI_File_iwrite_at_c(f, o, b, n, t, r); }
static int iwrite_at_all(MPI_File f, MPI_Offset o, void *b, MPI_Count n, MPI_Datatype t, MPI_Request *r) { return MPI_File_iwrite_at_all_c(f, o, b, n, t, r); }
static int write_(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Status *s) { return MPI_File_write_c(f, b, n, t, s); }
static int write_all(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Status *s) { return MPI_File_write_all_c(f, b, n, t, s); }
static int write_shared(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Status *s) { return MPI_File_write_shared_c(f, b, n, t, s); }
static int write_ordered(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Status *s) { return MPI_File_write_ordered_c(f, b, n, t, s); }
static int iwrite(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Request *r) { return MPI_File_iwrite_c(f, b, n, t, r); }
static int iwrite_all(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Request *r) { return MPI_File_iwrite_all_c(f, b, n, t, r); }
static int iwrite_shared(MPI_File f, void *b, MPI_Count n, MPI_Datatype t, MPI_Request *r) { return MPI_File_iwrite_shared_c(f, b, n, t, r); }

/* Each pair of a writing and a reading function brings back what was written. */
static void large_counts(void)
{
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    int out[3] = {1, 2, 3}, in[3];
    transfer_at *const at[][2] = {{write_at, MPI_File_read_at_c}, {write_at_all, MPI_File_read_at_all_c}};
    start_at *const starts_at[][2] = {{iwrite_at, MPI_File_iread_at_c}, {iwrite_at_all, MPI_File_iread_at_all_c}};
    transfer *const here[][2] = {{write_, MPI_File_read_c}, {write_all, MPI_File_read_all_c}};
    start *const starts[][2] = {{iwrite, MPI_File_iread_c}, {iwrite_all, MPI_File_iread_all_c}};
    OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 2; i++) {
        out[0] = 10 * rank_ + i;
        memset(in, -1, sizeof in);
        OK(at[i][0](file, 7 * i, out, 3, MPI_INT, &status));
        CHECK(count_of(&status) == 3);
        OK(at[i][1](file, 7 * i, in, 3, MPI_INT, &status));
        CHECK(count_of(&status) == 3 && memcmp(in, out, sizeof in) == 0);
        out[1] = 20 * rank_ + i;
        OK(starts_at[i][0](file, 7 * i, out, 3, MPI_INT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(starts_at[i][1](file, 7 * i, in, 3, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
        CHECK(count_of(&status) == 3 && memcmp(in, out, sizeof in) == 0);
        out[2] = 30 * rank_ + i;
        OK(MPI_File_seek(file, 50, MPI_SEEK_SET));
        OK(here[i][0](file, out, 3, MPI_INT, &status));
        OK(MPI_File_seek(file, 50, MPI_SEEK_SET));
        OK(here[i][1](file, in, 3, MPI_INT, &status));
        CHECK(count_of(&status) == 3 && memcmp(in, out, sizeof in) == 0);
        out[0] = 40 * rank_ + i;
        OK(MPI_File_seek(file, 60, MPI_SEEK_SET));
        OK(starts[i][0](file, out, 3, MPI_INT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_File_seek(file, 60, MPI_SEEK_SET));
        OK(starts[i][1](file, in, 3, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
        CHECK(memcmp(in, out, sizeof in) == 0);
    }
    out[0] = 50;
    OK(MPI_File_seek_shared(file, 100, MPI_SEEK_SET));
    OK(write_shared(file, out, 3, MPI_INT, &status));
    OK(MPI_File_seek_shared(file, 100, MPI_SEEK_SET));
    OK(MPI_File_read_shared_c(file, in, 3, MPI_INT, &status));
    CHECK(memcmp(in, out, sizeof in) == 0);
    out[0] = 51;
    OK(iwrite_shared(file, out, 3, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_seek_shared(file, -3, MPI_SEEK_CUR));
    OK(MPI_File_iread_shared_c(file, in, 3, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, sizeof in) == 0);
    out[0] = 52;
    OK(write_ordered(file, out, 3, MPI_INT, &status));
    OK(MPI_File_seek_shared(file, -3, MPI_SEEK_CUR));
    OK(MPI_File_read_ordered_c(file, in, 3, MPI_INT, &status));
    CHECK(memcmp(in, out, sizeof in) == 0);
    out[0] = 53;
    OK(MPI_File_write_ordered_begin_c(file, out, 3, MPI_INT));
    OK(MPI_File_write_ordered_end(file, out, &status));
    OK(MPI_File_seek_shared(file, -3, MPI_SEEK_CUR));
    OK(MPI_File_read_ordered_begin_c(file, in, 3, MPI_INT));
    OK(MPI_File_read_ordered_end(file, in, &status));
    CHECK(memcmp(in, out, sizeof in) == 0);
    out[0] = 54;
    OK(MPI_File_write_at_all_begin_c(file, 9, out, 3, MPI_INT));
    OK(MPI_File_write_at_all_end(file, out, &status));
    OK(MPI_File_read_at_all_begin_c(file, 9, in, 3, MPI_INT));
    OK(MPI_File_read_at_all_end(file, in, &status));
    CHECK(memcmp(in, out, sizeof in) == 0);
    out[0] = 55;
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_write_all_begin_c(file, out, 3, MPI_INT));
    OK(MPI_File_write_all_end(file, out, &status));
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin_c(file, in, 3, MPI_INT));
    OK(MPI_File_read_all_end(file, in, &status));
    CHECK(memcmp(in, out, sizeof in) == 0);
    MPI_Count extent = -1;
    OK(MPI_File_get_type_extent_c(file, MPI_DOUBLE, &extent));
    CHECK(extent == 8);
    OK(MPI_File_close(&file));
    OK(MPI_File_delete(path, MPI_INFO_NULL));
}
#endif

#ifndef MPICH
/* In external32 the file has big-endian numbers, and longs are shorter there than in memory. */
static void external32(void)
{
    MPI_File file;
    MPI_Status status;
    MPI_Aint extent = -1;
    MPI_Offset at = -1;
    MPI_Datatype two_longs, every_other;
    unsigned char bytes[64];
    long out[4] = {1, -2, 0x01020304, 7}, in[8];
    int count = -1;
    MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MUST(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    MUST(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    HOLDS(extent == 4);
    MPI_Type_contiguous(2, MPI_LONG, &two_longs);
    MUST(MPI_File_get_type_extent(file, two_longs, &extent));
    HOLDS(extent == 8);
    MPI_Type_free(&two_longs);
    MUST(MPI_File_write(file, out, 4, MPI_LONG, &status));
    MUST(MPI_Get_count(&status, MPI_LONG, &count));
    HOLDS(count == 4);
    MUST(MPI_File_get_position(file, &at));
    HOLDS(at == 4);
    MUST(MPI_File_get_size(file, &at));
    HOLDS(at == 16);
    memset(in, 9, sizeof in);
    MUST(MPI_File_read_at(file, 1, in, 8, MPI_LONG, &status));
    MUST(MPI_Get_count(&status, MPI_LONG, &count));
    HOLDS(count == 3 && in[0] == -2 && in[1] == 0x01020304 && in[2] == 7 && in[3] == 0x0909090909090909);
    /* With holes in memory and in the file: the filetype's own displacements are scaled. */
    MPI_Type_vector(2, 1, 2, MPI_LONG, &every_other);
    MPI_Type_commit(&every_other);
    MUST(MPI_File_set_view(file, 4, MPI_LONG, every_other, "external32", MPI_INFO_NULL));
    MUST(MPI_File_get_byte_offset(file, 1, &at));
    HOLDS(at == 12);
    memset(in, 9, sizeof in);
    MUST(MPI_File_read_at(file, 0, in, 1, every_other, &status));
    HOLDS(in[0] == -2 && in[1] == 0x0909090909090909 && in[2] == 7);
    MUST(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MUST(MPI_File_read_at(file, 0, bytes, 12, MPI_BYTE, &status));
    HOLDS(memcmp(bytes, "\0\0\0\1\377\377\377\376\1\2\3\4", 12) == 0);
    MPI_Type_free(&every_other);
    MUST(MPI_File_close(&file));
}

/* A representation of the program's: numbers as decimal digits, ten bytes each. */
enum { DIGITS = 10 };
static int conversions, extents, state = 77, failing;

static int extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    extents += extra == &state && datatype == MPI_INT;
    *extent = DIGITS;
    return MPI_SUCCESS;
}

static int to_text(void *user, MPI_Datatype datatype, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    int size = 0;
    /* Callbacks may call the library. */
    MPI_Type_size(datatype, &size);
    conversions += extra == &state && size > 0;
    for (MPI_Count i = 0; i < count; i++) {
        char digits[DIGITS + 1];
        snprintf(digits, sizeof digits, "%09d ", ((int *)user)[position + i]);
        memcpy((char *)file + DIGITS * i, digits, DIGITS);
    }
    return failing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int from_text(void *user, MPI_Datatype datatype, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    conversions += extra == &state && datatype == MPI_INT;
    for (MPI_Count i = 0; i < count; i++)
        ((int *)user)[position + i] = atoi((char *)file + DIGITS * i);
    return failing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int to_text_int(void *user, MPI_Datatype datatype, int count, void *file, MPI_Offset position, void *extra)
{
    return to_text(user, datatype, count, file, position, extra);
}

static int from_text_int(void *user, MPI_Datatype datatype, int count, void *file, MPI_Offset position, void *extra)
{
    return from_text(user, datatype, count, file, position, extra);
}

static void own_representation(const char *name)
{
    MPI_File file;
    MPI_Status status;
    MPI_Aint extent = -1;
    MPI_Offset at = -1;
    char text[64] = "", told[MPI_MAX_DATAREP_STRING + 1];
    MPI_Datatype etype, filetype;
    int out[3] = {5, 123456, 7}, in[5] = {-1, -1, -1, -1, -1}, count = -1;
    conversions = extents = 0;
    MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, name, MPI_INFO_NULL));
    MUST(MPI_File_get_view(file, &at, &etype, &filetype, told));
    HOLDS(strcmp(told, name) == 0 && etype == MPI_INT);
    MUST(MPI_File_get_type_extent(file, MPI_INT, &extent));
    HOLDS(extent == DIGITS && extents > 0);
    MUST(MPI_File_write(file, out, 3, MPI_INT, &status));
    MUST(MPI_Get_count(&status, MPI_INT, &count));
    HOLDS(count == 3 && conversions == 1);
    MUST(MPI_File_get_size(file, &at));
    HOLDS(at == 3 * DIGITS);
    MUST(MPI_File_read_at(file, 1, in, 5, MPI_INT, &status));
    MUST(MPI_Get_count(&status, MPI_INT, &count));
    HOLDS(count == 2 && in[0] == 123456 && in[1] == 7 && in[2] == -1 && conversions == 2);
    failing = 1;
    (void)(checks_--, FAILS(MPI_ERR_CONVERSION, MPI_File_write_at(file, 0, out, 1, MPI_INT, &status)));
    (void)(checks_--, FAILS(MPI_ERR_CONVERSION, MPI_File_read_at(file, 0, in, 1, MPI_INT, &status)));
    failing = 0;
    MUST(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    MUST(MPI_File_read_at(file, 0, text, 63, MPI_CHAR, &status));
    HOLDS(strcmp(text, "000000005 000123456 000000007 ") == 0);
    MUST(MPI_File_close(&file));
}

static void representations(void)
{
    external32();
    MUST(MPI_Register_datarep("digits", from_text_int, to_text_int, extent_function, &state));
    own_representation("digits");
    MUST(MPI_Register_datarep_c("digits too", from_text, to_text, extent_function, &state));
    own_representation("digits too");
    (void)(checks_--, FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("digits", NULL, NULL, extent_function, NULL)));
    (void)(checks_--, FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep_c("native", NULL, NULL, extent_function, NULL)));
    (void)(checks_--, FAILS(MPI_ERR_ARG, MPI_Register_datarep("", NULL, NULL, extent_function, NULL)));
    (void)(checks_--, FAILS(MPI_ERR_ARG, MPI_Register_datarep("no extents", NULL, NULL, NULL, NULL)));
}

/* Ranks that differ in what must be the same all learn it, and so do those whose peers fail. */
static void disagreement(void)
{
    MPI_File file;
    const int odd = rank_ % 2;
    const int differ = size_ > 1;
    MPI_Barrier(MPI_COMM_WORLD);
    char common[64];
    strcpy(common, path);
    MUST(MPI_Bcast(common, sizeof common, MPI_CHAR, 0, MPI_COMM_WORLD));
    (void)(checks_--, outcome_(MPI_File_open(MPI_COMM_WORLD, common, MPI_MODE_CREATE | (odd ? MPI_MODE_RDWR : MPI_MODE_WRONLY), MPI_INFO_NULL, &file),
                               differ ? MPI_ERR_NOT_SAME : MPI_SUCCESS, "different modes", __FILE__, __LINE__));
    if (!differ)
        MUST(MPI_File_close(&file));
    (void)(checks_--, outcome_(MPI_File_open(MPI_COMM_WORLD, common, odd ? 0 : MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                               differ ? MPI_ERR_AMODE : MPI_SUCCESS, "one invalid mode", __FILE__, __LINE__));
    if (!differ)
        MUST(MPI_File_close(&file));
    MUST(MPI_File_open(MPI_COMM_WORLD, common, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    const int wanted = differ ? MPI_ERR_NOT_SAME : MPI_SUCCESS;
    (void)(checks_--, FAILS(wanted, MPI_File_set_size(file, 10 + odd)));
    (void)(checks_--, FAILS(wanted, MPI_File_preallocate(file, 10 + odd)));
    (void)(checks_--, FAILS(wanted, MPI_File_set_atomicity(file, odd)));
    (void)(checks_--, FAILS(wanted, MPI_File_seek_shared(file, odd, MPI_SEEK_SET)));
    (void)(checks_--, FAILS(wanted, MPI_File_set_view(file, 0, odd ? MPI_INT : MPI_SHORT, odd ? MPI_INT : MPI_SHORT, "native", MPI_INFO_NULL)));
    (void)(checks_--, FAILS(wanted, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, odd ? "native" : "external32", MPI_INFO_NULL)));
    /* One rank's part of an ordered transfer is wrong: the others' go through. */
    MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    int value = rank_, last = size_ - 1;
    (void)(checks_--, FAILS(rank_ == last ? MPI_ERR_TYPE : MPI_SUCCESS,
                            MPI_File_write_ordered(file, &value, 1, rank_ == last ? MPI_DATATYPE_NULL : MPI_INT, MPI_STATUS_IGNORE)));
    MPI_Offset at = -1;
    MUST(MPI_File_get_position_shared(file, &at));
    HOLDS(at == last);
    MUST(MPI_File_close(&file));
    /* A folder and the console are no files. */
    (void)(checks_--, FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_SELF, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
    (void)(checks_--, FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_SELF, "/dev/stdout", MPI_MODE_WRONLY, MPI_INFO_NULL, &file)));
    (void)(checks_--, FAILS(MPI_ERR_ACCESS, MPI_File_open(MPI_COMM_SELF, "/proc/meminfo", MPI_MODE_WRONLY, MPI_INFO_NULL, &file)));
    (void)(checks_--, FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_SELF, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
    (void)(checks_--, FAILS(MPI_ERR_FILE, MPI_File_sync(MPI_FILE_NULL)));
}

/* Where the current folder is does not matter once a file is open. */
static void relative_names(void)
{
    MPI_File file;
    MPI_Info info;
    char value[256], folder[64], name[32];
    int flag = 0;
    snprintf(name, sizeof name, "relative%d", rank_);
    snprintf(folder, sizeof folder, "/tmp/%s", name);
    HOLDS(chdir("/tmp") == 0);
    MUST(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    HOLDS(chdir("/") == 0);
    MUST(MPI_File_get_info(file, &info));
    MUST(MPI_Info_get(info, "filename", 255, value, &flag));
    /* The name that was opened. */
    HOLDS(flag && strcmp(value, name) == 0);
    MPI_Info_free(&info);
    MPI_File again;
    MUST(MPI_File_open(MPI_COMM_SELF, folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &again));
    MUST(MPI_File_close(&again));
    MUST(MPI_File_close(&file));
    (void)(checks_--, FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_SELF, folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &again)));
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    snprintf(path, sizeof path, "/tmp/margay-forms-%d-XXXXXX", rank_);
    int descriptor = mkstemp(path);
    HOLDS(descriptor >= 0 && close(descriptor) == 0);
#if MPI_VERSION >= 4
    large_counts();
#endif
#ifndef MPICH
    representations();
    disagreement();
    relative_names();
#endif
    unlink(path);
    return finish("file_forms");
}
