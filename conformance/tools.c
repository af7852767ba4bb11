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
        if (readonly)
            CHECK(MPI_T_pvar_write(session, handle, value) == MPI_T_ERR_PVAR_NO_WRITE);
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
    performance();
    categories();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&count) == MPI_T_ERR_NOT_INITIALIZED);
    /* How many variables there are differs between libraries, so the number of checks does. */
    checks_ = 0;
    return finish("tools");
}
