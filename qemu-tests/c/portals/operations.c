/* Every operation of the reference, at once and triggered, with counters, queues, identifiers and maps: each rank works in the next one's memory. */
#include "side.h"
#include <complex.h>

#define TABLE 3
#define WORDS 64

/* What the rank before works on, and where answers land. */
static int64_t target[WORDS], answers[WORDS], operands[WORDS];

struct own {
    ptl_handle_eq_t ended, arrived;
    ptl_handle_ct_t counter, trigger;
    ptl_handle_md_t from, into;
    ptl_handle_me_t open;
};

static void identity(struct side *it)
{
    ptl_handle_ni_t physical, named;
    ptl_process_t id, phys;
    ptl_process_t *map = calloc(it->size, sizeof *map);
    ptl_size_t size;
    ptl_uid_t uid = 7;
    unsigned long far;
    THAT(it->limits.max_entries > 0 && it->limits.max_pt_index >= 63 && it->limits.max_msg_size >= 1u << 30);
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &physical));
    OK(PtlGetUid(it->ni, &uid));
    THAT(uid == 0);
    OK(PtlGetPhysId(it->ni, &phys));
    OK(PtlGetId(physical, &id));
    THAT(id.phys.nid == phys.phys.nid && id.phys.pid == phys.phys.pid);
    OK(PtlGetMap(it->ni, it->size, map, &size));
    THAT(size == it->size);
    THAT(map[it->me.rank].phys.nid == phys.phys.nid && map[it->me.rank].phys.pid == phys.phys.pid);
    OK(PtlSetMap(it->ni, it->size, map));
    OK(PtlNIDist(it->ni, it->me, &far));
    THAT(far == 0);
    OK(PtlNIDist(it->ni, it->next, &far));
    unsigned long expected = map[it->next.rank].phys.nid == phys.phys.nid ? it->size > 1 : 2;
    THAT(far == expected);
    OK(PtlNIDist(physical, map[it->next.rank], &far));
    THAT(far == expected);
    const ptl_handle_any_t mine[] = {it->ni, it->told, it->nothing};
    for (int at = 0; at < 3; at++) {
        OK(PtlNIHandle(mine[at], &named));
        THAT(PtlHandleIsEqual(named, it->ni));
    }
    OK(PtlNIFini(physical));
    free(map);
}

static void open_own(struct side *it, struct own *own)
{
    OK(PtlEQAlloc(it->ni, 64, &own->ended));
    OK(PtlEQAlloc(it->ni, 256, &own->arrived));
    OK(PtlCTAlloc(it->ni, &own->counter));
    OK(PtlCTAlloc(it->ni, &own->trigger));
    ptl_pt_index_t index;
    OK(PtlPTAlloc(it->ni, 0, own->arrived, TABLE, &index));
    ptl_me_t me = {.start = target, .length = sizeof target, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE,
                   .match_id = {.rank = PTL_RANK_ANY}};
    OK(PtlMEAppend(it->ni, TABLE, &me, PTL_PRIORITY_LIST, NULL, &own->open));
    ptl_md_t md = {.start = operands, .length = sizeof operands, .options = PTL_MD_EVENT_CT_SEND | PTL_MD_EVENT_CT_ACK,
                   .eq_handle = own->ended, .ct_handle = own->counter};
    OK(PtlMDBind(it->ni, &md, &own->from));
    md.start = answers;
    md.options = PTL_MD_EVENT_CT_REPLY | PTL_MD_EVENT_CT_BYTES;
    OK(PtlMDBind(it->ni, &md, &own->into));
}

/* A word of the next rank's memory, fetched. */
static int64_t fetched(struct side *it, struct own *own, ptl_size_t word)
{
    answers[0] = -1;
    OK(PtlGet(own->into, 0, 8, it->next, TABLE, 0, word * 8, answers));
    ptl_event_t reply = expect(own->ended, PTL_EVENT_REPLY, PTL_NI_OK);
    THAT(reply.mlength == 8 && reply.user_ptr == answers && reply.remote_offset == word * 8);
    return answers[0];
}

