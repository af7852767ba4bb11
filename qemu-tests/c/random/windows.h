/* Random one-sided communication: windows of every kind, every synchronisation, puts, gets and accumulates of random layouts. All ranks
   draw all operations and keep a model of every window, so each knows what its own must hold and what it must get. */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "random.h"

enum { CELLS = 24, CELL = 1024, WINDOW = CELLS * CELL, ACTIONS = 24 };
enum window_kind { CREATED, ALLOCATED, SHARED, DYNAMIC, WINDOW_KINDS };
enum sync { FENCE, POST_START, LOCK, LOCK_ALL, SYNCS };
enum what { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP, WHATS };

struct window {
    MPI_Win win;
    const struct set *set;
    enum window_kind kind;
    int *mine, *model; /* model: of all ranks of the communicator */
    MPI_Aint *base;    /* of dynamic windows */
};

/* Whether all ranks of a communicator can have shared memory; all get the same answer. */
static int is_of_one_node(MPI_Comm comm)
{
    MPI_Comm node;
    int here, all;
    OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &here));
    OK(MPI_Comm_size(comm, &all));
    OK(MPI_Comm_free(&node));
    return here == all;
}

static struct window new_window(const struct set *s)
{
    struct window w = {MPI_WIN_NULL, s, (enum window_kind)alike(WINDOW_KINDS), NULL, NULL, NULL};
    MPI_Aint bytes = WINDOW * sizeof(int);
    w.base = calloc((size_t)s->size, sizeof *w.base);
    w.model = memory((size_t)s->size * WINDOW * sizeof(int));
    if (w.kind == SHARED && !is_of_one_node(s->comm))
        w.kind = ALLOCATED;
    switch (w.kind) {
    case CREATED:
        w.mine = memory((size_t)bytes);
        OK(MPI_Win_create(w.mine, bytes, sizeof(int), MPI_INFO_NULL, s->comm, &w.win));
        break;
    case ALLOCATED:
        OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, s->comm, &w.mine, &w.win));
        break;
    case SHARED:
        OK(MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, s->comm, &w.mine, &w.win));
        break;
    default:
        w.mine = memory((size_t)bytes);
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, s->comm, &w.win));
        OK(MPI_Win_attach(w.win, w.mine, bytes));
        MPI_Aint here;
        OK(MPI_Get_address(w.mine, &here));
        OK(MPI_Allgather(&here, 1, MPI_AINT, w.base, 1, MPI_AINT, s->comm));
    }
    for (int r = 0; r < s->size; r++)
        for (int i = 0; i < WINDOW; i++)
            w.model[r * WINDOW + i] = value((uint64_t)r, i);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->rank, 0, w.win));
    memcpy(w.mine, w.model + s->rank * WINDOW, (size_t)bytes);
    OK(MPI_Win_unlock(s->rank, w.win));
    OK(MPI_Barrier(s->comm));
    return w;
}

static void free_window(struct window *w)
{
    if (w->kind == DYNAMIC) {
        OK(MPI_Barrier(w->set->comm));
        OK(MPI_Win_detach(w->win, w->mine));
    }
    int *mine = w->kind == CREATED || w->kind == DYNAMIC ? w->mine : NULL;
    OK(MPI_Win_free(&w->win));
    free(mine);
    free(w->model);
    free(w->base);
}

/* One operation. Of those that write, each has a cell of its target to itself in its round, but sums, which share. */
struct action {
    enum what what;
    int origin, target, cell, count, locks;
    const struct layout *local, *there;
    uint64_t key;
    struct block block, expected, result;
    int by_request;
};

/* Where the i-th int of the action lies in its target's window. */
static int place(const struct action *a, int i)
{
    const struct layout *l = a->there;
    ptrdiff_t byte = (i / l->ints) * extent_of(l) + l->at[i % l->ints];
    return a->cell * CELL + 128 + (int)(byte / 4);
}

static MPI_Aint displacement(const struct window *w, const struct action *a)
{
    int index = a->cell * CELL + 128;
    return w->kind == DYNAMIC ? w->base[a->target] + index * (MPI_Aint)sizeof(int) : index;
}

/* All ranks draw the same; the cells of a target are given out in turn. */
static int draw_actions(struct action *all, const struct window *w)
{
    int count = 1 + alike(ACTIONS), used[64] = {0}, n = 0;
    for (int i = 0; i < count; i++) {
        struct action a = {.what = (enum what)(alike(256) % WHATS)};
        a.origin = alike(256) % w->set->size;
        a.target = alike(256) % w->set->size;
        a.local = &layouts_[alike(LAYOUTS)];
        a.there = &layouts_[alike(LAYOUTS)];
        a.key = mixed(seed_ + 3) + (uint64_t)step_ * 1000 + (uint64_t)i;
        a.by_request = alike(4) == 0;
        int times = 1 + alike(3), shared = a.what == ACCUMULATE && alike(2);
        if (a.what >= FETCH)
            a.local = a.there = &layouts_[0], times = 1;
        a.count = a.local->ints * a.there->ints * times;
        a.cell = shared ? 0 : 1 + used[a.target];
        ptrdiff_t low = 0, high = 0;
        for (int k = 0; k < a.count; k++) {
            ptrdiff_t byte = (k / a.there->ints) * extent_of(a.there) + a.there->at[k % a.there->ints];
            low = byte < low ? byte : low;
            high = byte > high ? byte : high;
        }
        if (low < -512 || high > 4 * (CELL - 129) || a.cell >= CELLS)
            continue; /* too wide for a cell */
        used[a.target] += !shared;
        all[n++] = a;
    }
    return n;
}

