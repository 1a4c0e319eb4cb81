/*
 * test_envelope.c - prefixes, headers and containers of every launcher and era, peeled off lines.
 * Over 600 lines, because most of it is tables of lines.
 */
#include "base/limits.h"
#include "parsers/envelope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* cmocka wants the ones above before itself */
#include <cmocka.h>

/* ---- records as words ---- */

struct reading {
    struct hs_envelope envelope;
    struct hs_buf said;
    struct hs_hit *hits;
    size_t hit_cap;
    uint64_t records;
    bool bare; /* say neither times nor lines, which differ between containers */
};

static void say_number(struct hs_buf *to, const char *name, uint32_t value)
{
    if (value != HS_NO_ID)
        hs_buf_printf(to, " %s=%u", name, value);
}

static void say_text(struct hs_buf *to, const char *name, struct hs_str value)
{
    if (value.n)
        hs_buf_printf(to, " %s=%.*s", name, HS_STR_ARG(value));
}

static void say_time(struct hs_buf *to, struct hs_stamp stamp)
{
    time_t seconds = (time_t)(stamp.ns / 1000000000);
    char text[32];
    struct tm tm;

    if (!stamp.ns)
        return;
    if (stamp.clock & HS_CLOCK_BOOT) {
        hs_buf_printf(to, " @+%lld", (long long)seconds);
    } else {
        (void)gmtime_r(&seconds, &tm);
        (void)strftime(text, sizeof(text),
                       stamp.clock & HS_CLOCK_YEAR   ? "%Y-%m-%dT%T"
                       : stamp.clock & HS_CLOCK_DATE ? "%m-%dT%T"
                                                     : "%T",
                       &tm);
        hs_buf_printf(to, " @%s", text);
    }
    if (stamp.clock & HS_CLOCK_FINE)
        hs_buf_printf(to, ".%06lld", (long long)(stamp.ns / 1000 % 1000000));
    if (stamp.clock & HS_CLOCK_ZONE)
        hs_buf_putc(to, 'Z');
}

/* "C10 E ProcessGroupNCCL.cpp:685 rank=3(tag) pg=0 | text" */
static bool say_record(void *self, const struct hs_record *record)
{
    static const char *const headers[] = { "-", "C10", "GLOG", "PYTHON", "NCCL" };
    static const char *const froms[] = { "", "(file)", "(task)", "(launcher)", "(tag)" };
    struct reading *reading = self;
    struct hs_buf *to = &reading->said;
    const char *begin = record->segment.p, *end = begin + record->segment.n;

    assert_true(record->text.p >= begin && record->text.p + record->text.n <= end);
    reading->records++;
    if (to->n)
        hs_buf_putc(to, '\n');
    if (!reading->bare && record->line != 1)
        hs_buf_printf(to, "%lu: ", (unsigned long)record->line);
    hs_buf_printf(to, "%s", headers[record->header]);
    if (record->level)
        hs_buf_printf(to, " %c", record->level);
    if (record->file.n)
        hs_buf_printf(to, " %.*s:%u", HS_STR_ARG(record->file), record->file_line);
    say_text(to, "host", record->host);
    say_text(to, "role", record->role);
    say_number(to, "pid", record->pid);
    say_number(to, "tid", record->tid);
    say_number(to, "rank", record->rank);
    hs_buf_printf(to, "%s", froms[record->rank_from]);
    say_number(to, "local_rank", record->local_rank);
    say_number(to, "task", record->task);
    say_number(to, "device", record->device);
    if (record->pg.p)
        hs_buf_printf(to, " pg=%.*s", HS_STR_ARG(record->pg));
    if (record->pg_desc.p)
        hs_buf_printf(to, "(%.*s)", HS_STR_ARG(record->pg_desc));
    say_number(to, "pg_id", record->pg_id);
    say_number(to, "pg_rank", record->pg_rank);
    if (record->repeated)
        hs_buf_printf(to, " x%u", record->repeated);
    if (!reading->bare)
        say_time(to, record->stamp);
    if (record->torn)
        hs_buf_printf(to, " torn");
    if (record->joined && !reading->bare)
        hs_buf_printf(to, " joined");
    hs_buf_printf(to, " |");
    hs_buf_put(to, record->text);
    return true;
}

/* Marks by trying each at every byte, as the automaton would find them. */
static size_t find_marks(struct reading *reading, struct hs_str text)
{
    size_t count = 0;

    for (size_t end = 1; end <= text.n; end++) {
        for (uint32_t i = 0; i < hs_frame_mark_count; i++) {
            struct hs_str mark = hs_frame_marks[i];

            if (mark.n > end || mark.p[mark.n - 1] != text.p[end - 1] ||
                memcmp(text.p + end - mark.n, mark.p, mark.n) != 0)
                continue;
            if (count == reading->hit_cap) {
                reading->hit_cap = reading->hit_cap ? reading->hit_cap * 2 : 64;
                reading->hits = realloc(reading->hits, reading->hit_cap * sizeof(reading->hits[0]));
                assert_non_null(reading->hits);
            }
            reading->hits[count++] = (struct hs_hit){ .literal = i, .end = (uint32_t)end };
        }
    }
    return count;
}

static bool split_segment(void *self, const struct hs_segment *segment)
{
    struct reading *reading = self;
    size_t count = find_marks(reading, segment->text);

    return hs_envelope_split(&reading->envelope, segment, reading->hits, count, say_record, self);
}

static void read_lines(struct reading *reading, struct hs_str bytes)
{
    uint64_t line = 0;

    for (size_t at = 0; at < bytes.n;) {
        const char *newline = memchr(bytes.p + at, '\n', bytes.n - at);
        size_t n = newline ? (size_t)(newline - bytes.p) - at : bytes.n - at;
        char *exact = malloc(n ? n : 1); /* a sanitizer sees a byte beyond */

        assert_non_null(exact);
        memcpy(exact, bytes.p + at, n);
        assert_true(hs_envelope_line(&reading->envelope, (struct hs_str){ .p = exact, .n = n },
                                     ++line, at, split_segment, reading));
        free(exact);
        at += n + 1;
    }
    assert_true(hs_envelope_end(&reading->envelope, split_segment, reading));
    assert_false(reading->said.failed);
}

static void begin_reading(struct reading *reading, struct hs_str learned)
{
    *reading = (struct reading){ .hits = NULL };
    hs_envelope_init(&reading->envelope);
    hs_envelope_learn(&reading->envelope, learned);
    hs_buf_init(&reading->said);
}

static void end_reading(struct reading *reading)
{
    hs_envelope_release(&reading->envelope);
    hs_buf_release(&reading->said);
    free(reading->hits);
}

struct example {
    const char *input, *said; /* lines; and a record a line */
};

static void check(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hs_str input = hs_str_of(examples[i].input);
        struct reading reading;

        begin_reading(&reading, input);
        read_lines(&reading, input);
        if (!hs_str_is(hs_buf_str(&reading.said), examples[i].said))
            fail_msg("%s\n  is     %.*s\n  not    %s", examples[i].input,
                     HS_STR_ARG(hs_buf_str(&reading.said)), examples[i].said);
        end_reading(&reading);
    }
}

#define CHECK(examples) check((examples), sizeof(examples) / sizeof((examples)[0]))

/* ---- what stands in front ---- */

