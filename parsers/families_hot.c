/*
 * families_hot.c - the NCCL messages that come by the million, recognised without PCRE2.
 *
 * A layout is a message with its values in angle brackets, <name:kind>; the names are fields of the
 * family, and the kinds of text are
 *   d \d+   i -?\d+   x [0-9a-f]+   h (?:0x)?[0-9a-f]+   p 0x[0-9a-f]+|\(nil\)   w \w+
 *   c [^,]+   n [\d.]+   l (?: +\d+)+   e [ .]+   r .*
 * What stands between <? and ?> may be missing; <$> is the end of the message. Each takes as much
 * as it can and is not tried again: a layout must be so that its family's pattern never has to
 * either. A test compares the two.
 */
#include "parsers/families_internal.h"

#include "base/intern.h"

static const struct {
    const char *family;
    const char *starts; /* whoever begins so may be one of these */
    const char *layout; /* NULL: none of those that follow */
} layouts[] = {
    { "channel_path", "Channel ",
      "Channel <channel:d>/<connection:d> : <from_rank:d>[<from_device:x>] -> "
      "<to_rank:d>[<to_device:x>] <?[<direction:w>] ?>via <via:r>" },
    { "ring_path", "Channel ",
      "Channel <channel:d> : <from_rank:d><?[<from_device:x>]?> -> "
      "<to_rank:d><?[<to_device:x>]?> <?[<direction:w>] ?>via <via:r>" },
    { "channel_ring_order", "Channel ",
      "Channel <channel:d><?/<channels:d>?> :<ranks:l><?<truncated:e>?><$>" },
    { "ring_path", "Ring ",
      "Ring <channel:d> : <from_rank:d><?[<from_device:x>]?> -> "
      "<to_rank:d><?[<to_device:x>]?> <?[<direction:w>] ?>via <via:r>" },
    { "ring_graph", "Ring ", "Ring <channel:d> : <previous:d> -> <rank:d> -> <next:d>" },
    { "tree_graph", "Tree ",
      "Tree <tree:d> : <up:i> -> <rank:d> -> <down0:i>/<down1:i>/<down2:i>" },
    { "trees", "Trees [", "Trees<trees:r>" },
    { "collnet_path", "Coll",
      "Coll<?Net?> <channel:d><?/<connection:d>?> : <rank:d> [<direction:w>] via COLLNET/<via:r>" },
    { "connected", "Connected to ", NULL },
    { "connected", "Connected ", "Connected <what:c><?, use ring PXN <pxn:d> GDR <gdr:d>?>" },
    { "affinity", "Setting affinity ", "Setting affinity for GPU <gpu:d> to <mask:r>" },
    { "gdr", "GPU Direct RDMA Enabled for GPU ", "GPU Direct RDMA <state:w> for <pair:r>" },
    { "gdr", "GPU Direct RDMA Disabled for GPU ", "GPU Direct RDMA <state:w> for <pair:r>" },
    { "call_coll", "nccl",
      "nccl<op:w>(<sendbuff:h>,<recvbuff:h>,<count:d>,<datatype:d>,<redop:d>,<root:i>,<comm:p>,"
      "<stream:p>)" },
    { "coll", "",
      "<op:w>: opCount <opcount:x> sendbuff <sendbuff:p> recvbuff <recvbuff:p><? acc <acc:p>?> "
      "count <count:d> datatype <datatype:d> op <redop:d> root <root:i> comm <comm:p> "
      "[nranks=<nranks:d>] stream <stream:p><? task <task:d> globalrank <global_rank:d>?>"
      "<? graphMode <graph_mode:d> ubr <ubr:d>?>" },
    { "tuning", "",
      "<op:w>: <bytes:d> Bytes -> Algo <algo:w> proto <proto:w><? time <time_us:n>?>"
      "<? channel{Lo..Hi}={<first_channel:d>..<last_channel:d>}?>" },
};

