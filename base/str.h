/* str.h - a borrowed slice of text: pointer and length, never owned, never NUL-terminated. */
#ifndef HS_BASE_STR_H
#define HS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hs_str {
    const char *p;
    size_t n;
};

#define HS_STR(lit) ((struct hs_str){ .p = (lit), .n = sizeof(lit) - 1 })
#define HS_STR_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

static inline struct hs_str hs_str_of(const char *text)
{
    return (struct hs_str){ .p = text, .n = text ? strlen(text) : 0 };
}

static inline bool hs_str_eq(struct hs_str a, struct hs_str b)
{
    return a.n == b.n && (a.n == 0 || (a.p && b.p && memcmp(a.p, b.p, a.n) == 0));
}

static inline bool hs_str_is(struct hs_str a, const char *text)
{
    return hs_str_eq(a, hs_str_of(text));
}

/* Order by bytes; a prefix comes first. */
static inline int hs_str_cmp(struct hs_str a, struct hs_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static inline bool hs_str_starts(struct hs_str a, struct hs_str head)
{
    return a.n >= head.n && (head.n == 0 || memcmp(a.p, head.p, head.n) == 0);
}

static inline bool hs_str_ends(struct hs_str a, struct hs_str tail)
{
    return a.n >= tail.n && (tail.n == 0 || memcmp(a.p + a.n - tail.n, tail.p, tail.n) == 0);
}

/* A whole number and nothing else, decimal or 0x...; false when it is none or does not fit. */
bool hs_str_number(struct hs_str text, uint64_t *out);

static inline bool hs_str_has(struct hs_str a, const char *needle)
{
    return a.n > 0 && memmem(a.p, a.n, needle, strlen(needle)) != NULL;
}

#endif