static const struct example launchers[] = {
    { "no prefix at all", "- |no prefix at all" },
    { "", "" },
    { "\n", "- |" },
    /* ranks that processes print themselves */
    { "[rank3]: Traceback (most recent call last):",
      "- rank=3(tag) |Traceback (most recent call last):" },
    { "[rank3]:   File \"a.py\", line 1", "- rank=3(tag) |  File \"a.py\", line 1" },
    { "[rank3]:", "- rank=3(tag) |" },
    { "[rank99999999999]: x", "- |[rank99999999999]: x" },
    { "[rank: 3] Received SIGTERM: 15", "- rank=3(launcher) |Received SIGTERM: 15" },
    /* torchrun */
    { "[default0]:x", "- role=default local_rank=0 |x" },
    { "[default0]:", "- role=default local_rank=0 |" },
    { "[my_role-a.12]: x", "- role=my_role-a. local_rank=12 |x" },
    { "[trainer3|0]:x", "- role=trainer |x" },
    { "[default0]:[rank8]: x", "- role=default rank=8(tag) local_rank=0 |x" },
    { "[12]: x", "- |[12]: x" },
    /* torchx, NeMo */
    { "B-job-ft3/0 [default1]:[rank1]: x", "- role=B-job-ft3/0 rank=1(tag) local_rank=1 |x" },
    { "trainer/0 [1]:[W socket.cpp:558] [c10d] x",
      "C10 W socket.cpp:558 role=trainer/0 local_rank=1 |[c10d] x" },
    { "one/2 of them", "- |one/2 of them" },
    /* srun -l, once most lines begin so */
    { "10: Last error:\n 2: \n 2: x",
      "- rank=10(task) task=10 |Last error:\n2: - rank=2(task) task=2 |\n"
      "3: - rank=2(task) task=2 |x" },
    { "P0 12: x\nP1  3: y", "- rank=12(task) task=12 |x\n2: - rank=3(task) task=3 |y" },
    { "3: x\nno\nnor this", "- |3: x\n2: - |no\n3: - |nor this" },
    { "1: a\n2: b\n3: c\n4: d", "- |1: a\n2: - |2: b\n3: - |3: c\n4: - |4: d" },
    { "115: [rank115]:[E207 19:04:38.123186550 ProcessGroupNCCL.cpp:697] [Rank 14] x",
      "C10 E ProcessGroupNCCL.cpp:697 rank=115(tag) task=115 pg_rank=14 @02-07T19:04:38 |x" },
    /* OpenMPI and PRRTE */
    { "[1,3]<stderr>:x", "- rank=3(launcher) |x" },
    { "[1,3]<stdout>: x", "- rank=3(launcher) |x" },
    { "[1,3][node-a]<stdout>: x", "- host=node-a rank=3(launcher) |x" },
    { "[1,3]<stderr>:Dist[1,3]<stderr>:Store[1,3]<stderr>:Error",
      "- rank=3(launcher) |DistStoreError" },
    { "Thu Jun 18 14:28:36 2020[1,3]<stderr>:a Thu Jun 18 14:28:37 2020[1,3]<stderr>:b",
      "- rank=3(launcher) @2020-06-18T14:28:36 |a b" },
    { "[1,3]<stderr>:a[1,3]<stderr>:b[1,4]<stderr>:c[1,3]<stderr>:d",
      "- rank=3(launcher) |ab\n- rank=4(launcher) torn |c\n- rank=3(launcher) torn |d" },
    { "Thu Jun 18 14:28:36 2020[1,3]<stderr>:x", "- rank=3(launcher) @2020-06-18T14:28:36 |x" },
    { "[prterun-node-a-1234@1,0]<stdout>: hello", "- rank=0(launcher) |hello" },
    { "[1,3]<other>: x", "- |[1,3]<other>: x" },
    /* Horovod */
    { "[3]<stderr>:x", "- rank=3(launcher) |x" },
    { "Thu Jun 18 14:28:36 2020[3]<stdout>:x", "- rank=3(launcher) @2020-06-18T14:28:36 |x" },
    { "[3a]<stdout>:x", "- |[3a]<stdout>:x" },
    { "[1, 3]: a list", "- |[1, 3]: a list" },
    /* Ray, vLLM, SkyPilot */
    { "(Actor pid=12, ip=10.0.0.4) x", "- host=10.0.0.4 role=Actor pid=12 |x" },
    { "(Actor pid=12)   x", "- role=Actor pid=12 |  x" },
    { "(pid=12, ip=10.0.0.4) x", "- host=10.0.0.4 pid=12 |x" },
    { "(a.b:Worker[rank=9] pid=12) x", "- role=a.b:Worker pid=12 rank=9(launcher) |x" },
    { "(VllmWorker rank=1 pid=12) x", "- role=VllmWorker pid=12 rank=1(launcher) |x" },
    { "(head, rank=1, pid=12, ip=10.0.0.4) x", "- host=10.0.0.4 role=head pid=12 task=1 |x" },
    { "(my-run, pid=12) x", "- role=my-run pid=12 |x" },
    { "(Actor pid=12) x [repeated 3x across cluster]", "- role=Actor pid=12 x3 |x" },
    { "(Actor pid=12) x [repeated 15x across cluster] (Ray deduplicates logs by default. See "
      "https://docs.example/#log-deduplication for more options.)",
      "- role=Actor pid=12 x15 |x" },
    { "(a number of things)", "- |(a number of things)" },
    { "(Actor[rank=9] pid=12) [rank9]:[E129 16:38:47.714693059 ProcessGroupNCCL.cpp:683] [Rank 1] "
      "x",
      "C10 E ProcessGroupNCCL.cpp:683 role=Actor pid=12 rank=9(tag) pg_rank=1 @01-29T16:38:47 |x" },
    /* kubectl, determined, milabench, pdsh, grep */
    { "[pod/train-3/pytorch] [rank24]: x", "- role=train-3 rank=24(tag) |x" },
    { "[pod/train-3/pytorch] 2025-11-18T20:32:23.5Z x",
      "- role=train-3 @2025-11-18T20:32:23.500000Z |x" },
    { "[2024-02-27T21:35:32.106313Z] fa88a9df || x",
      "- role=fa88a9df @2024-02-27T21:35:32.106313Z |x" },
    { "[2024-02-27T21:35:32.106313Z] fa88a9df [rank=5] ||   x",
      "- role=fa88a9df rank=5(launcher) @2024-02-27T21:35:32.106313Z |  x" },
    { "node-b.nolog [stderr] [rank3]: x", "- role=node-b.nolog rank=3(tag) |x" },
    { "stderr:   x : 1", "- |  x : 1" },
    { "stderr:x", "- |stderr:x" },
    { "10.0.0.4: x", "- host=10.0.0.4 |x" },
    { "node-a1: x\nnode-a2: y\nnode-a1: z",
      "- host=node-a1 |x\n2: - host=node-a2 |y\n3: - host=node-a1 |z" },
    { "Error: x\nError: y\nError: z", "- |Error: x\n2: - |Error: y\n3: - |Error: z" },
    { "LOG1.0.txt:node-a:4:5 [0] NCCL INFO x",
      "NCCL I host=node-a role=LOG1.0.txt pid=4 tid=5 device=0 |x" },
};

