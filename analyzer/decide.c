#include "analyzer/decide.h"

/* In the order of precedence; within a row, the order here decides what nothing else does. */
static const struct {
    const char *code;
    char row;
    const char *action;
} codes[] = {
    { "gpu-fault", 'a', "cordon-host" },
    { "rank-died", 'b', "fix-code" },
    { "misconfigured", 'c', "fix-settings" },
    { "shm-exhausted", 'c', "fix-settings" },
    { "peer-access-fault", 'c', "fix-settings" },
    { "network-fault", 'c', "cordon-host" },
    { "order-mismatch", 'd', "fix-code" },
    { "size-mismatch", 'd', "fix-code" },
    { "dtype-mismatch", 'd', "fix-code" },
    { "group-deadlock", 'e', "fix-code" },
    { "p2p-mismatch", 'e', "fix-code" },
    { "gpu-stall", 'f', "cordon-host" },
    { "rank-slow", 'g', "fix-code" },
    { "rank-missing", 'g', "collect-more" },
    { "init-stuck", 'g', "collect-more" },
    { "collective-stuck", 'h', "collect-more" },
    { "version-mismatch", 'i', "fix-settings" },
    { "known-bug", 'i', "fix-settings" },
    { "healthy", 'j', "none" },
    { "undetermined", 'j', "collect-more" },
};

enum { CODES = sizeof(codes) / sizeof(codes[0]) };

/* The place of a code in the table; CODES when it has none. */
static size_t place_of(const char *code)
{
    size_t i = 0;

    while (i < CODES && strcmp(codes[i].code, code) != 0)
        i++;
    return i;
}

char hs_row_of(const char *code)
{
    size_t place = place_of(code);

    if (place == CODES)
        return 'z';
    return codes[place].row;
}

const char *hs_action_for(const char *code, const char *cause)
{
    static const struct {
        const char *code, *cause, *action; /* code NULL: any */
    } causes[] = {
        { NULL, "rank0-only-branch", "fix-code" },
        { NULL, "uneven-steps", "fix-code" },
        { NULL, "data-dependent-branch", "fix-code" },
        { NULL, "extra-call", "fix-code" },
        { NULL, "timeout-too-short", "raise-timeout" },
        { "rank-slow", "slow-checkpoint", "raise-timeout" },
        { "rank-slow", "slow-compile", "raise-timeout" },
        { "rank-slow", "slow-load", "raise-timeout" },
        { "rank-slow", "storage-stall", "cordon-host" },
        { "rank-slow", "host-blocked", "cordon-host" },
        { "rank-died", "scheduler-limit", "restart" },
        { "rank-died", "host-out-of-memory", "fix-settings" },
        { "rank-died", "port-in-use", "fix-settings" },
        { "rank-died", "killed-by-signal", "collect-more" },
        { "network-fault", "firewall", "fix-settings" },
    };

    for (size_t i = 0; cause && i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strcmp(causes[i].cause, cause) == 0 &&
            (!causes[i].code || strcmp(causes[i].code, code) == 0))
            return causes[i].action;
    }
    return place_of(code) < CODES ? codes[place_of(code)].action : "collect-more";
}

bool hs_claim_precedes(const struct hs_claim *a, const struct hs_claim *b)
{
    bool line_a = hs_row_of(a->code) <= 'c', line_b = hs_row_of(b->code) <= 'c';
    bool earlier = place_of(a->code) < place_of(b->code);

    if (line_a || line_b)
        return line_a && line_b ? earlier : line_a;
    if (a->weak != b->weak)
        return b->weak;
    if (a->reach != b->reach)
        return a->reach > b->reach;
    return earlier;
}

/* Ranks that wait for something else than the winner explains: more of them, and it is a lead. */
static bool is_overshadowed(const struct hs_claim *winner, const struct hs_claim *claims,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (claims[i].weak && !winner->weak && claims[i].reach > winner->reach)
            return true;
    }
    return false;
}

struct hs_decision hs_decide(const struct hs_claim *claims, uint32_t count,
                             const struct hs_health *health)
{
    struct hs_decision d = { .winner = HS_NO_ID, .code = "undetermined", .confidence = HS_LOW };
    size_t place;

    for (uint32_t i = 0; i < count; i++) {
        if (!claims[i].alternative &&
            (d.winner == HS_NO_ID || hs_claim_precedes(&claims[i], &claims[d.winner])))
            d.winner = i;
    }
    if (d.winner == HS_NO_ID) {
        if (health->progress && !health->minority) {
            d.code = "healthy";
            d.confidence = health->in_flight || health->partial ? HS_MEDIUM : HS_HIGH;
        }
        return d;
    }
    place = place_of(claims[d.winner].code);
    d.code = place < CODES ? codes[place].code : "undetermined"; /* not the string of a rule */
    if (strcmp(d.code, "undetermined") == 0 || claims[d.winner].doubts & HS_DOUBT_LEAD ||
        is_overshadowed(&claims[d.winner], claims, count))
        d.confidence = HS_LOW;
    else
        d.confidence = claims[d.winner].doubts ? HS_MEDIUM : HS_HIGH;
    return d;
}
