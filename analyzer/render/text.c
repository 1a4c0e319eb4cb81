/* text.c - the verdict as one screen: what, where everybody stands, why, what next, what is unseen.
 */
#include "analyzer/render/render.h"
#include "base/ranks.h"

enum { PLACES = 6, NOTES = 4, BOUNDS = 3, LABEL_MIN = 14, LABEL_MAX = 30, EVIDENCE = 3 };

struct painter {
    const struct hs_verdict *v;
    const struct hs_screen *s;
    struct hs_buf *out;
};

static void paint(struct painter *p, const char *code)
{
    if (p->s->color)
        hs_buf_printf(p->out, "\033[%sm", code);
}

static void say(struct painter *p, const struct hs_phrase *phrase)
{
    hs_phrase_put(p->out, phrase, p->s->language);
}

static void say_key(struct painter *p, const char *key)
{
    struct hs_phrase phrase = { .key = key };

    say(p, &phrase);
}

static struct hs_str count_text(char *room, size_t size, uint64_t n)
{
    int used = snprintf(room, size, "%llu", (unsigned long long)n);

    return (struct hs_str){ .p = room, .n = (size_t)used };
}

static void pad(struct painter *p, size_t from, size_t width)
{
    size_t used = hs_str_columns((struct hs_str){ .p = p->out->p + from, .n = p->out->n - from });

    for (hs_buf_putc(p->out, ' '); used + 1 < width; used++)
        hs_buf_putc(p->out, ' ');
}

static void put_count(struct painter *p, const char *key, uint64_t count, uint64_t of)
{
    struct hs_phrase phrase = { .key = key };
    char digits[24], of_digits[24];
    bool known = count != HS_UNKNOWN;

    hs_phrase_add(&phrase, "count",
                  known ? count_text(digits, sizeof(digits), count) : hs_str_of("?"), count);
    hs_phrase_add(&phrase, "of", of ? count_text(of_digits, sizeof(of_digits), of) : hs_str_of(""),
                  of);
    say(p, &phrase);
}

/* "8 ranks · 8 dumps · 1 log of 8 ranks": what the verdict was made of. */
static void put_counts(struct painter *p)
{
    const struct hs_verdict *v = p->v;
    size_t from = p->out->n;

    if (v->world_size != HS_UNKNOWN || !v->log_count)
        put_count(p, "screen.count.ranks", v->world_size, 0);
    if (v->dump_rank_count || !v->log_count) {
        hs_buf_put(p->out, p->out->n > from ? HS_STR(" · ") : HS_STR(""));
        put_count(p, "screen.count.dumps", v->dump_rank_count, 0);
    }
    if (v->log_count) {
        hs_buf_put(p->out, p->out->n > from ? HS_STR(" · ") : HS_STR(""));
        put_count(p, "screen.count.logs", v->log_count,
                  v->log_rank_count == v->log_count ? 0 : v->log_rank_count);
    }
}

static void put_heading(struct painter *p)
{
    static const char *const confidences[] = { "low", "medium", "high" };
    static const char *const colors[] = { "33", "33", "31" };
    const struct hs_verdict *v = p->v;
    bool healthy = strcmp(v->code, "healthy") == 0;

    paint(p, "1");
    paint(p, healthy ? "32" : colors[v->confidence]);
    hs_buf_printf(p->out, "%s", v->code);
    if (v->cause)
        hs_buf_printf(p->out, " (%s)", v->cause);
    paint(p, "0");
    hs_buf_put(p->out, HS_STR(", "));
    say_key(p, "screen.confidence");
    hs_buf_printf(p->out, " %s, %s        ", confidences[v->confidence], v->action);
    paint(p, "2");
    put_counts(p);
    if (p->s->seconds >= 0)
        hs_buf_printf(p->out, " · %.2f s", p->s->seconds);
    paint(p, "0");
    hs_buf_putc(p->out, '\n');
}

/* "  label         text", the label dimmed. */
static void begin_row(struct painter *p, const char *key)
{
    size_t from;

    paint(p, "2");
    hs_buf_put(p->out, HS_STR("  "));
    from = p->out->n;
    if (key)
        say_key(p, key);
    pad(p, from, 7);
    paint(p, "0");
}

