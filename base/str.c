#include "base/str.h"

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

bool hs_str_number(struct hs_str text, uint64_t *out)
{
    bool hex = text.n > 2 && text.p[0] == '0' && (text.p[1] == 'x' || text.p[1] == 'X');
    unsigned base = hex ? 16 : 10;
    uint64_t value = 0;

    if (!text.p || text.n == 0)
        return false;
    for (size_t i = hex ? 2 : 0; i < text.n; i++) {
        unsigned digit = digit_of(text.p[i]);

        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}
