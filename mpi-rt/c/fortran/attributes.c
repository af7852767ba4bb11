/* Attributes from Fortran (MPI-5.0, sections 7.7 and 19.3.7): keys with functions of the program, and values.

   A value that Fortran sets is an integer of an address's size. C sees it as the address of that integer, so it gets a cell of its own, which
   stays where it is until the attribute is deleted; under a key that was made in C, whose functions know nothing of cells, for good. What C
   sets is an address, and Fortran sees that address as an integer. Cells are in a list: an address that is in it was set by Fortran. */
#include "fortran.h"

#include <stdatomic.h>

/* Any thread may set attributes: who has the flag has the list, for a few instructions, and calls nothing meanwhile. Clearing releases what
   the next one that sets it acquires. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void take_list(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void leave_list(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static struct cell {
    /* First: the attribute is the address of this. In its low half, an integer of the names of MPI-1. */
    MPI_Aint value;
    struct cell *next;
} *cells;

/* A cell with a value, or NULL if there is no memory. */
static void *cell_of(MPI_Aint value)
{
    struct cell *cell = malloc(sizeof *cell);
    if (!cell)
        return NULL;
    take_list();
    *cell = (struct cell){value, cells};
    cells = cell;
    leave_list();
    return cell;
}

/* Where the list points to an attribute's cell; to NULL if C has set it. */
static struct cell **link_of(const void *attribute)
{
    struct cell **link = &cells;
    while (*link && *link != attribute)
        link = &(*link)->next;
    return link;
}

static MPI_Aint value_of(const void *attribute)
{
    take_list();
    const struct cell *cell = *link_of(attribute);
    MPI_Aint value = cell ? cell->value : (MPI_Aint)(intptr_t)attribute;
    leave_list();
    return value;
}

static void give_back(const void *attribute)
{
    take_list();
    struct cell **link = link_of(attribute), *cell = *link;
    if (cell)
        *link = cell->next;
    leave_list();
    free(cell);
}

/* The key's functions and the state that the program gives them. It is needed as long as any object has an attribute under
   the key, also after the key has been freed, and so is never given back: a few words for each key. */
typedef void copy_function(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out, MPI_Fint *flag,
                           MPI_Fint *ierror);
typedef void delete_function(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra, MPI_Fint *ierror);

struct key {
    copy_function *copy;
    delete_function *delete;
    MPI_Aint extra;
};

static struct key *key_of(copy_function *copy, delete_function *delete, MPI_Aint extra, MPI_Fint *ierror)
{
    struct key *key = malloc(sizeof *key);
    *ierror = key ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (key)
        *key = (struct key){copy, delete, extra};
    return key;
}

/* Hands out what a copy function has answered. */
static int copy_of(MPI_Aint to, MPI_Fint set, MPI_Fint ierror, void *out, int *flag)
{
    *flag = 0;
    if (ierror != MPI_SUCCESS || !set)
        return ierror;
    void *cell = cell_of(to);
    if (!cell)
        return MPI_ERR_NO_MEM;
    *(void **)out = cell;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copied(struct key *key, MPI_Fint object, MPI_Fint keyval, void *in, void *out, int *flag)
{
    MPI_Aint from = value_of(in), to = 0;
    MPI_Fint ierror = MPI_SUCCESS, set = 0;
    key->copy(&object, &keyval, &key->extra, &from, &to, &set, &ierror);
    return copy_of(to, set, ierror, out, flag);
}

static int deleted(struct key *key, MPI_Fint object, MPI_Fint keyval, void *value)
{
    MPI_Aint from = value_of(value);
    MPI_Fint ierror = MPI_SUCCESS;
    key->delete(&object, &keyval, &from, &key->extra, &ierror);
    if (ierror == MPI_SUCCESS)
        give_back(value);
    return ierror;
}

/* The predefined functions, which a Fortran program may also call. */
#define PREDEFINED(name)                                                                                                  \
    void mpi_##name##_null_copy_fn_(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *);  \
    void mpi_##name##_null_copy_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out,     \
                                    MPI_Fint *flag, MPI_Fint *ierror)                                                     \
    {                                                                                                                     \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;                                                     \
        *flag = 0;                                                                                                        \
        *ierror = MPI_SUCCESS;                                                                                            \
    }                                                                                                                     \
    void mpi_##name##_dup_fn_(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *);        \
    void mpi_##name##_dup_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out,           \
                              MPI_Fint *flag, MPI_Fint *ierror)                                                           \
    {                                                                                                                     \
        (void)object, (void)keyval, (void)extra;                                                                          \
        *out = *in;                                                                                                       \
        *flag = 1;                                                                                                        \
        *ierror = MPI_SUCCESS;                                                                                            \
    }                                                                                                                     \
    void mpi_##name##_null_delete_fn_(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *);                        \
    void mpi_##name##_null_delete_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra, MPI_Fint *ierror) \
    {                                                                                                                     \
        (void)object, (void)keyval, (void)value, (void)extra;                                                             \
        *ierror = MPI_SUCCESS;                                                                                            \
    }