/* "ranks 0-3, 5", without padding. */
static void put_who(struct painter *p, const struct hs_standing *s, struct hs_buf *out)
{
    struct hs_phrase who = { .key = "screen.rank" };
    struct hs_buf ranks;

    hs_buf_init(&ranks);
    hs_ranks_put(&ranks, s->ranks, s->rank_count, 6);
    hs_phrase_add(&who, "ranks", hs_buf_str(&ranks), s->rank_count);
    hs_phrase_put(out, &who, p->s->language);
    hs_buf_release(&ranks);
}

static void put_place(struct painter *p, const struct hs_standing *s, size_t width)
{
    size_t from;

    hs_buf_put(p->out, HS_STR("  "));
    if (s->culprit)
        paint(p, "1");
    from = p->out->n;
    put_who(p, s, p->out);
    pad(p, from, width);
    if (s->host.p) {
        from = p->out->n;
        hs_buf_put(p->out, s->host);
        pad(p, from, 12);
    }
    say(p, &s->where);
    if (s->culprit)
        paint(p, "0");
    if (s->stack.p) {
        paint(p, "2");
        hs_buf_put(p->out, HS_STR("   "));
        hs_buf_put(p->out, s->stack);
        paint(p, "0");
    }
    hs_buf_putc(p->out, '\n');
}

/* The column that all shown places fit into, within reason. */
static size_t label_width(struct painter *p, uint32_t shown)
{
    size_t width = LABEL_MIN;
    struct hs_buf who;

    hs_buf_init(&who);
    for (uint32_t i = 0; i < shown; i++) {
        who.n = 0;
        put_who(p, &p->v->standings[i], &who);
        if (hs_str_columns(hs_buf_str(&who)) + 2 > width)
            width = hs_str_columns(hs_buf_str(&who)) + 2;
    }
    hs_buf_release(&who);
    return width > LABEL_MAX ? LABEL_MAX : width;
}

static void put_places(struct painter *p)
{
    const struct hs_verdict *v = p->v;
    uint32_t shown =
        p->s->verbosity > 0 || v->standing_count <= PLACES ? v->standing_count : PLACES;
    size_t width = label_width(p, shown);
    uint64_t rest = 0;
    char count[24], ranks[24];
    struct hs_phrase more = { .key = "screen.more-places" };

    if (v->standing_count)
        hs_buf_putc(p->out, '\n');
    for (uint32_t i = 0; i < v->standing_count; i++) {
        if (i < shown)
            put_place(p, &v->standings[i], width);
        else
            rest += v->standings[i].rank_count;
    }
    if (!rest)
        return;
    hs_phrase_add(&more, "count", count_text(count, sizeof(count), v->standing_count - shown),
                  v->standing_count - shown);
    hs_phrase_add(&more, "ranks", count_text(ranks, sizeof(ranks), rest), rest);
    hs_buf_put(p->out, HS_STR("  "));
    say(p, &more);
    hs_buf_putc(p->out, '\n');
}

