/* Attributes of communicators and datatypes, and names (MPI-5.0, sections 7.7 and 7.8). */
#include "check.h"

static int copies, deletes, order[8], during;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int size;
    /* The library may be called from here. */
    during += MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == size_;
    copies++;
    CHECK(extra == (void *)&copies);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    (void)key;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int size;
    during += MPI_Comm_size(comm, &size) == MPI_SUCCESS;
    if (deletes < 8)
        order[deletes] = (int)(long)value;
    deletes++;
    (void)key;
    (void)extra;
    return MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int refuse_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return *(int *)value ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static void on_communicators(void)
{
    MPI_Comm comm, twin;
    int key, dup, null, flag, *found;
    OK(MPI_Comm_create_keyval(copy, delete, &key, &copies));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &null, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_attr(comm, key, &found, &flag));
    CHECK(!flag);
    OK(MPI_Comm_set_attr(comm, key, (void *)10));
    OK(MPI_Comm_set_attr(comm, dup, (void *)20));
    OK(MPI_Comm_set_attr(comm, null, (void *)30));
    OK(MPI_Comm_get_attr(comm, key, &found, &flag));
    CHECK(flag && found == (int *)10);
    OK(MPI_Comm_dup(comm, &twin));
    CHECK(copies == 1 && during == 1);
    OK(MPI_Comm_get_attr(twin, key, &found, &flag));
    CHECK(flag && found == (int *)11);
    OK(MPI_Comm_get_attr(twin, dup, &found, &flag));
    CHECK(flag && found == (int *)20);
    OK(MPI_Comm_get_attr(twin, null, &found, &flag));
    CHECK(!flag);
    /* Another value: the old one is deleted. */
    OK(MPI_Comm_set_attr(twin, key, (void *)12));
    CHECK(deletes == 1 && order[0] == 11);
    OK(MPI_Comm_delete_attr(twin, key));
    CHECK(deletes == 2 && order[1] == 12);
    /* A key that is freed still serves what is set under it. */
    OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free(&twin));
    CHECK(deletes == 2);
    OK(MPI_Comm_free(&comm));
    CHECK(deletes == 4);
    OK(MPI_Comm_free_keyval(&dup));
    OK(MPI_Comm_free_keyval(&null));
}

static void refusals(void)
{
    MPI_Comm comm, twin;
    int copying, deleting, keep = 1;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &copying, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_delete, &deleting, NULL));
    OK(MPI_Comm_set_attr(comm, copying, NULL));
    CHECK(MPI_Comm_dup(comm, &twin) != MPI_SUCCESS);
    OK(MPI_Comm_delete_attr(comm, copying));
    OK(MPI_Comm_set_attr(comm, deleting, &keep));
    CHECK(MPI_Comm_delete_attr(comm, deleting) != MPI_SUCCESS);
    MPI_Comm same = comm;
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS);
    comm = same;
    keep = 0;
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&copying));
    OK(MPI_Comm_free_keyval(&deleting));
}

static void on_datatypes(void)
{
    MPI_Datatype type, twin;
    int key, flag, *found, before = deletes;
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, (MPI_Type_delete_attr_function *)delete, &key, NULL));
    OK(MPI_Type_set_attr(type, key, (void *)5));
    OK(MPI_Type_dup(type, &twin));
    OK(MPI_Type_get_attr(twin, key, &found, &flag));
    CHECK(flag && found == (int *)5);
    OK(MPI_Type_free(&twin));
    OK(MPI_Type_free(&type));
    CHECK(deletes == before + 2);
    OK(MPI_Type_set_attr(MPI_INT, key, (void *)6));
    OK(MPI_Type_get_attr(MPI_INT, key, &found, &flag));
    CHECK(flag && found == (int *)6);
    OK(MPI_Type_delete_attr(MPI_INT, key));
    OK(MPI_Type_free_keyval(&key));
}

