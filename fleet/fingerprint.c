/* fingerprint.c - code, cause or rule, operation, kind of group and places in the user's code. */
#include "fleet/fingerprint.h"

#include "base/intern.h"

#include <ctype.h>

/* ---- the kind of a group ---- */

/* Words of labels, as frameworks and people name their groups. */
static const struct {
    const char *word, *kind;
} kinds[] = {
    { "default", "world" },
    { "world", "world" },
    { "tensor", "tensor" },
    { "tp", "tensor" },
    { "mp", "tensor" },
    { "pipeline", "pipeline" },
    { "pp", "pipeline" },
    { "stage", "pipeline" },
    { "expert", "expert" },
    { "experts", "expert" },
    { "ep", "expert" },
    { "moe", "expert" },
    { "embedding", "embedding" },
    { "fsdp", "shard" },
    { "shard", "shard" },
    { "sharded", "shard" },
    { "data", "data" },
    { "dp", "data" },
    { "ddp", "data" },
    { "replicate", "data" },
    { "context", "context" },
    { "cp", "context" },
    { "sequence", "context" },
    { "sp", "context" },
    { "model", "tensor" },
};

/* Letters of `text` from `*at` on, in small ones; false at its end. */
static bool next_word(struct hs_str text, size_t *at, char word[16], size_t *n)
{
    while (*at < text.n && !isalpha((unsigned char)text.p[*at]))
        ++*at;
    for (*n = 0; *at < text.n && isalpha((unsigned char)text.p[*at]); ++*at) {
        if (*n < 15)
            word[(*n)++] = (char)tolower((unsigned char)text.p[*at]);
    }
    word[*n] = '\0';
    return *n > 0;
}

struct hs_str hs_group_kind(struct hs_str label)
{
    size_t best = sizeof(kinds) / sizeof(kinds[0]), at = 0, n;
    char word[16];

    if (!label.p)
        return label;
    /* Of several words the one that stands first in the table: TENSOR_MODEL_PARALLEL is tensor. */
    while (next_word(label, &at, word, &n)) {
        for (size_t i = 0; i < best; i++) {
            if (strcmp(kinds[i].word, word) == 0)
                best = i;
        }
    }
    return best < sizeof(kinds) / sizeof(kinds[0]) ? hs_str_of(kinds[best].kind) : HS_STR("other");
}

/* ---- places in the user's code ---- */

static const char separator[] = " \xe2\x80\xb9 "; /* between frames of a verdict: " ‹ " */

/* Cut off and return what stands before `end`; all of it when there is none. */
static struct hs_str take_until(struct hs_str *text, const char *end)
{
    const char *at = text->n ? memmem(text->p, text->n, end, strlen(end)) : NULL;
    struct hs_str head = { .p = text->p, .n = at ? (size_t)(at - text->p) : text->n };
    size_t used = at ? head.n + strlen(end) : head.n;

    *text = (struct hs_str){ .p = text->p + used, .n = text->n - used };
    return head;
}

/* "train.py:219 evaluate": its file without the line, and its function. */
static void read_frame(struct hs_str text, struct hs_str *file, struct hs_str *function)
{
    struct hs_str place = take_until(&text, " ");
    size_t n = place.n;

    while (n > 0 && isdigit((unsigned char)place.p[n - 1]))
        n--;
    if (n > 0 && n < place.n && place.p[n - 1] == ':')
        place.n = n - 1;
    *file = place;
    *function = text;
}

static uint32_t count_frames(struct hs_str stack)
{
    uint32_t count = 0;

    for (; stack.n > 0; count++)
        (void)take_until(&stack, separator);
    return count;
}

static void put_frames(struct hs_str stack, const char *who, struct hs_fleet_row *row)
{
    for (int64_t depth = 0; stack.n > 0; depth++) {
        struct hs_fleet_frame *frame = &row->frames[row->frame_count++];

        *frame = (struct hs_fleet_frame){ .who = hs_str_of(who), .depth = depth };
        read_frame(take_until(&stack, separator), &frame->file, &frame->function);
    }
}

static bool is_culprit(const struct hs_verdict *v, uint32_t rank)
{
    for (uint32_t i = 0; i < v->culprit_count; i++) {
        if (rank != HS_NO_ID && v->culprits[i].rank == rank)
            return true;
    }
    return false;
}

/* Of several stacks the first in the order of bytes: not that of the ranks. */
static void prefer(struct hs_str stack, struct hs_str *best)
{
    if (stack.p && stack.n && (!best->p || hs_str_cmp(stack, *best) < 0))
        *best = stack;
}

/* Where culprits stand, and where those stand that wait in the operation. What the screen shows
 * comes before the records that prove it. */
