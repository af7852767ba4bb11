/* Lists of both kinds of interfaces: matching, overflow, searches, options of entries, scattered memory, flow control. Each rank sends to the next. */
#include "side.h"

#define TABLE 3
#define BYTES 4096

static unsigned char source[BYTES], landing[BYTES], overflow[BYTES];
static ptl_handle_eq_t ended, arrived;
static ptl_handle_md_t from;
static ptl_rank_t before;

/* Sends to the next rank, and waits until it has been dealt with there: how. */
static ptl_event_t send(struct side *it, ptl_match_bits_t bits, ptl_size_t offset, ptl_size_t bytes)
{
    ptl_event_t ack = {0}, event;
    OK(PtlPut(from, 0, bytes, PTL_ACK_REQ, it->next, TABLE, bits, offset, NULL, bits));
    for (int number = 0; number < 2; number++) {
        OK(PtlEQWait(ended, &event));
        if (event.type == PTL_EVENT_ACK)
            ack = event;
        else
            THAT(event.type == PTL_EVENT_SEND && event.ni_fail_type == PTL_NI_OK);
    }
    return ack;
}

static ptl_me_t entry(void *start, ptl_size_t length, ptl_match_bits_t bits, unsigned options)
{
    ptl_me_t me = {.start = start, .length = length, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | options, .match_id = {.rank = PTL_RANK_ANY}, .match_bits = bits};
    return me;
}

static ptl_handle_me_t append(struct side *it, const ptl_me_t *me, ptl_list_t list, void *user)
{
    ptl_handle_me_t handle = PTL_INVALID_HANDLE;
    OK(PtlMEAppend(it->ni, TABLE, me, list, user, &handle));
    return handle;
}

static void unexpected(struct side *it)
{
    ptl_me_t me = entry(overflow, 300, 0, PTL_ME_MANAGE_LOCAL | PTL_ME_MAY_ALIGN);
    me.ignore_bits = ~(ptl_match_bits_t)0, me.min_free = 100;
    append(it, &me, PTL_OVERFLOW_LIST, overflow);
    expect(arrived, PTL_EVENT_LINK, PTL_NI_OK);
    barrier(it);
    for (ptl_match_bits_t bits = 1; bits <= 3; bits++)
        THAT(send(it, bits, 0, 90).ptl_list == PTL_OVERFLOW_LIST);
    barrier(it);
    for (int number = 1; number <= 3; number++) {
        ptl_event_t event;
        if (number == 3)
            expect(arrived, PTL_EVENT_AUTO_UNLINK, PTL_NI_OK);
        event = expect(arrived, PTL_EVENT_PUT, PTL_NI_OK);
        THAT(event.ptl_list == PTL_OVERFLOW_LIST && event.user_ptr == overflow);
        THAT(event.start == overflow + 90 * (number - 1) && event.initiator.rank == before);
    }
    me = entry(landing, 100, 2, PTL_ME_USE_ONCE);
    OK(PtlMESearch(it->ni, TABLE, &me, PTL_SEARCH_ONLY, landing));
    ptl_event_t event = expect(arrived, PTL_EVENT_SEARCH, PTL_NI_OK);
    THAT(event.match_bits == 2 && event.start == overflow + 90 && event.user_ptr == landing && event.mlength == 90);
    append(it, &me, PTL_PRIORITY_LIST, landing);
    event = expect(arrived, PTL_EVENT_PUT_OVERFLOW, PTL_NI_OK);
    THAT(event.match_bits == 2 && event.start == overflow + 90 && event.user_ptr == landing && event.hdr_data == 2);
    expect(arrived, PTL_EVENT_AUTO_UNLINK, PTL_NI_OK);
    OK(PtlMESearch(it->ni, TABLE, &me, PTL_SEARCH_ONLY, landing));
    expect(arrived, PTL_EVENT_SEARCH, PTL_NI_NO_MATCH);
    me.match_bits = 1;
    OK(PtlMESearch(it->ni, TABLE, &me, PTL_SEARCH_DELETE, landing));
    expect(arrived, PTL_EVENT_PUT_OVERFLOW, PTL_NI_OK);
    me.match_bits = 3;
    append(it, &me, PTL_PRIORITY_LIST, landing);
    expect(arrived, PTL_EVENT_PUT_OVERFLOW, PTL_NI_OK);
    /* With the last message that lay there the memory is the program's again. */
    ptl_event_t one, other;
    expect_both(arrived, PTL_EVENT_AUTO_FREE, PTL_EVENT_AUTO_UNLINK, &one, &other);
    THAT(one.user_ptr == overflow);
    expect_empty(arrived);
    barrier(it);
}

