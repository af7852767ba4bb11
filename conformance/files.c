/* Files (MPI-5.0, chapter 14): opening, sizes, views, pointers, every form of data access, errors. */
#define _GNU_SOURCE
#include "check.h"
#include <unistd.h>

#define MANY 96

static char folder[64];

/* A name in a folder of this run's own, the same in every rank. */
static const char *named(const char *last)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, last);
    return path;
}

static MPI_File opened(MPI_Comm comm, const char *last, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    MUST(MPI_File_open(comm, named(last), amode, MPI_INFO_NULL, &file));
    return file;
}

static int count_of(const MPI_Status *status, MPI_Datatype datatype)
{
    int count = -1;
    MUST(MPI_Get_count(status, datatype, &count));
    return count;
}

/* All ranks have done what they had to. */
static void together(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void opening(void)
{
    MPI_File file, other;
    MPI_Group group, world;
    MPI_Info info;
    MPI_Offset size = -1;
    int amode = 0, result = -1, flag = -1;
    OK(MPI_File_open(MPI_COMM_WORLD, named("new"), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    OK(MPI_File_get_amode(file, &amode));
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR));
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 0);
    OK(MPI_File_get_group(file, &group));
    MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MUST(MPI_Group_compare(group, world, &result));
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    OK(MPI_File_get_info(file, &info));
    CHECK(info != MPI_INFO_NULL);
    OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag == 0);
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    FAILS(MPI_ERR_FILE_EXISTS, MPI_File_open(MPI_COMM_WORLD, named("new"), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &other));
    file = opened(MPI_COMM_WORLD, "new", MPI_MODE_RDONLY);
    OK(MPI_File_close(&file));
    together();
    if (rank_ == 0) {
        OK(MPI_File_delete(named("new"), MPI_INFO_NULL));
        FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(named("new"), MPI_INFO_NULL));
    }
    together();
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, named("new"), MPI_MODE_RDONLY, MPI_INFO_NULL, &other));
    /* Each rank a file of its own. */
    char own[32];
    snprintf(own, sizeof own, "own%d", rank_);
    OK(MPI_File_open(MPI_COMM_SELF, named(own), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &file));
    /* Rank 0's node has the files of the job, others may have them by MPI alone. */
    CHECK(rank_ > 0 || access(named(own), F_OK) == 0);
    OK(MPI_File_close(&file));
    CHECK(rank_ > 0 || access(named(own), F_OK) != 0);
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_SELF, named(own), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
}