#define LAYOUT_COUNT (sizeof(layouts) / sizeof(layouts[0]))
#define STEPS_MAX 64

/* A layout is made into steps once. */
struct hs_hot_step {
    char kind;          /* of a value; T: text, ?: what may be missing begins, $: the end */
    uint8_t field;      /* of a value */
    uint8_t next;       /* of ?: the step behind its end */
    struct hs_str text; /* of T */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Behind ` 0 1 2`; at `p` when there is no number. */
static const char *skip_list(const char *p, const char *end)
{
    for (;;) {
        const char *q = p;

        while (q < end && *q == ' ')
            q++;
        if (q == p || q == end || !is_digit(*q))
            return p;
        while (q < end && is_digit(*q))
            q++;
        p = q;
    }
}

static const char *skip_pointer(const char *p, const char *end)
{
    const char *q = p + 2;

    if (end - p >= 5 && memcmp(p, "(nil)", 5) == 0)
        return p + 5;
    if (end - p < 3 || memcmp(p, "0x", 2) != 0)
        return p;
    while (q < end && is_hex(*q))
        q++;
    return q == p + 2 ? p : q;
}

/* Whether a value of this kind may have this byte. */
static bool may_have(char kind, char c)
{
    switch (kind) {
    case 'h':
    case 'x':
        return is_hex(c);
    case 'w':
        return is_word(c);
    case 'n':
        return is_digit(c) || c == '.';
    case 'e':
        return c == ' ' || c == '.';
    case 'c':
        return c != ',';
    default:
        return is_digit(c);
    }
}

/* Behind the longest text of this kind; NULL when there is none. */
static const char *skip(char kind, const char *p, const char *end)
{
    const char *q;

    if (kind == 'r')
        return end;
    if (kind == 'i' && p < end && *p == '-')
        p++;
    if (kind == 'l') {
        q = skip_list(p, end);
    } else if (kind == 'p' || (kind == 'h' && end - p > 1 && p[1] == 'x')) {
        q = skip_pointer(p, end);
    } else {
        q = p;
        while (q < end && may_have(kind, *q))
            q++;
    }
    return q == p ? NULL : q;
}

/* Behind this text; NULL when it is not there. It is short: memcmp() takes longer to begin. */
static const char *skip_text(struct hs_str text, const char *p, const char *end)
{
    if ((size_t)(end - p) < text.n)
        return NULL;
    for (size_t i = 0; i < text.n; i++)
        if (p[i] != text.p[i])
            return NULL;
    return p + text.n;
}

static const char *walk(const struct hs_hot_step *steps, uint32_t from, uint32_t to, const char *p,
                        const char *end, struct hs_str *values);

/* What may be missing; at `p` when it is. */
static const char *walk_optional(const struct hs_hot_step *steps, uint32_t from, const char *p,
                                 const char *end, struct hs_str *values)
{
    uint32_t to = steps[from].next;
    const char *q = walk(steps, from + 1, to, p, end, values);

    if (q)
        return q;
    for (uint32_t i = from + 1; i < to; i++)
        if (steps[i].kind != 'T')
            values[steps[i].field] = (struct hs_str){ .p = NULL };
    return p;
}

/* Walk steps [from, to) over the text; NULL when they do not fit. */
static const char *walk(const struct hs_hot_step *steps, uint32_t from, uint32_t to, const char *p,
                        const char *end, struct hs_str *values)
{
    for (uint32_t i = from; i < to; i++) {
        const struct hs_hot_step *step = &steps[i];
        const char *start = p;

        switch (step->kind) {
        case 'T':
            p = skip_text(step->text, p, end);
            if (!p)
                return NULL;
            break;
        case '$':
            if (p < end)
                return NULL;
            break;
        case '?':
            p = walk_optional(steps, i, p, end, values);
            i = step->next - 1u;
            break;
        default:
            p = skip(step->kind, p, end);
            if (!p)
                return NULL;
            values[step->field] = (struct hs_str){ .p = start, .n = (size_t)(p - start) };
        }
    }
    return p;
}

/* The field of this name; field_count when there is none. */
static uint32_t find_field(const struct hs_family *family, struct hs_str name)
{
    uint32_t i = 0;

    while (i < family->field_count && !hs_str_eq(family->fields[i], name))
        i++;
    return i;
}

/* The step that begins at `p`; returns what is behind it, NULL when the family lacks the field. */
static const char *read_step(const struct hs_family *family, const char *p,
                             struct hs_hot_step *step)
{
    size_t n = strcspn(p, "<?");

