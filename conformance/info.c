/* Info objects (MPI-5.0, chapter 10). */
#include "check.h"

static void keys(void)
{
    MPI_Info info, twin;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int flag, count, length;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count == 0);
    OK(MPI_Info_set(info, "first", "1"));
    OK(MPI_Info_set(info, "second", "two words"));
    OK(MPI_Info_set(info, "first", "one"));
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count == 2);
    OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(strcmp(key, "first") == 0);
    OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK(strcmp(key, "second") == 0);
    OK(MPI_Info_get(info, "second", MPI_MAX_INFO_VAL, value, &flag));
    CHECK(flag && strcmp(value, "two words") == 0);
    OK(MPI_Info_get_valuelen(info, "second", &length, &flag));
    CHECK(flag && length == 9);
    length = 0;
    OK(MPI_Info_get_string(info, "second", &length, value, &flag));
    CHECK(flag && length == 10);
    OK(MPI_Info_get_string(info, "second", &length, value, &flag));
    CHECK(flag && length == 10 && strcmp(value, "two words") == 0);
    length = 4;
    OK(MPI_Info_get_string(info, "second", &length, value, &flag));
    CHECK(flag && length == 10 && strcmp(value, "two") == 0);
    OK(MPI_Info_get(info, "third", MPI_MAX_INFO_VAL, value, &flag));
    CHECK(!flag);
    OK(MPI_Info_dup(info, &twin));
    OK(MPI_Info_delete(info, "first"));
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count == 1);
    OK(MPI_Info_get(twin, "first", MPI_MAX_INFO_VAL, value, &flag));
    CHECK(flag && strcmp(value, "one") == 0);
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "first"));
    FAILS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 1, key));
    OK(MPI_Info_free(&twin));
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
}

static void limits(void)
{
    MPI_Info info;
    static char key[MPI_MAX_INFO_KEY + 2], value[MPI_MAX_INFO_VAL + 2], got[MPI_MAX_INFO_VAL + 2];
    int flag, count;
    memset(key, 'k', MPI_MAX_INFO_KEY - 1);
    memset(value, 'v', MPI_MAX_INFO_VAL - 1);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, got, &flag));
    CHECK(flag && strcmp(got, value) == 0);
    key[MPI_MAX_INFO_KEY - 1] = key[MPI_MAX_INFO_KEY] = 'k';
    value[MPI_MAX_INFO_VAL - 1] = value[MPI_MAX_INFO_VAL] = 'v';
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "1"));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "1"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "key", value));
    OK(MPI_Info_free(&info));
    CHECK(MPI_Info_get_nkeys(MPI_INFO_NULL, &count) != MPI_SUCCESS);
    CHECK(MPI_Info_free(&info) != MPI_SUCCESS);
}

static void used_by_others(char **argv, int argc)
{
    MPI_Info info, used;
    MPI_Comm comm;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag, count;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    OK(MPI_Comm_get_info(comm, &used));
    OK(MPI_Info_get(used, "mpi_assert_no_any_tag", 10, value, &flag));
    CHECK(!flag || strcmp(value, "true") == 0);
    OK(MPI_Info_free(&used));
    OK(MPI_Comm_set_info(comm, info));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &count));
    CHECK(count >= 0);
    OK(MPI_Info_create_env(argc, argv, &info));
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count >= 0);
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_Info early;
    /* Info objects may be used before the start. */
    CHECK(MPI_Info_create(&early) == MPI_SUCCESS && MPI_Info_set(early, "a", "b") == MPI_SUCCESS);
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Info_free(&early));
    keys();
    limits();
    used_by_others(argv, argc);
    return finish("info");
}
