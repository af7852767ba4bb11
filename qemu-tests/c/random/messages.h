/* Random messages: many at once, between all ranks, on several communicators, in all modes, received in every way.

   Every receive is checked against the rules of the standard (MPI-5.0, 3.5): the k-th receive, in the order in which receives are begun,
   that gets a message of one source, tag and communicator gets the k-th of them; and of two receives for any tag the earlier one gets
   the message that was sent earlier. What a rank receives is the same whatever the others do, so each checks alone. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "random.h"

enum { MESSAGES = 40, TAGS = 3, NEVER_SENT = 999 };
enum mode { STANDARD, SYNCHRONOUS, BUFFERED, PERSISTENT, PACKED, MODES };
/* Who may block: receives (every send is begun first), sends (every receive is begun first), nobody. */
enum order { SENDS_FIRST, RECEIVES_FIRST, MIXED, ORDERS };

struct message {
    int set, source, target, tag, ints; /* ranks in the world */
    enum mode mode;
    const struct layout *layout;
    uint64_t key;
    struct block block;
    void *packed;
    int received;
};

/* A receive of mine; `order` counts them as they begin. */
struct receive {
    int set, source, tag, order; /* as given: ranks of the communicator, or wildcards */
    struct block block;
    MPI_Request request;
    MPI_Status status;
    int persistent;
};

static int rank_in(const struct set *s, int world)
{
    for (int i = 0; i < s->size; i++)
        if (s->members[i] == world)
            return i;
    return MPI_UNDEFINED;
}

static int draw_messages(struct message *all)
{
    int count = 1 + alike(MESSAGES);
    for (int i = 0; i < count; i++) {
        struct message *m = &all[i];
        m->set = alike(SETS);
        m->source = alike(ranks_);
        const int *colors = sets_[m->set].color_of;
        do
            m->target = alike(ranks_);
        while (colors[m->target] != colors[m->source]);
        m->tag = alike(TAGS);
        m->mode = (enum mode)alike(MODES);
        m->layout = &layouts_[alike(LAYOUTS)];
        m->ints = random_ints();
        if (m->mode == BUFFERED && m->ints > 4096)
            m->ints = 4096;
        m->layout = bounded(m->layout, m->ints);
        m->ints -= m->ints % m->layout->ints;
        m->key = mixed(seed_ + 1) + (uint64_t)step_ * 1000 + (uint64_t)i;
        m->received = 0;
        m->packed = NULL;
    }
    return count;
}

/* Begins the send, or does it altogether. */
static MPI_Request send_message(struct message *m, int may_block)
{
    struct set *s = &sets_[m->set];
    int count = m->ints / m->layout->ints, to = rank_in(s, m->target);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = m->layout->type;
    m->block = new_block(m->layout, count);
    fill(&m->block, 0, m->ints, m->key);
    const void *from = m->block.origin;
    switch (m->mode) {
    case SYNCHRONOUS:
        OK(may_block ? MPI_Ssend(from, count, type, to, m->tag, s->comm)
                     : MPI_Issend(from, count, type, to, m->tag, s->comm, &request));
        break;
    case BUFFERED:
        OK(may_block ? MPI_Bsend(from, count, type, to, m->tag, s->comm)
                     : MPI_Ibsend(from, count, type, to, m->tag, s->comm, &request));
        break;
    case PERSISTENT:
        OK(MPI_Send_init(from, count, type, to, m->tag, s->comm, &request));
        OK(MPI_Start(&request));
        if (may_block) {
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            OK(MPI_Request_free(&request));
        }
        break;
    case PACKED: {
        int room, used = 0;
        OK(MPI_Pack_size(count, type, s->comm, &room));
        m->packed = memory((size_t)room);
        OK(MPI_Pack(from, count, type, m->packed, room, &used, s->comm));
        OK(may_block ? MPI_Send(m->packed, used, MPI_PACKED, to, m->tag, s->comm)
                     : MPI_Isend(m->packed, used, MPI_PACKED, to, m->tag, s->comm, &request));
        break;
    }
    default:
        OK(may_block ? MPI_Send(from, count, type, to, m->tag, s->comm)
                     : MPI_Isend(from, count, type, to, m->tag, s->comm, &request));
    }
    return request;
}