static void refusals(void)
{
    MPI_File file;
    int value = 7, read = 0;
    MPI_Offset offset;
    char long_name[8192];
    const int wrong[] = {0, MPI_MODE_CREATE, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_MODE_RDONLY | MPI_MODE_RDWR,
        MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_MODE_RDONLY | MPI_MODE_EXCL, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, named("refused"), wrong[i], MPI_INFO_NULL, &file));
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = 0;
    FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_WORLD, long_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, named("no/such"), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    file = opened(MPI_COMM_WORLD, "refused", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_WORLD, named("refused/below"), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &(MPI_File){0}));
    FAILS(MPI_ERR_ACCESS, MPI_File_read_at(file, 0, &read, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_CUR));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, 0, 12345));
    FAILS(MPI_ERR_ARG, MPI_File_set_size(file, -1));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nobody's", MPI_INFO_NULL));
    MPI_Datatype open_type;
    MPI_Type_contiguous(2, MPI_INT, &open_type);
    FAILS(MPI_ERR_TYPE, MPI_File_write(file, &value, 1, open_type, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_TYPE, MPI_File_set_view(file, 0, open_type, open_type, "native", MPI_INFO_NULL));
    MPI_Type_free(&open_type);
    MPI_File_close(&file);
    file = opened(MPI_COMM_WORLD, "refused", MPI_MODE_RDONLY);
    FAILS(MPI_ERR_READ_ONLY, MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_READ_ONLY, MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
    /* Sequential files are read and written by the shared pointer only. */
    file = opened(MPI_COMM_WORLD, "refused", MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek(file, 0, MPI_SEEK_SET));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_position_shared(file, &offset));
    OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
    /* No file at all. */
    file = MPI_FILE_NULL;
    FAILS(MPI_ERR_FILE, MPI_File_close(&file));
    FAILS(MPI_ERR_FILE, MPI_File_get_size(MPI_FILE_NULL, &offset));
    FAILS(MPI_ERR_FILE, MPI_File_write(MPI_FILE_NULL, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    together();
    if (rank_ == 0)
        MUST(MPI_File_delete(named("refused"), MPI_INFO_NULL));
    together();
}

/* Explicit offsets and individual pointers, blocking and not, collective and not: each rank has its own blocks of the file. */
static void accesses(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at = -1;
    int mine[MANY], back[MANY];
    for (int i = 0; i < MANY; i++)
        mine[i] = 1000 * rank_ + i;
    MPI_Offset start = (MPI_Offset)rank_ * MANY;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at(file, start, mine, 16, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 16);
    OK(MPI_File_write_at_all(file, start + 16, mine + 16, 16, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 16);
    OK(MPI_File_iwrite_at(file, start + 32, mine + 32, 16, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 16 && request == MPI_REQUEST_NULL);
    OK(MPI_File_seek(file, start + 48, MPI_SEEK_SET));
    OK(MPI_File_write(file, mine + 48, 8, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 8);
    OK(MPI_File_write_all(file, mine + 56, 8, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 8);
    OK(MPI_File_iwrite(file, mine + 64, 8, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position(file, &at));
    CHECK(at == start + 72);
    OK(MPI_File_iwrite_at_all(file, start + 72, mine + 72, 8, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, 8, MPI_SEEK_CUR));
    OK(MPI_File_iwrite_all(file, mine + 80, 8, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all_begin(file, start + 88, mine + 88, 4, MPI_INT));
    OK(MPI_File_write_at_all_end(file, mine + 88, &status));
    CHECK(count_of(&status, MPI_INT) == 4);
    OK(MPI_File_seek(file, 4, MPI_SEEK_CUR));
    OK(MPI_File_write_all_begin(file, mine + 92, 4, MPI_INT));
    FAILS(MPI_ERR_IO, MPI_File_write_all_begin(file, mine + 92, 4, MPI_INT));
    OK(MPI_File_write_all_end(file, mine + 92, &status));
    FAILS(MPI_ERR_IO, MPI_File_write_all_end(file, mine + 92, &status));
    CHECK(count_of(&status, MPI_INT) == 4);
    OK(MPI_File_sync(file));
    together();
    OK(MPI_File_sync(file));
    OK(MPI_File_get_size(file, &at));
    CHECK(at == (MPI_Offset)size_ * MANY * (MPI_Offset)sizeof(int));

    /* The next rank's part comes back in each of the ways. */
    int other = (rank_ + 1) % size_, wrong = 0;
    start = (MPI_Offset)other * MANY;
    memset(back, -1, sizeof back);
    OK(MPI_File_read_at(file, start, back, 16, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 16);
    OK(MPI_File_read_at_all(file, start + 16, back + 16, 16, MPI_INT, &status));
    OK(MPI_File_iread_at(file, start + 32, back + 32, 16, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 16);
    OK(MPI_File_seek(file, start + 48, MPI_SEEK_SET));
    OK(MPI_File_read(file, back + 48, 8, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 8);
    OK(MPI_File_read_all(file, back + 56, 8, MPI_INT, &status));
    OK(MPI_File_iread(file, back + 64, 8, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at_all(file, start + 72, back + 72, 8, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, start + 80, MPI_SEEK_SET));
    OK(MPI_File_iread_all(file, back + 80, 8, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all_begin(file, start + 88, back + 88, 4, MPI_INT));
    OK(MPI_File_read_at_all_end(file, back + 88, &status));
    CHECK(count_of(&status, MPI_INT) == 4);
    OK(MPI_File_seek(file, start + 92, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(file, back + 92, 4, MPI_INT));
    OK(MPI_File_read_all_end(file, back + 92, &status));
    CHECK(count_of(&status, MPI_INT) == 4);
    for (int i = 0; i < MANY; i++)
        wrong += back[i] != 1000 * other + i;
    CHECK(wrong == 0);

    /* At the end of the file there is less, and then nothing. */
    OK(MPI_File_read_at(file, (MPI_Offset)size_ * MANY - 3, back, 16, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 3);
    CHECK(back[2] == 1000 * (size_ - 1) + MANY - 1 && back[3] == 1000 * other + 3);
    OK(MPI_File_read_at(file, (MPI_Offset)size_ * MANY, back, 16, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 0);
    OK(MPI_File_seek(file, -5, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &at));
    CHECK(at == (MPI_Offset)size_ * MANY - 5);
    OK(MPI_File_read(file, back, 0, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 0);
    OK(MPI_File_close(&file));
    /* What has been appended is behind the rest. */
    together();
    file = opened(MPI_COMM_SELF, "data", MPI_MODE_RDWR | MPI_MODE_APPEND);
    OK(MPI_File_get_position(file, &at));
    CHECK(at == (MPI_Offset)size_ * MANY * (MPI_Offset)sizeof(int));
    OK(MPI_File_close(&file));
    together();
}

static void sizes(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "sized", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Offset size = -1;
    char bytes[32];
    MPI_Status status;
    OK(MPI_File_set_size(file, 1000));
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 1000);
    together();
    memset(bytes, 'x', sizeof bytes);
    OK(MPI_File_read_at(file, 990, bytes, 32, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == 10 && bytes[0] == 0 && bytes[9] == 0 && bytes[10] == 'x');
    together();
    if (rank_ == 0) {
        OK(MPI_File_write_at(file, 0, "kept", 4, MPI_CHAR, &status));
    }
    OK(MPI_File_sync(file));
    together();
    OK(MPI_File_preallocate(file, 20000));
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 20000);
    together();
    OK(MPI_File_preallocate(file, 10));
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 20000);
    OK(MPI_File_read_at(file, 0, bytes, 5, MPI_BYTE, &status));
    CHECK(memcmp(bytes, "kept", 5) == 0);
    together();
    OK(MPI_File_set_size(file, 2));
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 2);
    OK(MPI_File_close(&file));
}

/* The ranks' elements alternate in the file. */
static void views(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "view", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype column, etype, filetype, every_other;
    MPI_Offset at = -1, disp = -1;
    MPI_Status status;
    char representation[MPI_MAX_DATAREP_STRING + 1];
    int mine[MANY], back[2 * MANY], wrong = 0;
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, representation));
    CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(representation, "native") == 0);

    MPI_Type_vector(MANY / 4, 4, 4 * size_, MPI_INT, &column);
    MPI_Type_commit(&column);
    OK(MPI_File_set_view(file, 64 + 4 * rank_ * (MPI_Offset)sizeof(int), MPI_INT, column, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, representation));
    CHECK(disp == 64 + 4 * rank_ * (MPI_Offset)sizeof(int) && etype == MPI_INT && filetype != MPI_INT);
    int bytes = -1;
    MUST(MPI_Type_size(filetype, &bytes));
    CHECK(bytes == MANY * (int)sizeof(int));
    MPI_Type_free(&filetype);
    for (int i = 0; i < MANY; i++)
        mine[i] = 10000 * (rank_ + 1) + i;
    OK(MPI_File_write_all(file, mine, MANY, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == MANY);
    OK(MPI_File_get_position(file, &at));
    CHECK(at == MANY);
    OK(MPI_File_get_byte_offset(file, 0, &at));
    CHECK(at == 64 + 4 * rank_ * (MPI_Offset)sizeof(int));
    OK(MPI_File_get_byte_offset(file, 5, &at));
    CHECK(at == 64 + (4 * rank_ + 4 * size_ + 1) * (MPI_Offset)sizeof(int));
    OK(MPI_File_sync(file));
    together();
    OK(MPI_File_sync(file));
    /* What is in memory with holes is in the file without, and the other way. */
    MPI_Type_vector(MANY, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    memset(back, -1, sizeof back);
    OK(MPI_File_read_at_all(file, 0, back, 1, every_other, &status));
    CHECK(count_of(&status, every_other) == 1);
    for (int i = 0; i < MANY; i++)
        wrong += back[2 * i] != mine[i] || back[2 * i + 1] != -1;
    CHECK(wrong == 0);
    memset(back, -1, sizeof back);
    OK(MPI_File_seek(file, 10, MPI_SEEK_SET));
    OK(MPI_File_read(file, back, 7, MPI_INT, &status));
    for (int i = 0; i < 7; i++)
        wrong += back[i] != mine[10 + i];
    CHECK(wrong == 0 && back[7] == -1);
    /* All of it, as bytes lie: rank after rank in blocks of four. */
    OK(MPI_File_set_view(file, 64, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
    OK(MPI_File_get_position(file, &at));
    CHECK(at == 0);
    for (int i = 0; i < MANY * size_ && i < 40; i++) {
        int value = -1;
        MUST(MPI_File_read_at(file, i, &value, 1, MPI_INT, &status));
        wrong += value != 10000 * (i / 4 % size_ + 1) + i / 4 / size_ * 4 + i % 4;
    }
    CHECK(wrong == 0);
    FAILS(MPI_ERR_IO, MPI_File_read(file, back, 3, MPI_BYTE, &status));
    MPI_Aint extent = -1;
    OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK(extent == sizeof(int));
    MPI_Type_free(&column);
    MPI_Type_free(&every_other);
    OK(MPI_File_close(&file));
    together();
}

static void shared_pointer(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at = -1;
    int value, values[4], sum = 0, all = 0;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    /* Every rank writes eight numbers somewhere; each is in the file once. */
    for (int i = 0; i < 4; i++) {
        value = 8 * rank_ + i;
        MUST(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
        HOLDS(count_of(&status, MPI_INT) == 1);
    }
    OK(MPI_File_write_shared(file, (value = 8 * rank_ + 4, &value), 1, MPI_INT, &status));
    for (int i = 5; i < 8; i++) {
        value = 8 * rank_ + i;
        OK(MPI_File_iwrite_shared(file, &value, 1, MPI_INT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_sync(file));
    together();
    OK(MPI_File_sync(file));
    OK(MPI_File_get_position_shared(file, &at));
    CHECK(at == 8 * size_);
    together();
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 7; i++) {
        MUST(MPI_File_read_shared(file, &value, 1, MPI_INT, &status));
        HOLDS(value >= 0 && value < 8 * size_);
        sum += value;
    }
    OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 1);
    sum += value;
    MUST(MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all == 8 * size_ * (8 * size_ - 1) / 2);

    /* In the order of the ranks, each as much as its rank says. */
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 4; i++)
        values[i] = 100 * rank_ + i;
    OK(MPI_File_write_ordered(file, values, rank_ % 4, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == rank_ % 4);
    OK(MPI_File_write_ordered_begin(file, values, 1, MPI_INT));
    OK(MPI_File_write_ordered_end(file, values, &status));
    CHECK(count_of(&status, MPI_INT) == 1);
    int written = 0;
    for (int other = 0; other < size_; other++)
        written += other % 4;
    OK(MPI_File_get_position_shared(file, &at));
    CHECK(at == written + size_);
    together();
    OK(MPI_File_seek_shared(file, -(written + size_), MPI_SEEK_CUR));
    memset(values, -1, sizeof values);
    OK(MPI_File_read_ordered(file, values, rank_ % 4, MPI_INT, &status));
    for (int i = 0; i < rank_ % 4; i++)
        HOLDS(values[i] == 100 * rank_ + i);
    OK(MPI_File_read_ordered_begin(file, values, 1, MPI_INT));
    OK(MPI_File_read_ordered_end(file, values, &status));
    CHECK(values[0] == 100 * rank_ && count_of(&status, MPI_INT) == 1);
    together();
    OK(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
    OK(MPI_File_get_position_shared(file, &at));
    CHECK(at == 8 * size_ - 1);
    together();
    OK(MPI_File_close(&file));
}

/* While ranks write their own value over the same blocks in atomic mode, a reader sees one rank's value in all of them. */
static void atomicity(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "atomic", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Datatype spread;
    int values[16], flag = 0, torn = 0;
    MPI_Type_vector(16, 1, 3, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    OK(MPI_File_set_view(file, 0, MPI_INT, spread, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag != 0);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 16; i++)
            values[i] = 100 * round + rank_;
        MUST(MPI_File_write_at(file, 0, values, 16, MPI_INT, MPI_STATUS_IGNORE));
        MUST(MPI_File_read_at(file, 0, values, 16, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 1; i < 16; i++)
            torn += values[i] != values[0];
    }
    CHECK(torn == 0);
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag == 0);
    MPI_Type_free(&spread);
    OK(MPI_File_close(&file));
}

static int handled, handled_class;

static void handler(MPI_File *file, int *code, ...)
{
    (void)file;
    handled++;
    MPI_Error_class(*code, &handled_class);
}

static void error_handlers(void)
{
    MPI_Errhandler errhandler, got;
    MPI_File file;
    MPI_Offset size;
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_create_errhandler(handler, &errhandler));
    file = opened(MPI_COMM_WORLD, "handled", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_get_errhandler(file, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_set_errhandler(file, errhandler));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    CHECK(handled == 1 && handled_class == MPI_ERR_ARG);
    OK(MPI_File_get_errhandler(file, &got));
    CHECK(got == errhandler);
    OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
    CHECK(handled == 2 && handled_class == MPI_ERR_IO);
    OK(MPI_File_close(&file));
    /* New files take the handler of no file. */
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, errhandler));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, named("nowhere"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK(handled == 3 && handled_class == MPI_ERR_NO_SUCH_FILE);
    file = opened(MPI_COMM_WORLD, "handled", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    CHECK(handled == 4);
    OK(MPI_File_get_size(file, &size));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_File_close(&file));
    MPI_Errhandler_free(&errhandler);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    strcpy(folder, "/tmp/margay-files-XXXXXX");
    if (rank_ == 0)
        HOLDS(mkdtemp(folder) != NULL);
    MUST(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD));
    opening();
    refusals();
    accesses();
    sizes();
    views();
    shared_pointer();
    atomicity();
    error_handlers();
    together();
    if (rank_ == 0) {
        MUST(MPI_File_delete(named("data"), MPI_INFO_NULL));
        MUST(MPI_File_delete(named("view"), MPI_INFO_NULL));
        HOLDS(rmdir(folder) == 0);
    }
    return finish("files");
}
