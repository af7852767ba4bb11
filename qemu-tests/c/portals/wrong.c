/* Every call of the reference with each wrong argument: the status is the one that the reference names, and nothing else changes. On one rank. */
#include "side.h"

static char memory[64];

static ptl_me_t wide(unsigned options)
{
    ptl_me_t me = {.start = memory, .length = sizeof memory, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY,
                   .options = options, .match_id = {.rank = PTL_RANK_ANY}};
    return me;
}

/* Nothing works before PtlInit. */
static void before_start(void)
{
    ptl_handle_any_t handle;
    ptl_ni_limits_t limits;
    ptl_sr_value_t status;
    ptl_process_t id = {.rank = 0};
    ptl_size_t size;
    ptl_uid_t uid;
    ptl_pt_index_t index;
    ptl_md_t md = {0};
    ptl_le_t le = {0};
    ptl_me_t me = wide(PTL_ME_OP_PUT);
    ptl_ct_event_t count = {1, 0};
    ptl_event_t event;
    unsigned int which;
    unsigned long far;
    REFUSED(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, &limits, &handle),
            PTL_NO_INIT);
    REFUSED(PtlNIFini(1), PTL_NO_INIT);
    REFUSED(PtlNIStatus(1, PTL_SR_DROP_COUNT, &status), PTL_NO_INIT);
    REFUSED(PtlNIHandle(1, &handle), PTL_NO_INIT);
    REFUSED(PtlNIDist(1, id, &far), PTL_NO_INIT);
    REFUSED(PtlSetMap(1, 1, &id), PTL_NO_INIT);
    REFUSED(PtlGetMap(1, 1, &id, &size), PTL_NO_INIT);
    REFUSED(PtlGetUid(1, &uid), PTL_NO_INIT);
    REFUSED(PtlGetId(1, &id), PTL_NO_INIT);
    REFUSED(PtlGetPhysId(1, &id), PTL_NO_INIT);
    REFUSED(PtlPTAlloc(1, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_NO_INIT);
    REFUSED(PtlPTFree(1, 0), PTL_NO_INIT);
    REFUSED(PtlPTDisable(1, 0), PTL_NO_INIT);
    REFUSED(PtlPTEnable(1, 0), PTL_NO_INIT);
    REFUSED(PtlMDBind(1, &md, &handle), PTL_NO_INIT);
    REFUSED(PtlMDRelease(1), PTL_NO_INIT);
    REFUSED(PtlLEAppend(1, 0, &le, PTL_PRIORITY_LIST, NULL, &handle), PTL_NO_INIT);
    REFUSED(PtlLEUnlink(1), PTL_NO_INIT);
    REFUSED(PtlLESearch(1, 0, &le, PTL_SEARCH_ONLY, NULL), PTL_NO_INIT);
    REFUSED(PtlMEAppend(1, 0, &me, PTL_PRIORITY_LIST, NULL, &handle), PTL_NO_INIT);
    REFUSED(PtlMEUnlink(1), PTL_NO_INIT);
    REFUSED(PtlMESearch(1, 0, &me, PTL_SEARCH_ONLY, NULL), PTL_NO_INIT);
    REFUSED(PtlCTAlloc(1, &handle), PTL_NO_INIT);
    REFUSED(PtlCTFree(1), PTL_NO_INIT);
    REFUSED(PtlCTCancelTriggered(1), PTL_NO_INIT);
    REFUSED(PtlCTGet(1, &count), PTL_NO_INIT);
    REFUSED(PtlCTWait(1, 1, &count), PTL_NO_INIT);
    REFUSED(PtlCTPoll(&handle, &size, 1, 0, &count, &which), PTL_NO_INIT);
    REFUSED(PtlCTSet(1, count), PTL_NO_INIT);
    REFUSED(PtlCTInc(1, count), PTL_NO_INIT);
    REFUSED(PtlPut(1, 0, 0, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0), PTL_NO_INIT);
    REFUSED(PtlGet(1, 0, 0, id, 0, 0, 0, NULL), PTL_NO_INIT);
    REFUSED(PtlAtomic(1, 0, 8, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T), PTL_NO_INIT);
    REFUSED(PtlFetchAtomic(1, 0, 1, 8, 8, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T), PTL_NO_INIT);
    REFUSED(PtlSwap(1, 0, 1, 8, 8, id, 0, 0, 0, NULL, 0, NULL, PTL_SWAP, PTL_INT64_T), PTL_NO_INIT);
    REFUSED(PtlAtomicSync(), PTL_NO_INIT);
    REFUSED(PtlEQAlloc(1, 8, &handle), PTL_NO_INIT);
    REFUSED(PtlEQFree(1), PTL_NO_INIT);
    REFUSED(PtlEQGet(1, &event), PTL_NO_INIT);
    REFUSED(PtlEQWait(1, &event), PTL_NO_INIT);
    REFUSED(PtlEQPoll(&handle, 1, 0, &event, &which), PTL_NO_INIT);
    REFUSED(PtlTriggeredPut(1, 0, 0, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredGet(1, 0, 0, id, 0, 0, 0, NULL, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredAtomic(1, 0, 8, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredFetchAtomic(1, 0, 1, 8, 8, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredSwap(1, 0, 1, 8, 8, id, 0, 0, 0, NULL, 0, NULL, PTL_SWAP, PTL_INT64_T, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredCTInc(1, count, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredCTSet(1, count, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredMEAppend(1, 0, &me, PTL_PRIORITY_LIST, NULL, &handle, 1, 1), PTL_NO_INIT);
    REFUSED(PtlTriggeredMEUnlink(1, 1, 1), PTL_NO_INIT);
    REFUSED(PtlStartBundle(1), PTL_NO_INIT);
    REFUSED(PtlEndBundle(1), PTL_NO_INIT);
    PtlFini();
}

/* Handles that name nothing, or something else than they should. */
struct handles {
    ptl_handle_ni_t ni, plain, physical;
    ptl_handle_eq_t eq, plain_eq;
    ptl_handle_ct_t ct, plain_ct;
    ptl_handle_md_t md;
    ptl_handle_me_t me;
    ptl_handle_any_t gone;
};

static void interfaces(struct handles *it)
{
    ptl_handle_ni_t handle;
    const unsigned kinds[] = {0, PTL_NI_MATCHING, PTL_NI_LOGICAL, PTL_NI_MATCHING | PTL_NI_NO_MATCHING | PTL_NI_LOGICAL,
                              PTL_NI_MATCHING | PTL_NI_LOGICAL | PTL_NI_PHYSICAL, PTL_NI_MATCHING | PTL_NI_LOGICAL | 16};
    for (unsigned at = 0; at < sizeof kinds / sizeof *kinds; at++)
        REFUSED(PtlNIInit(PTL_IFACE_DEFAULT, kinds[at], PTL_PID_ANY, NULL, NULL, &handle), PTL_ARG_INVALID);
    const unsigned good = PTL_NI_MATCHING | PTL_NI_LOGICAL;
    REFUSED(PtlNIInit(7, good, PTL_PID_ANY, NULL, NULL, &handle), PTL_ARG_INVALID);
    REFUSED(PtlNIInit(PTL_IFACE_DEFAULT, good, 1000, NULL, NULL, &handle), PTL_ARG_INVALID);
    REFUSED(PtlNIInit(PTL_IFACE_DEFAULT, good, PTL_PID_ANY, NULL, NULL, NULL), PTL_ARG_INVALID);
    /* The number of another rank of the node; the only rank has no such. */
    ptl_process_t id;
    OK(PtlGetPhysId(it->ni, &id));
    THAT(id.phys.pid == 0);
    OK(PtlNIInit(PTL_IFACE_DEFAULT, good, 0, NULL, NULL, &handle));
    THAT(PtlHandleIsEqual(handle, it->ni));
    OK(PtlNIFini(handle));

    const ptl_handle_any_t wrong[] = {PTL_INVALID_HANDLE, 0, it->eq, it->ct, it->md, it->me, it->gone, it->ni + 1};
    for (unsigned at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        ptl_handle_ni_t ni = wrong[at];
        ptl_sr_value_t status;
        ptl_size_t size;
        ptl_uid_t uid;
        ptl_pt_index_t index;
        ptl_handle_any_t made;
        ptl_md_t md = {.start = memory, .length = 8, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
        ptl_me_t me = wide(PTL_ME_OP_PUT);
        ptl_le_t le = {.start = memory, .length = 8, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY};
        unsigned long far;
        REFUSED(PtlNIFini(ni), PTL_ARG_INVALID);
        REFUSED(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &status), PTL_ARG_INVALID);
        REFUSED(PtlNIDist(ni, id, &far), PTL_ARG_INVALID);
        REFUSED(PtlSetMap(ni, 1, &id), PTL_ARG_INVALID);
        REFUSED(PtlGetMap(ni, 1, &id, &size), PTL_ARG_INVALID);
        REFUSED(PtlGetUid(ni, &uid), PTL_ARG_INVALID);
        REFUSED(PtlGetId(ni, &id), PTL_ARG_INVALID);
        REFUSED(PtlGetPhysId(ni, &id), PTL_ARG_INVALID);
        REFUSED(PtlPTAlloc(ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_ARG_INVALID);
        REFUSED(PtlPTFree(ni, 0), PTL_ARG_INVALID);
        REFUSED(PtlPTDisable(ni, 0), PTL_ARG_INVALID);
        REFUSED(PtlPTEnable(ni, 0), PTL_ARG_INVALID);
        REFUSED(PtlMDBind(ni, &md, &made), PTL_ARG_INVALID);
        REFUSED(PtlMEAppend(ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
        REFUSED(PtlMESearch(ni, 0, &me, PTL_SEARCH_ONLY, NULL), PTL_ARG_INVALID);
        REFUSED(PtlLEAppend(ni, 0, &le, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
        REFUSED(PtlLESearch(ni, 0, &le, PTL_SEARCH_ONLY, NULL), PTL_ARG_INVALID);
        REFUSED(PtlCTAlloc(ni, &made), PTL_ARG_INVALID);
        REFUSED(PtlEQAlloc(ni, 8, &made), PTL_ARG_INVALID);
        REFUSED(PtlStartBundle(ni), PTL_ARG_INVALID);
        REFUSED(PtlEndBundle(ni), PTL_ARG_INVALID);
        REFUSED(PtlTriggeredMEAppend(ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made, it->ct, 1), PTL_ARG_INVALID);
    }
    ptl_sr_value_t status;
    REFUSED(PtlNIStatus(it->ni, (ptl_sr_index_t)PTL_SR_LAST, &status), PTL_ARG_INVALID);
    REFUSED(PtlNIStatus(it->ni, PTL_SR_DROP_COUNT, NULL), PTL_ARG_INVALID);
    REFUSED(PtlNIHandle(it->gone, &handle), PTL_ARG_INVALID);
    REFUSED(PtlNIHandle(PTL_INVALID_HANDLE, &handle), PTL_ARG_INVALID);
    REFUSED(PtlNIHandle(it->eq, NULL), PTL_ARG_INVALID);
    REFUSED(PtlGetUid(it->ni, NULL), PTL_ARG_INVALID);
    REFUSED(PtlGetId(it->ni, NULL), PTL_ARG_INVALID);
    REFUSED(PtlGetPhysId(it->ni, NULL), PTL_ARG_INVALID);
}

static void maps(struct handles *it)
{
    ptl_process_t map[2] = {{.phys = {0, 0}}, {.phys = {0, 0}}}, far = {.rank = 9};
    ptl_size_t size;
    unsigned long distance;
    REFUSED(PtlSetMap(it->ni, 0, map), PTL_ARG_INVALID);
    REFUSED(PtlSetMap(it->ni, 1, NULL), PTL_ARG_INVALID);
    REFUSED(PtlSetMap(it->physical, 1, map), PTL_ARG_INVALID);
    REFUSED(PtlSetMap(it->ni, 2, map), PTL_IGNORED);
    map[0].phys.pid = 3;
    REFUSED(PtlSetMap(it->ni, 1, map), PTL_IGNORED);
    REFUSED(PtlGetMap(it->physical, 1, map, &size), PTL_ARG_INVALID);
    REFUSED(PtlGetMap(it->ni, 1, NULL, &size), PTL_ARG_INVALID);
    REFUSED(PtlGetMap(it->ni, 1, map, NULL), PTL_ARG_INVALID);
    REFUSED(PtlNIDist(it->ni, far, &distance), PTL_ARG_INVALID);
    REFUSED(PtlNIDist(it->physical, far, &distance), PTL_ARG_INVALID);
    REFUSED(PtlNIDist(it->ni, far, NULL), PTL_ARG_INVALID);
}

static void tables(struct handles *it)
{
    ptl_pt_index_t index;
    REFUSED(PtlPTAlloc(it->ni, 1u << 30, it->eq, PTL_PT_ANY, &index), PTL_ARG_INVALID);
    REFUSED(PtlPTAlloc(it->ni, 0, it->plain_eq, PTL_PT_ANY, &index), PTL_ARG_INVALID);
    REFUSED(PtlPTAlloc(it->ni, 0, it->ct, PTL_PT_ANY, &index), PTL_ARG_INVALID);
    REFUSED(PtlPTAlloc(it->ni, 0, it->eq, 64, &index), PTL_ARG_INVALID);
    REFUSED(PtlPTAlloc(it->ni, 0, it->eq, PTL_PT_ANY, NULL), PTL_ARG_INVALID);
    REFUSED(PtlPTAlloc(it->ni, PTL_PT_FLOWCTRL, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_PT_EQ_NEEDED);
    REFUSED(PtlPTAlloc(it->ni, 0, it->eq, 0, &index), PTL_PT_IN_USE);
    for (int number = 1; number < 63; number++)
        OK(PtlPTAlloc(it->ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index));
    OK(PtlPTAlloc(it->ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index));
    REFUSED(PtlPTAlloc(it->ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_PT_FULL);
    for (ptl_pt_index_t number = 1; number < 64; number++)
        OK(PtlPTFree(it->ni, number));
    REFUSED(PtlPTFree(it->ni, 1), PTL_ARG_INVALID);
    REFUSED(PtlPTFree(it->ni, 64), PTL_ARG_INVALID);
    REFUSED(PtlPTFree(it->ni, 0), PTL_PT_IN_USE);
    REFUSED(PtlPTEnable(it->ni, 1), PTL_ARG_INVALID);
    REFUSED(PtlPTDisable(it->ni, 1), PTL_ARG_INVALID);
}

static void descriptors(struct handles *it)
{
    ptl_handle_md_t made;
    const ptl_md_t good = {.start = memory, .length = 8, .eq_handle = it->eq, .ct_handle = it->ct};
    ptl_md_t md = good;
    REFUSED(PtlMDBind(it->ni, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlMDBind(it->ni, &md, NULL), PTL_ARG_INVALID);
    md.options = 1u << 30;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md = good, md.start = (void *)8;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md = good, md.length = PTL_SIZE_MAX;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md = good, md.eq_handle = it->ct;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md = good, md.ct_handle = it->eq;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md = good, md.eq_handle = it->plain_eq;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md = good, md.ct_handle = it->plain_ct;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    ptl_iovec_t vectors[2] = {{memory, 8}, {(void *)16, 8}};
    md = good, md.options = PTL_IOVEC, md.start = vectors, md.length = 2;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md.length = 1000;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    md.start = (void *)8, md.length = 1;
    REFUSED(PtlMDBind(it->ni, &md, &made), PTL_ARG_INVALID);
    REFUSED(PtlMDRelease(it->gone), PTL_ARG_INVALID);
    REFUSED(PtlMDRelease(it->eq), PTL_ARG_INVALID);
}

static void entries(struct handles *it)
{
    ptl_handle_me_t made;
    ptl_me_t me = wide(PTL_ME_OP_PUT);
    ptl_le_t le = {.start = memory, .length = 8, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY};
    REFUSED(PtlMEAppend(it->ni, 0, NULL, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, NULL), PTL_ARG_INVALID);
    REFUSED(PtlMEAppend(it->ni, 5, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlMEAppend(it->ni, 64, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlMEAppend(it->ni, 0, &me, 2, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlMEAppend(it->plain, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlLEAppend(it->ni, 0, &le, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlLEAppend(it->plain, 0, NULL, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlLEAppend(it->plain, 9, &le, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlLEAppend(it->plain, 0, &le, PTL_PRIORITY_LIST, NULL, NULL), PTL_ARG_INVALID);
    REFUSED(PtlLESearch(it->plain, 0, NULL, PTL_SEARCH_ONLY, NULL), PTL_ARG_INVALID);
    REFUSED(PtlLESearch(it->plain, 0, &le, 2, NULL), PTL_ARG_INVALID);
    REFUSED(PtlMESearch(it->ni, 0, NULL, PTL_SEARCH_ONLY, NULL), PTL_ARG_INVALID);
    REFUSED(PtlMESearch(it->ni, 0, &me, 2, NULL), PTL_ARG_INVALID);
    REFUSED(PtlMESearch(it->ni, 5, &me, PTL_SEARCH_ONLY, NULL), PTL_ARG_INVALID);
    REFUSED(PtlMESearch(it->plain, 0, &me, PTL_SEARCH_ONLY, NULL), PTL_ARG_INVALID);
    me.options = 1u << 30;
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    me = wide(PTL_ME_OP_PUT), me.start = (void *)8;
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    me = wide(PTL_ME_OP_PUT), me.length = PTL_SIZE_MAX;
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    /* Code can be read and not written. */
    me = wide(PTL_ME_OP_PUT), me.start = (void *)entries, me.length = 4;
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    me = wide(PTL_ME_OP_PUT), me.ct_handle = it->eq;
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    me = wide(PTL_ME_OP_PUT), me.ct_handle = it->plain_ct;
    REFUSED(PtlMEAppend(it->ni, 0, &me, PTL_PRIORITY_LIST, NULL, &made), PTL_ARG_INVALID);
    REFUSED(PtlMEUnlink(it->gone), PTL_ARG_INVALID);
    REFUSED(PtlMEUnlink(it->md), PTL_ARG_INVALID);
    REFUSED(PtlLEUnlink(PTL_INVALID_HANDLE), PTL_ARG_INVALID);
}

static void waits(struct handles *it)
{
    ptl_handle_any_t made;
    ptl_event_t event;
    ptl_ct_event_t count = {0, 0}, both = {1, 1};
    unsigned int which;
    ptl_size_t test = 1, tests[2] = {1, 1};
    const ptl_handle_any_t wrong[] = {PTL_INVALID_HANDLE, 0, it->md, it->gone};
    for (unsigned at = 0; at < sizeof wrong / sizeof *wrong; at++) {
        REFUSED(PtlEQFree(wrong[at]), PTL_ARG_INVALID);
        REFUSED(PtlEQGet(wrong[at], &event), PTL_ARG_INVALID);
        REFUSED(PtlEQWait(wrong[at], &event), PTL_ARG_INVALID);
        REFUSED(PtlEQPoll(&wrong[at], 1, 0, &event, &which), PTL_ARG_INVALID);
        REFUSED(PtlCTFree(wrong[at]), PTL_ARG_INVALID);
        REFUSED(PtlCTCancelTriggered(wrong[at]), PTL_ARG_INVALID);
        REFUSED(PtlCTGet(wrong[at], &count), PTL_ARG_INVALID);
        REFUSED(PtlCTWait(wrong[at], 0, &count), PTL_ARG_INVALID);
        REFUSED(PtlCTPoll(&wrong[at], &test, 1, 0, &count, &which), PTL_ARG_INVALID);
        REFUSED(PtlCTSet(wrong[at], count), PTL_ARG_INVALID);
        REFUSED(PtlCTInc(wrong[at], count), PTL_ARG_INVALID);
    }
    REFUSED(PtlEQGet(it->ct, &event), PTL_ARG_INVALID);
    REFUSED(PtlCTGet(it->eq, &count), PTL_ARG_INVALID);
    REFUSED(PtlEQAlloc(it->ni, 8, NULL), PTL_ARG_INVALID);
    REFUSED(PtlEQAlloc(it->ni, PTL_SIZE_MAX, &made), PTL_NO_SPACE);
    REFUSED(PtlEQGet(it->eq, NULL), PTL_ARG_INVALID);
    REFUSED(PtlEQWait(it->eq, NULL), PTL_ARG_INVALID);
    REFUSED(PtlEQPoll(&it->eq, 0, 0, &event, &which), PTL_ARG_INVALID);
    REFUSED(PtlEQPoll(NULL, 1, 0, &event, &which), PTL_ARG_INVALID);
    REFUSED(PtlEQPoll(&it->eq, 1, 0, NULL, &which), PTL_ARG_INVALID);
    REFUSED(PtlEQPoll(&it->eq, 1, 0, &event, NULL), PTL_ARG_INVALID);
    ptl_handle_eq_t queues[2] = {it->eq, it->plain_eq};
    REFUSED(PtlEQPoll(queues, 2, 0, &event, &which), PTL_ARG_INVALID);
    REFUSED(PtlEQPoll(&it->eq, 1, 20, &event, &which), PTL_EQ_EMPTY);
    REFUSED(PtlEQGet(it->eq, &event), PTL_EQ_EMPTY);
    REFUSED(PtlCTAlloc(it->ni, NULL), PTL_ARG_INVALID);
    REFUSED(PtlCTGet(it->ct, NULL), PTL_ARG_INVALID);
    REFUSED(PtlCTWait(it->ct, 0, NULL), PTL_ARG_INVALID);
    REFUSED(PtlCTPoll(&it->ct, &test, 0, 0, &count, &which), PTL_ARG_INVALID);
    REFUSED(PtlCTPoll(NULL, &test, 1, 0, &count, &which), PTL_ARG_INVALID);
    REFUSED(PtlCTPoll(&it->ct, NULL, 1, 0, &count, &which), PTL_ARG_INVALID);
    REFUSED(PtlCTPoll(&it->ct, &test, 1, 0, NULL, &which), PTL_ARG_INVALID);
    REFUSED(PtlCTPoll(&it->ct, &test, 1, 0, &count, NULL), PTL_ARG_INVALID);
    ptl_handle_ct_t counters[2] = {it->ct, it->plain_ct};
    REFUSED(PtlCTPoll(counters, tests, 2, 0, &count, &which), PTL_ARG_INVALID);
    REFUSED(PtlCTPoll(&it->ct, &test, 1, 20, &count, &which), PTL_CT_NONE_REACHED);
    REFUSED(PtlCTInc(it->ct, both), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredCTInc(it->ct, both, it->ct, 1), PTL_ARG_INVALID);
    count.success = count.failure = 0;
    REFUSED(PtlTriggeredCTInc(it->eq, count, it->ct, 1), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredCTInc(it->ct, count, it->eq, 1), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredCTInc(it->ct, count, PTL_CT_NONE, 1), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredCTInc(it->ct, count, it->plain_ct, 1), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredCTSet(it->eq, count, it->ct, 1), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredCTSet(it->ct, count, it->gone, 1), PTL_ARG_INVALID);
}

static void operations(struct handles *it)
{
    ptl_process_t me = {.rank = 0}, nobody = {.rank = 1};
    ptl_handle_md_t md = it->md;
    int64_t operand = 1;
    for (int later = 0; later < 2; later++) {
#define TRY(name, md, offset, length, target, ...)                                                                  \
    REFUSED(later ? PtlTriggered##name(md, offset, length, __VA_ARGS__ target, 0, 0, 0, NULL TAIL, it->ct, 9)        \
                  : Ptl##name(md, offset, length, __VA_ARGS__ target, 0, 0, 0, NULL TAIL),                           \
            PTL_ARG_INVALID)
#define TAIL , 0
        TRY(Put, it->gone, 0, 8, me, PTL_NO_ACK_REQ, );
        TRY(Put, it->eq, 0, 8, me, PTL_NO_ACK_REQ, );
        TRY(Put, md, 0, 65, me, PTL_NO_ACK_REQ, );
        TRY(Put, md, 60, 8, me, PTL_NO_ACK_REQ, );
        TRY(Put, md, PTL_SIZE_MAX, 8, me, PTL_NO_ACK_REQ, );
        TRY(Put, md, 0, 8, nobody, PTL_NO_ACK_REQ, );
        TRY(Put, md, 0, 8, me, (ptl_ack_req_t)4, );
#undef TAIL
#define TAIL
        TRY(Get, it->gone, 0, 8, me, );
        TRY(Get, md, 0, 65, me, );
        TRY(Get, md, 1, PTL_SIZE_MAX, me, );
        TRY(Get, md, 0, 8, nobody, );
#undef TAIL
#define TAIL , 0, PTL_SUM, PTL_INT64_T
        TRY(Atomic, it->gone, 0, 8, me, PTL_NO_ACK_REQ, );
        TRY(Atomic, md, 0, 7, me, PTL_NO_ACK_REQ, );
        TRY(Atomic, md, 60, 8, me, PTL_NO_ACK_REQ, );
        TRY(Atomic, md, 0, 8, nobody, PTL_NO_ACK_REQ, );
#undef TAIL
#define TAIL , 0, PTL_SWAP, PTL_INT64_T
        TRY(Atomic, md, 0, 8, me, PTL_NO_ACK_REQ, );
#undef TAIL
#define TAIL , 0, PTL_BAND, PTL_DOUBLE
        TRY(Atomic, md, 0, 8, me, PTL_NO_ACK_REQ, );
#undef TAIL
#define TAIL , 0, PTL_OP_LAST, PTL_INT64_T
        TRY(Atomic, md, 0, 8, me, PTL_NO_ACK_REQ, );
#undef TAIL
#define TAIL , 0, PTL_SUM, PTL_DATATYPE_LAST
        TRY(Atomic, md, 0, 8, me, PTL_NO_ACK_REQ, );
#undef TAIL
#define TAIL , 0, PTL_SUM, PTL_LONG_DOUBLE
        TRY(Atomic, md, 0, 16, me, PTL_NO_ACK_REQ, );
#undef TAIL
#define TAIL , 0, PTL_SUM, PTL_INT64_T
        TRY(FetchAtomic, it->gone, 0, md, me, 8, 8, );
        TRY(FetchAtomic, md, 0, it->gone, me, 8, 8, );
        TRY(FetchAtomic, md, 60, md, me, 8, 8, );
        TRY(FetchAtomic, md, 0, md, nobody, 8, 8, );
#undef TAIL
#define TAIL , 0, &operand, PTL_CSWAP, PTL_INT64_T
        TRY(Swap, it->gone, 0, md, me, 8, 8, );
        TRY(Swap, md, 0, md, me, 8, 16, );
        TRY(Swap, md, 0, md, nobody, 8, 8, );
#undef TAIL
#define TAIL , 0, NULL, PTL_CSWAP, PTL_INT64_T
        TRY(Swap, md, 0, md, me, 8, 8, );
#undef TAIL
#define TAIL , 0, &operand, PTL_SUM, PTL_INT64_T
        TRY(Swap, md, 0, md, me, 8, 8, );
#undef TAIL
#define TAIL , 0, &operand, PTL_MSWAP, PTL_DOUBLE
        TRY(Swap, md, 0, md, me, 8, 8, );
#undef TAIL
#define TAIL , 0, &operand, PTL_CSWAP, PTL_DATATYPE_LAST
        TRY(Swap, md, 0, md, me, 8, 8, );
#undef TAIL
    }
    const ptl_handle_ct_t counters[] = {PTL_CT_NONE, it->gone, it->eq, it->plain_ct};
    for (int at = 0; at < 4; at++) {
        ptl_handle_ct_t ct = counters[at];
        ptl_handle_me_t made;
        ptl_me_t entry = wide(PTL_ME_OP_PUT);
        REFUSED(PtlTriggeredPut(md, 0, 8, PTL_NO_ACK_REQ, me, 0, 0, 0, NULL, 0, ct, 9), PTL_ARG_INVALID);
        REFUSED(PtlTriggeredGet(md, 0, 8, me, 0, 0, 0, NULL, ct, 9), PTL_ARG_INVALID);
        REFUSED(PtlTriggeredAtomic(md, 0, 8, PTL_NO_ACK_REQ, me, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T, ct, 9),
                PTL_ARG_INVALID);
        REFUSED(PtlTriggeredFetchAtomic(md, 0, md, 8, 8, me, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T, ct, 9),
                PTL_ARG_INVALID);
        REFUSED(PtlTriggeredSwap(md, 0, md, 8, 8, me, 0, 0, 0, NULL, 0, NULL, PTL_SWAP, PTL_INT64_T, ct, 9),
                PTL_ARG_INVALID);
        REFUSED(PtlTriggeredMEAppend(it->ni, 0, &entry, PTL_PRIORITY_LIST, NULL, &made, ct, 9), PTL_ARG_INVALID);
        REFUSED(PtlTriggeredMEUnlink(it->me, ct, 9), PTL_ARG_INVALID);
    }
    ptl_handle_me_t made;
    ptl_me_t entry = wide(PTL_ME_OP_PUT);
    REFUSED(PtlTriggeredMEAppend(it->ni, 0, NULL, PTL_PRIORITY_LIST, NULL, &made, it->ct, 9), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredMEAppend(it->ni, 0, &entry, PTL_PRIORITY_LIST, NULL, NULL, it->ct, 9), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredMEAppend(it->ni, 5, &entry, PTL_PRIORITY_LIST, NULL, &made, it->ct, 9), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredMEAppend(it->ni, 0, &entry, 2, NULL, &made, it->ct, 9), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredMEAppend(it->plain, 0, &entry, PTL_PRIORITY_LIST, NULL, &made, it->plain_ct, 9), PTL_ARG_INVALID);
    REFUSED(PtlTriggeredMEUnlink(it->gone, it->ct, 9), PTL_ARG_INVALID);
}

/* Limits that are asked for, and reached. */
static void limits(void)
{
    ptl_ni_limits_t few = {.max_entries = 3, .max_mds = 1, .max_cts = 1, .max_eqs = 1, .max_pt_index = 63,
                           .max_iovecs = 2, .max_list_size = 2, .max_triggered_ops = 1};
    ptl_ni_limits_t told;
    ptl_handle_ni_t ni;
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, &few, &told, &ni));
    THAT(told.max_entries == 3 && told.max_mds == 1 && told.max_cts == 1 && told.max_eqs == 1);
    THAT(told.max_pt_index == 63 && told.max_iovecs == 2 && told.max_list_size == 2 && told.max_triggered_ops == 1);
    THAT(told.max_msg_size >= 1u << 30 && told.max_atomic_size >= 64 && told.max_fetch_atomic_size >= 64);
    THAT(told.max_waw_ordered_size >= 64 && told.max_war_ordered_size >= 8 && told.max_volatile_size >= 64);
    ptl_handle_any_t handle, more, eq, ct;
    OK(PtlEQAlloc(ni, 8, &eq));
    REFUSED(PtlEQAlloc(ni, 8, &more), PTL_NO_SPACE);
    OK(PtlCTAlloc(ni, &ct));
    REFUSED(PtlCTAlloc(ni, &more), PTL_NO_SPACE);
    ptl_md_t md = {.start = memory, .length = 8, .eq_handle = eq, .ct_handle = PTL_CT_NONE};
    OK(PtlMDBind(ni, &md, &handle));
    REFUSED(PtlMDBind(ni, &md, &more), PTL_NO_SPACE);
    ptl_pt_index_t index;
    OK(PtlPTAlloc(ni, 0, eq, 5, &index));
    ptl_le_t le = {.start = memory, .length = 8, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY};
    for (int number = 0; number < 2; number++)
        OK(PtlLEAppend(ni, 5, &le, PTL_PRIORITY_LIST, NULL, &more));
    REFUSED(PtlLEAppend(ni, 5, &le, PTL_PRIORITY_LIST, NULL, &more), PTL_LIST_TOO_LONG);
    OK(PtlLEAppend(ni, 5, &le, PTL_OVERFLOW_LIST, NULL, &more));
    REFUSED(PtlLEAppend(ni, 5, &le, PTL_OVERFLOW_LIST, NULL, &more), PTL_NO_SPACE);
    ptl_process_t me;
    OK(PtlGetId(ni, &me));
    OK(PtlTriggeredPut(handle, 0, 8, PTL_NO_ACK_REQ, me, 5, 0, 0, NULL, 0, ct, 1));
    REFUSED(PtlTriggeredPut(handle, 0, 8, PTL_NO_ACK_REQ, me, 5, 0, 0, NULL, 0, ct, 1), PTL_NO_SPACE);
    REFUSED(PtlEQFree(eq), PTL_IN_USE);
    OK(PtlNIFini(ni));
    REFUSED(PtlCTFree(ct), PTL_ARG_INVALID);
}

int main(void)
{
    before_start();
    struct side side = open_side(1);
    struct handles it = {.ni = side.ni};
    ptl_pt_index_t index;
    /* Only the first index stays in use. */
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &it.plain));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &it.physical));
    OK(PtlEQAlloc(it.ni, 8, &it.eq));
    OK(PtlEQAlloc(it.plain, 8, &it.plain_eq));
    OK(PtlCTAlloc(it.ni, &it.ct));
    OK(PtlCTAlloc(it.plain, &it.plain_ct));
    OK(PtlPTAlloc(it.ni, 0, it.eq, 0, &index));
    OK(PtlPTAlloc(it.plain, 0, it.plain_eq, 0, &index));
    ptl_me_t me = wide(PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
    OK(PtlMEAppend(it.ni, 0, &me, PTL_PRIORITY_LIST, NULL, &it.me));
    ptl_md_t md = {.start = memory, .length = sizeof memory, .eq_handle = it.eq, .ct_handle = it.ct};
    OK(PtlMDBind(it.ni, &md, &it.gone));
    OK(PtlMDRelease(it.gone));
    OK(PtlMDBind(it.ni, &md, &it.md));
    THAT(!PtlHandleIsEqual(it.md, it.gone) && PtlHandleIsEqual(it.md, it.md));
    interfaces(&it);
    maps(&it);
    descriptors(&it);
    entries(&it);
    waits(&it);
    operations(&it);
    limits();
    REFUSED(PtlPTFree(it.ni, BARRIER_TABLE), PTL_PT_IN_USE);
    /* All that was refused has left nothing behind. */
    ptl_ct_event_t count;
    OK(PtlCTGet(it.ct, &count));
    THAT(count.success == 0 && count.failure == 0);
    expect_empty(it.eq);
    ptl_sr_value_t dropped;
    OK(PtlNIStatus(it.ni, PTL_SR_DROP_COUNT, &dropped));
    THAT(dropped == 0);
    for (unsigned at = 0; at < sizeof memory; at++)
        THAT(memory[at] == 0);
    PtlFini();
    /* With Portals' end all is gone; and it can begin anew. */
    OK(PtlInit());
    REFUSED(PtlEQGet(it.eq, (ptl_event_t[1]){0}), PTL_ARG_INVALID);
    ptl_handle_ni_t again;
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &again));
    THAT(!PtlHandleIsEqual(again, it.ni));
    it.ni = again;
    OK(PtlEQAlloc(it.ni, 8, &it.eq));
    OK(PtlCTAlloc(it.ni, &it.ct));
    OK(PtlMDBind(it.ni, &(ptl_md_t){.eq_handle = it.eq, .ct_handle = it.ct}, &it.md));
    OK(PtlPTAlloc(it.ni, 0, it.eq, 0, &index));
    me = wide(PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
    OK(PtlMEAppend(it.ni, 0, &me, PTL_PRIORITY_LIST, NULL, &it.me));
    tables(&it);
    PtlFini();
    return report("wrong arguments");
}