static const struct example times[] = {
    { " 2025-02-18 12:54 [rank12]: x", "- rank=12(tag) @2025-02-18T12:54:00 |x" },
    { "18:11:06.680 [rank4]: x", "- rank=4(tag) @18:11:06.680000 |x" },
    { "18:11:06.680 [rank4]:[E205 18:11:06.375750231 ProcessGroupNCCL.cpp:1870] x",
      "C10 E ProcessGroupNCCL.cpp:1870 rank=4(tag) @02-05T18:11:06.680000 |x" },
    { "04:11:06.680 [rank4]:[E205 18:11:06.375750231 ProcessGroupNCCL.cpp:1870] x",
      "C10 E ProcessGroupNCCL.cpp:1870 rank=4(tag) @02-05T18:11:06 |x" },
    { "18:11:06 x", "- |18:11:06 x" },
    { "2024-08-23T21:04:12.473Z | x", "- @2024-08-23T21:04:12.473000Z |x" },
    { "  | 2024-08-23T21:04:12.473Z | [rank6]: x",
      "- rank=6(tag) @2024-08-23T21:04:12.473000Z |x" },
    { "-- | --", "- |-- | --" },
    { "| a | table |", "- || a | table |" },
    { "2024-08-23T21:04:12Z\tx", "- @2024-08-23T21:04:12Z |x" },
    { "[2024-08-23 21:04:12] x", "- @2024-08-23T21:04:12 |x" },
    { "[2024-08-23 21:04:12 DP0 TP1] x", "- role=DP0 TP1 @2024-08-23T21:04:12 |x" },
    { "[21:04:12.5] x", "- @21:04:12.500000 |x" },
    /* the kernel and syslog */
    { "[Mon Feb  2 22:42:45 2026] NVRM: Xid (PCI:0000:cb:00): 94, pid=5, name=python",
      "- @2026-02-02T22:42:45 |NVRM: Xid (PCI:0000:cb:00): 94, pid=5, name=python" },
    { "[2397166.983093] NVRM: x", "- @+2397166.983093 |NVRM: x" },
    { "[    8.247346] ata22: x", "- @+8.247346 |ata22: x" },
    { "<6>[    8.247346] ata22: x", "- I @+8.247346 |ata22: x" },
    { "<3>x", "- E |x" },
    { "<unknown> x", "- |<unknown> x" },
    { "kern  :warn  : 2025-01-21T04:41:44,284792+00:00 NVRM: x",
      "- W @2025-01-21T04:41:44.284792Z |NVRM: x" },
    { "Feb  2 22:42:45 node-a kernel: x", "- host=node-a @02-02T22:42:45 |x" },
    { "Feb  2 22:42:45 node-a kernel: [2397166.983093] x", "- host=node-a @02-02T22:42:45 |x" },
    { "Feb  2 22:42:45 node-a slurmstepd[77]: error: x",
      "- host=node-a pid=77 @02-02T22:42:45 |slurmstepd[77]: error: x" },
    { "2026-02-02T22:42:45.101223Z ERROR shard-manager: launcher: x",
      "PYTHON E @2026-02-02T22:42:45.101223Z |shard-manager: launcher: x" },
    { "2026-02-02T22:42:45+0100 node-a kernel: x", "- host=node-a @2026-02-02T21:42:45Z |x" },
    { "2026-02-02T22:42:45+0100 some words follow", "- @2026-02-02T21:42:45Z |some words follow" },
    { "Feb 29 is no time", "- |Feb 29 is no time" },
    { "[Feb 27 2025 11:16:31] [INFO] [tid 1808] x", "- @2025-02-27T11:16:31 |[INFO] [tid 1808] x" },
};

/* ---- headers ---- */

static const struct example headers[] = {
    /* c10 */
    { "[E ProcessGroupNCCL.cpp:828] [Rank 2] x", "C10 E ProcessGroupNCCL.cpp:828 pg_rank=2 |x" },
    { "[rank0]:[E ProcessGroupNCCL.cpp:523] x", "C10 E ProcessGroupNCCL.cpp:523 rank=0(tag) |x" },
    { "[rank1]:[E1218 01:59:12.846104516 ProcessGroupNCCL.cpp:685] x",
      "C10 E ProcessGroupNCCL.cpp:685 rank=1(tag) @12-18T01:59:12 |x" },
    { "[E101 01:59:12.846104516 a/b.hpp:5] x", "C10 E a/b.hpp:5 @01-01T01:59:12 |x" },
    { "[F1003 01:59:12.846104516 b.cu:5] x", "C10 F b.cu:5 @10-03T01:59:12 |x" },
    { "[W CUDAGuardImpl.h:115] Warning: x", "C10 W CUDAGuardImpl.h:115 |Warning: x" },
    { "[I socket.cc:1]", "C10 I socket.cc:1 |" },
    { "[E1318 01:59:12.8 a.cpp:685] x", "- |[E1318 01:59:12.8 a.cpp:685] x" },
    { "[Q ProcessGroupNCCL.cpp:828] x", "- |[Q ProcessGroupNCCL.cpp:828] x" },
    { "Exception raised from f at a.cpp:632 (most recent call first):",
      "- |Exception raised from f at a.cpp:632 (most recent call first):" },
    { "[rank0]:[E515 18:36:47.343377708 ProcessGroupNCCL.cpp:1937] Rank 0",
      "C10 E ProcessGroupNCCL.cpp:1937 rank=0(tag) @05-15T18:36:47 |Rank 0" },
    { "[rank0]:[E913 10:00:00.123456789 WorkNCCL.cpp:190] [TC][rank=0][name=default_pg] x",
      "C10 E WorkNCCL.cpp:190 rank=0(tag) @09-13T10:00:00 |[TC][rank=0][name=default_pg] x" },
    /* glog */
    { "E0228 17:37:21.488888  9191 ProcessGroupNCCL.cpp:1405] [PG 3 Rank 4] x",
      "GLOG E ProcessGroupNCCL.cpp:1405 tid=9191 pg=3 pg_rank=4 @02-28T17:37:21.488888 |x" },
    { "I20251028 12:13:38.405081 632355 a.cpp:843] x",
      "GLOG I a.cpp:843 tid=632355 @2025-10-28T12:13:38.405081 |x" },
    { "[trainer4]:E0228 17:37:21.488888  9191 a.cpp:1405] x",
      "GLOG E a.cpp:1405 role=trainer tid=9191 local_rank=4 @02-28T17:37:21.488888 |x" },
    { "(Actor pid=12) [2023-12-07 07:20:42,105 E 49240 49362] logging.cc:97: x",
      "GLOG E logging.cc:97 role=Actor pid=12 tid=49362 @2023-12-07T07:20:42.105000 |x" },
    /* torch's Python */
    { "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 8 closing signal",
      "PYTHON W torch.distributed.elastic.multiprocessing.api:0 |Sending process 8 closing "
      "signal" },
    { "[2024-02-27T21:35:32.106313Z] fa88a9df || WARNING: torch.distributed.run:x",
      "PYTHON W torch.distributed.run:0 role=fa88a9df @2024-02-27T21:35:32.106313Z |x" },
    { "WARNING:root:x", "- |WARNING:root:x" },
    { "[2024-04-10 16:04:34,970] torch.distributed.elastic.agent: [WARNING] x",
      "PYTHON W torch.distributed.elastic.agent:0 @2024-04-10T16:04:34.970000 |x" },
    { "W0801 13:23:17.366000 32974 torch/distributed/run.py:900] x",
      "PYTHON W torch/distributed/run.py:900 pid=32974 @08-01T13:23:17.366000 |x" },
    { "W0801 13:23:17.366000 140234567890123 torch/distributed/run.py:900] x",
      "PYTHON W torch/distributed/run.py:900 @08-01T13:23:17.366000 |x" },
    { "[rank0]:W0801 13:23:17.366000 32974 site-packages/torch/a.py:9] [0/8] [1/2_1] x",
      "PYTHON W site-packages/torch/a.py:9 pid=32974 rank=0(tag) @08-01T13:23:17.366000 |x" },
    { "C0801 13:23:17.366000 32974 a.py:9] x",
      "PYTHON F a.py:9 pid=32974 @08-01T13:23:17.366000 |x" },
    /* other Python loggers */
    { "[2024-01-01 00:00:00,000] [INFO] [launch.py:319:sigkill_handler] x",
      "PYTHON I launch.py:319 @2024-01-01T00:00:00.000000 |x" },
    { "[2024-01-01 00:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 3] x",
      "PYTHON I logging.py:96 rank=3(launcher) @2024-01-01T00:00:00.000000 |x" },
    { "[2024-01-01 00:00:00,000] [WARNING] [a.load_datasets:408] [PID:182] [RANK:5] x",
      "PYTHON W a.load_datasets:408 pid=182 rank=5(launcher) @2024-01-01T00:00:00.000000 |x" },
    { "ERROR 08-10 23:23:36 [core.py:898] x", "PYTHON E core.py:898 @08-10T23:23:36 |x" },
    { "(W_TP1 pid=9) ERROR 06-03 23:32:39 worker_base.py:148]   File \"a.py\"",
      "PYTHON E worker_base.py:148 role=W_TP1 pid=9 @06-03T23:32:39 |  File \"a.py\"" },
    { "[INFO|trainer.py:2134] 2024-05-05 10:00:00,123 >> x",
      "PYTHON I trainer.py:2134 @2024-05-05T10:00:00.123000 |x" },
    { "[NeMo W 2024-05-05 10:00:00 nemo_logging:349] x",
      "PYTHON W nemo_logging:349 @2024-05-05T10:00:00 |x" },
    { "2022-05-10 05:58:33 | INFO     | torch.distributed | x",
      "PYTHON I @2022-05-10T05:58:33 |torch.distributed | x" },
    { "2022-05-10 05:58:33,123 - ERROR - x", "PYTHON E @2022-05-10T05:58:33.123000 |x" },
    { "05/10/2024 12:00:00 - INFO - a.b -   x", "PYTHON I @2024-05-10T12:00:00 |a.b -   x" },
    { "2022-05-10 05:58:33 WARNING x", "PYTHON W @2022-05-10T05:58:33 |x" },
    { "2022-05-10 05:58:33 INFORMATION x", "- @2022-05-10T05:58:33 |INFORMATION x" },
};

