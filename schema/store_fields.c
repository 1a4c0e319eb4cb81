/* store_fields.c - cells of a database become fields of rows: the reverse of store_offer.c. */
#include "base/limits.h"
#include "schema/store_loading.h"

#include <float.h>
#include <math.h>

enum hs_status hs_load_damaged(struct loading *l, const char *table, uint64_t row, const char *what)
{
    return hs_fail(l->err, HS_EIO, "'%s' is damaged: row %lld of %s: %s", l->path, (long long)row,
                   table, what);
}

/* ---- cells ---- */

struct hs_str hs_load_bytes(sqlite3_stmt *s, int column)
{
    const char *p = sqlite3_column_type(s, column) == SQLITE_TEXT
                        ? (const char *)sqlite3_column_text(s, column)
                        : sqlite3_column_blob(s, column);

    return (struct hs_str){ .p = p ? p : "", .n = p ? (size_t)sqlite3_column_bytes(s, column) : 0 };
}

/* "[0,1,2]" into l->words. */
bool hs_load_list(struct loading *l, sqlite3_stmt *s)
{
    struct hs_str text = hs_load_bytes(s, 1);
    const char *at = text.p, *end = text.p + text.n;

    l->word_count = 0;
    if (sqlite3_column_type(s, 1) != SQLITE_TEXT || text.n < 2 || *at++ != '[')
        return false;
    while (at < end && *at != ']') {
        uint64_t value = 0;
        const char *from = at;

        for (; at < end && *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        if (at == from || value > UINT32_MAX ||
            !HS_GROW(l->words, l->word_cap, (size_t)l->word_count + 1))
            return false;
        l->words[l->word_count++] = (uint32_t)value;
        if (at < end && *at == ',')
            at++;
    }
    return at + 1 == end;
}

bool hs_load_key(struct loading *l, struct hs_str bytes)
{
    l->word_count = (uint32_t)(bytes.n / sizeof(uint32_t));
    if (bytes.n % sizeof(uint32_t) || bytes.n > UINT32_MAX ||
        !HS_GROW(l->words, l->word_cap, (size_t)l->word_count + 1))
        return false;
    memcpy(l->words, bytes.p, bytes.n);
    return true;
}

/* ---- one field of one row: the reverse of store_offer.c ---- */

#define PUT(type, value) (*(type *)(void *)at = (type)(value))

static bool may_be_null(enum hs_column_kind kind)
{
    switch (kind) {
    case HS_COLUMN_REAL: /* what is no number is NULL in SQLite */
    case HS_COLUMN_REF:
    case HS_COLUMN_RANK:
    case HS_COLUMN_NUMBER:
    case HS_COLUMN_COUNTER:
    case HS_COLUMN_ID32:
    case HS_COLUMN_TIME:
    case HS_COLUMN_POSITION:
    case HS_COLUMN_FORMAT:
        return true;
    default:
        return false;
    }
}

static int type_of(enum hs_column_kind kind)
{
    switch (kind) {
    case HS_COLUMN_REAL:
        return SQLITE_FLOAT;
    case HS_COLUMN_CODE:
    case HS_COLUMN_FORMAT:
    case HS_COLUMN_INTERNED_LIST:
        return SQLITE_TEXT;
    case HS_COLUMN_BLOB:
    case HS_COLUMN_INTERNED_KEY:
        return SQLITE_BLOB;
    default:
        return SQLITE_INTEGER;
    }
}

/* What stands for NULL in memory. */
static void put_unknown(enum hs_column_kind kind, char *at)
{
    switch (kind) {
    case HS_COLUMN_REAL:
        PUT(float, NAN);
        break;
    case HS_COLUMN_COUNTER:
        PUT(int64_t, -1);
        break;
    case HS_COLUMN_ID32:
        PUT(int32_t, -1);
        break;
    case HS_COLUMN_TIME:
        PUT(int64_t, 0);
        break;
    case HS_COLUMN_POSITION:
        PUT(uint64_t, HS_NO_POSITION);
        break;
    case HS_COLUMN_FORMAT:
        PUT(const char *, NULL);
        break;
    default:
        PUT(uint32_t, HS_NO_ID);
        break;
    }
}

/* A number from `least` to `most`; little-endian, as value_build.h asserts for us all. */
static const char *read_number(sqlite3_value *v, int64_t least, int64_t most, char *at,
                               size_t bytes)
{
    int64_t value = sqlite3_value_int64(v);

    if (value < least || value > most)
        return "a number is out of range";
    memcpy(at, &value, bytes);
    return NULL;
}

static const char *read_ref(struct loading *l, sqlite3_value *v, int n, char *at)
{
    int64_t value = sqlite3_value_int64(v);

    if (value < 0 || (uint64_t)value >= l->limits[n])
        return "it refers to a row that is not there";
    PUT(uint32_t, value);
    return NULL;
}

static const char *read_real(sqlite3_value *v, char *at)
{
    double value = sqlite3_value_double(v);

    if (isfinite(value) && fabs(value) > (double)FLT_MAX)
        return "a number is out of range";
    PUT(float, value);
    return NULL;
}

static const char *read_code(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    struct hs_str copy = hs_arena_copy(l->arena, hs_load_bytes(s, n));
    const struct hs_topic *topic = copy.p ? hs_topic_find(copy.p, HS_ENGLISH) : NULL;

    if (!topic || topic->kind != HS_TOPIC_DIAGNOSTIC)
        return "an unknown code";
    PUT(const char *, topic->code);
    return NULL;
}

/* The name of a format, of ours or of another version; it is shown, so it is a plain word. */
static const char *read_format(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    struct hs_str text = hs_load_bytes(s, n), copy;

    for (size_t i = 0; i < text.n; i++) {
        if (!(text.p[i] >= 'a' && text.p[i] <= 'z') && !(text.p[i] >= '0' && text.p[i] <= '9') &&
            text.p[i] != '-')
            return "a format that is no word";
    }
    copy = hs_arena_copy(l->arena, text);
    PUT(const char *, copy.p);
    return copy.p && copy.n ? NULL : "a format without a name";
}

static const char *read_blob(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    struct hs_str copy = hs_arena_copy(&l->job->texts, hs_load_bytes(s, n));

    PUT(struct hs_str, copy);
    return copy.p ? NULL : "out of memory";
}

/* NULL, or what is wrong. A cell is asked for once: no other thread has this connection. */
static const char *read_field(struct loading *l, sqlite3_stmt *s, int n, const struct hs_column *c,
                              char *row)
{
    sqlite3_value *v = sqlite3_column_value(s, n);
    int type = sqlite3_value_type(v);
    char *at = row + c->offset;

    if (type == SQLITE_NULL && may_be_null(c->kind)) {
        put_unknown(c->kind, at);
        return NULL;
    }
    if (type != type_of(c->kind))
        return type == SQLITE_NULL ? "a value is missing" : "a value is of another type";
    switch (c->kind) {
    case HS_COLUMN_U8:
        return read_number(v, 0, UINT8_MAX, at, 1);
    case HS_COLUMN_FLAG:
        return read_number(v, 0, 1, at, 1);
    case HS_COLUMN_U16:
        return read_number(v, 0, UINT16_MAX, at, 2);
    case HS_COLUMN_U32:
        return read_number(v, 0, UINT32_MAX, at, 4);
    case HS_COLUMN_NUMBER:
        return read_number(v, 0, UINT32_MAX - 1, at, 4);
    case HS_COLUMN_I64:
    case HS_COLUMN_U64:
    case HS_COLUMN_COUNTER:
    case HS_COLUMN_POSITION:
        return read_number(v, INT64_MIN, INT64_MAX, at, 8);
    case HS_COLUMN_TIME:
        return read_number(v, 0, HS_TIME_NS_MAX, at, 8);
    case HS_COLUMN_ID32:
        return read_number(v, INT32_MIN, INT32_MAX, at, 4);
    case HS_COLUMN_RANK:
        return read_number(v, 0, HS_RANK_MAX, at, 4);
    case HS_COLUMN_REAL:
        return read_real(v, at);
    case HS_COLUMN_REF:
        return read_ref(l, v, n, at);
    case HS_COLUMN_CODE:
        return read_code(l, s, n, at);
    case HS_COLUMN_FORMAT:
        return read_format(l, s, n, at);
    case HS_COLUMN_BLOB:
        return read_blob(l, s, n, at);
    default:
        return NULL; /* interned kinds are read by their tables */
    }
}

enum hs_status hs_load_row(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                           void *row)
{
    for (int n = 0; table->columns[n].name; n++) {
        const char *wrong = read_field(l, s, n + 1, &table->columns[n], row);

        if (wrong)
            return hs_load_damaged(l, table->name, (uint64_t)sqlite3_column_int64(s, 0), wrong);
    }
    return HS_OK;
}
