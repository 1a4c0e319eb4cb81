/* measured.c - the end of a real run in the form of a dry run's, so that it is judged alike. */
#include "replay/dry.h"

static void take_unit(struct hs_dry *dry, uint64_t at, uint64_t end, uint8_t state, uint32_t *last)
{
    bool agrees = dry->state[at] == state;

    if (!agrees && state >= HS_DRY_STARTED && dry->state[at] < HS_DRY_STARTED)
        dry->began[at] = *last + 1; /* the rules do not get there */
    if (!agrees && state == HS_DRY_FINISHED)
        dry->ended[at] = (dry->began[at] > *last ? dry->began[at] : *last) + 1;
    for (uint64_t k = at; k < end; k++) {
        dry->state[k] = state;
        dry->began[k] = dry->began[at];
        dry->ended[k] = dry->ended[at];
    }
    if (state == HS_DRY_FINISHED && dry->ended[at] > *last)
        *last = dry->ended[at];
    dry->steps = *last > dry->steps ? *last : dry->steps;
}

void hs_dry_measured(struct hs_dry *dry, const uint8_t *states)
{
    for (uint32_t row = 0; row < dry->plan->rank_count; row++) {
        const struct hs_program *p = &dry->plan->programs[dry->plan->ranks[row].program];
        uint64_t base = dry->first[row];
        uint32_t last = 0;

        for (uint32_t i = 0, end; i < p->call_count; i = end) {
            end = hs_unit_end(p, i);
            take_unit(dry, base + i, base + end, states[base + i], &last);
        }
    }
}
