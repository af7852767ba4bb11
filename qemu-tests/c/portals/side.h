/* What the test programs of Portals share: a rank opens an interface, finds itself and the next rank, and waits for events of a kind. */
#ifndef SIDE_H
#define SIDE_H
#include "../check.h"
#include <portals4.h>
#include <stdlib.h>

#define OK(call) THAT((call) == PTL_OK)
/* The call fails with this status. */
#define REFUSED(call, status) THAT((call) == (status))

/* Bits and table of the barrier. */
#define BARRIER_TABLE 60
#define BARRIER_BITS 0xbau

struct side {
    ptl_handle_ni_t ni;
    ptl_ni_limits_t limits;
    ptl_process_t me, next;
    ptl_size_t size;
    /* Of the barrier. */
    ptl_handle_ct_t told, heard;
    ptl_handle_md_t nothing;
    ptl_size_t barriers;
};

static inline ptl_process_t rank_of_job(ptl_rank_t rank)
{
    ptl_process_t process = {.rank = rank};
    return process;
}

/* The next event, which is to be of a kind. */
static inline ptl_event_t expect(ptl_handle_eq_t queue, ptl_event_kind_t kind, ptl_ni_fail_t failure)
{
    ptl_event_t event;
    memset(&event, 0, sizeof event);
    OK(PtlEQWait(queue, &event));
    if (event.type != kind || event.ni_fail_type != failure)
        fprintf(stderr, "event %d, failure %d instead of %d, %d\n", event.type, event.ni_fail_type, kind, failure);
    THAT(event.type == kind && event.ni_fail_type == failure);
    return event;
}

/* The next two events, in either order. */
static inline void expect_both(ptl_handle_eq_t queue, ptl_event_kind_t first, ptl_event_kind_t second,
                               ptl_event_t *first_event, ptl_event_t *second_event)
{
    const ptl_event_t none = {0};
    if (first_event)
        *first_event = none;
    if (second_event)
        *second_event = none;
    for (int number = 0; number < 2; number++) {
        ptl_event_t event;
        OK(PtlEQWait(queue, &event));
        THAT((event.type == first || event.type == second) && event.ni_fail_type == PTL_NI_OK);
        if (event.type == first && first_event)
            *first_event = event;
        if (event.type == second && second_event)
            *second_event = event;
    }
}

static inline void expect_empty(ptl_handle_eq_t queue)
{
    ptl_event_t event;
    REFUSED(PtlEQGet(queue, &event), PTL_EQ_EMPTY);
}

/* Every rank tells rank 0, and rank 0 every rank. A rank that is not so far yet refuses, and is told again. */
static inline void barrier(struct side *it)
{
    ptl_ct_event_t count;
    it->barriers++;
    ptl_rank_t first = it->me.rank == 0 ? 1 : 0, last = it->me.rank == 0 ? (ptl_rank_t)it->size - 1 : 0;
    if (it->me.rank == 0)
        OK(PtlCTWait(it->heard, it->barriers * (it->size - 1), &count));
    for (ptl_rank_t rank = first; rank <= last; rank++) {
        ptl_ct_event_t before, zero = {0, 0};
        do {
            OK(PtlCTSet(it->told, zero));
            OK(PtlPut(it->nothing, 0, 0, PTL_CT_ACK_REQ, rank_of_job(rank), BARRIER_TABLE, BARRIER_BITS, 0, NULL, 0));
            OK(PtlCTWait(it->told, 1, &before));
        } while (before.failure);
    }
    if (it->me.rank != 0)
        OK(PtlCTWait(it->heard, it->barriers, &count));
}

/* Opens a logical interface that matches, or not. */
static inline struct side open_side(int matching)
{
    struct side it;
    memset(&it, 0, sizeof it);
    unsigned options = PTL_NI_LOGICAL | (matching ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING);
    OK(PtlInit());
    OK(PtlNIInit(PTL_IFACE_DEFAULT, options, PTL_PID_ANY, NULL, &it.limits, &it.ni));
    OK(PtlGetId(it.ni, &it.me));
    OK(PtlGetMap(it.ni, 0, NULL, &it.size));
    it.next = rank_of_job((it.me.rank + 1) % (ptl_rank_t)it.size);
    OK(PtlCTAlloc(it.ni, &it.told));
    OK(PtlCTAlloc(it.ni, &it.heard));
    ptl_pt_index_t index;
    OK(PtlPTAlloc(it.ni, 0, PTL_EQ_NONE, BARRIER_TABLE, &index));
    ptl_handle_me_t entry;
    if (matching) {
        ptl_me_t me = {.ct_handle = it.heard, .uid = PTL_UID_ANY, .options = PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM,
                       .match_id = {.rank = PTL_RANK_ANY}, .match_bits = BARRIER_BITS};
        OK(PtlMEAppend(it.ni, index, &me, PTL_PRIORITY_LIST, NULL, &entry));
    } else {
        ptl_le_t le = {.ct_handle = it.heard, .uid = PTL_UID_ANY, .options = PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM};
        OK(PtlLEAppend(it.ni, index, &le, PTL_PRIORITY_LIST, NULL, &entry));
    }
    ptl_md_t md = {.options = PTL_MD_EVENT_CT_ACK, .eq_handle = PTL_EQ_NONE, .ct_handle = it.told};
    OK(PtlMDBind(it.ni, &md, &it.nothing));
    return it;
}

/* Ends a program when all ranks have come so far; its status. */
static inline int close_side(struct side *it, const char *what)
{
    barrier(it);
    /* The last message of the barrier may be on its way still. */
    while (PtlNIFini(it->ni) == PTL_IN_USE)
        ;
    PtlFini();
    return report(what);
}
#endif
