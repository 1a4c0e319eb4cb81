#include "analyzer/callers.h"

#include <stdlib.h>

/*
 * The communicator that an end belongs to. Without a line that creates it, ends of one size whose
 * processes show one communicator each are taken for one: number it by its size, from the top.
 */
static uint32_t comm_of(const struct hs_identity *id, const struct hs_dump *dump,
                        const struct hs_member *m)
{
    uint32_t row = m->communicator;
    uint32_t comm = row == HS_NO_ID ? HS_NO_ID : id->comms.comm_of_row[row];

    if (comm != HS_NO_ID && id->comms.list[comm].member_count > 1)
        return comm;
    if (row == HS_NO_ID || dump->member_count != 1)
        return HS_NO_ID;
    return HS_NO_ID - 1 - id->job->communicators[row].size % (1u << 30);
}

/* By its lines; else, on one host, by its device if that is a place in the communicator. */
static uint32_t rank_of(const struct hs_identity *id, const struct hs_dump *dump,
                        const struct hs_member *m, bool *guessed)
{
    const struct hs_speaker *s = &id->job->speakers[dump->speaker];
    uint32_t process = hs_identity_speaker(id, dump->speaker, s->first_line);
    uint32_t rank = process == HS_NO_ID ? HS_NO_ID : id->processes[process].rank;
    uint32_t size = m->communicator == HS_NO_ID ? 0 : id->job->communicators[m->communicator].size;

    *guessed = rank == HS_NO_ID;
    if (rank == HS_NO_ID && s->device != HS_NO_ID && id->host_count <= 1 && s->device < size)
        rank = s->device;
    return rank;
}

static int by_comm(const void *a, const void *b)
{
    const struct hs_caller *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->dump != y->dump)
        return x->dump < y->dump ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

bool hs_callers_find(const struct hs_identity *identity, struct hs_arena *arena,
                     struct hs_caller **out, uint32_t *count)
{
    const struct hs_job *job = identity->job;
    struct hs_caller *rows = HS_NEW(arena, struct hs_caller, job->member_count + 1u);
    uint32_t n = 0;

    for (uint32_t d = 0; rows && d < job->dump_count; d++) {
        const struct hs_dump *dump = &job->dumps[d];

        for (uint32_t m = 0; dump->speaker != HS_NO_ID && m < dump->member_count; m++) {
            const struct hs_member *member = &job->members[dump->first_member + m];
            struct hs_caller *at = &rows[n++];

            *at = (struct hs_caller){ .comm = comm_of(identity, dump, member),
                                      .dump = d,
                                      .member = m };
            at->rank = rank_of(identity, dump, member, &at->guessed);
        }
    }
    if (n)
        qsort(rows, n, sizeof(*rows), by_comm);
    *out = rows;
    *count = n;
    return rows != NULL;
}
