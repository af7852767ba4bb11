/* Each rank puts a message into the next rank's memory, and both are told. */
#include "side.h"

#define BYTES 5000

static unsigned char source[BYTES], landing[BYTES];

int main(void)
{
    struct side it = open_side(1);
    ptl_handle_eq_t sends, receives;
    OK(PtlEQAlloc(it.ni, 16, &sends));
    OK(PtlEQAlloc(it.ni, 16, &receives));
    ptl_pt_index_t table;
    OK(PtlPTAlloc(it.ni, 0, receives, 7, &table));
    THAT(table == 7);
    for (int at = 0; at < BYTES; at++)
        source[at] = (unsigned char)(at * 7 + it.me.rank);
    ptl_me_t me = {.start = landing, .length = BYTES, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT, .match_id = {.rank = PTL_RANK_ANY}, .match_bits = 77};
    ptl_handle_me_t entry;
    OK(PtlMEAppend(it.ni, table, &me, PTL_PRIORITY_LIST, landing, &entry));
    ptl_event_t event = expect(receives, PTL_EVENT_LINK, PTL_NI_OK);
    THAT(event.user_ptr == landing && event.pt_index == table && event.ptl_list == PTL_PRIORITY_LIST);
    ptl_md_t md = {.start = source, .length = BYTES, .eq_handle = sends, .ct_handle = PTL_CT_NONE};
    ptl_handle_md_t from;
    OK(PtlMDBind(it.ni, &md, &from));
    barrier(&it);

    OK(PtlPut(from, 8, BYTES - 8, PTL_ACK_REQ, it.next, table, 77, 4, source, 42));
    ptl_event_t send, ack;
    expect_both(sends, PTL_EVENT_SEND, PTL_EVENT_ACK, &send, &ack);
    THAT(send.user_ptr == source && ack.user_ptr == source);
    THAT(ack.mlength == BYTES - 8 && ack.remote_offset == 4);
    event = expect(receives, PTL_EVENT_PUT, PTL_NI_OK);
    ptl_rank_t before = (it.me.rank + (ptl_rank_t)it.size - 1) % (ptl_rank_t)it.size;
    THAT(event.initiator.rank == before && event.hdr_data == 42 && event.match_bits == 77);
    THAT(event.rlength == BYTES - 8 && event.mlength == BYTES - 8 && event.remote_offset == 4);
    THAT(event.start == landing + 4 && event.user_ptr == landing && event.pt_index == 7 && event.uid == 0);
    int wrong = 0;
    for (int at = 8; at < BYTES; at++)
        wrong += landing[at - 4] != (unsigned char)(at * 7 + before);
    THAT(wrong == 0 && landing[0] == 0 && landing[BYTES - 1] == 0);
    expect_empty(receives);
    expect_empty(sends);
    barrier(&it);
    OK(PtlMEUnlink(entry));
    OK(PtlMDRelease(from));
    OK(PtlPTFree(it.ni, table));
    OK(PtlEQFree(sends));
    OK(PtlEQFree(receives));
    return close_side(&it, "put");
}