/* So many bytes of text take at most `columns`. */
static size_t fitting(struct hs_str text, size_t columns)
{
    size_t n = text.n;

    while (n && hs_str_columns((struct hs_str){ .p = text.p, .n = n }) > columns) {
        n--;
        while (n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
            n--;
    }
    return n;
}

/*
 * Of a line that is wider than the terminal its head and tail go, not the words that tell what it
 * is about.
 */
static void put_excerpt(struct painter *p, const struct hs_evidence *e, size_t used)
{
    enum { HEAD = 16, LEAST = 40 };
    struct hs_str head = { .p = e->excerpt.p, .n = e->mark };
    struct hs_str tail = { .p = e->excerpt.p + e->mark, .n = e->excerpt.n - e->mark };
    size_t room = p->s->columns > used + LEAST ? p->s->columns - used : LEAST;

    if (p->s->columns == 0 || p->s->verbosity > 0 || hs_str_columns(e->excerpt) <= room) {
        hs_buf_put(p->out, e->excerpt);
        return;
    }
    if (hs_str_columns(head) > room / 2) {
        head.n = fitting(head, HEAD);
        hs_buf_put(p->out, head);
        hs_buf_put(p->out, HS_STR("… "));
        room -= 2;
    } else {
        hs_buf_put(p->out, head);
    }
    room -= hs_str_columns(head);
    if (hs_str_columns(tail) <= room) {
        hs_buf_put(p->out, tail);
        return;
    }
    tail.n = fitting(tail, room - 1);
    hs_buf_put(p->out, tail);
    hs_buf_put(p->out, HS_STR("…"));
}

static void put_evidence(struct painter *p, const struct hs_finding *f)
{
    for (uint32_t i = 0; i < f->evidence_count && (p->s->verbosity > 0 || i < EVIDENCE); i++) {
        const struct hs_evidence *e = &f->evidence[i];
        size_t from = p->out->n, paint_bytes = p->s->color ? strlen("\033[2m\033[0m") : 0;

        hs_buf_put(p->out, HS_STR("         "));
        paint(p, "2");
        hs_buf_put(p->out, e->source);
        if (e->line != HS_UNKNOWN)
            hs_buf_printf(p->out, ":%llu", (unsigned long long)e->line);
        else if (e->record != HS_UNKNOWN)
            hs_buf_printf(p->out, " record %llu", (unsigned long long)e->record);
        else if (e->offset_bytes != HS_UNKNOWN)
            hs_buf_printf(p->out, " byte %llu", (unsigned long long)e->offset_bytes);
        paint(p, "0");
        if (e->excerpt.n) {
            hs_buf_put(p->out, HS_STR("  "));
            put_excerpt(
                p, e,
                hs_str_columns((struct hs_str){ .p = p->out->p + from, .n = p->out->n - from }) -
                    paint_bytes);
        }
        hs_buf_putc(p->out, '\n');
    }
}

/* Whether a finding is what the verdict is made of: both begin with the same line. */
static bool is_shown(const struct hs_verdict *v, const struct hs_finding *f)
{
    for (uint32_t i = 0; i < v->finding_count && f->evidence_count; i++) {
        const struct hs_finding *main = &v->findings[i];

        if (strcmp(main->code, v->code) == 0 && main->evidence_count &&
            main->evidence[0].line != HS_UNKNOWN && main->evidence[0].line == f->evidence[0].line &&
            hs_str_eq(main->evidence[0].source, f->evidence[0].source))
            return true;
    }
    return false;
}

/* The proof, and by which rule it is found. */
static void put_why(struct painter *p)
{
    const struct hs_verdict *v = p->v;

    begin_row(p, "screen.why");
    say(p, &v->why);
    for (uint32_t i = 0; i < v->finding_count; i++) {
        if (strcmp(v->findings[i].code, v->code) != 0 && is_shown(v, &v->findings[i])) {
            hs_buf_printf(p->out, " [%s]", v->findings[i].code);
            break;
        }
    }
    hs_buf_putc(p->out, '\n');
    for (uint32_t i = 0; i < v->finding_count; i++) {
        if (strcmp(v->findings[i].code, v->code) == 0)
            put_evidence(p, &v->findings[i]);
    }
}

static void put_doubt(struct painter *p)
{
    if (!p->v->doubt.key)
        return;
    begin_row(p, "screen.doubt");
    say(p, &p->v->doubt);
    hs_buf_putc(p->out, '\n');
}

static void put_notes(struct painter *p)
{
    uint32_t shown = 0;

    for (uint32_t i = 0; i < p->v->finding_count; i++) {
        const struct hs_finding *f = &p->v->findings[i];

        if (strcmp(f->code, p->v->code) == 0 ||
            (p->s->verbosity <= 0 &&
             (f->severity == HS_NOTE || shown >= NOTES || is_shown(p->v, f))))
            continue;
        begin_row(p, shown++ ? NULL : "screen.note");
        say(p, &f->detail);
        hs_buf_printf(p->out, " [%s]\n", f->code);
        if (p->s->verbosity > 0 || f->evidence_count == 1)
            put_evidence(p, f);
    }
}

static void put_next(struct painter *p)
{
    for (uint32_t i = 0; i < p->v->next_count; i++) {
        begin_row(p, i ? NULL : "screen.next");
        say(p, &p->v->next_steps[i]);
        hs_buf_putc(p->out, '\n');
    }
}

static void put_bounds(struct painter *p)
{
    const struct hs_verdict *v = p->v;

    for (uint32_t i = 0; i < v->bound_count && (p->s->verbosity > 0 || i < BOUNDS); i++) {
        bool known = v->bounds[i].entered != HS_UNKNOWN;
        struct hs_phrase bound = { .key = known ? "screen.bound" : "screen.bound.above" };
        char rank[24], entered[24], not_past[24];

        hs_phrase_add(&bound, "rank", count_text(rank, sizeof(rank), v->bounds[i].rank), 1);
        hs_phrase_add(&bound, "group", v->bounds[i].group, 1);
        hs_phrase_add(&bound, "entered", count_text(entered, sizeof(entered), v->bounds[i].entered),
                      1);
        hs_phrase_add(&bound, "not_past",
                      count_text(not_past, sizeof(not_past), v->bounds[i].not_past), 1);
        begin_row(p, NULL);
        say(p, &bound);
        hs_buf_putc(p->out, '\n');
    }
}

static void put_attempts(struct painter *p)
{
    struct hs_phrase attempts = { .key = "screen.attempts" };
    char others[24];

    hs_phrase_add(&attempts, "count", count_text(others, sizeof(others), p->v->attempt_count),
                  p->v->attempt_count);
    begin_row(p, NULL);
    say(p, &attempts);
    hs_buf_putc(p->out, '\n');
}

/* A row of one sentence about ranks; the first has the label. */
static void put_missing(struct painter *p, const char *label, const char *key,
                        const uint32_t *ranks, uint32_t count)
{
    struct hs_phrase phrase = { .key = key };
    struct hs_buf list;
    char world[24];

    hs_buf_init(&list);
    hs_ranks_put(&list, ranks, count, 12);
    hs_phrase_add(&phrase, "ranks", hs_buf_str(&list), count);
    hs_phrase_add(&phrase, "world", count_text(world, sizeof(world), p->v->world_size),
                  p->v->world_size);
    begin_row(p, label);
    say(p, &phrase);
    hs_buf_putc(p->out, '\n');
    hs_buf_release(&list);
}

/* What the verdict had to do without. */
static void put_unseen(struct painter *p)
{
    const struct hs_verdict *v = p->v;
    bool unknown = v->world_size == HS_UNKNOWN, logs = v->log_rank_count > 0;
    bool both = v->dump_rank_count && logs;
    bool some = both && v->undumped_rank_count + v->unlogged_rank_count;
    bool all = !unknown && !v->silent_rank_count && !some;
    const struct {
        bool applies;
        const char *key;
        const uint32_t *ranks;
        uint32_t count;
    } rows[] = {
        { unknown && !logs, "screen.unseen.world-unknown", NULL, 0 },
        { unknown && logs, "screen.unseen.world-unknown.seen", v->log_ranks, v->log_rank_count },
        { all && both, "screen.unseen.nothing.both", NULL, 0 },
        { all && logs && !both, "screen.unseen.nothing.logs", NULL, 0 },
        { all && !logs, "screen.unseen.nothing", NULL, 0 },
        { v->silent_rank_count && v->log_count, "screen.unseen.ranks.both", v->silent_ranks,
          v->silent_rank_count },
        { v->silent_rank_count && !v->log_count, "screen.unseen.ranks", v->silent_ranks,
          v->silent_rank_count },
        { both && v->undumped_rank_count, "screen.unseen.dumps", v->undumped_ranks,
          v->undumped_rank_count },
        { both && v->unlogged_rank_count, "screen.unseen.logs", v->unlogged_ranks,
          v->unlogged_rank_count },
    };
    const char *label = "screen.unseen";

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!rows[i].applies)
            continue;
        put_missing(p, label, rows[i].key, rows[i].ranks, rows[i].count);
        label = NULL;
    }
    put_bounds(p);
    if (v->attempt_count)
        put_attempts(p);
}

void hs_render_text(const struct hs_verdict *v, const struct hs_screen *screen, struct hs_buf *out)
{
    struct painter p = { .v = v, .s = screen, .out = out };

    put_heading(&p);
    hs_buf_put(out, HS_STR("  "));
    say(&p, &v->summary);
    hs_buf_putc(out, '\n');
    if (screen->verbosity < 0)
        return;
    put_places(&p);
    hs_buf_putc(out, '\n');
    put_why(&p);
    put_doubt(&p);
    put_notes(&p);
    put_next(&p);
    put_unseen(&p);
}