static void swaps(struct side *it, struct own *own)
{
    static const struct {
        ptl_op_t operation;
        int64_t operand, result;
    } swaps[] = {{PTL_SWAP, 0, 9},      {PTL_CSWAP, 5, 9},    {PTL_CSWAP, 6, 5},    {PTL_CSWAP_NE, 6, 9},
                 {PTL_CSWAP_NE, 5, 5},  {PTL_CSWAP_LE, 5, 9}, {PTL_CSWAP_LE, 6, 5}, {PTL_CSWAP_LT, 4, 9},
                 {PTL_CSWAP_LT, 5, 5},  {PTL_CSWAP_GE, 5, 9}, {PTL_CSWAP_GE, 4, 5}, {PTL_CSWAP_GT, 6, 9},
                 {PTL_CSWAP_GT, 5, 5},  {PTL_MSWAP, 8, 13}};
    for (unsigned at = 0; at < sizeof swaps / sizeof *swaps; at++) {
        operands[0] = 5, operands[1] = 9;
        OK(PtlPut(own->from, 0, 8, PTL_ACK_REQ, it->next, TABLE, 0, 16, NULL, 0));
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
        answers[3] = -1;
        OK(PtlSwap(own->into, 24, own->from, 8, 8, it->next, TABLE, 0, 16, NULL, 1, &swaps[at].operand,
                   swaps[at].operation, PTL_INT64_T));
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_REPLY, NULL, NULL);
        THAT(answers[3] == 5);
        THAT(fetched(it, own, 2) == swaps[at].result);
    }
}

static void atomics(struct side *it, struct own *own)
{
    static const struct {
        ptl_op_t operation;
        int64_t result;
    } sums[] = {{PTL_MIN, -3}, {PTL_MAX, 12}, {PTL_SUM, 9},   {PTL_PROD, -36}, {PTL_LOR, 1},
                {PTL_LAND, 1}, {PTL_BOR, -3}, {PTL_BAND, 12}, {PTL_LXOR, 0},   {PTL_BXOR, -15}};
    for (unsigned at = 0; at < sizeof sums / sizeof *sums; at++) {
        operands[0] = 12, operands[1] = -3;
        OK(PtlPut(own->from, 0, 8, PTL_ACK_REQ, it->next, TABLE, 0, 8, NULL, 0));
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
        OK(PtlAtomic(own->from, 8, 8, PTL_ACK_REQ, it->next, TABLE, 0, 8, operands, 4, sums[at].operation, PTL_INT64_T));
        ptl_event_t ack;
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, &ack);
        THAT(ack.mlength == 8 && ack.user_ptr == operands);
        THAT(fetched(it, own, 1) == sums[at].result);
        operands[0] = 12;
        OK(PtlPut(own->from, 0, 8, PTL_ACK_REQ, it->next, TABLE, 0, 8, NULL, 0));
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
        OK(PtlFetchAtomic(own->into, 16, own->from, 8, 8, it->next, TABLE, 0, 8, NULL, 0, sums[at].operation,
                          PTL_INT64_T));
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_REPLY, NULL, NULL);
        THAT(answers[2] == 12 && fetched(it, own, 1) == sums[at].result);
    }
    OK(PtlAtomicSync());
}

/* The sum of each type, several elements at a time. */
#define SUM_OF(type, name, first, second)                                                                            \
    do {                                                                                                             \
        type *values = (type *)operands, *there = (type *)answers;                                                   \
        for (int at = 0; at < 4; at++)                                                                               \
            values[at] = (type)(first);                                                                              \
        OK(PtlPut(own->from, 0, 4 * sizeof(type), PTL_ACK_REQ, it->next, TABLE, 0, 128, NULL, 0));                   \
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);                                          \
        for (int at = 0; at < 4; at++)                                                                               \
            values[at] = (type)(second);                                                                             \
        OK(PtlFetchAtomic(own->into, 0, own->from, 0, 4 * sizeof(type), it->next, TABLE, 0, 128, NULL, 0, PTL_SUM,   \
                          name));                                                                                    \
        expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_REPLY, NULL, NULL);                                        \
        THAT(there[0] == (type)(first) && there[3] == (type)(first));                                                \
        OK(PtlGet(own->into, 0, 4 * sizeof(type), it->next, TABLE, 0, 128, NULL));                                   \
        expect(own->ended, PTL_EVENT_REPLY, PTL_NI_OK);                                                              \
        THAT(there[0] == (type)((type)(first) + (type)(second)) && there[3] == there[0]);                            \
    } while (0)