static const struct example groups[] = {
    { "[E a.cpp:1] [PG 0 Rank 2] x", "C10 E a.cpp:1 pg=0 pg_rank=2 |x" },
    { "[E a.cpp:1] [PG 0 (default_pg) Rank 1] x", "C10 E a.cpp:1 pg=0(default_pg) pg_rank=1 |x" },
    { "[E a.cpp:1] [PG ID 2 PG GUID 9 Rank 4] x", "C10 E a.cpp:1 pg=9 pg_id=2 pg_rank=4 |x" },
    { "[E a.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 3]  failure x",
      "C10 E a.cpp:1 pg=0(default_pg) pg_id=0 pg_rank=3 |failure x" },
    { "[E a.cpp:1] [PG ID 0 PG GUID  Rank 3] x", "C10 E a.cpp:1 pg= pg_id=0 pg_rank=3 |x" },
    { "[E a.cpp:1] [PG ID 1 PG GUID 8b1f6c02(mesh [a] (b)) Rank 0] x",
      "C10 E a.cpp:1 pg=8b1f6c02(mesh [a] (b)) pg_id=1 pg_rank=0 |x" },
    { "[E a.cpp:1] [PG ID 1 PG GUID 8 Rank -1] x", "C10 E a.cpp:1 pg=8 pg_id=1 |x" },
    { "[E a.cpp:1] [PG ID 1 PG GUID 8 Rank 1] [PG ID 1 PG GUID 8 Rank 1] x",
      "C10 E a.cpp:1 pg=8 pg_id=1 pg_rank=1 |x" },
    { "[PG GUID 1 Rank 2] Watchdog caught", "- pg=1 pg_rank=2 |Watchdog caught" },
    { "[Rank 3] Watchdog caught", "- pg_rank=3 |Watchdog caught" },
    { "  what():    what():  [PG ID 0 PG GUID 0(default_pg) Rank 3] x",
      "- pg=0(default_pg) pg_id=0 pg_rank=3 |  what():    what():  [PG ID 0 PG GUID 0(default_pg) "
      "Rank 3] x" },
    { "RuntimeError: [Rank 1] x", "- |RuntimeError: [Rank 1] x" },
    { "[E a.cpp:1] [PG ID 1 PG GUID 8 Rank 1", "C10 E a.cpp:1 |[PG ID 1 PG GUID 8 Rank 1" },
};

