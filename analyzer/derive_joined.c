/* derive_joined.c - what was put together, as rows: communicators of many ends, clocks. */
#include "analyzer/clocks.h"
#include "analyzer/telling.h"

bool hs_derive_comms(const struct hs_identity *identity, struct hs_derived *out)
{
    const struct hs_comms *comms = &identity->comms;

    out->comms = HS_NEW(&out->arena, struct hs_comm_row, comms->count);
    out->comm_ends = HS_NEW(&out->arena, struct hs_comm_end_row, comms->member_count);
    for (uint32_t i = 0; out->comms && out->comm_ends && i < comms->count; i++) {
        const struct hs_comm *c = &comms->list[i];

        out->comms[out->comm_count++] =
            (struct hs_comm_row){ .comm_id = c->comm_id,
                                  .attempt = c->attempt,
                                  .size = c->size,
                                  .parent = c->parent,
                                  .seen = c->seen,
                                  .ends = c->member_count,
                                  .how = hs_comm_joined_word((enum hs_comm_joined)c->joined),
                                  .computed = c->computed,
                                  .world = c->world };
        for (uint32_t k = 0; k < c->member_count; k++) {
            const struct hs_comm_member *m = &comms->members[c->first_member + k];

            out->comm_ends[out->comm_end_count++] =
                (struct hs_comm_end_row){ .comm = i,
                                          .communicator = m->row,
                                          .process = m->owner,
                                          .rank = m->rank,
                                          .state =
                                              hs_comm_state_word((enum hs_comm_state)m->state) };
        }
    }
    return out->comms && out->comm_ends;
}

static bool put_clocks(const struct hs_clocks *clocks, struct hs_derived *out)
{
    out->clocks = HS_NEW(&out->arena, struct hs_clock_row, clocks->count);
    for (uint32_t i = 0; out->clocks && i < clocks->count; i++) {
        const struct hs_host_clock *c = &clocks->list[i];
        struct hs_clock_row row = { .process = HS_NO_ID,
                                    .source = HS_NO_ID,
                                    .kind = c->kind,
                                    .reference = c->reference,
                                    .ties = c->ties,
                                    .offset_ns = c->low / 2 + c->high / 2,
                                    .bound_ns = c->high / 2 - c->low / 2 + 1,
                                    .contradicted = c->contradicted };

        if (c->scope == HS_CLOCK_OF_HOST)
            row.host = hs_arena_copy(&out->arena, clocks->id->hosts[c->number]);
        else if (c->scope == HS_CLOCK_OF_PROCESS)
            row.process = c->number;
        else
            row.source = c->number;
        if (c->reference == i)
            row.bound_ns = 0;
        out->clocks[out->clock_count++] = row;
    }
    return out->clocks != NULL;
}

bool hs_derive_clocks(const struct hs_judged *j, struct hs_derived *out)
{
    struct hs_clocks clocks;
    struct hs_err err = { .n = 0 };
    bool ok;

    hs_clocks_init(&clocks, j->identity);
    ok = hs_clocks_find(&clocks, &j->al, &err) == HS_OK && put_clocks(&clocks, out);
    hs_clocks_release(&clocks);
    return ok;
}
