/* The tool interface (MPI-5.0, chapter 15). What variables there are is the library's own affair, so that only how they behave is checked. */
#include "check.h"

static void control(void)
{
    int count = -1, index = -1, verbosity, bind, scope, elements = 0;
    char name[256], text[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_num(&count) == MPI_SUCCESS && count >= 0);
    for (int i = 0; i < count; i++) {
        int room = sizeof name, more = sizeof text;
        if (MPI_T_cvar_get_info(i, name, &room, &verbosity, &type, &enumeration, text, &more, &bind, &scope) != MPI_SUCCESS)
            continue;
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
        if (bind != MPI_T_BIND_NO_OBJECT || type != MPI_UNSIGNED_LONG)
            continue;
        unsigned long value[64] = {0};
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements) == MPI_SUCCESS && elements >= 1);
        CHECK(MPI_T_cvar_read(handle, value) == MPI_SUCCESS);
        if (scope == MPI_T_SCOPE_CONSTANT)
            CHECK(MPI_T_cvar_write(handle, value) == MPI_T_ERR_CVAR_SET_NEVER);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    }
    int room = sizeof name, more = sizeof text;
    CHECK(MPI_T_cvar_get_info(count, name, &room, &verbosity, &type, &enumeration, text, &more, &bind, &scope) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_index("no such variable", &index) == MPI_T_ERR_INVALID_NAME);
}

/* The forms of collectives can be set while MPI runs, to the same in all ranks. */
static void settable(void)
{
    int count = 0, index, verbosity, bind, scope, elements, seen = 0;
    char name[256], text[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_num(&count) == MPI_SUCCESS);
    for (index = 0; index < count; index++) {
        int room = sizeof name, more = sizeof text, items = 0, wanted, before = -1;
        if (MPI_T_cvar_get_info(index, name, &room, &verbosity, &type, &enumeration, text, &more, &bind, &scope) != MPI_SUCCESS)
            continue;
        if (type != MPI_INT || enumeration == MPI_T_ENUM_NULL || scope != MPI_T_SCOPE_ALL_EQ || bind != MPI_T_BIND_NO_OBJECT)
            continue;
        room = sizeof name;
        CHECK(MPI_T_enum_get_info(enumeration, &items, name, &room) == MPI_SUCCESS && items >= 1);
        if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements) != MPI_SUCCESS || elements != 1 ||
            MPI_T_cvar_read(handle, &before) != MPI_SUCCESS)
            continue;
        seen++;
        for (int item = 0; item < items; item++) {
            room = sizeof name;
            CHECK(MPI_T_enum_get_item(enumeration, item, &wanted, name, &room) == MPI_SUCCESS && room > 1);
#ifndef MPICH
            int sums[2] = {-1, -1}, both[2] = {rank_, 1}, to[8] = {0}, value = -1;
            CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
            CHECK(MPI_T_cvar_write(handle, &wanted) == MPI_SUCCESS);
            CHECK(MPI_T_cvar_read(handle, &value) == MPI_SUCCESS && value == wanted);
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Allreduce(both, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            CHECK(sums[0] == size_ * (size_ - 1) / 2 && sums[1] == size_);
            sums[1] = -1;
            OK(MPI_Reduce(both, sums, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
            CHECK(rank_ != 0 || sums[1] == size_);
            OK(MPI_Bcast(both, 1, MPI_INT, 0, MPI_COMM_WORLD));
            CHECK(both[0] == 0);
            if (size_ <= 8) {
                int from[8] = {0};
                for (int i = 0; i < size_; i++)
                    from[i] = 10 * rank_ + i;
                OK(MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD));
                for (int i = 0; i < size_; i++)
                    CHECK(to[i] == 10 * i + rank_);
            }
#endif
        }
        room = sizeof name;
        CHECK(MPI_T_enum_get_item(enumeration, items, &wanted, name, &room) != MPI_SUCCESS);
        CHECK(MPI_T_enum_get_item(enumeration, -1, &wanted, name, &room) != MPI_SUCCESS);
#ifndef MPICH
        int value = items;
        CHECK(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_INVALID);
        value = -1;
        CHECK(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_INVALID);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_T_cvar_write(handle, &before) == MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
#endif
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
    }
#ifndef MPICH
    CHECK(seen == 5);
#endif
    (void)seen;
}

