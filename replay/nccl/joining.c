/* joining.c - communicators: made, connected, ended. All processes make them in the same order. */
#include "replay/nccl/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { POLL_US = 200 };

/* Take what letters have come: also of communicators that others are ahead with. */
static bool read_letters(struct hs_rank *r)
{
    struct hs_letter letter;
    ssize_t n;

    while ((n = read(r->w->letterboxes[r->row].read, &letter, sizeof(letter))) == sizeof(letter))
        r->ids[letter.comm] = (struct hs_arrived_id){ .has = true, .id = letter.id };
    return (n < 0 && (errno == EAGAIN || errno == EINTR)) ||
           hs_rank_fail(r, "cannot read the id of a communicator: %s", strerror(errno));
}

/* Letters are read between tries to send one, so that two who send do not wait for each other. */
static bool wait_for_post(struct hs_rank *r)
{
    if (hs_rank_must_stop(r) || !read_letters(r))
        return false;
    (void)usleep(POLL_US);
    return true;
}

static bool send_letter(struct hs_rank *r, uint32_t row, const struct hs_letter *letter)
{
    while (write(r->w->letterboxes[row].write, letter, sizeof(*letter)) < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return hs_rank_fail(r, "cannot send the id of a communicator: %s", strerror(errno));
        if (!wait_for_post(r))
            return false;
    }
    return true;
}

/* The id of a communicator: its first member makes it and sends it to the others. */
static bool take_id(struct hs_rank *r, uint32_t c, uint32_t self, ncclUniqueId *id)
{
    const struct hs_comm *comm = &r->w->script->comms[c];
    struct hs_letter letter = { .comm = c };

    if (self > 0) {
        while (!r->ids[c].has) {
            if (!wait_for_post(r))
                return false;
        }
        *id = r->ids[c].id;
        return true;
    }
    if (!hs_rank_nccl(r, r->api.ncclGetUniqueId(&letter.id), NULL, "ncclGetUniqueId"))
        return false;
    for (uint32_t m = 1; m < comm->size; m++) {
        if (!send_letter(r, comm->rows[m], &letter))
            return false;
    }
    *id = letter.id;
    return true;
}

static bool make_by_id(struct hs_rank *r, uint32_t c, uint32_t self)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    ncclResult_t result;

    config.blocking = 0;
    if (!take_id(r, c, self, &id))
        return false;
    result = r->api.ncclCommInitRankConfig(&r->comms[c], (int)r->w->script->comms[c].size, id,
                                           (int)self, &config);
    return hs_rank_nccl(r, result, r->comms[c], "ncclCommInitRankConfig");
}

/* A split: all members of the parent take part, the others get nothing. */
static bool make_by_split(struct hs_rank *r, uint32_t c, uint32_t self)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t parent = r->comms[r->w->script->comms[c].parent];
    bool member = self != HS_NO_ID;
    ncclResult_t result;

    config.blocking = 0;
    result = r->api.ncclCommSplit(parent, member ? 0 : NCCL_SPLIT_NOCOLOR, member ? (int)self : 0,
                                  &r->comms[c], &config);
    return hs_rank_nccl(r, result, parent, "ncclCommSplit") &&
           (!member || hs_rank_nccl(r, ncclInProgress, r->comms[c], "ncclCommSplit"));
}

static bool make_comm(struct hs_rank *r, uint32_t c)
{
    const struct hs_comm *comm = &r->w->script->comms[c];
    uint32_t self = hs_comm_index(comm, r->row);
    bool split = comm->parent != HS_NO_ID && r->api.ncclCommSplit;

    if (split && r->comms[comm->parent])
        return make_by_split(r, c, self);
    return split || self == HS_NO_ID || make_by_id(r, c, self);
}

/* Connections are made at the first use, which needs all that they are for. The plan's calls may
 * not come to that, so everything is used once before. */
static bool warm_up(struct hs_rank *r, uint32_t c, char *room)
{
    const struct hs_comm *comm = &r->w->script->comms[c];
    uint32_t self = hs_comm_index(comm, r->row);
    struct hs_type byte = { ncclUint8, 1, 1 }, number = { ncclFloat32, 4, 1 };
    struct hs_nccl_call barrier = {
        .way = HS_WAY_BARRIER, .in_place = true, .count = 1, .type = number
    };
    struct hs_nccl_calls calls = { .calls = &barrier, .count = 1 };
    bool *pairs = hs_script_exchanges(r->w->script, c), ok;

    if (!pairs)
        return hs_rank_fail(r, "out of memory");
    ok = hs_rank_make(r, c, &calls, room, room, r->copies);
    r->calls.count = 0;
    for (uint32_t m = 0; ok && m < comm->size; m++) {
        struct hs_nccl_call half = { .other = m, .count = 1, .type = byte };

        ok = HS_GROW(r->calls.calls, r->calls.cap, r->calls.count + 2u);
        half.way = HS_WAY_SEND;
        if (ok && pairs[self * comm->size + m])
            r->calls.calls[r->calls.count++] = half;
        half.way = HS_WAY_RECV;
        half.to = 64;
        if (ok && pairs[m * comm->size + self])
            r->calls.calls[r->calls.count++] = half;
    }
    free(pairs);
    return ok && (r->calls.count == 0 || hs_rank_make(r, c, &r->calls, room, room, r->copies));
}

/* Until the stream is empty, or the parent does not want to wait longer. */
static bool drain(struct hs_rank *r)
{
    cudaError_t result;

    while ((result = r->api.cudaStreamQuery(r->copies)) == cudaErrorNotReady) {
        if (hs_rank_must_stop(r))
            return false;
        (void)usleep(POLL_US);
    }
    return hs_rank_cuda(r, result, "cudaStreamQuery");
}

bool hs_rank_join(struct hs_rank *r)
{
    void *room = NULL;

    for (uint32_t c = 0; c < r->w->script->comm_count; c++) {
        if (!make_comm(r, c))
            return false;
        atomic_fetch_add(&r->w->ranks[r->row].comms_made, 1);
        hs_rank_progress(r);
    }
    if (!hs_rank_cuda(r, r->api.cudaMalloc(&room, 128), "cudaMalloc") ||
        !hs_rank_cuda(r, r->api.cudaMemsetAsync(room, 0, 128, r->copies), "cudaMemsetAsync"))
        return false;
    for (uint32_t c = 0; c < r->w->script->comm_count; c++) {
        if (r->comms[c] && !(warm_up(r, c, room) && drain(r)))
            return false;
        hs_rank_progress(r);
    }
    return true;
}

void hs_rank_leave(struct hs_rank *r, bool abort)
{
    uint32_t count = r->comms ? r->w->script->comm_count : 0;

    /* what was split goes before what it was split from */
    for (uint32_t c = count; !abort && c-- > 0;) {
        if (r->comms[c] &&
            hs_rank_nccl(r, r->api.ncclCommFinalize(r->comms[c]), r->comms[c], "ncclCommFinalize"))
            (void)r->api.ncclCommDestroy(r->comms[c]);
        hs_rank_progress(r);
    }
    if (!abort || count == 0)
        return;
    /* together: one communicator's end may wait for another's kernel */
    (void)r->api.ncclGroupStart();
    for (uint32_t c = count; c-- > 0;) {
        if (r->comms[c])
            (void)r->api.ncclCommAbort(r->comms[c]);
    }
    (void)r->api.ncclGroupEnd();
}