/* Keys of a kind of object, and the values under them that the program sets. */
#define ATTRIBUTES(name, Kind)                                                                                            \
    PREDEFINED(name)                                                                                                      \
    static int copy_##name(MPI_##Kind object, int keyval, void *extra, void *in, void *out, int *flag)                    \
    {                                                                                                                     \
        return copied(extra, CONVERT_##Kind(object), keyval, in, out, flag);                                              \
    }                                                                                                                     \
    static int delete_##name(MPI_##Kind object, int keyval, void *value, void *extra)                                     \
    {                                                                                                                     \
        return deleted(extra, CONVERT_##Kind(object), keyval, value);                                                     \
    }                                                                                                                     \
    FORTRAN(name##_create_keyval, (copy_function *copy, delete_function *delete, MPI_Fint *keyval, const MPI_Aint *extra, \
                                   MPI_Fint *ierror))                                                                     \
    {                                                                                                                     \
        struct key *key = key_of(copy, delete, *extra, ierror);                                                           \
        if (key)                                                                                                          \
            *ierror = CREATE_##Kind(copy_##name, delete_##name, keyval, key);                                             \
    }

#define CONVERT_Comm MPI_Comm_c2f
#define CONVERT_Datatype MPI_Type_c2f
#define CONVERT_Win MPI_Win_c2f
#define CREATE_Comm MPI_Comm_create_keyval
#define CREATE_Datatype MPI_Type_create_keyval
#define CREATE_Win MPI_Win_create_keyval

ATTRIBUTES(comm, Comm)
ATTRIBUTES(type, Datatype)
ATTRIBUTES(win, Win)

/* Sets one; the cell is not needed if that fails. */
#define SET(name, Kind)                                                                                                  \
    FORTRAN(name##_set_attr, (const MPI_Fint *object, const MPI_Fint *keyval, const MPI_Aint *value, MPI_Fint *ierror)) \
    {                                                                                                                    \
        void *cell = cell_of(*value);                                                                                    \
        *ierror = cell ? MPI_##Kind##_set_attr(MPI_##Kind##_f2c(*object), *keyval, cell) : MPI_ERR_NO_MEM;               \
        if (*ierror != MPI_SUCCESS)                                                                                      \
            give_back(cell);                                                                                             \
    }

SET(comm, Comm)
SET(type, Type)
SET(win, Win)

/* The predefined ones are addresses of integers in C. */
FORTRAN(comm_get_attr, (const MPI_Fint *comm, const MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror))
{
    void *attribute = NULL;
    *ierror = MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &attribute, flag);
    if (*ierror != MPI_SUCCESS || !*flag)
        return;
    int predefined = *keyval >= MPI_TAG_UB && *keyval <= MPI_UNIVERSE_SIZE;
    *value = predefined ? *(int *)attribute : value_of(attribute);
}

FORTRAN(type_get_attr, (const MPI_Fint *type, const MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror))
{
    void *attribute = NULL;
    *ierror = MPI_Type_get_attr(MPI_Type_f2c(*type), *keyval, &attribute, flag);
    if (*ierror == MPI_SUCCESS && *flag)
        *value = value_of(attribute);
}

/* Of the predefined ones the base is an address in C, the others are addresses of numbers. */
FORTRAN(win_get_attr, (const MPI_Fint *win, const MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror))
{
    void *attribute = NULL;
    *ierror = MPI_Win_get_attr(MPI_Win_f2c(*win), *keyval, &attribute, flag);
    if (*ierror != MPI_SUCCESS || !*flag)
        return;
    if (*keyval == MPI_WIN_BASE)
        *value = (MPI_Aint)(intptr_t)attribute;
    else if (*keyval == MPI_WIN_SIZE)
        *value = *(MPI_Aint *)attribute;
    else if (*keyval == MPI_WIN_DISP_UNIT || *keyval == MPI_WIN_CREATE_FLAVOR || *keyval == MPI_WIN_MODEL)
        *value = *(int *)attribute;
    else
        *value = value_of(attribute);
}

/* The same with the names of MPI-1: values, and the state, are default integers. */
typedef void old_copy_function(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *in, MPI_Fint *out, MPI_Fint *flag,
                               MPI_Fint *ierror);
typedef void old_delete_function(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *extra, MPI_Fint *ierror);

struct old_key {
    old_copy_function *copy;
    old_delete_function *delete;
    MPI_Fint extra;
};

static int copy_old(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    struct old_key *key = extra;
    MPI_Fint object = MPI_Comm_c2f(comm), number = keyval, from = (MPI_Fint)value_of(in), to = 0, set = 0, ierror = MPI_SUCCESS;
    key->copy(&object, &number, &key->extra, &from, &to, &set, &ierror);
    return copy_of(to, set, ierror, out, flag);
}

static int delete_old(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct old_key *key = extra;
    MPI_Fint object = MPI_Comm_c2f(comm), number = keyval, from = (MPI_Fint)value_of(value), ierror = MPI_SUCCESS;
    key->delete(&object, &number, &from, &key->extra, &ierror);
    if (ierror == MPI_SUCCESS)
        give_back(value);
    return ierror;
}

FORTRAN(keyval_create, (old_copy_function *copy, old_delete_function *delete, MPI_Fint *keyval, const MPI_Fint *extra,
                        MPI_Fint *ierror))
{
    struct old_key *key = malloc(sizeof *key);
    if (!key) {
        *ierror = MPI_ERR_NO_MEM;
        return;
    }
    *key = (struct old_key){copy, delete, *extra};
    *ierror = MPI_Comm_create_keyval(copy_old, delete_old, keyval, key);
}

FORTRAN(attr_put, (const MPI_Fint *comm, const MPI_Fint *keyval, const MPI_Fint *value, MPI_Fint *ierror))
{
    MPI_Aint wide = *value;
    pmpi_comm_set_attr_(comm, keyval, &wide, ierror);
}

FORTRAN(attr_get, (const MPI_Fint *comm, const MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror))
{
    MPI_Aint wide = 0;
    pmpi_comm_get_attr_(comm, keyval, &wide, flag, ierror);
    if (*ierror == MPI_SUCCESS && *flag)
        *value = (MPI_Fint)wide;
}

void mpi_null_copy_fn_(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_null_copy_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *in, MPI_Fint *out, MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    *ierror = MPI_SUCCESS;
}

void mpi_dup_fn_(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_dup_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *in, MPI_Fint *out, MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)comm, (void)keyval, (void)extra;
    *out = *in;
    *flag = 1;
    *ierror = MPI_SUCCESS;
}

void mpi_null_delete_fn_(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_null_delete_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *extra, MPI_Fint *ierror)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    *ierror = MPI_SUCCESS;
}