static const struct example nccl[] = {
    { "node-a:123:456 [2] NCCL INFO x", "NCCL I host=node-a pid=123 tid=456 device=2 |x" },
    { "node-a:123:456 [2] NCCL INFO  x", "NCCL I host=node-a pid=123 tid=456 device=2 | x" },
    { ":123:456 [2] transport/net_ib.cc:1295 NCCL WARN x",
      "NCCL W transport/net_ib.cc:1295 pid=123 tid=456 device=2 |x" },
    { "<host_name>:123:456 [2] transport/net_ib.cc:1295 NCCL WARN x",
      "NCCL W transport/net_ib.cc:1295 pid=123 tid=456 device=2 |x" },
    { "node-a:123:456 NCCL CALL ncclGroupStart()",
      "NCCL C host=node-a pid=123 tid=456 |ncclGroupStart()" },
    { "node-a:123:456 [2] transport/net_ib.cc:839 NCCL WARN NET/IB : x",
      "NCCL W transport/net_ib.cc:839 host=node-a pid=123 tid=456 device=2 |NET/IB : x" },
    { "node-a:123:456 [2] misc/socket.cc:56 (operator()) NCCL WARN x",
      "NCCL W misc/socket.cc:56 host=node-a pid=123 tid=456 device=2 |x" },
    { "node-a:123:456 [0] nccl_net_ofi_rdma_init:7978 NCCL WARN x",
      "NCCL W nccl_net_ofi_rdma_init:7978 host=node-a pid=123 tid=456 device=0 |x" },
    { "node-a:123:456 [-1] NCCL INFO x", "NCCL I host=node-a pid=123 tid=456 |x" },
    { "node-a:123:456 [0] 1234.567890 commAlloc:41 NCCL TRACE x",
      "NCCL T commAlloc:41 host=node-a pid=123 tid=456 device=0 |x" },
    { "node-a:123:456 [0] init.cc:1 NCCL ABORT x",
      "NCCL F init.cc:1 host=node-a pid=123 tid=456 device=0 |x" },
    { "node-a:123:456 [0] [FATAL ERROR]: x", "NCCL F host=node-a pid=123 tid=456 device=0 |x" },
    { "[2026-01-02 03:04:05] node-a:123:456 [0] init.cc:1 NCCL WARN x",
      "NCCL W init.cc:1 host=node-a pid=123 tid=456 device=0 @2026-01-02T03:04:05 |x" },
    { "2026-01-02 03:04:05 node-a:123:456 [0] NCCL INFO x",
      "NCCL I host=node-a pid=123 tid=456 device=0 @2026-01-02T03:04:05 |x" },
    { "5309742:123:456 [0] NCCL INFO x", "NCCL I host=5309742 pid=123 tid=456 device=0 |x" },
    { "ip-10-0-0-4.example:123:456 [0] NCCL INFO x",
      "NCCL I host=ip-10-0-0-4.example pid=123 tid=456 device=0 |x" },
    { "[0] NCCL INFO Send: opCount 1", "NCCL I device=0 |Send: opCount 1" },
    { "node-a:123:456 [2] transport/net_ib.cu:73 WARN x",
      "NCCL W transport/net_ib.cu:73 host=node-a pid=123 tid=456 device=2 |x" },
    { "node-a:123:456 [2] INFO init.cu:422 -> 2",
      "NCCL I host=node-a pid=123 tid=456 device=2 |init.cu:422 -> 2" },
    { "[2] INFO x", "- |[2] INFO x" },
    { "misc/ibvwrap.cu:60 WARN x", "NCCL W misc/ibvwrap.cu:60 |x" },
    { "train.py:60 WARN x", "- |train.py:60 WARN x" },
    { "node-a:123:456 WARN x", "- |node-a:123:456 WARN x" },
    { "NCCL INFO x", "NCCL I |x" },
    { "12: NCCL INFO x\n12: y", "NCCL I rank=12(task) task=12 |x\n2: - rank=12(task) task=12 |y" },
    { "18:11:06 NCCL INFO x", "- |18:11:06 NCCL INFO x" },
    { "set NCCL_DEBUG, then NCCL INFO lines follow",
      "- |set NCCL_DEBUG, then NCCL INFO lines follow" },
    { "NCCL INFOrmation", "- |NCCL INFOrmation" },
    { "node-a:1:2 [0] NCCL INFO [3] AllReduce: opCount 5",
      "NCCL I host=node-a pid=1 tid=2 device=0 |AllReduce: opCount 5" },
    { "node-a:1:2 [0] NCCL INFO [3] is a rank",
      "NCCL I host=node-a pid=1 tid=2 device=0 |[3] is a rank" },
    { "NCCL version 2.21.5+cuda12.4", "- |NCCL version 2.21.5+cuda12.4" },
};

static void prefixes_of_launchers_are_peeled(void **state)
{
    (void)state;
    CHECK(launchers);
}

static void times_in_front_are_read(void **state)
{
    (void)state;
    CHECK(times);
}

static void headers_of_every_era_are_read(void **state)
{
    (void)state;
    CHECK(headers);
}

static void process_groups_are_read(void **state)
{
    (void)state;
    CHECK(groups);
}

static void frames_of_nccl_are_read(void **state)
{
    (void)state;
    CHECK(nccl);
}

/* ---- several in one line ---- */

static const struct example glued[] = {
    { "Epoch 0:  6%|##  | 3/50 [6:28<94:39, 1.3it/s][E ProcessGroupNCCL.cpp:458] [Rank 0] x",
      "- |Epoch 0:  6%|##  | 3/50 [6:28<94:39, 1.3it/s]\n"
      "C10 E ProcessGroupNCCL.cpp:458 pg_rank=0 torn |x" },
    { "(job, pid=5)  0%| | 4/9 [46:31<301:44, 5s/it][rank1]:[E a.cpp:475] x",
      "- role=job pid=5 | 0%| | 4/9 [46:31<301:44, 5s/it]\n"
      "C10 E a.cpp:475 role=job pid=5 rank=1(tag) torn |x" },
    { " 5%|#\r 6%|#\r[rank1]: x\r", "- | 5%|#\n- | 6%|#\n- rank=1(tag) |x" },
    { "\r", "- |" },
    { "node-a:1:2 [0] NCCL INFO Connected all ringsnode-a:3:4 [1] NCCL INFO x",
      "NCCL I host=node-a pid=1 tid=2 device=0 |Connected all \n"
      "NCCL I host=ringsnode-a pid=3 tid=4 device=1 torn |x" },
    { "loss<1 <host>:3:4 [2] NCCL INFO x", "- |loss<1 \nNCCL I pid=3 tid=4 device=2 torn |x" },
    { "vm:25742:vm:25745:25746 [0] NCCL INFO x",
      "- |vm:25742:\nNCCL I host=vm pid=25745 tid=25746 device=0 torn |x" },
    { "node-a:1:2 [0] NCCL INFO Connected [1] NCCL INFO x",
      "NCCL I host=node-a pid=1 tid=2 device=0 |Connected \nNCCL I device=1 torn |x" },
    { "[1,0]<stdout>:node-a:1:2 [0] NCCL INFO x    [1,2]<stdout>:node-a:3:4 [1] NCCL INFO y",
      "NCCL I host=node-a pid=1 tid=2 rank=0(launcher) device=0 |x    \n"
      "NCCL I host=node-a pid=3 tid=4 rank=2(launcher) device=1 torn |y" },
    { "[1,0]<stdout>:node-a:1:2 [0] NCCL INFO x node-a:3:4 [1] NCCL INFO y",
      "NCCL I host=node-a pid=1 tid=2 rank=0(launcher) device=0 |x \n"
      "NCCL I host=node-a pid=3 tid=4 rank=0(launcher) device=1 torn |y" },
    { "[rank1]:[E a.cpp:1] x[rank2]:[E a.cpp:2] y[E a.cpp:3] z",
      "C10 E a.cpp:1 rank=1(tag) |x\nC10 E a.cpp:2 rank=2(tag) torn |y\nC10 E a.cpp:3 torn |z" },
    { "(A[rank=1] pid=7, ip=10.0.0.4) x(B pid=8) y",
      "- host=10.0.0.4 role=A pid=7 rank=1(launcher) |x\n- role=B pid=8 torn |y" },
    { "2026-01-02 03:04:05 x[rank1]: y",
      "- @2026-01-02T03:04:05 |x\n- rank=1(tag) @2026-01-02T03:04:05 torn |y" },
    { "[E101 01:00:00.1 a.cpp:1] x[E a.cpp:2] y",
      "C10 E a.cpp:1 @01-01T01:00:00 |x\nC10 E a.cpp:2 torn |y" },
    { "x[default1]:y", "- |x\n- role=default local_rank=1 torn |y" },
    { "array[item1]: y", "- |array[item1]: y" },
    { "x[rank: 2] y", "- |x\n- rank=2(launcher) torn |y" },
    { "x W0801 13:23:17.366000 3 a.py:9] y",
      "- |x \nPYTHON W a.py:9 pid=3 @08-01T13:23:17.366000 torn |y" },
    { "it/s]WARNING:torch.distributed.run:y",
      "- |it/s]\nPYTHON W torch.distributed.run:0 torn |y" },
    { "x [2024-01-01 00:00:00,000] [INFO] [launch.py:319:f] y",
      "- |x \nPYTHON I launch.py:319 @2024-01-01T00:00:00.000000 torn |y" },
    { "x[2026-01-02 03:04:05] node-a:1:2 [0] NCCL WARN y",
      "- |x\nNCCL W host=node-a pid=1 tid=2 device=0 @2026-01-02T03:04:05 torn |y" },
    { "   [rank1]: y", "- rank=1(tag) |y" },
    /* first bytes that another process's write has eaten */
    { "rank7]:[E126 01:17:58.183429932 a.cpp:616] [Rank 7] x",
      "C10 E a.cpp:616 rank=7(tag) pg_rank=7 @01-26T01:17:58 torn |x" },
    { "k17]: x", "- rank=17(tag) torn |x" },
    { "7]:[E126 01:17:58.183429932 a.cpp:616] x", "C10 E a.cpp:616 @01-26T01:17:58 torn |x" },
    { "E126 01:17:58.183429932 a.cpp:616] x", "C10 E a.cpp:616 @01-26T01:17:58 torn |x" },
    { "126 01:17:58.183429932 a.cpp:616] x", "C10 a.cpp:616 @01-26T01:17:58 torn |x" },
};