/* Variables of a handle count while they are started. */
static void started_and_stopped(void)
{
    int count = 0, verbosity, class, bind, readonly, continuous, atomic, elements, seen = 0;
    char name[256], text[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_num(&count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS && MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
    for (int i = 0; i < count; i++) {
        int room = sizeof name, more = sizeof text;
        unsigned long first = 77, second = 77, third = 77;
        if (MPI_T_pvar_get_info(i, name, &room, &verbosity, &class, &type, &enumeration, text, &more, &bind, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS)
            continue;
        if (class != MPI_T_PVAR_CLASS_TIMER || continuous || readonly || !atomic || type != MPI_UNSIGNED_LONG || bind != MPI_T_BIND_NO_OBJECT)
            continue;
        seen++;
        CHECK(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &elements) == MPI_SUCCESS && elements == 1);
        CHECK(MPI_T_pvar_read(session, handle, &first) == MPI_SUCCESS && first == 0);
        CHECK(MPI_T_pvar_start(session, handle) == MPI_SUCCESS);
        double until = MPI_Wtime() + 1e-4;
        while (MPI_Wtime() < until)
            ;
        CHECK(MPI_T_pvar_read(session, handle, &first) == MPI_SUCCESS && first > 0);
        CHECK(MPI_T_pvar_stop(session, handle) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_read(session, handle, &second) == MPI_SUCCESS && second >= first);
        CHECK(MPI_T_pvar_readreset(session, handle, &third) == MPI_SUCCESS && third == second);
        CHECK(MPI_T_pvar_read(session, handle, &third) == MPI_SUCCESS && third == 0);
        first = 1234;
        CHECK(MPI_T_pvar_write(session, handle, &first) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_read(session, handle, &third) == MPI_SUCCESS && third == 1234);
        CHECK(MPI_T_pvar_reset(session, handle) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_read(session, handle, &third) == MPI_SUCCESS && third == 0);
        CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
        until = MPI_Wtime() + 1e-4;
        while (MPI_Wtime() < until)
            ;
        CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_read(session, handle, &third) == MPI_SUCCESS && third > 0);
        CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_read(session, handle, &third) == MPI_SUCCESS && third == 0);
        /* Handles are their session's. */
        CHECK(MPI_T_pvar_read(other, handle, &third) == MPI_T_ERR_INVALID_HANDLE);
        CHECK(MPI_T_pvar_handle_free(other, &handle) == MPI_T_ERR_INVALID_HANDLE);
        MPI_T_pvar_handle old = handle;
        CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS && handle == MPI_T_PVAR_HANDLE_NULL);
#ifndef MPICH
        CHECK(MPI_T_pvar_start(session, old) == MPI_T_ERR_INVALID_HANDLE);
#endif
        (void)old;
    }
#ifndef MPICH
    CHECK(seen == 1);
    MPI_T_pvar_session gone = session;
#endif
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && MPI_T_pvar_session_free(&other) == MPI_SUCCESS);
#ifndef MPICH
    CHECK(MPI_T_pvar_start(gone, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
#endif
    (void)seen;
}

#if MPI_VERSION >= 4 && !defined(MPICH)
/* There are no events: no index, handle or instance is one. */
static void no_events(void)
{
    int number = -1, index = -1, room = 8;
    char name[8];
    MPI_Count stamp, ticks, most;
    MPI_T_source_order order;
    MPI_Info info = MPI_INFO_NULL;
    MPI_T_event_registration registration = 0;
    char buffer[8];
    CHECK(MPI_T_event_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_source_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_event_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_get_info(0, name, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_handle_alloc(0, NULL, info, &registration) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_info(0, name, &room, NULL, NULL, &order, &ticks, &most, &info) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(0, &stamp) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_handle_set_info(registration, info) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_handle_get_info(registration, &info) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, info, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, info) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_set_dropped_handler(registration, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_read(NULL, 0, buffer) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_copy(NULL, buffer) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_timestamp(NULL, &stamp) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_source(NULL, &index) == MPI_T_ERR_INVALID_HANDLE);
}
#endif

static void performance(void)
{
    int count = -1, verbosity, class, bind, readonly, continuous, atomic, elements = 0, seen = 0;
    char name[256], text[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_num(&count) == MPI_SUCCESS && count >= 0);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    for (int i = 0; i < count; i++) {
        int room = sizeof name, more = sizeof text, index = -1;
        CHECK(MPI_T_pvar_get_info(i, name, &room, &verbosity, &class, &type, &enumeration, text, &more, &bind, &readonly,
                                  &continuous, &atomic) == MPI_SUCCESS);
        CHECK((int)strlen(name) + 1 == room);
        CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS && index == i);
        if (bind != MPI_T_BIND_NO_OBJECT || !continuous || type != MPI_UNSIGNED_LONG)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &elements) != MPI_SUCCESS)
            continue;
        unsigned long value[64] = {0};
        CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
        CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
        CHECK(MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS);
        if (readonly) {
            CHECK(MPI_T_pvar_write(session, handle, value) == MPI_T_ERR_PVAR_NO_WRITE);
            CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
            CHECK(MPI_T_pvar_readreset(session, handle, value) != MPI_SUCCESS);
        }
        CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS && handle == MPI_T_PVAR_HANDLE_NULL);
        seen++;
    }
    (void)seen;
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
}

static void categories(void)
{
    int count = -1, cvars, pvars, below, changed = -1, index = -1, events = -1;
    char name[256], text[1024];
    CHECK(MPI_T_category_get_num(&count) == MPI_SUCCESS);
    for (int i = 0; i < count; i++) {
        int room = sizeof name, more = sizeof text, indices[256];
        CHECK(MPI_T_category_get_info(i, name, &room, text, &more, &cvars, &pvars, &below) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_category_get_cvars(i, 256, indices) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_pvars(i, 256, indices) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_categories(i, 256, indices) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_num_events(i, &events) == MPI_SUCCESS && events >= 0);
        CHECK(MPI_T_category_get_events(i, 256, indices) == MPI_SUCCESS);
    }
    CHECK(MPI_T_category_changed(&changed) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events >= 0);
    CHECK(MPI_T_source_get_num(&events) == MPI_SUCCESS && events >= 0);
}

int main(int argc, char **argv)
{
    int provided = -1, count;
    /* The interface is there before MPI is, and afterwards. */
    CHECK(MPI_T_cvar_get_num(&count) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    begin(&argc, &argv);
    control();
    settable();
    performance();
    started_and_stopped();
    categories();
#if MPI_VERSION >= 4 && !defined(MPICH)
    no_events();
#endif
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&count) == MPI_T_ERR_NOT_INITIALIZED);
    /* How many variables there are differs between libraries, so the number of checks does. */
    checks_ = 0;
    return finish("tools");
}