static void find_stacks(const struct hs_verdict *v, struct hs_str *culprit, struct hs_str *waiting)
{
    struct hs_str proof[2] = { { .p = NULL }, { .p = NULL } };

    for (uint32_t i = 0; i < v->standing_count; i++) {
        const struct hs_standing *s = &v->standings[i];

        if (s->culprit)
            prefer(s->stack, culprit);
        else if (s->direct)
            prefer(s->stack, waiting);
    }
    for (uint32_t i = 0; v->finding_count && i < v->findings[0].evidence_count; i++) {
        const struct hs_evidence *e = &v->findings[0].evidence[i];

        prefer(e->stack, &proof[is_culprit(v, e->rank) ? 0 : 1]);
    }
    if (!culprit->p)
        *culprit = proof[0];
    if (!waiting->p)
        *waiting = proof[1];
}

/* ---- all of it ---- */

/* A send that waits and the receive that does are one fault, seen from either end. */
static struct hs_str operation_kind(struct hs_str op)
{
    return hs_str_is(op, "SEND") || hs_str_is(op, "RECV") ? HS_STR("P2P") : op;
}

static struct hs_str argument(const struct hs_phrase *phrase, const char *name)
{
    for (unsigned i = 0; i < phrase->n; i++) {
        if (strcmp(phrase->args[i].name, name) == 0)
            return phrase->args[i].text;
    }
    return (struct hs_str){ .p = NULL };
}

/* The number of an error of the driver, which tells one from another: "Xid 79". Whatever else a
 * line says has addresses and names in it. */
static struct hs_str error_number(struct hs_str detail)
{
    static const char *const words[] = { "Xid ", "SXid " };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i]), digits = n;

        if (!hs_str_starts(detail, hs_str_of(words[i])))
            continue;
        while (digits < detail.n && isdigit((unsigned char)detail.p[digits]))
            digits++;
        if (digits > n)
            return (struct hs_str){ .p = detail.p, .n = digits };
    }
    return (struct hs_str){ .p = NULL };
}

/* The rule that found it tells faults apart whose reason is not known. */
static void put_rule(struct hs_buf *out, const struct hs_verdict *v, const struct hs_fleet_row *row)
{
    static const char fault_of_line[] = "summary.lines.fault"; /* or with more words */
    struct hs_str rule = argument(&v->summary, "topic");
    struct hs_str number = error_number(argument(&v->summary, "detail"));

    if (!v->summary.key || !hs_str_starts(hs_str_of(v->summary.key), hs_str_of(fault_of_line)))
        return;
    if (rule.p && rule.n && !row->cause.p)
        hs_buf_printf(out, " by %.*s", HS_STR_ARG(rule));
    if (number.p)
        hs_buf_printf(out, ": %.*s", HS_STR_ARG(number));
}

static void put_words(struct hs_buf *out, const struct hs_verdict *v,
                      const struct hs_fleet_row *row)
{
    hs_buf_put(out, row->code);
    hs_buf_printf(out, " (%.*s)", HS_STR_ARG(row->cause.p ? row->cause : HS_STR("-")));
    put_rule(out, v, row);
    if (row->operation.p)
        hs_buf_printf(out, " in %.*s", HS_STR_ARG(operation_kind(row->operation)));
    if (row->group_kind.p)
        hs_buf_printf(out, " of %.*s", HS_STR_ARG(row->group_kind));
    for (uint32_t i = 0; i < row->frame_count; i++) {
        const struct hs_fleet_frame *f = &row->frames[i];

        if (f->depth == 0)
            hs_buf_printf(out, "; %.*s at ", HS_STR_ARG(f->who));
        else
            hs_buf_put(out, hs_str_of(separator));
        hs_buf_printf(out, "%.*s %.*s", HS_STR_ARG(f->file), HS_STR_ARG(f->function));
    }
}

bool hs_fingerprint(const struct hs_verdict *v, struct hs_arena *arena, struct hs_fleet_row *out)
{
    struct hs_str culprit = { .p = NULL }, waiting = { .p = NULL };
    struct hs_buf words;
    bool ok;

    find_stacks(v, &culprit, &waiting);
    out->operation = v->has_operation ? v->operation.op : (struct hs_str){ .p = NULL };
    out->group_kind =
        v->has_operation ? hs_group_kind(v->operation.group) : (struct hs_str){ .p = NULL };
    out->frames =
        HS_NEW(arena, struct hs_fleet_frame, count_frames(culprit) + count_frames(waiting) + 1);
    if (!out->frames)
        return false;
    out->frame_count = 0;
    put_frames(culprit, "culprit", out);
    put_frames(waiting, "waiting", out);
    if (strcmp(v->code, "healthy") == 0 || strcmp(v->code, "undetermined") == 0)
        return true; /* no fault is known */
    hs_buf_init(&words);
    put_words(&words, v, out);
    out->sketch = hs_arena_copy(arena, hs_buf_str(&words));
    out->fingerprint =
        hs_arena_printf(arena, "%016llx", (unsigned long long)hs_hash(hs_buf_str(&words)));
    ok = !words.failed && out->sketch.p && out->fingerprint.p;
    hs_buf_release(&words);
    return ok;
}