/* Each in the other: what stands outside is peeled first. */
static const struct example nested[] = {
    { "[pod/w-3/c] {\"log\":\"[rank1]: "
      "\\\"x\\\"\\n\",\"stream\":\"stderr\",\"time\":\"2025-11-18T20:32:"
      "23.9Z\"}",
      "- role=w-3 rank=1(tag) @2025-11-18T20:32:23.900000Z |\"x\"" },
    { "node-a1: "
      "{\"log\":\"x\\n\",\"stream\":\"stderr\",\"time\":\"2025-11-18T20:32:23Z\"}\nnode-a1: "
      "y\nnode-a1: z",
      "- host=node-a1 @2025-11-18T20:32:23Z |x\n2: - host=node-a1 |y\n3: - host=node-a1 |z" },
    { "2025-11-18T20:32:23Z stderr F "
      "{\"log\":\"x\\n\",\"stream\":\"stdout\",\"time\":\"2025-11-18T20:32:"
      "22Z\"}",
      "- @2025-11-18T20:32:22Z |x" },
    { "[pod/w-3/c] 2025-11-18T20:32:23Z (A pid=5) [default1]:[rank9]:[E a.cpp:3] x",
      "C10 E a.cpp:3 role=A pid=5 rank=9(tag) local_rank=1 @2025-11-18T20:32:23Z |x" },
    { "Feb  2 22:42:45 node-a train[5]: [1,3]<stderr>:[rank3]: x",
      "- host=node-a pid=5 @02-02T22:42:45 |train[5]: \n"
      "- host=node-a rank=3(tag) @02-02T22:42:45 torn |x" },
    { "[default3]: 2025-11-18 20:32:23,5 - INFO - [rank3]: x",
      "PYTHON I role=default rank=3(tag) local_rank=3 @2025-11-18T20:32:23.500000 |x" },
};

/* ---- containers ---- */

#define DOCKER(text)                                                                               \
    "{\"log\":\"" text "\",\"stream\":\"stderr\",\"time\":\"2025-11-18T20:32:23Z\"}"
#define DOCKER_OUT(text)                                                                           \
    "{\"log\":\"" text "\",\"stream\":\"stdout\",\"time\":\"2025-11-18T20:32:24Z\"}"
#define CRI(part, text) "2025-11-18T20:32:23Z stderr " part " " text
#define CRI_OUT(part, text) "2025-11-18T20:32:24Z stdout " part " " text

static const struct example containers[] = {
    { DOCKER("[rank1]: \\\"a\\\" \\t\\u003e \\u00e9 \\ud83d\\ude00 \\\\n\\n"),
      "- rank=1(tag) @2025-11-18T20:32:23Z |\"a\" \t> \xc3\xa9 \xf0\x9f\x98\x80 \\n" },
    { "{\"time\":\"2025-11-18T20:32:23Z\" , \"attrs\":{\"a\":[1,\"}\"]}, \"log\":\"x\\n\"}",
      "- @2025-11-18T20:32:23Z |x" },
    { "{\"timestamp\":\"2025-11-18T20:32:23Z\",\"message\":\"x\",\"n\":5}",
      "- @2025-11-18T20:32:23Z |x" },
    { "{\"log\":\"x\",\"logtag\":\"F\",\"stream\":\"stdout\"}", "- |x" },
    { DOCKER("a\\rb\\nc\\n"),
      "- @2025-11-18T20:32:23Z |a\n- @2025-11-18T20:32:23Z |b\n- @2025-11-18T20:32:23Z |c" },
    /* parts of one line */
    { DOCKER("[rank1]: a") "\n" DOCKER("b") "\n" DOCKER("c\\n") "\n" DOCKER("d\\n"),
      "- rank=1(tag) @2025-11-18T20:32:23Z joined |abc\n4: - @2025-11-18T20:32:23Z |d" },
    { DOCKER("a") "\n" DOCKER_OUT("o") "\n" DOCKER("b\\n") "\n" DOCKER_OUT("p\\n"),
      "- @2025-11-18T20:32:23Z joined |ab\n2: - @2025-11-18T20:32:24Z joined |op" },
    { DOCKER("a") "\n" DOCKER("b") "\n" DOCKER("c"),
      "- @2025-11-18T20:32:23Z |a\n2: - @2025-11-18T20:32:23Z |b\n3: - @2025-11-18T20:32:23Z |c" },
    { DOCKER("a") "\nplain", "- @2025-11-18T20:32:23Z |a\n2: - |plain" },
    { DOCKER("a"), "- @2025-11-18T20:32:23Z |a" },
    { DOCKER("a\\n") DOCKER("b\\n"), "- @2025-11-18T20:32:23Z |a\n- @2025-11-18T20:32:23Z |b" },
    { CRI("F", "[rank1]: x"), "- rank=1(tag) @2025-11-18T20:32:23Z |x" },
    { CRI("F", ""), "- @2025-11-18T20:32:23Z |" },
    { "2025-11-18T20:32:23Z stderr F", "- @2025-11-18T20:32:23Z |" },
    { CRI("P", "[rank1]: a") "\n" CRI_OUT("F", "o") "\n" CRI("P", "b") "\n" CRI("F", "c"),
      "2: - @2025-11-18T20:32:24Z |o\n- rank=1(tag) @2025-11-18T20:32:23Z joined |abc" },
    { "[pod/w-1/c] " CRI("P", "a") "\n[pod/w-2/c] " CRI("F", "b"),
      "- role=w-1 @2025-11-18T20:32:23Z |a\n2: - role=w-2 @2025-11-18T20:32:23Z |b" },
    { CRI("F", "\x1b[31m[rank1]:\x1b[0m x"), "- rank=1(tag) @2025-11-18T20:32:23Z |x" },
    /* cut, or none */
    { "{\"log\":\"[rank1]: a\\", "- rank=1(tag) |a" },
    { "{\"log\":\"[rank1]: a\\u00", "- rank=1(tag) |a\\u00" },
    { "{\"log\":\"a\\n\",\"stream\":\"std", "- |a" },
    { "{\"loss\": 2.5, \"step\": 10}", "- |{\"loss\": 2.5, \"step\": 10}" },
    { "{\"log\": 2.5, \"time\": 10}", "- |{\"log\": 2.5, \"time\": 10}" },
    { "{'log': 1}", "- |{'log': 1}" },
    { "{", "- |{" },
    { "2025-11-18T20:32:23Z stderr X a", "- @2025-11-18T20:32:23Z |stderr X a" },
};