static void perform(struct action *a, const struct window *w)
{
    const struct layout *l = a->local, *t = a->there;
    int nl = a->count / l->ints, nt = a->count / t->ints;
    MPI_Aint d = displacement(w, a);
    MPI_Request request = MPI_REQUEST_NULL;
    a->block = new_block(l, nl);
    a->expected = new_block(l, nl);
    a->result = new_block(l, nl);
    void *from = a->block.origin, *to = a->result.origin;
    int ask = a->by_request && a->locks;
    fill(&a->block, 0, a->count, a->key);
    for (int i = 0; i < a->count; i++)
        put_int(&a->expected, i, w->model[a->target * WINDOW + place(a, i)]);
    switch (a->what) {
    case PUT:
        OK(ask ? MPI_Rput(from, nl, l->type, a->target, d, nt, t->type, w->win, &request)
               : MPI_Put(from, nl, l->type, a->target, d, nt, t->type, w->win));
        break;
    case GET:
        OK(ask ? MPI_Rget(to, nl, l->type, a->target, d, nt, t->type, w->win, &request)
               : MPI_Get(to, nl, l->type, a->target, d, nt, t->type, w->win));
        break;
    case ACCUMULATE:
        OK(ask ? MPI_Raccumulate(from, nl, l->type, a->target, d, nt, t->type, MPI_SUM, w->win, &request)
               : MPI_Accumulate(from, nl, l->type, a->target, d, nt, t->type, MPI_SUM, w->win));
        break;
    case GET_ACCUMULATE:
        OK(ask ? MPI_Rget_accumulate(from, nl, l->type, to, nl, l->type, a->target, d, nt, t->type, MPI_REPLACE, w->win, &request)
               : MPI_Get_accumulate(from, nl, l->type, to, nl, l->type, a->target, d, nt, t->type, MPI_REPLACE, w->win));
        break;
    case FETCH:
        OK(MPI_Fetch_and_op(from, to, MPI_INT, a->target, d, MPI_MAX, w->win));
        break;
    default: /* half of them find what they expect */
        if (a->key % 2)
            put_int(&a->expected, 0, *at(&a->expected, 0) + 1);
        OK(MPI_Compare_and_swap(from, a->expected.origin, to, MPI_INT, a->target, d, w->win));
        put_int(&a->expected, 0, w->model[a->target * WINDOW + place(a, 0)]);
    }
    if (ask)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* What the action does to the model. */
static void model(const struct action *a, const struct window *w)
{
    for (int i = 0; i < a->count; i++) {
        int *x = &w->model[a->target * WINDOW + place(a, i)], v = value(a->key, i);
        switch (a->what) {
        case PUT:
        case GET_ACCUMULATE:
            *x = v;
            break;
        case ACCUMULATE:
            *x = (int)((uint32_t)*x + (uint32_t)v);
            break;
        case FETCH:
            *x = v > *x ? v : *x;
            break;
        case SWAP:
            *x = a->key % 2 ? *x : v;
            break;
        default:
            break;
        }
    }
}

static void end_action(struct action *a)
{
    free(a->block.start);
    if (a->what == PUT || a->what == ACCUMULATE) {
        free(a->expected.start);
        free(a->result.start);
    } else {
        SAME(a->result, a->expected);
    }
}

static void epoch(struct action *all, int n, struct window *w, enum sync sync)
{
    const struct set *s = w->set;
    MPI_Group group;
    switch (sync) {
    case FENCE:
        OK(MPI_Win_fence(0, w->win));
        break;
    case POST_START:
        OK(MPI_Comm_group(s->comm, &group));
        OK(MPI_Win_post(group, 0, w->win));
        OK(MPI_Win_start(group, 0, w->win));
        break;
    case LOCK_ALL:
        OK(MPI_Win_lock_all(0, w->win));
        break;
    default:
        break;
    }
    for (int i = 0; i < n; i++) {
        struct action *a = &all[i];
        if (a->origin != s->rank)
            continue;
        a->locks = sync == LOCK || sync == LOCK_ALL;
        if (sync == LOCK)
            OK(MPI_Win_lock(own(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, a->target, 0, w->win));
        perform(a, w);
        if (sync == LOCK_ALL && own(3) == 0)
            OK(own(2) ? MPI_Win_flush(a->target, w->win) : MPI_Win_flush_local_all(w->win));
        if (sync == LOCK)
            OK(MPI_Win_unlock(a->target, w->win));
    }
    switch (sync) {
    case FENCE:
        OK(MPI_Win_fence(0, w->win));
        break;
    case POST_START:
        OK(MPI_Win_complete(w->win));
        OK(MPI_Win_wait(w->win));
        OK(MPI_Group_free(&group));
        break;
    case LOCK_ALL:
        OK(MPI_Win_unlock_all(w->win));
        break;
    default:
        break;
    }
}

static void windows(void)
{
    static struct action all[ACTIONS];
    struct window w = new_window(&sets_[alike(SETS)]);
    for (int round = 1 + alike(4); round > 0; round--) {
        enum sync sync = (enum sync)alike(SYNCS);
        int n = draw_actions(all, &w);
        epoch(all, n, &w, sync);
        if (sync != FENCE)
            OK(MPI_Barrier(w.set->comm)); /* nobody has begun the next round, everybody has ended this one */
        for (int i = 0; i < n; i++) {
            if (all[i].origin == w.set->rank)
                end_action(&all[i]);
            model(&all[i], &w);
        }
        if (sync == FENCE) /* no epoch is open that would forbid the lock */
            OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, w.set->rank, 0, w.win));
        THAT(memcmp(w.mine, w.model + w.set->rank * WINDOW, WINDOW * sizeof(int)) == 0);
        OK(MPI_Win_unlock(w.set->rank, w.win));
        OK(MPI_Barrier(w.set->comm));
    }
    free_window(&w);
}

#endif