    if (n > 0 || (*p == '?' && p[1] != '>')) {
        n = n > 0 ? n : 1;
        *step = (struct hs_hot_step){ .kind = 'T', .text = { .p = p, .n = n } };
        return p + n;
    }
    if (p[1] == '?' || p[1] == '$' || p[1] == '>') { /* <? <$ ?> */
        *step = (struct hs_hot_step){ .kind = p[1] };
        return p + (p[1] == '$' ? 3 : 2);
    }
    n = strcspn(p, ":");
    struct hs_str name = { .p = p + 1, .n = n - 1 };
    uint32_t field = find_field(family, name);

    *step = (struct hs_hot_step){ .kind = p[n + 1], .field = (uint8_t)field };
    return field == family->field_count ? NULL : p + n + 3;
}

static bool make_steps(const struct hs_family *family, const char *layout, struct hs_hot *hot,
                       struct hs_hot_step *steps)
{
    uint32_t open = 0;

    for (const char *p = layout; *p;) {
        if (hot->step_count == STEPS_MAX)
            return false;
        p = read_step(family, p, &steps[hot->step_count]);
        if (!p)
            return false;
        if (steps[hot->step_count].kind == '>')
            steps[open].next = (uint8_t)hot->step_count;
        else if (steps[hot->step_count].kind == '?')
            open = hot->step_count++;
        else
            hot->step_count++;
    }
    return true;
}

bool hs_hot_bind(struct hs_families_memory *memory)
{
    struct hs_families *families = &memory->families;

    memory->hot = HS_NEW(&memory->arena, struct hs_hot, LAYOUT_COUNT);
    if (!memory->hot)
        return false;
    for (size_t i = 0; i < LAYOUT_COUNT; i++) {
        struct hs_hot *hot = &memory->hot[memory->hot_count];
        struct hs_hot_step steps[STEPS_MAX];

        *hot = (struct hs_hot){ .starts = hs_str_of(layouts[i].starts),
                                .family = hs_family_find(families, layouts[i].family) };
        if (hot->family == HS_NO_ID)
            continue;
        if (layouts[i].layout) {
            if (!make_steps(&families->rows[hot->family], layouts[i].layout, hot, steps))
                continue;
            hot->steps = HS_NEW(&memory->arena, struct hs_hot_step, hot->step_count);
            if (!hot->steps)
                return false;
            memcpy(hot->steps, steps, hot->step_count * sizeof(*steps));
        }
        memory->hot_count++;
    }
    return true;
}

uint32_t hs_hot_layout_count(void)
{
    return LAYOUT_COUNT;
}

bool hs_hot_match(const struct hs_families_memory *memory, struct hs_str text,
                  struct hs_str *values, struct hs_found *found)
{
    for (uint32_t i = 0; text.n > 0 && i < memory->hot_count; i++) {
        const struct hs_hot *hot = &memory->hot[i];
        const char *end;

        if (!skip_text(hot->starts, text.p, text.p + text.n))
            continue;
        if (!hot->steps)
            return false;
        memset(values, 0, memory->rows[hot->family].field_count * sizeof(*values));
        end = walk(hot->steps, 0, hot->step_count, text.p, text.p + text.n, values);
        if (!end)
            continue;
        *found = (struct hs_found){ .family = hot->family,
                                    .values = values,
                                    .whole = { .p = text.p, .n = (size_t)(end - text.p) } };
        return true;
    }
    return false;
}
