/* align_groups.c - which groups of different dumps are one, and who belongs to them. */
#include "analyzer/align.h"

#include <stdlib.h>

/* What makes two member rows one group; see key_of(). */
struct group_key {
    uint32_t name, ordinal, ranks, backend;
};

/*
 * Since 2.0 a group has a name that its members share. Before, only its members are known, so the
 * k-th group with the same members is the same.
 */
static struct group_key key_of(const struct hs_alignment *al, const struct hs_dump *dump,
                               uint32_t row)
{
    const struct hs_member *members = al->job->members;
    struct group_key key = { .name = members[row].name,
                             .ranks = members[row].ranks,
                             .backend = members[row].backend };

    if (dump->version >= 2000 || key.ranks == HS_NO_ID)
        return key;
    key.name = HS_NO_ID;
    for (uint32_t i = dump->first_member; i < row; i++)
        key.ordinal += members[i].ranks == key.ranks;
    return key;
}

static uint32_t group_of(struct hs_alignment *al, struct hs_intern *keys,
                         const struct group_key *key)
{
    struct hs_str bytes = { .p = (const char *)key, .n = sizeof(*key) };
    uint32_t known = keys->count, id = hs_intern_put(keys, bytes);

    if (id == HS_NO_ID || id < known)
        return id;
    if (!HS_GROW(al->groups, al->group_cap, id + 1u))
        return HS_NO_ID;
    al->groups[id] = (struct hs_group){ .name = key->name,
                                        .desc = HS_NO_ID,
                                        .backend = key->backend,
                                        .members_assumed = key->ranks == HS_NO_ID };
    al->groups[id].ranks = hs_job_list(al->job, key->ranks, &al->groups[id].size);
    al->group_count = id + 1;
    return id;
}

/* What other dumps say of a row that its own dump left open: the backend of an unused group, the
 * members of a group whose configuration was cut off. By name. */
struct hint {
    uint32_t backend;
    uint32_t ranks;
    bool has_ranks, ranks_differ;
};

static void collect_hints(const struct hs_alignment *al, struct hint *hints)
{
    for (uint32_t s = 0; s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);

        for (uint32_t i = 0; i < dump->member_count; i++) {
            const struct hs_member *m = &al->job->members[dump->first_member + i];
            struct hint *h = &hints[m->name];

            if (h->backend == HS_NO_ID)
                h->backend = m->backend;
            if (m->ranks != HS_NO_ID) {
                uint32_t size;

                (void)hs_job_list(al->job, m->ranks, &size);
                if (size == 0)
                    continue; /* "[]": not said */
                h->ranks_differ = h->ranks_differ || (h->has_ranks && h->ranks != m->ranks);
                h->ranks = m->ranks;
                h->has_ranks = true;
            }
        }
    }
}

/* gloo configures its default group under an empty name. */
static void hint_default_group(const struct hs_alignment *al, struct hint *hints)
{
    const struct hs_job *job = al->job;
    uint32_t unnamed = hs_intern_find(&job->strings, HS_STR(""));
    uint32_t desc = hs_intern_find(&job->strings, HS_STR("default_pg"));
    uint32_t size = 0;

    if (unnamed == HS_NO_ID || desc == HS_NO_ID || !hints[unnamed].has_ranks)
        return;
    (void)hs_job_list(job, hints[unnamed].ranks, &size);
    for (uint32_t i = 0; i < job->member_count; i++) {
        const struct hs_member *m = &job->members[i];

        if (m->desc == desc && m->name != unnamed && !hints[m->name].has_ranks && size > 0) {
            hints[m->name].ranks = hints[unnamed].ranks;
            hints[m->name].has_ranks = true;
        }
    }
}

static struct hint *gather_hints(struct hs_alignment *al)
{
    uint32_t count = al->job->strings.count;
    struct hint *hints = HS_NEW(&al->arena, struct hint, count);

