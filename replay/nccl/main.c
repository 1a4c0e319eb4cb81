/*
 * main.c - hangscope-replay: a plan run on the GPUs of this machine, with NCCL.
 *
 * It is a program of its own because it alone knows CUDA and NCCL. It says what the run showed;
 * `hangscope replay --backend nccl` starts it and judges that.
 */
#include "replay/nccl/report.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"

enum { EXIT_ENDED = 0, EXIT_NOT_ENDED = 1, EXIT_USAGE = 2, EXIT_CANNOT = 4 };
enum { MULTI_RANK_NCCL = 23003 };

static const char help[] =
    "usage: hangscope-replay [OPTIONS] PLAN|-\n"
    "Run a plan of 'hangscope plan' on the GPUs of this machine: a process for each rank, with "
    "NCCL.\n"
    "'hangscope replay --backend nccl' does that and judges how it ends.\n"
    "\n"
    "  --json            the result as JSON\n"
    "  --deadline S      give up after S seconds in which nothing happens (30)\n"
    "  --scale F         buffers of F times the recorded size (1)\n"
    "  --check-data      look whether the right data arrives; needs room for each call\n"
    "  --split           make groups by ncclCommSplit of a larger one where there is one\n"
    "  --nccl-lib FILE   NCCL, and the CUDA runtime, too, if FILE has cudaGetDeviceCount;\n"
    "                    else libcudart is found by its usual names\n"
    "  -q, --quiet       no progress\n"
    "  -h, --help        this help\n"
    "      --version     the version\n"
    "\n"
    "Exit status: 0 all calls ended, 1 some did not or failed, 2 bad use, 4 it cannot run here.\n";

enum option_id {
    OPTION_JSON = 256,
    OPTION_DEADLINE,
    OPTION_SCALE,
    OPTION_CHECK,
    OPTION_SPLIT,
    OPTION_NCCL,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "json", no_argument, NULL, OPTION_JSON },
    { "deadline", required_argument, NULL, OPTION_DEADLINE },
    { "scale", required_argument, NULL, OPTION_SCALE },
    { "check-data", no_argument, NULL, OPTION_CHECK },
    { "split", no_argument, NULL, OPTION_SPLIT },
    { "nccl-lib", required_argument, NULL, OPTION_NCCL },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, OPTION_VERSION },
    { NULL, 0, NULL, 0 },
};

static bool take_number(const char *text, double most, double *out)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value > 0) || value > most)
        return false;
    *out = value;
    return true;
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv, struct hs_run_options *o)
{
    int c;

    while ((c = getopt_long(argc, argv, "qh", long_options, NULL)) != -1) {
        bool ok = true;

        switch (c) {
        case OPTION_JSON:
            o->json = true;
            break;
        case OPTION_DEADLINE:
            ok = take_number(optarg, HS_DEADLINE_S_MAX, &o->deadline_s);
            break;
        case OPTION_SCALE:
            ok = take_number(optarg, HS_SCALE_MAX, &o->scale);
            break;
        case OPTION_CHECK:
            o->check_data = true;
            break;
        case OPTION_SPLIT:
            o->split = true;
            break;
        case OPTION_NCCL:
            o->nccl_file = optarg;
            break;
        case 'q':
            o->quiet = true;
            break;
        case 'h':
            (void)fputs(help, stdout);
            return EXIT_ENDED;
        case OPTION_VERSION:
            (void)puts("hangscope-replay " HS_VERSION);
            return EXIT_ENDED;
        default:
            return EXIT_USAGE; /* getopt has said why */
        }
        if (!ok) {
            (void)fprintf(stderr, "hangscope-replay: '%s' is no such number\n", optarg);
            return EXIT_USAGE;
        }
    }
    if (optind + 1 == argc)
        return -1;
    (void)fprintf(stderr, "hangscope-replay: one PLAN is needed; --help says how\n");
    return EXIT_USAGE;
}

static enum hs_status read_plan(const char *path, struct hs_buf *text, struct hs_plan *plan,
                                struct hs_err *err)
{
    bool piped = strcmp(path, "-") == 0;
    FILE *in = piped ? stdin : fopen(path, "rb");
    size_t n = 1;
    bool bad;

    if (!in)
        return hs_fail(err, HS_EUSAGE, "cannot read '%s': %s", path, strerror(errno));
    while (n && text->n <= HS_PLAN_BYTES_MAX && hs_buf_reserve(text, 1u << 20)) {
        n = fread(text->p + text->n, 1, 1u << 20, in);
        text->n += n;
    }
    bad = ferror(in) != 0;
    if (!piped)
        (void)fclose(in);
    if (bad)
        return hs_fail(err, HS_EUSAGE, "cannot read '%s'", path);
    if (text->failed)
        return hs_no_memory(err);
    if (text->n > HS_PLAN_BYTES_MAX)
        return hs_fail(err, HS_EUSAGE, "'%s' is too long", path);
    return hs_plan_read(plan, hs_buf_str(text), path, err);
}

/* Two members of a communicator on one GPU: whether this NCCL takes that. */
static enum hs_status check_gpus(const struct hs_world *w, struct hs_err *err)
{
    const struct hs_script *s = w->script;
    const struct hs_machine *m = &w->shared->machine;
    const char *allowed = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    bool shared = false;

