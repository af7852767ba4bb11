/* Sessions beside the world model, and levels of thread support (MPI-5.0, chapter 11). */
#include "check.h"

static int called;

static void handler(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
    called++;
}

/* A communicator of all ranks made from a session. */
static void use(MPI_Session session, const char *set, const char *tag, int expected)
{
    MPI_Group group;
    MPI_Comm comm;
    int size, rank, sum = -1;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_rank(comm, &rank));
    CHECK(expected == 0 || size == expected);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
    OK(MPI_Comm_free(&comm));
}

#if MPI_VERSION >= 5
/* Of the predefined attributes, a communicator that comes from a session has the largest tag only (section 9.1.2). */
static void attributes(MPI_Session session, const char *set, const char *tag)
{
    static const int others[] = {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
    MPI_Group group;
    MPI_Comm all[3];
    int flag, *value;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &all[0]));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_dup(all[0], &all[1]));
    OK(MPI_Comm_split(all[1], 0, 0, &all[2]));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_get_attr(all[i], MPI_TAG_UB, &value, &flag));
        CHECK(flag && *value >= 32767);
        for (int j = 0; j < 6; j++) {
            OK(MPI_Comm_get_attr(all[i], others[j], &value, &flag));
            CHECK(!flag);
        }
        OK(MPI_Comm_free(&all[i]));
    }
}

/* A rank is one thread: the lowest level is provided, whatever is asked for, and a session tells the same. */
static void levels(void)
{
    static const char *const asked[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_MULTIPLE"};
    for (int i = 0; i < 2; i++) {
        MPI_Info info;
        MPI_Session session;
        char value[32] = "";
        int flag = 0, room = sizeof value;
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "thread_level", asked[i]));
        OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
        OK(MPI_Info_free(&info));
        OK(MPI_Session_get_info(session, &info));
        OK(MPI_Info_get_string(info, "thread_level", &room, value, &flag));
        CHECK(flag && strcmp(value, "MPI_THREAD_SINGLE") == 0);
        OK(MPI_Info_free(&info));
        OK(MPI_Session_finalize(&session));
    }
}

/* Names of sets are identifiers of resources: upper and lower case are the same in them. */
static void cases(MPI_Session session)
{
    static const char *const names[] = {"mpi://world", "MPI://World", "mpi://self", "Mpi://sELF"};
    for (int i = 0; i < 4; i++) {
        MPI_Group group;
        MPI_Info info;
        int size = -1;
        OK(MPI_Group_from_session_pset(session, names[i], &group));
        OK(MPI_Group_size(group, &size));
        CHECK(size == (i < 2 ? size_ : 1));
        OK(MPI_Group_free(&group));
        OK(MPI_Session_get_pset_info(session, names[i], &info));
        OK(MPI_Info_free(&info));
    }
}
#endif

static void sets(MPI_Session session)
{
    int count, length, world = 0, self = 0, flag;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        char name[MPI_MAX_PSET_NAME_LEN], value[16];
        MPI_Info info;
        length = 0;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        CHECK(length > 1 && length <= (int)sizeof name);
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        CHECK((int)strlen(name) == length - 1);
        world |= strcmp(name, "mpi://WORLD") == 0;
        self |= strcmp(name, "mpi://SELF") == 0;
        OK(MPI_Session_get_pset_info(session, name, &info));
        OK(MPI_Info_get(info, "mpi_size", 15, value, &flag));
        CHECK(flag && atoi(value) >= 1);
        OK(MPI_Info_free(&info));
    }
    CHECK(world && self);
}

int main(int argc, char **argv)
{
    MPI_Session session, other;
    MPI_Errhandler mine;
    MPI_Info info;
    int provided, level, flag;
    /* Before the world model. */
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other) == MPI_SUCCESS);
    CHECK(MPI_Session_create_errhandler(handler, &mine) == MPI_SUCCESS);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
    use(other, "mpi://WORLD", "before", 0);
    use(other, "mpi://SELF", "alone", 1);
    CHECK(MPI_Session_init(MPI_INFO_NULL, mine, &session) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&other) == MPI_SUCCESS && other == MPI_SESSION_NULL);
    /* Together. */
    CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Query_thread(&level));
    CHECK(level == provided);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    use(session, "mpi://WORLD", "beside", size_);
    sets(session);
    OK(MPI_Session_get_info(session, &info));
    OK(MPI_Info_free(&info));
#if MPI_VERSION >= 5
    int before = checks_;
    CHECK(provided == MPI_THREAD_SINGLE);
    attributes(session, "mpi://WORLD", "attributes");
    attributes(session, "mpi://SELF", "of one");
    levels();
    cases(session);
    checks_ = before;
#endif
    CHECK(called == 0);
    OK(MPI_Session_set_errhandler(session, mine));
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK(called == 1);
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    CHECK(MPI_Session_get_errhandler(session, &mine) == MPI_SUCCESS && mine == MPI_ERRORS_RETURN);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    use(other, "mpi://WORLD", "two", size_);
    OK(MPI_Session_finalize(&other));
    FAILS(MPI_ERR_SESSION, MPI_Session_get_info(MPI_SESSION_NULL, &info));
    int failed = finish("sessions");
    /* After the world model. */
    use(session, "mpi://WORLD", "after", size_);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
    return failed || failures_;
}
