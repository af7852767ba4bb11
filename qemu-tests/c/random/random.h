/* What all parts of the random program share: numbers that every rank draws alike, checks, and random layouts with their oracle.

   `alike()` is drawn by all ranks in the same order, so it decides what they do together; `own()` differs from rank to rank and decides
   only what a rank may choose for itself (the form of a wait, the order of its receives). */
#ifndef RANDOM_H
#define RANDOM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me_, ranks_, checks_;
static uint64_t seed_, alike_, own_;
static int step_;
static const char *doing_ = "";

static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline int alike(int below)
{
    return (int)(mixed(alike_ += 0x9e3779b97f4a7c15u) % (uint64_t)below);
}

static inline int own(int below)
{
    return (int)(mixed(own_ += 0x9e3779b97f4a7c15u) % (uint64_t)below);
}

/* The int at `index` of the data that `key` names. */
static inline int value(uint64_t key, int index)
{
    return (int)mixed(key * 0x100000001b3u + (uint64_t)index + 1);
}

static inline void wrong(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: seed %llu, step %d (%s), rank %d of %d: not so: %s\n", file, line, (unsigned long long)seed_, step_, doing_, me_,
            ranks_, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define THAT(condition) ((void)(checks_++, (condition) ? 0 : (wrong(#condition, __FILE__, __LINE__), 0)))
#define OK(call) THAT((call) == MPI_SUCCESS)

static inline void *memory(size_t bytes)
{
    void *all = malloc(bytes + 64);
    THAT(all != NULL);
    return all;
}

/* --- layouts --- */

/* LARGEST: ints, WIDEST: bytes, of one rank's part in a collective. */
enum { LAYOUTS = 12, LARGEST = 6000, WIDEST = 1 << 20 };

/* A datatype of `ints` ints, the i-th at byte at[i]; items repeat every `ub - lb` bytes. No two ints overlap, also not of several items. */
struct layout {
    MPI_Datatype type;
    int ints;
    ptrdiff_t *at, lb, ub;
};

static struct layout layouts_[LAYOUTS];

static inline ptrdiff_t extent_of(const struct layout *l)
{
    return l->ub - l->lb;
}

static struct layout int_layout(void)
{
    struct layout l = {MPI_INT, 1, memory(sizeof(ptrdiff_t)), 0, sizeof(int)};
    l.at[0] = 0;
    return l;
}

/* `count` blocks of lengths[i] items of `inner`, block i displaced by displacements[i] bytes: what every constructor amounts to. */
static struct layout blocks(const struct layout *inner, int count, const int *lengths, const MPI_Aint *displacements)
{
    struct layout l = {MPI_DATATYPE_NULL, 0, NULL, PTRDIFF_MAX, PTRDIFF_MIN};
    int items = 0;
    for (int i = 0; i < count; i++)
        items += lengths[i];
    l.at = memory((size_t)(items * inner->ints) * sizeof(ptrdiff_t));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < lengths[i]; k++) {
            ptrdiff_t from = displacements[i] + k * extent_of(inner);
            l.lb = from + inner->lb < l.lb ? from + inner->lb : l.lb;
            l.ub = from + inner->ub > l.ub ? from + inner->ub : l.ub;
            for (int j = 0; j < inner->ints; j++)
                l.at[l.ints++] = from + inner->at[j];
        }
    return l;
}

enum { BLOCKS = 5 };

static struct layout random_layout(int depth)
{
    if (depth == 0 || alike(4) == 0)
        return int_layout();
    struct layout inner = random_layout(depth - 1), l;
    MPI_Datatype type, old = inner.type;
    ptrdiff_t extent = extent_of(&inner);
    int count = 1 + alike(BLOCKS), lengths[BLOCKS], scaled[BLOCKS];
    MPI_Aint bytes[BLOCKS];
    ptrdiff_t next = 0;
    int same = 1 + alike(3), gap = alike(3), kind = alike(9);
    for (int i = 0; i < count; i++) { /* of different lengths, with gaps of whole items */
        int equal = kind <= 2 || kind == 5;
        lengths[i] = kind == 0 ? 1 : equal ? same : 1 + alike(3);
        scaled[i] = (int)next;
        next += kind == 0 ? 1 : equal && kind != 5 ? same + gap : lengths[i] + alike(3);
    }
    if (kind >= 3 && kind <= 6) /* in any order */
        for (int i = count - 1; i > 0; i--) {
            int k = alike(i + 1), d = scaled[i], n = lengths[i];
            scaled[i] = scaled[k], scaled[k] = d;
            lengths[i] = lengths[k], lengths[k] = n;
        }
    for (int i = 0; i < count; i++)
        bytes[i] = scaled[i] * extent;
    switch (kind) {
    case 0:
        OK(MPI_Type_contiguous(count, old, &type));
        break;
    case 1:
        OK(MPI_Type_vector(count, same, same + gap, old, &type));
        break;
    case 2:
        OK(MPI_Type_create_hvector(count, same, (same + gap) * extent, old, &type));
        break;
    case 3:
        OK(MPI_Type_indexed(count, lengths, scaled, old, &type));
        break;
    case 4:
        OK(MPI_Type_create_hindexed(count, lengths, bytes, old, &type));
        break;
    case 5:
        OK(MPI_Type_create_indexed_block(count, same, scaled, old, &type));
        break;
    case 6: {
        MPI_Datatype types[BLOCKS];
        for (int i = 0; i < count; i++)
            types[i] = old;
        OK(MPI_Type_create_struct(count, lengths, bytes, types, &type));
        break;
    }
    case 7: { /* rows and columns of a two-dimensional array */
        int part[2] = {1 + alike(3), 1 + alike(3)}, start[2] = {alike(3), alike(3)};
        int whole[2] = {start[0] + part[0] + alike(2), start[1] + part[1] + alike(2)};
        count = part[0];
        for (int i = 0; i < count; i++) {
            lengths[i] = part[1];
            bytes[i] = ((start[0] + i) * whole[1] + start[1]) * extent;
        }
        OK(MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, old, &type));
        l = blocks(&inner, count, lengths, bytes);
        l.lb = 0, l.ub = whole[0] * whole[1] * extent;
        break;
    }
    default: { /* with more room behind */
        count = lengths[0] = 1, bytes[0] = 0;
        ptrdiff_t wider = extent + 4 * alike(4);
        OK(MPI_Type_create_resized(old, inner.lb, wider, &type));
        l = blocks(&inner, count, lengths, bytes);
        l.ub = l.lb + wider;
        break;
    }
    }
    if (kind < 7)
        l = blocks(&inner, count, lengths, bytes);
    l.type = type;
    MPI_Aint lb, wide;
    int size;
    OK(MPI_Type_get_extent(type, &lb, &wide));
    OK(MPI_Type_size(type, &size));
    THAT(lb == l.lb && wide == extent_of(&l) && size == 4 * l.ints);
    if (old != MPI_INT)
        OK(MPI_Type_free(&old)); /* what was made of it lives on */
    free(inner.at);
    return l;
}

static void make_layouts(void)
{
    layouts_[0] = int_layout();
    for (int i = 1; i < LAYOUTS; i++) {
        layouts_[i] = random_layout(3);
        if (layouts_[i].type != MPI_INT)
            OK(MPI_Type_commit(&layouts_[i].type));
    }
}

static void free_layouts(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        if (layouts_[i].type != MPI_INT)
            OK(MPI_Type_free(&layouts_[i].type));
        free(layouts_[i].at);
    }
}

/* --- blocks of data in a layout --- */

/* Memory of `count` items of a layout; `origin` is what a call is given. What lies between the ints holds a pattern. */
struct block {
    const struct layout *layout;
    int count;
    size_t bytes;
    char *start, *origin;
};

static struct block new_block(const struct layout *layout, int count)
{
    ptrdiff_t low = 0, high = 0;
    for (int j = 0; j < layout->ints; j++) {
        low = layout->at[j] < low ? layout->at[j] : low;
        high = layout->at[j] + 4 > high ? layout->at[j] + 4 : high;
    }
    size_t bytes = (size_t)(high - low + (count > 0 ? count - 1 : 0) * extent_of(layout));
    struct block b = {layout, count, bytes, memory(bytes), NULL};
    memset(b.start, 0xA5, bytes);
    b.origin = b.start - low;
    return b;
}

static inline int *at(const struct block *b, int index)
{
    const struct layout *l = b->layout;
    return (int *)(void *)(b->origin + (index / l->ints) * extent_of(l) + l->at[index % l->ints]);
}

/* The layout, or plain ints if so many of its own would reach too far for many blocks at once. */
static const struct layout *bounded(const struct layout *layout, int ints)
{
    return extent_of(layout) * (ints / layout->ints + 1) <= WIDEST ? layout : &layouts_[0];
}

static inline void put_int(const struct block *b, int index, int v)
{
    memcpy(at(b, index), &v, sizeof v);
}

/* Ints `first` and following, `count` of them, become values of `key`, from the one at 0 on. */
static void fill(const struct block *b, int first, int count, uint64_t key)
{
    for (int i = 0; i < count; i++)
        put_int(b, first + i, value(key, i));
}

/* The block is as `expected`, gaps and all; both are freed. */
static void compare(struct block *b, struct block *expected, const char *file, int line)
{
    checks_++;
    if (memcmp(b->start, expected->start, b->bytes) != 0) {
        size_t k = 0;
        while (b->start[k] == expected->start[k])
            k++;
        fprintf(stderr, "byte %zu of %zu (%d items of %d ints) is %02x, not %02x\n", k, b->bytes, b->count, b->layout->ints,
                (unsigned char)b->start[k], (unsigned char)expected->start[k]);
        wrong("the data", file, line);
    }
    free(b->start);
    free(expected->start);
}
#define SAME(block, expected) compare(&(block), &(expected), __FILE__, __LINE__)

/* A number of ints: nothing, a cell, some cells, one long copy, or more than one rank copies. */
static int random_ints(void)
{
    static const int around[] = {0, 1, 2, 10, 11, 64, 65, 270, 1000, 8192, 16384, 17000, 40000};
    int base = around[alike(sizeof around / sizeof *around)];
    return base > 4 && alike(2) ? base - alike(4) : base;
}

/* --- communicators --- */

enum { SETS = 5 };

/* All ranks divided into communicators; `members` are the ranks in the world of mine, `color_of` says which rank is in which. */
struct set {
    MPI_Comm comm;
    int rank, size, *members, *color_of;
};

static struct set sets_[SETS];

static struct set new_set(MPI_Comm of, int colors, int reversed)
{
    struct set s = {MPI_COMM_NULL, 0, 0, memory((size_t)ranks_ * sizeof(int)), memory((size_t)ranks_ * sizeof(int))};
    for (int r = 0; r < ranks_; r++)
        s.color_of[r] = alike(colors);
    if (colors == 1 && !reversed)
        OK(MPI_Comm_dup(of, &s.comm));
    else
        OK(MPI_Comm_split(of, s.color_of[me_], reversed ? -me_ : 0, &s.comm));
    OK(MPI_Comm_rank(s.comm, &s.rank));
    OK(MPI_Comm_size(s.comm, &s.size));
    int n = 0;
    for (int k = 0; k < ranks_; k++) {
        int r = reversed ? ranks_ - 1 - k : k;
        if (s.color_of[r] == s.color_of[me_])
            s.members[n++] = r;
    }
    THAT(n == s.size && s.members[s.rank] == me_);
    return s;
}

static void free_set(struct set *s)
{
    OK(MPI_Comm_free(&s->comm));
    free(s->members);
    free(s->color_of);
}

#endif