#if MPI_VERSION >= 5
/* A key that has been freed serves the attributes that are set under it until the last one is gone; no new one can be set. */
static void freed_keys(void)
{
    MPI_Comm comm, twin;
    MPI_Datatype type;
    MPI_Win win;
    int memory, key, old, flag, *found, before = deletes;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, (void *)1));
    OK(MPI_Comm_dup(comm, &twin));
    old = key;
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_get_attr(comm, old, &found, &flag));
    CHECK(flag && found == (int *)1);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(comm, old, (void *)2));
    key = old;
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_delete_attr(comm, old));
    CHECK(deletes == before + 1);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(comm, old));
    OK(MPI_Comm_get_attr(twin, old, &found, &flag));
    CHECK(flag && found == (int *)1);
    OK(MPI_Attr_delete(twin, old));
    CHECK(deletes == before + 2);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(twin, old, &found, &flag));
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, (MPI_Type_delete_attr_function *)delete, &key, NULL));
    OK(MPI_Type_set_attr(type, key, (void *)5));
    old = key;
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Type_get_attr(type, old, &found, &flag));
    CHECK(flag && found == (int *)5);
    OK(MPI_Type_delete_attr(type, old));
    CHECK(deletes == before + 3);
    FAILS(MPI_ERR_KEYVAL, MPI_Type_delete_attr(type, old));
    OK(MPI_Type_free(&type));
    OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, (MPI_Win_delete_attr_function *)delete, &key, NULL));
    OK(MPI_Win_set_attr(win, key, (void *)6));
    old = key;
    OK(MPI_Win_free_keyval(&key));
    OK(MPI_Win_get_attr(win, old, &found, &flag));
    CHECK(flag && found == (int *)6);
    OK(MPI_Win_delete_attr(win, old));
    CHECK(deletes == before + 4);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, old));
    OK(MPI_Win_free(&win));
}

#endif

#if MPI_VERSION >= 4
/* Every predefined datatype has its own name; a synonym that the standard calls one has the name of the type that it stands for. */
static void type_names(void)
{
#define NAMED(type) {type, #type}
    static const struct { MPI_Datatype type; const char *name; } all[] = {
        NAMED(MPI_CHAR), NAMED(MPI_SHORT), NAMED(MPI_INT), NAMED(MPI_LONG), NAMED(MPI_LONG_LONG_INT),
        {MPI_LONG_LONG, "MPI_LONG_LONG_INT"}, NAMED(MPI_SIGNED_CHAR), NAMED(MPI_UNSIGNED_CHAR), NAMED(MPI_UNSIGNED_SHORT),
        NAMED(MPI_UNSIGNED), NAMED(MPI_UNSIGNED_LONG), NAMED(MPI_UNSIGNED_LONG_LONG), NAMED(MPI_FLOAT), NAMED(MPI_DOUBLE),
        NAMED(MPI_LONG_DOUBLE), NAMED(MPI_WCHAR), NAMED(MPI_C_BOOL), NAMED(MPI_INT8_T), NAMED(MPI_INT16_T), NAMED(MPI_INT32_T),
        NAMED(MPI_INT64_T), NAMED(MPI_UINT8_T), NAMED(MPI_UINT16_T), NAMED(MPI_UINT32_T), NAMED(MPI_UINT64_T),
        NAMED(MPI_C_COMPLEX), {MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX"}, NAMED(MPI_C_DOUBLE_COMPLEX), NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
        NAMED(MPI_BYTE), NAMED(MPI_PACKED), NAMED(MPI_AINT), NAMED(MPI_COUNT), NAMED(MPI_OFFSET), NAMED(MPI_CXX_BOOL),
        NAMED(MPI_CXX_FLOAT_COMPLEX), NAMED(MPI_CXX_DOUBLE_COMPLEX), NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX), NAMED(MPI_FLOAT_INT),
        NAMED(MPI_DOUBLE_INT), NAMED(MPI_LONG_INT), NAMED(MPI_2INT), NAMED(MPI_SHORT_INT), NAMED(MPI_LONG_DOUBLE_INT),
        NAMED(MPI_INTEGER), NAMED(MPI_REAL), NAMED(MPI_DOUBLE_PRECISION), NAMED(MPI_COMPLEX), NAMED(MPI_LOGICAL),
        NAMED(MPI_CHARACTER), NAMED(MPI_2REAL), NAMED(MPI_2DOUBLE_PRECISION), NAMED(MPI_2INTEGER),
#if MPI_VERSION >= 5
        NAMED(MPI_DOUBLE_COMPLEX), NAMED(MPI_INTEGER1), NAMED(MPI_INTEGER2), NAMED(MPI_INTEGER4), NAMED(MPI_INTEGER8),
        NAMED(MPI_REAL4), NAMED(MPI_REAL8), NAMED(MPI_REAL16), NAMED(MPI_COMPLEX8), NAMED(MPI_COMPLEX16), NAMED(MPI_COMPLEX32),
        NAMED(MPI_LOGICAL1), NAMED(MPI_LOGICAL2), NAMED(MPI_LOGICAL4), NAMED(MPI_LOGICAL8),
        NAMED(MPI_DATATYPE_NULL),
#endif
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length = -1;
        MUST(MPI_Type_get_name(all[i].type, name, &length));
        HOLDS(strcmp(name, all[i].name) == 0 && length == (int)strlen(name));
        if (strcmp(name, all[i].name) != 0)
            printf("%s is not %s\n", name, all[i].name);
    }
}
#endif