static void options(struct side *it)
{
    ptl_handle_ct_t counter;
    ptl_ct_event_t count;
    OK(PtlCTAlloc(it->ni, &counter));
    ptl_me_t quiet = entry(landing, 100, 1, PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_CT_COMM);
    quiet.ct_handle = counter;
    ptl_me_t bytes = quiet;
    bytes.match_bits = 2, bytes.options |= PTL_ME_EVENT_CT_BYTES;
    ptl_me_t whole = entry(landing, 100, 3, PTL_ME_NO_TRUNCATE | PTL_ME_EVENT_LINK_DISABLE);
    ptl_me_t cut = entry(landing, 100, 4, PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE);
    ptl_me_t once = entry(landing, 100, 5, PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_EVENT_LINK_DISABLE);
    ptl_me_t silent = entry(landing, 100, 6, PTL_ME_ACK_DISABLE | PTL_ME_EVENT_LINK_DISABLE);
    ptl_me_t getting = entry(landing, 100, 7, PTL_ME_EVENT_LINK_DISABLE | PTL_ME_IS_ACCESSIBLE);
    getting.options = PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE;
    ptl_me_t users = entry(landing, 100, 8, PTL_ME_EVENT_LINK_DISABLE);
    users.uid = 5;
    ptl_me_t from_one = entry(landing, 100, 9, PTL_ME_EVENT_LINK_DISABLE);
    from_one.match_id.rank = before;
    ptl_me_t from_nobody = from_one;
    from_nobody.match_bits = 10, from_nobody.match_id.rank = (ptl_rank_t)it->size + 1;
    const ptl_me_t *all[] = {&quiet, &bytes, &whole, &cut, &once, &silent, &getting, &users, &from_one, &from_nobody};
    ptl_handle_me_t handles[10];
    for (int at = 0; at < 10; at++)
        handles[at] = append(it, all[at], PTL_PRIORITY_LIST, NULL);
    barrier(it);
    THAT(send(it, 1, 0, 40).mlength == 40);
    THAT(send(it, 2, 0, 40).mlength == 40);
    THAT(send(it, 3, 61, 40).ni_fail_type == PTL_NI_DROPPED);
    THAT(send(it, 3, 60, 40).mlength == 40);
    THAT(send(it, 4, 90, 40).mlength == 10 && send(it, 4, 500, 40).mlength == 0);
    THAT(send(it, 5, 0, 8).ni_fail_type == PTL_NI_OK && send(it, 5, 0, 8).ni_fail_type == PTL_NI_DROPPED);
    OK(PtlPut(from, 0, 8, PTL_ACK_REQ, it->next, TABLE, 6, 0, NULL, 0));
    expect(ended, PTL_EVENT_SEND, PTL_NI_OK);
    THAT(send(it, 7, 0, 8).ni_fail_type == PTL_NI_OP_VIOLATION);
    THAT(send(it, 8, 0, 8).ni_fail_type == PTL_NI_PERM_VIOLATION);
    THAT(send(it, 9, 0, 8).ni_fail_type == PTL_NI_OK);
    THAT(send(it, 10, 0, 8).ni_fail_type == PTL_NI_DROPPED);
    barrier(it);
    OK(PtlCTWait(counter, 41, &count));
    THAT(count.success == 1 + 40 && count.failure == 0);
    const ptl_match_bits_t told[] = {3, 5, 6, 9};
    for (int at = 0; at < 4; at++)
        THAT(expect(arrived, PTL_EVENT_PUT, PTL_NI_OK).match_bits == told[at]);
    expect_empty(arrived);
    expect_empty(ended);
    ptl_sr_value_t status;
    OK(PtlNIStatus(it->ni, PTL_SR_OPERATION_VIOLATIONS, &status));
    THAT(status == 1);
    OK(PtlNIStatus(it->ni, PTL_SR_PERMISSION_VIOLATIONS, &status));
    THAT(status == 1);
    for (int at = 0; at < 10; at++)
        REFUSED(PtlMEUnlink(handles[at]), at == 4 ? PTL_ARG_INVALID : PTL_OK);
    OK(PtlCTFree(counter));
    barrier(it);
}

