#include "parsers/clock.h"

#include <ctype.h>

#define NS_PER_SECOND 1000000000ll

enum {
    YEAR_NONE = 1972, /* a leap year, so that every day exists */
    YEAR_MIN = 1971,
    YEAR_MAX = 2200, /* int64_t nanoseconds end in 2262 */
};

/* What a format has read so far. */
struct moment {
    unsigned year, month, day, hour, minute, second;
    uint32_t nanoseconds;
    int32_t zone_minutes; /* east of Greenwich */
    uint32_t clock;
};

struct reading {
    const char *at, *end;
};

static bool take_digits(struct reading *in, size_t count, unsigned *out)
{
    unsigned value = 0;

    if ((size_t)(in->end - in->at) < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!isdigit((unsigned char)in->at[i]))
            return false;
        value = value * 10 + (unsigned)(in->at[i] - '0');
    }
    in->at += count;
    *out = value;
    return true;
}

static bool take_byte(struct reading *in, char c)
{
    if (in->at == in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

/* One of the words of three letters in `names`; its place, from 1. */
static bool take_name(struct reading *in, const char *names, unsigned *out)
{
    unsigned place = 1;

    if (in->end - in->at < 3)
        return false;
    for (; *names; names += 3, place++) {
        if (memcmp(names, in->at, 3) == 0) {
            in->at += 3;
            *out = place;
            return true;
        }
    }
    return false;
}

/* A day of the month, with a blank in front if it has one digit. */
static bool take_day(struct reading *in, unsigned *out)
{
    if (take_byte(in, ' '))
        return take_digits(in, 1, out);
    return take_digits(in, 2, out) || take_digits(in, 1, out);
}

/* A point or comma and one to nine digits; further ones are dropped. */
static bool take_fraction(struct reading *in, struct moment *out)
{
    const char *at = in->at;
    uint32_t value = 0;
    unsigned digits = 0;

    if (at == in->end || (*at != '.' && *at != ','))
        return false;
    for (at++; at < in->end && isdigit((unsigned char)*at); at++, digits++) {
        if (digits < 9)
            value = value * 10 + (uint32_t)(*at - '0');
    }
    if (digits == 0)
        return false;
    for (; digits < 9; digits++)
        value *= 10;
    in->at = at;
    out->nanoseconds = value;
    out->clock |= HS_CLOCK_FINE;
    return true;
}

/* "Z", "UTC" or "GMT", or +01:00 and +0100: minutes east of Greenwich. */
static bool take_offset(struct reading *in, int32_t *out)
{
    unsigned hours, minutes;
    bool east;

    *out = 0;
    if (take_byte(in, 'Z'))
        return true;
    if (in->end - in->at >= 3 && (memcmp(in->at, "UTC", 3) == 0 || memcmp(in->at, "GMT", 3) == 0)) {
        in->at += 3;
        return true;
    }
    east = take_byte(in, '+');
    if ((!east && !take_byte(in, '-')) || !take_digits(in, 2, &hours))
        return false;
    (void)take_byte(in, ':');
    if (!take_digits(in, 2, &minutes) || hours > 14 || minutes > 59)
        return false;
    *out = (int32_t)(hours * 60 + minutes) * (east ? 1 : -1);
    return true;
}

/* A zone, perhaps behind a blank. A name that we do not know is left. */
static void take_zone(struct reading *in, struct moment *out)
{
    struct reading zone = *in;
    int32_t minutes;

    (void)take_byte(&zone, ' ');
    if (!take_offset(&zone, &minutes) || (zone.at < zone.end && isalnum((unsigned char)*zone.at)))
        return;
    out->zone_minutes = minutes;
    out->clock |= HS_CLOCK_ZONE;
    *in = zone;
}

/*
 * Formats, tried in this order. Y year, M month, D day of two digits; N name of the month, W of the
 * weekday, d day with a blank in front; h m s; f a fraction if there is one, F one that must be
 * there; z a zone if there is one; T a blank or T. Anything else stands for itself.
 */
static const char *const formats[] = {
    "Y-M-DTh:m:sfz", "Y-M-DTh:mz",     "Y/M/D h:m:sfz",  "M/D/Y h:m:sf",
    "M-D h:m:sf",    "W N d h:m:sf Y", "W N d h:m:sz Y", "W Y-M-D h:m:sfz",
    "N d Y h:m:sf",  "N d h:m:sf",     "h:m:sF",
};

static bool take_field(struct reading *in, char field, struct moment *out)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const char weekdays[] = "MonTueWedThuFriSatSun";
    unsigned weekday;

    switch (field) {
    case 'Y':
        out->clock |= HS_CLOCK_YEAR;
        return take_digits(in, 4, &out->year);
    case 'M':
        out->clock |= HS_CLOCK_DATE;
        return take_digits(in, 2, &out->month);
    case 'N':
        out->clock |= HS_CLOCK_DATE;
        return take_name(in, months, &out->month);
    case 'D':
        return take_digits(in, 2, &out->day);
    case 'd':
        return take_day(in, &out->day);
    case 'W':
        return take_name(in, weekdays, &weekday);
    case 'h':
        return take_digits(in, 2, &out->hour);
    case 'm':
        return take_digits(in, 2, &out->minute);
    case 's':
        return take_digits(in, 2, &out->second);
    case 'f':
        (void)take_fraction(in, out);
        return true;
    case 'F':
        return take_fraction(in, out);
    case 'z':
        take_zone(in, out);
        return true;
    case 'T':
        return take_byte(in, 'T') || take_byte(in, ' ');
    default:
        return take_byte(in, field);
    }
}

/* Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that begin in March.
 */
static int64_t days_since_epoch(unsigned year, unsigned month, unsigned day)
{
    unsigned y = month > 2 ? year : year - 1;
    unsigned m = month > 2 ? month - 3 : month + 9;

    return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool is_valid(const struct moment *moment)
{
    static const uint8_t days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if ((moment->clock & HS_CLOCK_YEAR) && (moment->year < YEAR_MIN || moment->year > YEAR_MAX))
        return false;
    return moment->month >= 1 && moment->month <= 12 && moment->day >= 1 &&
           moment->day <= days[moment->month - 1] && moment->hour < 24 && moment->minute < 60 &&
           moment->second <= 60;
}

static bool stamp_of(const struct moment *moment, struct hs_stamp *out)
{
    int64_t seconds;

    if (!is_valid(moment))
        return false;
    seconds = days_since_epoch(moment->year, moment->month, moment->day) * 86400 +
              (int64_t)moment->hour * 3600 + (int64_t)moment->minute * 60 + moment->second -
              (int64_t)moment->zone_minutes * 60;
    out->ns = seconds * NS_PER_SECOND + moment->nanoseconds;
    out->clock = moment->clock;
    return true;
}

/* Whether a number goes on, so that what was read of it is not what it says. */
static bool goes_on(const struct reading *in)
{
    const char *at = in->at;

    return at < in->end && (isdigit((unsigned char)*at) ||
                            (*at == ':' && in->end - at > 1 && isdigit((unsigned char)at[1])));
}

static const struct moment no_moment = { .year = YEAR_NONE, .month = 1, .day = 1 };

size_t hs_clock_read(struct hs_str text, struct hs_stamp *out)
{
    if (text.n < 8 || !isalnum((unsigned char)text.p[0]) || (text.p[0] > '9' && text.p[3] != ' '))
        return 0;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct reading in = { .at = text.p, .end = text.p + text.n };
        struct moment moment = no_moment;
        const char *field = formats[i];

        while (*field && take_field(&in, *field, &moment))
            field++;
        if (*field == '\0' && !goes_on(&in) && stamp_of(&moment, out))
            return (size_t)(in.at - text.p);
    }
    return 0;
}

size_t hs_clock_read_seconds(struct hs_str text, struct hs_stamp *out)
{
    struct reading in = { .at = text.p, .end = text.p + text.n };
    int64_t seconds = 0;
    unsigned fraction;

    while (in.at < in.end && isdigit((unsigned char)*in.at) && seconds < 1000000000ll)
        seconds = seconds * 10 + (*in.at++ - '0');
    if (in.at == text.p || !take_byte(&in, '.') || !take_digits(&in, 6, &fraction) ||
        (in.at < in.end && isdigit((unsigned char)*in.at)))
        return 0;
    out->ns = seconds * NS_PER_SECOND + (int64_t)fraction * 1000;
    if (seconds >= 1000000000ll)
        out->clock = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_ZONE | HS_CLOCK_FINE;
    else
        out->clock = HS_CLOCK_BOOT | HS_CLOCK_FINE;
    if (out->ns == 0)
        out->ns = 1; /* 0 means that there is no time */
    return (size_t)(in.at - text.p);
}

bool hs_clock_of_parts(unsigned date, struct hs_str hms, uint32_t microseconds,
                       struct hs_stamp *out)
{
    struct reading in = { .at = hms.p, .end = hms.p + hms.n };
    struct moment moment = no_moment;

    if (!take_digits(&in, 2, &moment.hour) || !take_byte(&in, ':') ||
        !take_digits(&in, 2, &moment.minute) || !take_byte(&in, ':') ||
        !take_digits(&in, 2, &moment.second) || in.at != in.end)
        return false;
    moment.clock = HS_CLOCK_DATE;
    if (date >= 10000) {
        moment.year = date / 10000;
        moment.clock |= HS_CLOCK_YEAR;
    }
    moment.month = date / 100 % 100;
    moment.day = date % 100;
    if (microseconds != UINT32_MAX) {
        if (microseconds > 999999)
            return false;
        moment.nanoseconds = microseconds * 1000;
        moment.clock |= HS_CLOCK_FINE;
    }
    return stamp_of(&moment, out);
}