    for (uint32_t i = 0; hints && i < count; i++)
        hints[i].backend = HS_NO_ID;
    if (hints) {
        collect_hints(al, hints);
        hint_default_group(al, hints);
    }
    return hints;
}

static bool add_position(struct hs_alignment *al, uint32_t seat, uint32_t group, uint32_t member)
{
    if (!HS_GROW(al->positions, al->position_cap, al->position_count + 1u))
        return false;
    al->positions[al->position_count++] = (struct hs_position){ .seat = seat,
                                                                .group = group,
                                                                .member = member,
                                                                .first_unfinished = UINT32_MAX,
                                                                .last_op = HS_NO_ID };
    return true;
}

static bool place_member(struct hs_alignment *al, struct hs_intern *keys, const struct hint *hints,
                         uint32_t seat, uint32_t row)
{
    const struct hs_member *m = &al->job->members[row];
    const struct hint *hint = &hints[m->name];
    struct group_key key = key_of(al, hs_seat_dump(al, seat), row);
    uint32_t id;

    if (key.ranks == HS_NO_ID && hint->has_ranks && !hint->ranks_differ &&
        hs_job_list_has(al->job, hint->ranks, al->seats[seat].rank))
        key.ranks = hint->ranks;
    if (key.backend == HS_NO_ID)
        key.backend = hint->backend;
    id = group_of(al, keys, &key);
    if (id == HS_NO_ID)
        return false;
    if (al->groups[id].desc == HS_NO_ID)
        al->groups[id].desc = m->desc;
    if (al->groups[id].name == HS_NO_ID)
        al->groups[id].name = m->name;
    al->position_of_member[row] = al->position_count;
    return add_position(al, seat, id, row);
}

/* Rows to groups and positions, in the order of seats, so that ids depend on the input alone. */
static bool place_members(struct hs_alignment *al, struct hs_intern *keys)
{
    const struct hint *hints = gather_hints(al);

    al->position_of_member = HS_NEW(&al->arena, uint32_t, al->job->member_count);
    if (!al->position_of_member || !hints)
        return false;
    memset(al->position_of_member, 0xff, al->job->member_count * sizeof(uint32_t));
    for (uint32_t s = 0; s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);

        for (uint32_t i = 0; i < dump->member_count; i++) {
            if (!place_member(al, keys, hints, s, dump->first_member + i))
                return false;
        }
    }
    return true;
}

/* The members of a group that no dump lists: those who are seen to use it. */
static bool assume_members(struct hs_alignment *al)
{
    for (uint32_t g = 0; g < al->group_count; g++) {
        struct hs_group *group = &al->groups[g];
        uint32_t *ranks, count = 0;

        if (!group->members_assumed)
            continue;
        for (uint32_t p = 0; p < al->position_count; p++)
            count += al->positions[p].group == g;
        ranks = HS_NEW(&al->arena, uint32_t, count);
        if (!ranks)
            return false;
        for (uint32_t p = 0; p < al->position_count; p++) {
            if (al->positions[p].group == g)
                ranks[group->size++] = al->seats[al->positions[p].seat].rank;
        }
        group->ranks = ranks;
    }
    return true;
}

/* Positions sorted by group: those of group g are by_group[first[g]] .. by_group[first[g + 1] - 1].
 */
static uint32_t *sort_by_group(struct hs_alignment *al, uint32_t **first)
{
    uint32_t *by_group = HS_NEW(&al->arena, uint32_t, al->position_count);
    uint32_t *next = HS_NEW(&al->arena, uint32_t, al->group_count + 1u);

    *first = HS_NEW(&al->arena, uint32_t, al->group_count + 1u);
    if (!*first || !by_group || !next)
        return NULL;
    for (uint32_t p = 0; p < al->position_count; p++)
        (*first)[al->positions[p].group + 1]++;
    for (uint32_t g = 0; g < al->group_count; g++)
        next[g + 1] = (*first)[g + 1] += (*first)[g];
    for (uint32_t p = 0; p < al->position_count; p++)
        by_group[next[al->positions[p].group]++] = p;
    return by_group;
}