/* Vectors at both ends: the first and the last byte of each piece are where they belong. */
static void scattered(struct side *it)
{
    ptl_iovec_t out[3] = {{source + 1000, 700}, {source, 0}, {source + 100, 500}};
    ptl_iovec_t in[2] = {{landing + 2000, 333}, {landing + 64, 900}};
    ptl_handle_md_t md;
    OK(PtlMDBind(it->ni, &(ptl_md_t){.start = out, .length = 3, .options = PTL_IOVEC | PTL_MD_VOLATILE | PTL_MD_UNORDERED,
                                     .eq_handle = ended, .ct_handle = PTL_CT_NONE}, &md));
    ptl_me_t me = entry(in, 2, 20, PTL_IOVEC | PTL_ME_EVENT_LINK_DISABLE);
    ptl_handle_me_t handle = append(it, &me, PTL_PRIORITY_LIST, NULL);
    memset(landing, 0, sizeof landing);
    barrier(it);
    OK(PtlPut(md, 10, 1100, PTL_ACK_REQ, it->next, TABLE, 20, 5, NULL, 0));
    expect_both(ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
    ptl_event_t event = expect(arrived, PTL_EVENT_PUT, PTL_NI_OK);
    THAT(event.mlength == 1100 && event.start == landing + 2005);
    int wrong = 0;
    for (int at = 0; at < 1100; at++) {
        unsigned char sent = at + 10 < 700 ? source[1000 + at + 10] : source[100 + at + 10 - 700];
        unsigned char there = at + 5 < 333 ? landing[2000 + at + 5] : landing[64 + at + 5 - 333];
        wrong += (unsigned char)(sent - it->me.rank + before) != there;
    }
    THAT(wrong == 0 && landing[2000] == 0 && landing[2333] == 0 && landing[63] == 0);
    OK(PtlMEUnlink(handle));
    OK(PtlMDRelease(md));
    barrier(it);
}

/* A receiver without an entry disables its table, and takes up again: no message is lost. */
static void flow(struct side *it)
{
    ptl_pt_index_t table;
    OK(PtlPTAlloc(it->ni, PTL_PT_FLOWCTRL | PTL_PT_ALLOC_DISABLED, arrived, TABLE + 1, &table));
    barrier(it);
    ptl_event_t event;
    int told = 0;
    for (int rounds = 0; rounds < 2; rounds++) {
        OK(PtlPut(from, 0, 8, PTL_ACK_REQ, it->next, table, 1, 0, NULL, 0));
        for (int number = 0; number < 2; number++) {
            OK(PtlEQWait(ended, &event));
            told += event.type == PTL_EVENT_ACK && event.ni_fail_type == PTL_NI_PT_DISABLED;
        }
        barrier(it);
        if (rounds == 0)
            OK(PtlPTEnable(it->ni, table));
        barrier(it);
    }
    THAT(told == 2);
    expect(arrived, PTL_EVENT_PT_DISABLED, PTL_NI_PT_DISABLED);
    ptl_me_t me = entry(landing, 8, 1, PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_USE_ONCE);
    ptl_handle_me_t handle;
    OK(PtlMEAppend(it->ni, table, &me, PTL_PRIORITY_LIST, NULL, &handle));
    OK(PtlPTEnable(it->ni, table));
    barrier(it);
    OK(PtlPut(from, 0, 8, PTL_ACK_REQ, it->next, table, 1, 0, NULL, 0));
    expect_both(ended, PTL_EVENT_SEND, PTL_EVENT_ACK, NULL, NULL);
    expect(arrived, PTL_EVENT_PUT, PTL_NI_OK);
    OK(PtlPTDisable(it->ni, table));
    barrier(it);
    OK(PtlPTFree(it->ni, table));
    barrier(it);
}

/* An interface without matching takes what comes, in the order of its entries. */
static void plain(void)
{
    struct side it = open_side(0);
    ptl_pt_index_t table;
    ptl_handle_eq_t queue, done;
    ptl_handle_le_t first, second;
    ptl_handle_md_t md;
    OK(PtlEQAlloc(it.ni, 32, &queue));
    OK(PtlEQAlloc(it.ni, 32, &done));
    OK(PtlPTAlloc(it.ni, PTL_PT_ONLY_TRUNCATE, queue, TABLE, &table));
    OK(PtlMDBind(it.ni, &(ptl_md_t){.start = source, .length = BYTES, .options = PTL_MD_EVENT_SEND_DISABLE,
                                    .eq_handle = done, .ct_handle = PTL_CT_NONE}, &md));
    ptl_le_t le = {.start = overflow, .length = 64, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY,
                   .options = PTL_LE_OP_PUT | PTL_LE_EVENT_LINK_DISABLE};
    OK(PtlLEAppend(it.ni, table, &le, PTL_OVERFLOW_LIST, overflow, &second));
    barrier(&it);
    OK(PtlPut(md, 0, 16, PTL_ACK_REQ, it.next, table, 123, 0, NULL, 0));
    THAT(expect(done, PTL_EVENT_ACK, PTL_NI_OK).mlength == 16);
    expect(queue, PTL_EVENT_PUT, PTL_NI_OK);
    le.start = landing, le.options |= PTL_LE_OP_GET | PTL_LE_USE_ONCE;
    OK(PtlLESearch(it.ni, table, &le, PTL_SEARCH_ONLY, NULL));
    THAT(expect(queue, PTL_EVENT_SEARCH, PTL_NI_OK).mlength == 16);
    OK(PtlLESearch(it.ni, table, &le, PTL_SEARCH_DELETE, NULL));
    expect(queue, PTL_EVENT_PUT_OVERFLOW, PTL_NI_OK);
    OK(PtlLEUnlink(second));
    OK(PtlLEAppend(it.ni, table, &le, PTL_PRIORITY_LIST, landing, &first));
    barrier(&it);
    OK(PtlGet(md, 100, 32, it.next, table, 0, 8, source));
    THAT(expect(done, PTL_EVENT_REPLY, PTL_NI_OK).mlength == 32);
    /* The event of the get comes when its answer has arrived. */
    ptl_event_t get;
    expect_both(queue, PTL_EVENT_AUTO_UNLINK, PTL_EVENT_GET, NULL, &get);
    THAT(get.start == landing + 8);
    REFUSED(PtlLEUnlink(first), PTL_ARG_INVALID);
    barrier(&it);
    while (PtlNIFini(it.ni) == PTL_IN_USE)
        ;
    PtlFini();
}

int main(void)
{
    struct side it = open_side(1);
    ptl_pt_index_t table;
    before = (it.me.rank + (ptl_rank_t)it.size - 1) % (ptl_rank_t)it.size;
    for (int at = 0; at < BYTES; at++)
        source[at] = (unsigned char)(at * 7 + at / 251 + it.me.rank);
    OK(PtlEQAlloc(it.ni, 64, &ended));
    OK(PtlEQAlloc(it.ni, 64, &arrived));
    OK(PtlPTAlloc(it.ni, PTL_PT_MATCH_UNORDERED, arrived, TABLE, &table));
    OK(PtlMDBind(it.ni, &(ptl_md_t){.start = source, .length = BYTES, .eq_handle = ended, .ct_handle = PTL_CT_NONE}, &from));
    unexpected(&it);
    options(&it);
    scattered(&it);
    flow(&it);
    plain();
    OK(PtlPTFree(it.ni, table));
    return close_side(&it, "lists");
}
