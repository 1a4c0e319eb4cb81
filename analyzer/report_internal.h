/* report_internal.h - what the files that derive a report share; nobody else includes it. */
#ifndef HS_ANALYZER_REPORT_INTERNAL_H
#define HS_ANALYZER_REPORT_INTERNAL_H

#include "analyzer/clocks.h"
#include "analyzer/report.h"

/* One way of numbering the calls of a group; `kind` is an enum hs_matrix_kind. */
struct hs_plane {
    uint32_t group, kind;
    uint32_t low, span; /* numbers from `low` on; span 0: it has no calls */
    size_t first;       /* of its dense columns */
    uint32_t columns;   /* of them in use */
    uint32_t column_set;
    const uint32_t *numbers; /* by column */
    uint32_t matrix;         /* HS_NO_ID */
};

/* A number of a plane, used or not. */
struct hs_dense_column {
    int64_t first_ns, last_ns;
    uint32_t signature, votes; /* of most members */
    uint32_t members, last_seat, column;
};

/* The clock of a seat's stamps. */
struct hs_seat_clock {
    uint32_t clock, frame;     /* HS_NO_ID: none */
    int64_t skew_ns, bound_ns; /* taken off its stamps; what may still be wrong: HS_NO_DURATION */
};

struct hs_reporting {
    const struct hs_judged *j;
    const struct hs_verdict *v;
    const struct hs_report_wanted *wanted;
    struct hs_report *out;
    struct hs_arena scratch;
    struct hs_clocks clocks;
    struct hs_seat_clock *seat_clocks;
    uint32_t *row_of_seat;    /* of out->ranks */
    uint32_t *first_position; /* by seat, and one more: in `positions` */
    uint32_t *positions;
    uint32_t *place_of_position; /* its index in the group */
    uint32_t *canon;             /* by signature of the job: equal for calls that may meet */
    uint32_t *signature_no, *stack_no, *frame_no; /* numbers in the report; HS_NO_ID */
    uint32_t frame_cap, stack_cap, signature_cap;
    struct hs_plane *planes; /* two for each group, then overall */
    struct hs_dense_column *dense;
    uint32_t *last_number; /* by position and kind */
    bool by_index;         /* overall goes by the place in the dump, not by record */
    uint32_t hung_group, hung_seq, hung_node; /* the verdict's operation; HS_NO_ID */
    uint32_t **waited; /* by group: numbers of collectives that ranks are blocked in, rising */
    uint32_t *waited_count;
};

/* Steps, each in a file of its own. False without memory. */
bool hs_report_clocks(struct hs_reporting *r);
bool hs_report_ranks(struct hs_reporting *r);
bool hs_report_groups(struct hs_reporting *r);
bool hs_report_columns(struct hs_reporting *r);
bool hs_report_rows(struct hs_reporting *r);
bool hs_report_arrivals(struct hs_reporting *r);
bool hs_report_classes(struct hs_reporting *r);
bool hs_report_waits(struct hs_reporting *r);
bool hs_report_records(struct hs_reporting *r);
bool hs_report_topology(struct hs_reporting *r);
bool hs_report_settings(struct hs_reporting *r);
bool hs_report_contexts(struct hs_reporting *r);

/* Numbers that rows of the job have in the report, given at first use. HS_NO_ID for HS_NO_ID, and
 * without memory. */
uint32_t hs_report_signature(struct hs_reporting *r, uint32_t id);
uint32_t hs_report_stack(struct hs_reporting *r, uint32_t id);

/* The row of a global rank; HS_NO_ID: none. */
uint32_t hs_report_row(const struct hs_report *report, uint32_t rank);

/* Which number of which plane a call has; plane NULL: none. */
struct hs_slot {
    struct hs_plane *plane;
    uint32_t number;
};
struct hs_slot hs_slot_of(const struct hs_reporting *r, uint32_t seat, uint32_t i);

/* A plane of a group, that of all calls, and the latest number of a position that was looked at. */
static inline struct hs_plane *hs_plane_of(const struct hs_reporting *r, uint32_t group,
                                           enum hs_matrix_kind kind)
{
    return &r->planes[2 * (size_t)group + kind];
}

static inline struct hs_plane *hs_plane_overall(const struct hs_reporting *r)
{
    return &r->planes[2 * (size_t)r->j->al.group_count];
}

static inline uint32_t *hs_last_number(const struct hs_reporting *r, uint32_t position,
                                       const struct hs_plane *plane)
{
    return &r->last_number[2 * (size_t)position + plane->kind];
}

/* The dense column of a number; NULL: the plane has no such. */
static inline struct hs_dense_column *hs_dense_of(const struct hs_reporting *r,
                                                  const struct hs_plane *plane, uint32_t number)
{
    return number < plane->low || number - plane->low >= plane->span
               ? NULL
               : &r->dense[plane->first + (number - plane->low)];
}

/* When a call was made, on the corrected clock; 0: unknown. */
int64_t hs_made_ns(const struct hs_reporting *r, uint32_t seat, int64_t ns);

/* What a call's own record says, as a cell's state. */
uint8_t hs_recorded_state(const struct hs_operation *op);

#endif