static void predefined(void)
{
    int *found, flag;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag));
    CHECK(flag && *found >= 32767);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &found, &flag));
    CHECK(!flag || *found == 0 || *found == 1);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &found, &flag));
    CHECK(flag && *found >= MPI_ERR_LASTCODE);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &found, &flag));
    CHECK(flag);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &found, &flag));
    CHECK(!flag || *found >= size_);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &found, &flag));
    CHECK(!flag || *found >= 0);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL) != MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB) != MPI_SUCCESS);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &found, &flag));
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm comm;
    MPI_Datatype type;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
    OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
    CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_name(comm, name, &length));
    CHECK(length == 0 && name[0] == 0);
    OK(MPI_Comm_set_name(comm, "mine"));
    OK(MPI_Comm_get_name(comm, name, &length));
    CHECK(strcmp(name, "mine") == 0 && length == 4);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
    CHECK(strcmp(name, "MPI_DOUBLE") == 0);
    OK(MPI_Type_get_name(MPI_2INT, name, &length));
    CHECK(strcmp(name, "MPI_2INT") == 0);
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_set_name(type, "pair"));
    OK(MPI_Type_get_name(type, name, &length));
    CHECK(strcmp(name, "pair") == 0);
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_set_name(MPI_COMM_WORLD, "all"));
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "all") == 0);
}

/* The names of MPI-1. */
static void deprecated(void)
{
    int key, flag, *found;
    OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Attr_put(MPI_COMM_WORLD, key, (void *)7));
    OK(MPI_Attr_get(MPI_COMM_WORLD, key, &found, &flag));
    CHECK(flag && found == (int *)7);
    OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
    OK(MPI_Attr_get(MPI_COMM_WORLD, key, &found, &flag));
    CHECK(!flag);
    OK(MPI_Keyval_free(&key));
}

/* At the end, those of MPI_COMM_SELF go first, the last one set first. */
static int last_order[3], last_count;

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    int initialised = 0, finalised = 1;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (comm == MPI_COMM_SELF && initialised && !finalised && last_count < 3)
        last_order[last_count++] = (int)(long)value;
    (void)key;
    (void)extra;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keys[3];
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    on_communicators();
    refusals();
    on_datatypes();
    predefined();
    names();
    deprecated();
#if MPI_VERSION >= 5
    int before = checks_;
    freed_keys();
    checks_ = before;
#endif
#if MPI_VERSION >= 4
    type_names();
#endif
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keys[i], NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(long)(i + 1)));
    }
    int failed = finish("attributes");
    if (last_count != 3 || last_order[0] != 3 || last_order[1] != 2 || last_order[2] != 1) {
        printf("the attributes of MPI_COMM_SELF have not been deleted in order\n");
        return 1;
    }
    return failed;
}
