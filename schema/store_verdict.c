/* store_verdict.c - the verdict as rows, for those who ask with SQL. */
#include "schema/store_internal.h"

static const char *const severities[] = { "note", "warning", "error" };
static const char *const confidences[] = { "low", "medium", "high" };

/* Bind by position; SQLite keeps the first error of a statement for its step. */
static void bind_text(sqlite3_stmt *s, int at, struct hs_str text)
{
    if (text.p)
        (void)sqlite3_bind_text64(s, at, text.p, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        (void)sqlite3_bind_null(s, at);
}

static void bind_word(sqlite3_stmt *s, int at, const char *word)
{
    bind_text(s, at, hs_str_of(word));
}

static void bind_known(sqlite3_stmt *s, int at, uint64_t value, uint64_t unknown)
{
    if (value == unknown)
        (void)sqlite3_bind_null(s, at);
    else
        (void)sqlite3_bind_int64(s, at, (sqlite3_int64)value);
}

static void bind_sentence(sqlite3_stmt *s, int at, const struct hs_phrase *phrase)
{
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_phrase_put(&buf, phrase, HS_ENGLISH);
    bind_text(s, at, hs_buf_str(&buf));
    hs_buf_release(&buf);
}

/* The call and where in the user's code it stands, as in the verdict object. */
static void bind_excerpt(sqlite3_stmt *s, int at, const struct hs_evidence *e)
{
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_buf_put(&buf, e->excerpt);
    if (e->stack.p) {
        hs_buf_put(&buf, HS_STR(", "));
        hs_buf_put(&buf, e->stack);
    }
    bind_text(s, at, e->excerpt.p || e->stack.p ? hs_buf_str(&buf) : e->excerpt);
    hs_buf_release(&buf);
}

static int step(sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);

    (void)sqlite3_reset(s);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int put_evidence(sqlite3 *db, const struct hs_verdict *v)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, "INSERT INTO evidence VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", -1,
                                &s, NULL);

    for (uint32_t i = 0; rc == SQLITE_OK && i < v->finding_count; i++) {
        for (uint32_t k = 0; rc == SQLITE_OK && k < v->findings[i].evidence_count; k++) {
            const struct hs_evidence *e = &v->findings[i].evidence[k];

            (void)sqlite3_bind_int64(s, 1, i);
            bind_text(s, 2, e->source);
            bind_known(s, 3, e->line, HS_UNKNOWN);
            bind_known(s, 4, e->record, HS_UNKNOWN);
            bind_known(s, 5, e->offset_bytes, HS_UNKNOWN);
            bind_known(s, 6, e->rank, HS_NO_ID);
            bind_excerpt(s, 7, e);
            rc = step(s);
        }
    }
    (void)sqlite3_finalize(s);
    return rc;
}

static int put_findings(sqlite3 *db, const struct hs_verdict *v)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?)", -1, &s, NULL);

    for (uint32_t i = 0; rc == SQLITE_OK && i < v->finding_count; i++) {
        const struct hs_finding *f = &v->findings[i];
        const struct hs_topic *topic = hs_topic_find(f->code, HS_ENGLISH);
        struct hs_buf ranks;

        hs_buf_init(&ranks);
        hs_buf_putc(&ranks, '[');
        for (uint32_t k = 0; k < f->rank_count; k++)
            hs_buf_printf(&ranks, k ? ",%u" : "%u", f->ranks[k]);
        hs_buf_putc(&ranks, ']');
        (void)sqlite3_bind_int64(s, 1, i);
        bind_word(s, 2, f->code);
        bind_word(s, 3, severities[f->severity]);
        bind_word(s, 4, topic ? topic->title : f->code);
        bind_sentence(s, 5, &f->detail);
        bind_text(s, 6, hs_buf_str(&ranks));
        hs_buf_release(&ranks);
        rc = step(s);
    }
    (void)sqlite3_finalize(s);
    return rc;
}

static int put_culprits(sqlite3 *db, const struct hs_verdict *v)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, "INSERT INTO culprit VALUES (?, ?, ?, ?)", -1, &s, NULL);

    for (uint32_t i = 0; rc == SQLITE_OK && i < v->culprit_count; i++) {
        bind_known(s, 1, v->culprits[i].rank, HS_NO_ID);
        bind_text(s, 2, v->culprits[i].host);
        bind_known(s, 3, v->culprits[i].gpu, HS_NO_ID);
        bind_word(s, 4, v->culprits[i].role);
        rc = step(s);
    }
    (void)sqlite3_finalize(s);
    return rc;
}

static int put_verdict(sqlite3 *db, const struct hs_verdict *v, struct hs_str json)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, "INSERT INTO verdict VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                -1, &s, NULL);

    if (rc == SQLITE_OK) {
        bind_word(s, 1, v->code);
        bind_word(s, 2, v->cause);
        bind_word(s, 3, confidences[v->confidence]);
        bind_word(s, 4, v->action);
        bind_sentence(s, 5, &v->summary);
        if (v->has_operation) {
            bind_text(s, 6, v->operation.group);
            bind_known(s, 7, v->operation.seq, HS_UNKNOWN);
            bind_text(s, 8, v->operation.op);
        }
        bind_known(s, 9, (uint64_t)v->hang_began_ns, 0);
        bind_text(s, 10, json);
        rc = step(s);
    }
    (void)sqlite3_finalize(s);
    return rc;
}

int hs_store_put_verdict(sqlite3 *db, const struct hs_verdict *v, struct hs_str json)
{
    int rc = put_verdict(db, v, json);

    if (rc == SQLITE_OK)
        rc = put_culprits(db, v);
    if (rc == SQLITE_OK)
        rc = put_findings(db, v);
    return rc == SQLITE_OK ? put_evidence(db, v) : rc;
}