static void types(struct side *it, struct own *own)
{
    SUM_OF(int8_t, PTL_INT8_T, 100, -3);
    SUM_OF(uint8_t, PTL_UINT8_T, 200, 100);
    SUM_OF(int16_t, PTL_INT16_T, 30000, -5);
    SUM_OF(uint16_t, PTL_UINT16_T, 60000, 6000);
    SUM_OF(int32_t, PTL_INT32_T, 1 << 30, -7);
    SUM_OF(uint32_t, PTL_UINT32_T, 0xf0000000u, 0x20000000u);
    SUM_OF(int64_t, PTL_INT64_T, (int64_t)1 << 60, -9);
    SUM_OF(uint64_t, PTL_UINT64_T, (uint64_t)-1, 2);
    SUM_OF(float, PTL_FLOAT, 1.5f, 2.25f);
    SUM_OF(double, PTL_DOUBLE, 1.5, 1e100);
    SUM_OF(float complex, PTL_FLOAT_COMPLEX, 1.5f + 2 * I, 2.25f - I);
    SUM_OF(double complex, PTL_DOUBLE_COMPLEX, 1.5 + 2 * I, 1e100 - I);
}

static ptl_ct_event_t count_of(ptl_handle_ct_t counter)
{
    ptl_ct_event_t count = {77, 77};
    OK(PtlCTGet(counter, &count));
    return count;
}

static void counters(struct side *it, struct own *own)
{
    ptl_ct_event_t zero = {0, 0}, count, three = {3, 0}, failed = {0, 2};
    unsigned int which = 9;
    OK(PtlCTSet(own->counter, zero));
    OK(PtlPut(own->from, 0, 24, PTL_CT_ACK_REQ, it->next, TABLE, 0, 256, NULL, 0));
    /* One for the message that has gone, one for the acknowledgement. */
    OK(PtlCTWait(own->counter, 2, &count));
    THAT(count.success == 2 && count.failure == 0);
    expect(own->ended, PTL_EVENT_SEND, PTL_NI_OK);
    expect_empty(own->ended);
    OK(PtlPut(own->from, 0, 24, PTL_OC_ACK_REQ, it->next, TABLE, 0, 256, NULL, 0));
    OK(PtlCTWait(own->counter, 4, &count));
    expect(own->ended, PTL_EVENT_SEND, PTL_NI_OK);
    /* The other descriptor counts bytes. */
    OK(PtlGet(own->into, 0, 100, it->next, TABLE, 0, 0, NULL));
    OK(PtlCTWait(own->counter, 104, &count));
    THAT(count.success == 104);
    expect(own->ended, PTL_EVENT_REPLY, PTL_NI_OK);
    /* Nobody has that table: a failure counts one. */
    OK(PtlPut(own->from, 0, 8, PTL_ACK_REQ, it->next, 50, 0, 0, NULL, 0));
    ptl_event_t event;
    for (int number = 0; number < 2; number++) {
        OK(PtlEQWait(own->ended, &event));
        THAT(event.type == PTL_EVENT_SEND || (event.type == PTL_EVENT_ACK && event.ni_fail_type == PTL_NI_DROPPED));
    }
    THAT(count_of(own->counter).failure == 1);
    OK(PtlCTSet(own->counter, three));
    OK(PtlCTInc(own->counter, three));
    OK(PtlCTInc(own->counter, failed));
    THAT(count_of(own->counter).success == 6 && count_of(own->counter).failure == 2);
    const ptl_handle_ct_t both[2] = {own->trigger, own->counter};
    const ptl_size_t tests[2] = {1, 8}, more[2] = {1, 9};
    OK(PtlCTPoll(both, tests, 2, PTL_TIME_FOREVER, &count, &which));
    THAT(which == 1 && count.success == 6 && count.failure == 2);
    REFUSED(PtlCTPoll(both, more, 2, 10, &count, &which), PTL_CT_NONE_REACHED);
}