/* Receives for all messages to me: exact ones, and wildcards so chosen that no message is left without a receive whatever they match. */
static int draw_receives(const struct message *all, int count, struct receive *mine)
{
    int n = 0;
    for (int set = 0; set < SETS; set++) {
        int policy = own(4), wild[TAGS], any_tag[ranks_];
        for (int t = 0; t < TAGS; t++)
            wild[t] = own(2);
        for (int r = 0; r < ranks_; r++)
            any_tag[r] = own(2);
        for (int i = 0; i < count; i++) {
            const struct message *m = &all[i];
            if (m->set != set || m->target != me_)
                continue;
            struct receive *r = &mine[n++];
            r->set = set;
            r->source = rank_in(&sets_[set], m->source);
            r->tag = m->tag;
            r->request = MPI_REQUEST_NULL;
            r->persistent = 0;
            if (policy == 3 || (policy == 1 && wild[m->tag]))
                r->source = MPI_ANY_SOURCE;
            if (policy == 3 || (policy == 2 && any_tag[m->source]))
                r->tag = MPI_ANY_TAG;
        }
    }
    for (int i = n - 1; i > 0; i--) {
        int k = own(i + 1);
        struct receive x = mine[i];
        mine[i] = mine[k], mine[k] = x;
    }
    return n;
}

static void begin_receive(struct receive *r, int order, int most, int may_block)
{
    const struct layout *layout = bounded(&layouts_[own(LAYOUTS)], most);
    MPI_Comm comm = sets_[r->set].comm;
    MPI_Message message;
    int count = (most + layout->ints - 1) / layout->ints, how = own(may_block ? 6 : 2), found = 0;
    r->order = order;
    r->block = new_block(layout, count);
    void *to = r->block.origin;
    switch (how) {
    case 1:
        OK(MPI_Recv_init(to, count, layout->type, r->source, r->tag, comm, &r->request));
        OK(MPI_Start(&r->request));
        r->persistent = 1;
        break;
    case 2:
        OK(MPI_Recv(to, count, layout->type, r->source, r->tag, comm, &r->status));
        break;
    case 3:
        OK(MPI_Probe(r->source, r->tag, comm, &r->status));
        OK(MPI_Recv(to, count, layout->type, r->status.MPI_SOURCE, r->status.MPI_TAG, comm, &r->status));
        break;
    case 4:
        OK(MPI_Mprobe(r->source, r->tag, comm, &message, &r->status));
        OK(MPI_Imrecv(to, count, layout->type, &message, &r->request));
        break;
    case 5:
        while (!found)
            OK(MPI_Improbe(r->source, r->tag, comm, &found, &message, &r->status));
        OK(MPI_Mrecv(to, count, layout->type, &message, &r->status));
        break;
    default:
        OK(MPI_Irecv(to, count, layout->type, r->source, r->tag, comm, &r->request));
    }
}

/* Waits for all of them, one way or another. */
static void complete(MPI_Request *requests, MPI_Status *statuses, int n)
{
    MPI_Status *some = memory((size_t)(n + 1) * sizeof *some);
    int *indices = memory((size_t)(n + 1) * sizeof *indices), how = own(6), left = 0, done, index;
    for (int i = 0; i < n; i++)
        left += requests[i] != MPI_REQUEST_NULL;
    switch (how) {
    case 0:
    case 1: /* the inactive ones have empty statuses, which must not hide what is known of them */
        for (int i = 0; i < n; i++)
            some[i] = statuses[i];
        for (done = 0; !done;) {
            if (how == 0)
                OK(MPI_Waitall(n, requests, statuses));
            else
                OK(MPI_Testall(n, requests, &done, statuses));
            done |= how == 0;
        }
        for (int i = 0; i < n; i++)
            if (statuses[i].MPI_SOURCE == MPI_ANY_SOURCE)
                statuses[i] = some[i];
        break;
    case 2:
    case 3:
        while (left > 0) {
            if (how == 2)
                OK(MPI_Waitany(n, requests, &index, some));
            else
                OK(MPI_Testany(n, requests, &index, &done, some));
            if (how == 3 && !done)
                continue;
            THAT(index != MPI_UNDEFINED);
            statuses[index] = some[0];
            left--;
        }
        break;
    case 4:
    case 5:
        while (left > 0) {
            OK((how == 4 ? MPI_Waitsome : MPI_Testsome)(n, requests, &done, indices, some));
            THAT(done != MPI_UNDEFINED && (how == 5 || done > 0));
            for (int i = 0; i < done; i++)
                statuses[indices[i]] = some[i];
            left -= done;
        }
        break;
    }
    free(some);
    free(indices);
}

