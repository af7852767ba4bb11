/* Start, end and surroundings: versions, names, time, memory, levels of threads, conversions of handles and statuses, the binary interface,
   and what a job cannot do (MPI-5.0, chapters 9, 11, 19 and 20). */
#include "check.h"

static void surroundings(void)
{
    int version = 0, subversion = -1, length = 0, flag = -1, level = -1;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    void *memory = NULL;
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    OK(MPI_Get_library_version(text, &length));
    CHECK(length > 0 && (int)strlen(text) == length);
    OK(MPI_Get_processor_name(text, &length));
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME && (int)strlen(text) == length);
    /* The ranks that share memory are on one node, and tell the same name. */
    static char all[64 * MPI_MAX_PROCESSOR_NAME];
    MPI_Comm node;
    int ranks = 0;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &ranks));
    CHECK(ranks >= 1 && ranks <= size_);
    OK(MPI_Allgather(text, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, node));
    OK(MPI_Comm_free(&node));
    for (int i = 0; i < ranks; i++)
        CHECK(strcmp(all + i * MPI_MAX_PROCESSOR_NAME, text) == 0);
    OK(MPI_Initialized(&flag));
    CHECK(flag);
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    OK(MPI_Query_thread(&level));
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    OK(MPI_Pcontrol(1));
    OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
    CHECK(memory != NULL);
    memset(memory, 1, 1000);
    OK(MPI_Free_mem(memory));
    double before = MPI_Wtime();
    CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0 && PMPI_Wtime() >= before);
}

static void conversions(void)
{
    MPI_Comm copy;
    MPI_Datatype type;
    MPI_Status status, back;
    MPI_Fint numbers[64];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(copy)) == copy && MPI_Comm_c2f(copy) == MPI_Comm_c2f(copy));
    CHECK(MPI_Comm_c2f(copy) != MPI_Comm_c2f(MPI_COMM_WORLD));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type && MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
#if MPI_VERSION >= 4
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
#endif
    OK(MPI_Sendrecv(NULL, 0, MPI_INT, rank_, 77, NULL, 0, MPI_INT, rank_, 77, MPI_COMM_WORLD, &status));
    OK(MPI_Status_c2f(&status, numbers));
    OK(MPI_Status_f2c(numbers, &back));
    CHECK(back.MPI_TAG == 77 && back.MPI_SOURCE == rank_);
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&copy));
}

#if MPI_VERSION >= 5
/* Lengths of strings are macros, whose values the preprocessor knows, as versions are. */
#if MPI_MAX_DATAREP_STRING < 64 || MPI_MAX_ERROR_STRING < 256 || MPI_MAX_INFO_KEY < 32 || MPI_MAX_INFO_VAL < 256                    \
    || MPI_MAX_LIBRARY_VERSION_STRING < 256 || MPI_MAX_OBJECT_NAME < 64 || MPI_MAX_PORT_NAME < 256 || MPI_MAX_PROCESSOR_NAME < 128 \
    || MPI_MAX_STRINGTAG_LEN < 256 || MPI_MAX_PSET_NAME_LEN < 256 || MPI_BSEND_OVERHEAD < 1
#error "a length is no macro"
#endif
/* Old programs ask the preprocessor for whatever a library may lack. */
#if !defined MPI_THREAD_MULTIPLE || !defined MPI_ERR_RMA_RANGE || !defined MPI_UNDEFINED || !defined MPI_WIN_FLAVOR_SHARED          \
    || !defined MPI_COMM_TYPE_SHARED || !defined MPI_COMBINER_RESIZED || !defined MPI_MODE_NOCHECK || !defined MPI_SEEK_SET         \
    || !defined MPI_TAG_UB || !defined MPI_F_STATUS_SIZE || !defined MPI_ANY_TAG || !defined MPI_ORDER_FORTRAN || !defined MPI_CART  \
    || !defined MPI_IDENT || !defined MPI_LOCK_SHARED || !defined MPI_TYPECLASS_REAL || !defined MPI_SUCCESS || !defined MPI_ERR_ABI