/*
 * The position of every member of a group, by its index in the group. A member that has a dump but
 * never made the group's communicator gets a position too: it has entered nothing there.
 */
static bool seat_group(struct hs_alignment *al, uint32_t g, uint32_t *at)
{
    struct hs_group *group = &al->groups[g];

    group->positions = HS_NEW(&al->arena, uint32_t, group->size);
    if (!group->positions)
        return false;
    for (uint32_t i = 0; i < group->size; i++) {
        uint32_t seat = hs_seat_of_rank(al, group->ranks[i]);

        group->positions[i] = HS_NO_ID;
        if (seat == HS_NO_ID)
            continue;
        if (at[seat] == HS_NO_ID) {
            at[seat] = al->position_count;
            if (!add_position(al, seat, g, HS_NO_ID))
                return false;
        }
        group->positions[i] = at[seat];
    }
    return true;
}

static bool seat_members(struct hs_alignment *al)
{
    uint32_t *at =
        HS_NEW(&al->arena, uint32_t, al->seat_count); /* position of a seat, this group */
    uint32_t *first, *by_group = sort_by_group(al, &first);

    if (!at || !by_group)
        return false;
    memset(at, 0xff, al->seat_count * sizeof(*at));
    for (uint32_t g = 0; g < al->group_count; g++) {
        for (uint32_t i = first[g]; i < first[g + 1]; i++)
            at[al->positions[by_group[i]].seat] = by_group[i];
        if (!seat_group(al, g, at))
            return false;
        for (uint32_t i = 0; i < al->groups[g].size; i++) {
            if (al->groups[g].positions[i] != HS_NO_ID)
                at[al->positions[al->groups[g].positions[i]].seat] = HS_NO_ID;
        }
        for (uint32_t i = first[g]; i < first[g + 1]; i++)
            at[al->positions[by_group[i]].seat] = HS_NO_ID;
    }
    return true;
}

/* "description" where no other group has it, else "description(name)"; the name if there is none.
 */
static bool label_groups(struct hs_alignment *al)
{
    const struct hs_job *job = al->job;
    uint32_t *met = HS_NEW(&al->arena, uint32_t, job->strings.count);
    uint32_t *first = HS_NEW(&al->arena, uint32_t, job->strings.count);

    if (!met || !first)
        return false;
    for (uint32_t g = 0; g < al->group_count; g++) {
        uint32_t desc = al->groups[g].desc;

        /* two backends of one group share its label */
        if (desc != HS_NO_ID && (met[desc] == 0 || first[desc] != al->groups[g].name)) {
            met[desc]++;
            first[desc] = al->groups[g].name;
        }
    }
    for (uint32_t g = 0; g < al->group_count; g++) {
        struct hs_group *group = &al->groups[g];
        struct hs_str name = hs_job_string(job, group->name);
        struct hs_str desc = hs_job_string(job, group->desc);
        struct hs_buf buf;

        hs_buf_init(&buf);
        hs_buf_put_safe(&buf, desc.n ? desc : name, 120);
        if (desc.n && met[group->desc] > 1 && name.n) {
            hs_buf_putc(&buf, '(');
            hs_buf_put_safe(&buf, name, 120);
            hs_buf_putc(&buf, ')');
        }
        group->label = hs_arena_copy(&al->arena, hs_buf_str(&buf));
        hs_buf_release(&buf);
        if (!group->label.p)
            return false;
    }
    return true;
}

enum hs_status hs_align_groups(struct hs_alignment *al, struct hs_err *err)
{
    struct hs_intern keys;
    bool ok;

    hs_intern_init(&keys);
    ok = place_members(al, &keys) && assume_members(al) && seat_members(al) && label_groups(al);
    hs_intern_release(&keys);
    return ok ? HS_OK : hs_no_memory(err);
}