static void containers_are_opened_and_parts_joined(void **state)
{
    (void)state;
    CHECK(containers);
}

/* ---- escape sequences ---- */

static const struct example escapes[] = {
    { "\x1b[0m node-a:1:2 [0] NCCL INFO x", "NCCL I host=node-a pid=1 tid=2 device=0 |x" },
    { "\x1b[36m(A pid=5)\x1b[0m x\x1b[32m [repeated 2x across cluster]\x1b[0m",
      "- role=A pid=5 x2 |x" },
    { "\x1b[1;31ma\x1b[K\x1b[2Jb\x1b[?25lc", "- |abc" },
    { "\x1b]0;title\x07"
      "a\x1b]8;;\x1b\\b\x1b(Bc",
      "- |abc" },
    { "a\x1b", "- |a" },
    { "a\x1b[", "- |a[" },
    { "a\x1b[31", "- |a[31" },
    { "\xef\xbf\xbd[36m(A pid=5)\xef\xbf\xbd[0m x", "- role=A pid=5 |x" },
    { "\xef\xbf\xbd is kept", "- |\xef\xbf\xbd is kept" },
    { "[36m(A pid=5)[0m x", "- role=A pid=5 |x" },
    { "^[[36m(A pid=5)^[[0m x", "- role=A pid=5 |x" },
    { "#033[36m(A pid=5)#033[0m x", "- role=A pid=5 |x" },
    { "\\x1b[36m(A pid=5)\\x1b[0m x", "- role=A pid=5 |x" },
    { "\\033[36m(A pid=5)\\033[0m x", "- role=A pid=5 |x" },
    { "\\u001b[36m(A pid=5)\\u001b[0m x", "- role=A pid=5 |x" },
    { "in [36m there is no reset", "- |in [36m there is no reset" },
    { "[rank0]: #033 and ^[ and \\e[1] [0m", "- rank=0(tag) |#033 and ^[ and \\e[1] " },
};

static void escape_sequences_are_dropped_whole_or_mangled(void **state)
{
    (void)state;
    CHECK(escapes);
}

/* ---- wrapped lines ---- */

/* 70 columns */
#define RANK1 "[rank1]:[E513 13:42:31.614781669 ProcessGroupNCCL.cpp:616] [Rank 1] x "

static const struct example wraps[] = {
    /* cut in words, at two different texts */
    { RANK1 "abc\nd\n" RANK1 "efg\nh",
      "C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 |x abc\n"
      "2: - |d\n"
      "3: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 |x efg\n"
      "4: - |h" }, /* two are too few */
    { RANK1 "abc\nd\n" RANK1 "efg\nh\n" RANK1 "efg\n[rank2]: i\nlast",
      "C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x abcd\n"
      "3: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x efgh\n"
      "5: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 |x efg\n"
      "6: - rank=2(tag) |i\n7: - |last" },
    /* rows of a copied terminal are filled up with blanks */
    { RANK1 "abc\nd                                                                        \n" RANK1
            "efg\nh                                                                        \nlast",
      "C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x abcd\n"
      "3: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x efgh\n"
      "5: - |last" },
    /* the same message from several ranks is no wrap, nor are rows of a table */
    { RANK1 "abc\nd\n" RANK1 "abc\ne\n" RANK1 "abc\nf",
      "C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 |x abc\n2: - |d\n"
      "3: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 |x abc\n4: - |e\n"
      "5: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 |x abc\n6: - |f" },
    /* between words, three different endings */
    { RANK1 "abc\ndefghijklmnop q\n" RANK1 "abc efghi\njklmnop\n" RANK1 "abc \ndefghijklm",
      "C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x abc "
      "defghijklmnop q\n"
      "3: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x abc efghi "
      "jklmnop\n"
      "5: C10 E ProcessGroupNCCL.cpp:616 rank=1(tag) pg_rank=1 @05-13T13:42:31 joined |x abc "
      "defghijklm" },
};

static void wrapped_lines_are_joined(void **state)
{
    (void)state;
    CHECK(wraps);
}

static void no_join_is_without_end(void **state)
{
    struct hs_buf input;
    struct reading reading;

    (void)state;
    hs_buf_init(&input);
    for (unsigned i = 0; i < 2 * HS_JOINED_LINES_MAX; i++)
        hs_buf_printf(&input, "%s\n", CRI("P", "a"));
    begin_reading(&reading, hs_buf_str(&input));
    read_lines(&reading, hs_buf_str(&input));
    assert_int_equal(reading.records, 2);
    end_reading(&reading);

    /* one physical line of 1 MiB comes in pieces, and all of it comes */
    input.n = 0;
    for (unsigned i = 0; i < 4 * HS_SEGMENT_BYTES_MAX; i++)
        hs_buf_putc(&input, 'a');
    begin_reading(&reading, hs_buf_str(&input));
    read_lines(&reading, hs_buf_str(&input));
    assert_int_equal(reading.records, 4);
    end_reading(&reading);
    hs_buf_release(&input);
}

/* ---- names of sources ---- */