static void triggers(struct side *it, struct own *own)
{
    ptl_ct_event_t zero = {0, 0}, one = {1, 0}, set = {20, 1};
    ptl_handle_ct_t counter;
    int64_t compared = 21, *word = &operands[8];
    OK(PtlCTAlloc(it->ni, &counter));
    OK(PtlCTSet(own->trigger, zero));
    for (int at = 0; at < WORDS; at++)
        operands[at] = at;
    *word = 10;
    /* In the order of their thresholds: the word becomes 10, 21, then 5; what it was lands in answers. */
    OK(PtlTriggeredSwap(own->into, 8, own->from, 40, 8, it->next, TABLE, 0, 80, NULL, 0, &compared, PTL_CSWAP,
                        PTL_INT64_T, own->trigger, 3));
    OK(PtlTriggeredFetchAtomic(own->into, 0, own->from, 88, 8, it->next, TABLE, 0, 80, NULL, 0, PTL_SUM, PTL_INT64_T,
                               own->trigger, 2));
    OK(PtlTriggeredPut(own->from, 64, 8, PTL_ACK_REQ, it->next, TABLE, 0, 80, NULL, 0, own->trigger, 1));
    OK(PtlTriggeredAtomic(own->from, 88, 8, PTL_ACK_REQ, it->next, TABLE, 0, 80, NULL, 0, PTL_SUM, PTL_INT64_T,
                          own->trigger, 4));
    OK(PtlTriggeredGet(own->into, 16, 8, it->next, TABLE, 0, 80, NULL, own->trigger, 5));
    OK(PtlTriggeredCTInc(counter, one, own->trigger, 6));
    OK(PtlTriggeredCTSet(counter, set, counter, 1));
    expect_empty(own->ended);
    OK(PtlCTInc(own->trigger, one));
    expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
    OK(PtlCTInc(own->trigger, one));
    expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_REPLY, NULL, NULL);
    THAT(answers[0] == 10);
    OK(PtlCTInc(own->trigger, one));
    expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_REPLY, NULL, NULL);
    THAT(answers[1] == 21);
    OK(PtlCTInc(own->trigger, one));
    expect_both(own->ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
    OK(PtlCTInc(own->trigger, one));
    expect(own->ended, PTL_EVENT_REPLY, PTL_NI_OK);
    THAT(answers[2] == 5 + 11);
    THAT(count_of(counter).success == 0);
    OK(PtlCTInc(own->trigger, one));
    THAT(count_of(counter).success == 20 && count_of(counter).failure == 1);
    /* What is cancelled does not happen. */
    OK(PtlTriggeredPut(own->from, 0, 8, PTL_ACK_REQ, it->next, TABLE, 0, 80, NULL, 0, own->trigger, 100));
    OK(PtlCTCancelTriggered(own->trigger));
    ptl_ct_event_t many = {100, 0};
    OK(PtlCTSet(own->trigger, many));
    expect_empty(own->ended);
    /* An entry is appended and unlinked by a counter. */
    ptl_handle_me_t entry = 0;
    ptl_me_t me = {.start = target, .length = 8, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = PTL_ME_OP_PUT,
                   .match_id = {.rank = PTL_RANK_ANY}, .match_bits = 0x77};
    OK(PtlTriggeredMEAppend(it->ni, TABLE, &me, PTL_PRIORITY_LIST, &me, &entry, own->trigger, 101));
    THAT(entry == 0);
    OK(PtlCTInc(own->trigger, one));
    THAT(entry != 0 && entry != PTL_INVALID_HANDLE);
    OK(PtlTriggeredMEUnlink(entry, own->trigger, 102));
    OK(PtlCTInc(own->trigger, one));
    REFUSED(PtlMEUnlink(entry), PTL_ARG_INVALID);
    OK(PtlCTFree(counter));
}