/* Every receive has what it must have; frees the blocks. */
static void check_receives(struct message *all, int count, struct receive *mine, int n)
{
    int last[SETS][ranks_]; /* the last message, as sent, that a receive for any tag got from there */
    memset(last, -1, sizeof last);
    for (int order = 0; order < n; order++) {
        struct receive *r = NULL;
        for (int i = 0; i < n; i++)
            if (mine[i].order == order)
                r = &mine[i];
        int source = sets_[r->set].members[r->status.MPI_SOURCE], ints, found = -1;
        for (int i = 0; i < count && found < 0; i++) {
            struct message *m = &all[i];
            if (m->set == r->set && m->target == me_ && m->source == source && m->tag == r->status.MPI_TAG && !m->received)
                found = i;
        }
        THAT(found >= 0);
        struct message *m = &all[found];
        THAT((r->source == MPI_ANY_SOURCE || r->source == r->status.MPI_SOURCE) && (r->tag == MPI_ANY_TAG || r->tag == m->tag));
        if (r->tag == MPI_ANY_TAG) {
            THAT(found > last[r->set][source]);
            last[r->set][source] = found;
        }
        m->received = 1;
        OK(MPI_Get_elements(&r->status, r->block.layout->type, &ints));
        THAT(ints == m->ints || m->mode == PACKED);
        struct block expected = new_block(r->block.layout, r->block.count);
        fill(&expected, 0, m->ints, m->key);
        SAME(r->block, expected);
    }
}

static void messages(void)
{
    doing_ = "messages";
    static struct message all[MESSAGES];
    static struct receive mine[MESSAGES];
    MPI_Request requests[2 * MESSAGES + 1];
    MPI_Status statuses[2 * MESSAGES + 1];
    struct receive *receive_of[2 * MESSAGES + 1];
    enum order order = (enum order)alike(ORDERS);
    int count = draw_messages(all), most = 1, sends = 0, started = 0, sent = 0;
    int n = draw_receives(all, count, mine);
    for (int i = 0; i < count; i++) {
        sends += all[i].source == me_;
        most = all[i].ints > most ? all[i].ints : most;
    }
    int used = 0, next = 0;
    memset(statuses, 0, sizeof statuses);
    while (started < n || sent < sends) {
        int receive = sent == sends ? 1 : started == n ? 0 : order == MIXED ? own(2) : order == RECEIVES_FIRST;
        receive_of[used] = NULL;
        if (receive) {
            begin_receive(&mine[started], started, most, order == SENDS_FIRST);
            receive_of[used] = &mine[started];
            statuses[used] = mine[started].status;
            requests[used++] = mine[started].request;
            started++;
            continue;
        }
        while (all[next].source != me_)
            next++;
        requests[used++] = send_message(&all[next++], order == RECEIVES_FIRST && own(3) > 0);
        sent++;
    }
    MPI_Request never = MPI_REQUEST_NULL;
    int nothing[4], cancelled = 0;
    if (own(3) == 0) { /* a receive that nothing matches can be cancelled while all the others are under way */
        OK(MPI_Irecv(nothing, 4, MPI_INT, MPI_ANY_SOURCE, NEVER_SENT, sets_[0].comm, &never));
        OK(MPI_Cancel(&never));
        MPI_Status status;
        OK(MPI_Wait(&never, &status));
        OK(MPI_Test_cancelled(&status, &cancelled));
        THAT(cancelled);
    }
    complete(requests, statuses, used);
    for (int i = 0; i < used; i++) {
        if (receive_of[i] != NULL)
            receive_of[i]->status = statuses[i];
        if (requests[i] != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&requests[i])); /* a persistent one */
    }
    check_receives(all, count, mine, n);
    for (int i = 0; i < count; i++)
        if (all[i].source == me_) {
            free(all[i].block.start);
            free(all[i].packed);
        }
    /* A wildcard must not take a message of the next step. */
    OK(MPI_Barrier(sets_[0].comm));
}

#endif