static void names_of_sources_give_away_what_is_sure(void **state)
{
    static const struct {
        const char *name;
        uint32_t rank, local_rank, task;
        enum hs_rank_from from;
        const char *host;
    } names[] = {
        { "logs/rank3.log", 3, HS_NO_ID, HS_NO_ID, HS_RANK_FILE, "" },
        { "rank_12.out", 12, HS_NO_ID, HS_NO_ID, HS_RANK_FILE, "" },
        { "0_python_rank0.log", 0, HS_NO_ID, HS_NO_ID, HS_RANK_FILE, "" },
        { "stderr.rank-7.txt", 7, HS_NO_ID, HS_NO_ID, HS_RANK_FILE, "" },
        { "node-a/rank3.log", 3, HS_NO_ID, HS_NO_ID, HS_RANK_FILE, "node-a" },
        { "node7/logs/rank3.log.gz", 3, HS_NO_ID, HS_NO_ID, HS_RANK_FILE, "node7" },
        { "local_rank3.log", HS_NO_ID, 3, HS_NO_ID, HS_RANK_UNKNOWN, "" },
        { "logs/none_ab/attempt_0/3/stderr.log", HS_NO_ID, 3, HS_NO_ID, HS_RANK_UNKNOWN, "" },
        { "slurm-1234_node-a_3.out", 3, HS_NO_ID, 3, HS_RANK_TASK, "node-a" },
        { "ip-10-0-0-4/train.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, "ip-10-0-0-4" },
        /* nothing */
        { "node_rank3.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "frank3.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "rank3b.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "rank99999999.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "worker-12.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "slurm-1234_5.out", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "attempt_0/x/stderr.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "node-logs/train.log", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "rank", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
        { "", HS_NO_ID, HS_NO_ID, HS_NO_ID, HS_RANK_UNKNOWN, NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct hs_record record;
        bool found;

        hs_record_clear(&record);
        found = hs_record_source_name(hs_str_of(names[i].name), &record);
        if (found != (names[i].host != NULL) || record.rank != names[i].rank ||
            record.local_rank != names[i].local_rank || record.task != names[i].task ||
            record.rank_from != names[i].from ||
            !hs_str_is(record.host, names[i].host ? names[i].host : ""))
            fail_msg("%s: %d rank %u local %u host '%.*s'", names[i].name, found, record.rank,
                     record.local_rank, HS_STR_ARG(record.host));
    }
}

/* ---- whatever is fed ---- */

static const struct {
    const struct example *examples;
    size_t count;
} all[] = {
#define ALL(examples)                                                                              \
    {                                                                                              \
        examples, sizeof(examples) / sizeof((examples)[0])                                         \
    }
    ALL(launchers), ALL(times),      ALL(headers), ALL(groups), ALL(nccl),
    ALL(glued),     ALL(containers), ALL(escapes), ALL(wraps),  ALL(nested),
};

static void a_line_may_be_cut_anywhere(void **state)
{
    (void)state;
    for (size_t a = 0; a < sizeof(all) / sizeof(all[0]); a++) {
        for (size_t i = 0; i < all[a].count; i++) {
            struct hs_str input = hs_str_of(all[a].examples[i].input);

            for (struct hs_str cut = input; cut.n > 0; cut.n--) {
                struct reading reading;

                begin_reading(&reading, input);
                read_lines(&reading, cut);
                assert_true(reading.records > 0);
                end_reading(&reading);
            }
        }
    }
}

/* The same line in a container, whole or in parts, gives the same records. */
static void say_in_container(struct hs_buf *to, struct hs_str text, size_t parts, bool docker)
{
    for (size_t i = 0; i < parts; i++) {
        size_t from = text.n * i / parts, end = text.n * (i + 1) / parts;
        bool last = i + 1 == parts;

        hs_buf_printf(to, docker ? "{\"log\":\"" : "2025-11-18T20:32:23Z stderr %s ",
                      last ? "F" : "P");
        for (size_t at = from; at < end; at++) {
            if (docker && (text.p[at] == '"' || text.p[at] == '\\'))
                hs_buf_putc(to, '\\');
            if (docker && (unsigned char)text.p[at] < ' ')
                hs_buf_printf(to, "\\u%04x", (unsigned)text.p[at]);
            else
                hs_buf_putc(to, text.p[at]);
        }
        if (docker)
            hs_buf_printf(to, "%s\",\"stream\":\"stderr\",\"time\":\"2025-11-18T20:32:23Z\"}",
                          last ? "\\n" : "");
        hs_buf_putc(to, '\n');
    }
}

static void check_in_container(struct hs_str input, struct hs_str said, size_t parts, bool docker)
{
    struct reading reading;
    struct hs_buf lines;

    hs_buf_init(&lines);
    say_in_container(&lines, input, parts, docker);
    begin_reading(&reading, input);
    reading.bare = true;
    read_lines(&reading, hs_buf_str(&lines));
    if (!hs_str_eq(hs_buf_str(&reading.said), said))
        fail_msg("%.*s\n  is     %.*s\n  not    %.*s", HS_STR_ARG(hs_buf_str(&lines)),
                 HS_STR_ARG(hs_buf_str(&reading.said)), HS_STR_ARG(said));
    end_reading(&reading);
    hs_buf_release(&lines);
}

static void containers_change_nothing(void **state)
{
    (void)state;
    for (size_t a = 0; all[a].examples != containers; a++) {
        for (size_t i = 0; i < all[a].count; i++) {
            struct hs_str input = hs_str_of(all[a].examples[i].input);
            struct reading plain;

            if (!input.n || memchr(input.p, '\n', input.n))
                continue;
            begin_reading(&plain, input);
            plain.bare = true;
            read_lines(&plain, input);
            for (size_t parts = 1; parts <= 3; parts += 2) {
                check_in_container(input, hs_buf_str(&plain.said), parts, true);
                check_in_container(input, hs_buf_str(&plain.said), parts, false);
            }
            end_reading(&plain);
        }
    }
}

/* Seconds of processor time to split `text`, the least of three times. */
static double time_to_split(struct reading *reading, struct hs_str text)
{
    size_t count = find_marks(reading, text);
    struct hs_segment segment = { .text = text, .line = 1 };
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        clock_t begin = clock();
        double seconds;

        reading->said.n = 0;
        assert_true(hs_envelope_split(&reading->envelope, &segment, reading->hits, count,
                                      say_record, reading));
        seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void hostile_lines_take_linear_time(void **state)
{
    static const char *const pieces[] = {
        "[",
        "(",
        "7",
        ":",
        "]:",
        ".cpp:1]",
        "[E .cpp:1",
        "[[[[.cpp:1]",
        "NCCL INFO ",
        "pid=",
        " ",
        "a:1:2 NCCL INFO",
        "[1,2]<stdout>:",
        "<stdout>:",
        "[rank1]:",
        "[PG 0 (",
        "[0] [0] NCCL INFO",
        "E0101 00:00:00.000000 1 ",
        "[2025-01-01 00:00:00] [INFO] [a.py:1:",
        "INFO:torch.a",
        "A.cpp:1:",
        "2025-01-01 00:00:00 ",
        "what():",
        "(a[rank=1 pid=",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct reading reading;
        struct hs_buf line;
        struct hs_str half;
        double some, twice;

        hs_buf_init(&line);
        while (line.n < HS_SEGMENT_BYTES_MAX)
            hs_buf_put(&line, hs_str_of(pieces[i]));
        begin_reading(&reading, HS_STR(""));
        half = (struct hs_str){ .p = line.p, .n = HS_SEGMENT_BYTES_MAX / 2 };
        some = time_to_split(&reading, half);
        twice = time_to_split(&reading, hs_buf_str(&line));
        if (twice > 0.02 && twice > 3 * some)
            fail_msg("%s: %.3f s, twice as much %.3f s", pieces[i], some, twice);
        end_reading(&reading);
        hs_buf_release(&line);
    }
}

static void every_frame_of_a_line_is_a_record(void **state)
{
    (void)state;
    CHECK(glued);
}

static void frames_nest_in_any_order(void **state)
{
    (void)state;
    CHECK(nested);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_of_launchers_are_peeled),
        cmocka_unit_test(times_in_front_are_read),
        cmocka_unit_test(headers_of_every_era_are_read),
        cmocka_unit_test(process_groups_are_read),
        cmocka_unit_test(frames_of_nccl_are_read),
        cmocka_unit_test(every_frame_of_a_line_is_a_record),
        cmocka_unit_test(frames_nest_in_any_order),
        cmocka_unit_test(containers_are_opened_and_parts_joined),
        cmocka_unit_test(escape_sequences_are_dropped_whole_or_mangled),
        cmocka_unit_test(wrapped_lines_are_joined),
        cmocka_unit_test(no_join_is_without_end),
        cmocka_unit_test(names_of_sources_give_away_what_is_sure),
        cmocka_unit_test(a_line_may_be_cut_anywhere),
        cmocka_unit_test(containers_change_nothing),
        cmocka_unit_test(hostile_lines_take_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