static void queues(struct side *it, struct own *own)
{
    ptl_event_t event;
    unsigned int which = 9;
    const ptl_handle_eq_t both[2] = {own->ended, own->arrived};
    /* Whatever has arrived meanwhile from the rank before. */
    int status;
    while ((status = PtlEQGet(own->arrived, &event)) == PTL_OK || status == PTL_EQ_DROPPED)
        ;
    OK(PtlPut(own->from, 0, 8, PTL_NO_ACK_REQ, it->me, TABLE, 0, 0, NULL, 0));
    int seen = 0;
    for (int number = 0; number < 2; number++) {
        OK(PtlEQPoll(both, 2, PTL_TIME_FOREVER, &event, &which));
        THAT(event.type == (which == 0 ? PTL_EVENT_SEND : PTL_EVENT_PUT));
        seen |= 1 << which;
    }
    THAT(seen == 3);
    REFUSED(PtlEQPoll(both, 2, 5, &event, &which), PTL_EQ_EMPTY);
    /* A queue that is full drops; the event after those tells. */
    ptl_handle_eq_t small;
    ptl_handle_md_t md;
    OK(PtlEQAlloc(it->ni, 1, &small));
    OK(PtlMDBind(it->ni, &(ptl_md_t){.start = operands, .length = 8, .eq_handle = small, .ct_handle = own->counter,
                                     .options = PTL_MD_EVENT_CT_SEND}, &md));
    ptl_ct_event_t zero = {0, 0}, count;
    OK(PtlCTSet(own->counter, zero));
    for (ptl_size_t number = 0; number < 80; number++) {
        OK(PtlPut(md, 0, 8, PTL_NO_ACK_REQ, it->me, TABLE, 0, 0, NULL, 0));
        OK(PtlCTWait(own->counter, number + 1, &count));
        while (PtlEQGet(own->arrived, &event) == PTL_OK)
            ;
    }
    int taken = 0;
    while (PtlEQGet(small, &event) == PTL_OK)
        taken++;
    THAT(taken > 0 && taken < 80);
    OK(PtlPut(md, 0, 8, PTL_NO_ACK_REQ, it->me, TABLE, 0, 0, NULL, 0));
    OK(PtlCTWait(own->counter, 81, &count));
    REFUSED(PtlEQGet(small, &event), PTL_EQ_DROPPED);
    THAT(event.type == PTL_EVENT_SEND);
    expect_empty(small);
    OK(PtlMDRelease(md));
    OK(PtlEQFree(small));
}

static void aborts(struct own *own)
{
    ptl_event_t event;
    ptl_ct_event_t count;
    unsigned int which;
    ptl_size_t test = 1000000;
    PtlAbort();
    REFUSED(PtlEQWait(own->ended, &event), PTL_ABORTED);
    REFUSED(PtlEQPoll(&own->ended, 1, PTL_TIME_FOREVER, &event, &which), PTL_ABORTED);
    REFUSED(PtlCTWait(own->counter, test, &count), PTL_ABORTED);
    REFUSED(PtlCTPoll(&own->counter, &test, 1, PTL_TIME_FOREVER, &count, &which), PTL_ABORTED);
    OK(PtlInit());
    PtlFini();
}

int main(void)
{
    struct side it = open_side(1);
    struct own own;
    identity(&it);
    open_own(&it, &own);
    barrier(&it);
    OK(PtlStartBundle(it.ni));
    atomics(&it, &own);
    OK(PtlEndBundle(it.ni));
    swaps(&it, &own);
    types(&it, &own);
    barrier(&it);
    counters(&it, &own);
    triggers(&it, &own);
    barrier(&it);
    queues(&it, &own);
    barrier(&it);
    aborts(&own);
    ptl_sr_value_t dropped, violations;
    OK(PtlNIStatus(it.ni, PTL_SR_DROP_COUNT, &dropped));
    OK(PtlNIStatus(it.ni, PTL_SR_PERMISSION_VIOLATIONS, &violations));
    THAT(dropped >= 1 && violations == 0);
    barrier(&it);
    return close_side(&it, "operations");
}
