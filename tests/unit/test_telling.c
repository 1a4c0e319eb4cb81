/* test_telling.c - verdicts from lines in words: who stands where, why not surely, what to do next;
 * and lines cut to a terminal. */
#include "analyzer/analyze.h"
#include "analyzer/render/render.h"
#include "row_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

struct telling {
    struct row_lab lab;
    struct hs_buf screen;
    uint64_t world; /* 0: nobody says */
};

static void begin(struct telling *t)
{
    uint32_t source;

    row_begin(&t->lab);
    hs_buf_init(&t->screen);
    t->world = 0;
    source = row_source(&t->lab, "job.log");
    t->lab.part.sources[source].records = 1;
}

/* The screen of the rows so far, in a language. */
static const char *tell(struct telling *t, enum hs_language language)
{
    struct hs_job_options options = { .world_size = t->world };
    struct hs_verdict verdict = { .code = NULL };
    struct hs_screen screen = { .language = language, .seconds = -1 };
    struct hs_err err = { .n = 0 };

    if (!t->lab.finished)
        row_finish(&t->lab);
    t->screen.n = 0;
    assert_int_equal(hs_analyze(&t->lab.job, &options, &verdict, &err), HS_OK);
    hs_render_text(&verdict, &screen, &t->screen);
    assert_false(t->screen.failed);
    hs_verdict_release(&verdict);
    return t->screen.p;
}

static void end(struct telling *t)
{
    hs_buf_release(&t->screen);
    row_end(&t->lab);
}

static void assert_has(const char *screen, const char *words)
{
    if (!strstr(screen, words))
        fail_msg("\"%s\" is not in\n%s", words, screen);
}

static void assert_lacks(const char *screen, const char *words)
{
    if (strstr(screen, words))
        fail_msg("\"%s\" is in\n%s", words, screen);
}

#define TIMEOUT "elapsed_ms=600013 timeout_ms=600000"

/* ---- who waits ---- */

static void nobody_is_named_where_no_line_names_one(void **state)
{
    struct telling t;
    uint32_t who;
    const char *screen;

    (void)state;
    begin(&t);
    who = row_speaker(&t.lab, "lines=1-1");
    (void)row_event(&t.lab, who, "WD_TIMEOUT", "line=1 seq=7 op=ALLREDUCE " TIMEOUT);
    screen = tell(&t, HS_ENGLISH);
    assert_has(screen, "A rank that is not named waits in ALLREDUCE #7;");
    assert_lacks(screen, "Rank  ");
    assert_lacks(screen, "Ranks  ");
    assert_has(tell(&t, HS_CHINESE), "某个未指明的 rank");
    end(&t);
}

static void what_is_not_known_of_a_call_is_left_out(void **state)
{
    struct telling t;
    uint32_t who;
    const char *screen;

    (void)state;
    begin(&t);
    who = row_speaker(&t.lab, "tag=2 lines=1-1");
    (void)row_event(&t.lab, who, "WD_TIMEOUT", "line=1 " TIMEOUT);
    screen = tell(&t, HS_ENGLISH);
    assert_has(screen, "Rank 2 waits; the input does not show whom it waits for.");
    assert_has(screen, "rank 2        waits in a call, for 600 s");
    assert_lacks(screen, "?");
    end(&t);
}

/* Ranks 0 to 2 wait, rank 3 is of the world and says nothing. */
static void begin_silent(struct telling *t)
{
    char words[128];

    begin(t);
    t->world = 4;
    for (unsigned rank = 0; rank < 3; rank++) {
        uint32_t who;

        (void)snprintf(words, sizeof(words), "tag=%u host=node-a pid=%u lines=%u-%u", rank,
                       4000 + rank, rank + 1, rank + 1);
        who = row_speaker(&t->lab, words);
        (void)snprintf(words, sizeof(words),
                       "line=%u at=%u.5 seq=9 op=ALLREDUCE numel_in=2 " TIMEOUT, rank + 1,
                       601 + rank);
        (void)row_event(&t->lab, who, "WD_TIMEOUT", words);
    }
}

static void a_silent_rank_is_asked_for(void **state)
{
    struct telling t;
    const char *screen;

    (void)state;
    begin_silent(&t);
    screen = tell(&t, HS_ENGLISH);
    assert_has(screen, "4 ranks · 1 log of 3 ranks");
    assert_has(screen, "rank 3        no line of its own, no dump\n");
    assert_has(screen, "Fetch the log of rank 3:");
    assert_has(screen, "unseen rank 3: no dump, and no line that is known to be its\n");
    assert_has(screen, "ranks 0-2     node-a      in    ALLREDUCE #9 (NumelIn=2) since ");
    assert_has(screen, ", for 600 s\n");
    assert_lacks(screen, "0 dumps");
    end(&t);
}

/* ---- what to do ---- */