#error "a constant is no macro"
#endif
#if !defined MPI_T_ERR_INVALID || !defined MPI_T_VERBOSITY_USER_ALL || !defined MPI_T_SCOPE_ALL || !defined MPI_T_PVAR_CLASS_TIMER
#error "a constant of the tool interface is no macro"
#endif

static int number_in(MPI_Info info, const char *key)
{
    char text[32] = "";
    int room = sizeof text, flag = 0;
    OK(MPI_Info_get_string(info, key, &room, text, &flag));
    return flag ? atoi(text) : -1;
}

static void binary_interface(void)
{
    int major = 0, minor = -1, set = -1, yes = -1, no = -1;
    MPI_Info info;
    OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    OK(MPI_Abi_get_info(&info));
    CHECK(number_in(info, "mpi_aint_size") == sizeof(MPI_Aint));
    CHECK(number_in(info, "mpi_count_size") == sizeof(MPI_Count));
    CHECK(number_in(info, "mpi_offset_size") == sizeof(MPI_Offset));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK(number_in(info, "mpi_integer_size") == 4 && number_in(info, "mpi_double_precision_size") == 8);
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &set));
    CHECK(set && yes == 1 && no == 0);
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &yes, &no));
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD && MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_INT)) == MPI_INT && MPI_Type_toint(MPI_INT) == 0x209);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_MAX)) == MPI_MAX);
    CHECK(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_NULL)) == MPI_GROUP_NULL);
    CHECK(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_ENV)) == MPI_INFO_ENV);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_ABORT)) == MPI_ERRORS_ABORT);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
}

/* Every value is "true" or "false": whether this rank is tied to that piece of hardware. */
static void hardware(void)
{
    MPI_Info info, wish;
    int keys = 0, room, flag, tied = 0;
    void *memory = NULL;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &keys));
    CHECK(keys > 0);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY], value[16] = "";
        OK(MPI_Info_get_nthkey(info, i, key));
        room = sizeof value, flag = 0;
        OK(MPI_Info_get_string(info, key, &room, value, &flag));
        CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) && strstr(key, "://"));
        tied += value[0] == 't';
    }
    CHECK(tied > 0);
    OK(MPI_Info_free(&info));
    FAILS(MPI_ERR_ARG, MPI_Get_hw_resource_info(NULL));
    OK(MPI_Info_create(&wish));
    OK(MPI_Info_set(wish, "mpi_minimum_memory_alignment", "4096"));
    OK(MPI_Alloc_mem(100, wish, &memory));
    CHECK((uintptr_t)memory % 4096 == 0);
    OK(MPI_Free_mem(memory));
    OK(MPI_Info_free(&wish));
}

/* What a job cannot do says so. (Another library may well do it.) */
static void unsupported(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    char port[MPI_MAX_PORT_NAME];
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm,
                                                        MPI_ERRCODES_IGNORE));
    FAILS(MPI_ERR_COMM, MPI_Comm_accept("x", MPI_INFO_NULL, 0, MPI_COMM_NULL, &comm));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Comm_connect("x", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Open_port(MPI_INFO_NULL, port));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Publish_name("x", MPI_INFO_NULL, "y"));
    FAILS(MPI_ERR_NAME, MPI_Lookup_name("x", MPI_INFO_NULL, port));
}
#endif

int main(int argc, char **argv)
{
    int flag = -1, level = -1;
    MPI_Comm parent;
    MPI_Initialized(&flag);
    CHECK(!flag);
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level));
#if MPI_VERSION >= 5
    /* A rank is one thread: the lowest level is provided, whatever is asked for. */
    CHECK(level == MPI_THREAD_SINGLE);
#else
    CHECK(level >= MPI_THREAD_FUNNELED);
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    surroundings();
    conversions();
#if MPI_VERSION >= 5
    int before = checks_;
    binary_interface();
    hardware();
    unsupported();
    /* MPICH of Debian is older, and the sums are compared. */
    checks_ = before;
#endif
    int failed = finish("environment");
    MPI_Finalized(&flag);
    return failed || !flag;
}