    for (uint32_t c = 0; c < s->comm_count && !shared; c++) {
        uint64_t *used = calloc((uint32_t)m->gpus + 1u, sizeof(*used));

        for (uint32_t i = 0; used && i < s->comms[c].size; i++)
            shared |= used[hs_world_gpu(w, s->comms[c].rows[i])]++ > 0;
        free(used);
    }
    if (!shared)
        return HS_OK;
    if (m->nccl < MULTI_RANK_NCCL)
        return hs_fail(
            err, HS_EIO,
            "%u ranks and %d GPU%s: NCCL %d.%d.%d takes one rank of a communicator per "
            "GPU (several from 2.30.3 on); 'hangscope replay --fold %d' keeps one of each "
            "kind",
            s->plan->rank_count, m->gpus, m->gpus == 1 ? "" : "s", m->nccl / 10000,
            m->nccl / 100 % 100, m->nccl % 100, m->gpus);
    if (allowed && strcmp(allowed, "1") != 0)
        return hs_fail(
            err, HS_EIO,
            "%u ranks and %d GPU%s: several ranks on one GPU are forbidden by "
            "NCCL_MULTI_RANK_GPU_ENABLE=%.40s; 'hangscope replay --fold %d' keeps one of "
            "each kind",
            s->plan->rank_count, m->gpus, m->gpus == 1 ? "" : "s", allowed, m->gpus);
    return HS_OK;
}

static enum hs_status print(const struct hs_world *w, struct hs_err *err)
{
    struct hs_timings timings;
    enum hs_status status = HS_OK;
    struct hs_buf out;

    hs_buf_init(&out);
    if (!hs_timings_make(&timings, w))
        status = hs_no_memory(err);
    else if (w->options->json)
        hs_report_json(w, &timings, &out);
    else
        hs_report_text(w, &timings, &out);
    if (status == HS_OK && out.failed)
        status = hs_no_memory(err);
    if (status == HS_OK && (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0))
        status = hs_fail(err, HS_EIO, "cannot write to standard output: %s", strerror(errno));
    hs_timings_release(&timings);
    hs_buf_release(&out);
    return status;
}

/* Make the processes of a script, run them, tell. */
static enum hs_status run_script(const struct hs_script *script, const struct hs_run_options *o,
                                 int *code, struct hs_err *err)
{
    struct hs_world world = { .options = o };
    enum hs_status status = hs_world_make(&world, script, o, err);
    int signal = 0;

    if (status == HS_OK)
        status = hs_machine_look(&world, err);
    if (status == HS_OK)
        status = check_gpus(&world, err);
    if (status == HS_OK) {
        if (o->split && !world.shared->machine.has_split && !o->quiet)
            (void)fputs("hangscope-replay: this NCCL has no ncclCommSplit: groups are made by "
                        "ids of their own\n",
                        stderr);
        status = hs_world_run(&world, err);
        signal = world.signal;
    }
    if (status == HS_OK && !signal) {
        status = print(&world, err);
        *code = hs_world_outcome(&world) == HS_OUTCOME_ENDED ? EXIT_ENDED : EXIT_NOT_ENDED;
    }
    hs_world_release(&world);
    if (signal)
        (void)raise(signal); /* as it would have ended without us */
    return status;
}

static enum hs_status run_plan(const struct hs_plan *plan, const struct hs_run_options *o,
                               int *code, struct hs_err *err)
{
    struct hs_script script;
    struct hs_dry dry;
    enum hs_status status;

    if (plan->rank_count == 0 || plan->rank_count > HS_REPLAY_RANKS_MAX)
        return hs_fail(err, plan->rank_count ? HS_EIO : HS_EUSAGE,
                       "the plan has %u ranks, and 1 to %u can run here; 'hangscope replay --fold' "
                       "keeps one of each kind",
                       plan->rank_count, HS_REPLAY_RANKS_MAX);
    status = hs_dry_run(&dry, plan, err);
    if (status != HS_OK)
        return status;
    status = hs_script_make(&script, &dry, o->scale, o->split, err);
    if (status == HS_OK)
        status = run_script(&script, o, code, err);
    hs_script_release(&script);
    hs_dry_release(&dry);
    return status;
}

static void tell_error(const struct hs_err *err)
{
    for (unsigned i = err->n; i-- > 0;)
        (void)fprintf(stderr, "%s%s\n",
                      i + 1 == err->n ? "hangscope-replay: " : "  because: ", err->causes[i].text);
}

int main(int argc, char **argv)
{
    struct hs_run_options options = { .deadline_s = 30, .scale = 1 };
    struct hs_err err = { .n = 0 };
    int code = read_options(argc, argv, &options);
    enum hs_status status;
    struct hs_plan plan;
    struct hs_buf text;

    if (code >= 0)
        return code;
    hs_buf_init(&text);
    hs_plan_init(&plan);
    status = read_plan(argv[optind], &text, &plan, &err);
    hs_buf_release(&text);
    if (status == HS_OK)
        status = run_plan(&plan, &options, &code, &err);
    hs_plan_release(&plan);
    if (status == HS_OK)
        return code;
    tell_error(&err);
    return status == HS_EUSAGE ? EXIT_USAGE : EXIT_CANNOT;
}