static void a_host_is_drained_by_name(void **state)
{
    struct telling t;
    uint32_t who;
    const char *screen;

    (void)state;
    begin(&t);
    who = row_speaker(&t.lab, "host=node-a lines=1-1");
    (void)row_event(&t.lab, who, "XID", "line=1 at=5 xid=79 bdf=0000:3b:00");
    screen = tell(&t, HS_ENGLISH);
    assert_has(screen, "gpu-fault");
    assert_has(screen, "scontrol update nodename=node-a state=drain");
    assert_has(screen, "sbatch --exclude=node-a.");
    assert_has(screen, "nvidia-smi -q -i 0000:3b:00.0;");
    end(&t);
}

/* What a line calls a host may be pasted into a shell. */
static void a_strange_name_stands_in_no_command(void **state)
{
    struct telling t;
    uint32_t who;
    const char *screen;

    (void)state;
    begin(&t);
    who = row_speaker(&t.lab, "host=node-a;reboot lines=1-1");
    (void)row_event(&t.lab, who, "XID", "line=1 at=5 xid=79 bdf=$(reboot)");
    screen = tell(&t, HS_ENGLISH);
    assert_has(screen, "gpu-fault");
    assert_lacks(screen, "scontrol");
    assert_lacks(screen, "-i $(");
    end(&t);
}

static void the_world_is_counted_over_hosts(void **state)
{
    struct telling t;
    uint32_t who;
    const char *screen;

    (void)state;
    begin(&t);
    (void)row_speaker(&t.lab, "tag=0 host=node-a pid=11 lines=1-1");
    who = row_speaker(&t.lab, "tag=6 host=node-b pid=12 lines=2-2");
    (void)row_event(&t.lab, who, "bad_rank", "line=2 rank=6 nranks=4");
    screen = tell(&t, HS_ENGLISH);
    assert_has(screen, "misconfigured (invalid-rank)");
    assert_has(screen,
               "the world has 4 ranks, and there are ranks up to 6 on 2 hosts. Set WORLD_SIZE=8");
    assert_has(screen, "--nnodes=2 --nproc-per-node=4");
    end(&t);
}

static void a_log_that_is_there_is_not_asked_for(void **state)
{
    struct telling t;
    char words[128];
    const char *screen;

    (void)state;
    begin_silent(&t);
    (void)snprintf(words, sizeof(words), "tag=3 host=node-b pid=77 lines=4-9");
    (void)row_event(&t.lab, row_speaker(&t.lab, words), "WD_STATUS",
                    "line=9 pg=0 pg_desc=default_pg pg_rank=3 seq=8 enqueued=8 completed=8");
    screen = tell(&t, HS_ENGLISH);
    assert_lacks(screen, "Fetch the log of rank 3");
    end(&t);
}

/* ---- a terminal ---- */

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    while (*text) {
        struct hs_str line = { .p = text, .n = strcspn(text, "\n") };

        widest = hs_str_columns(line) > widest ? hs_str_columns(line) : widest;
        text += line.n + (text[line.n] == '\n');
    }
    return widest;
}

static void evidence_is_cut_around_the_words_that_tell(void **state)
{
    static const char before[] = "Epoch 0:   0%|████████████████████████| 0/500 [rank1]:[E318 ";
    static const char after[] =
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=610)";
    struct hs_evidence evidence = { .source = hs_str_of("train.log"),
                                    .line = 3,
                                    .record = HS_UNKNOWN,
                                    .offset_bytes = HS_UNKNOWN,
                                    .mark = sizeof(before) - 1 };
    struct hs_finding finding = { .code = "rank-missing",
                                  .evidence = &evidence,
                                  .evidence_count = 1 };
    struct hs_verdict v = { .code = "rank-missing",
                            .action = "none",
                            .findings = &finding,
                            .finding_count = 1,
                            .world_size = HS_UNKNOWN };
    struct hs_screen screen = { .seconds = -1, .columns = 80 };
    struct hs_buf out, text;

    (void)state;
    hs_buf_init(&text);
    hs_buf_put(&text, hs_str_of(before));
    hs_buf_put(&text, hs_str_of(after));
    evidence.excerpt = hs_buf_str(&text);
    for (screen.columns = 64; screen.columns < 200; screen.columns++) {
        hs_buf_init(&out);
        hs_render_text(&v, &screen, &out);
        if (widest_line(out.p) > screen.columns)
            fail_msg("%zu columns, wide as %zu:\n%s", screen.columns, widest_line(out.p), out.p);
        assert_has(out.p, "Watchdog caught");
        hs_buf_release(&out);
    }
    screen.columns = 0;
    hs_buf_init(&out);
    hs_render_text(&v, &screen, &out);
    assert_has(out.p, text.p);
    hs_buf_release(&out);
    hs_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_named_where_no_line_names_one),
        cmocka_unit_test(what_is_not_known_of_a_call_is_left_out),
        cmocka_unit_test(a_silent_rank_is_asked_for),
        cmocka_unit_test(a_host_is_drained_by_name),
        cmocka_unit_test(a_strange_name_stands_in_no_command),
        cmocka_unit_test(the_world_is_counted_over_hosts),
        cmocka_unit_test(a_log_that_is_there_is_not_asked_for),
        cmocka_unit_test(evidence_is_cut_around_the_words_that_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
