/* emit_c.c - the C program: NCCL and the CUDA runtime alone, a process per rank. */
#include "replay/emit.h"

#include <stdlib.h>

struct program_text {
    const struct hs_emission *e;
    const struct hs_emit_about *about;
    struct hs_buf *out;
    uint32_t *group_number; /* by group: in the program; HS_NO_ID: not used */
    uint32_t *program;      /* by process: its number in the program */
    uint32_t *first;        /* by program: the row that has it */
    uint32_t groups, longest, members, programs;
    bool has_op[HS_EMIT_OPS], has_batch;
};

static const char *const op_names[] = {
    [HS_EMIT_ALL_REDUCE] = "ALL_REDUCE",
    [HS_EMIT_BARRIER] = "BARRIER",
    [HS_EMIT_BROADCAST] = "BROADCAST",
    [HS_EMIT_REDUCE] = "REDUCE",
    [HS_EMIT_ALL_GATHER] = "ALL_GATHER",
    [HS_EMIT_REDUCE_SCATTER] = "REDUCE_SCATTER",
    [HS_EMIT_ALL_TO_ALL] = "ALL_TO_ALL",
    [HS_EMIT_GATHER] = "GATHER",
    [HS_EMIT_SCATTER] = "SCATTER",
    [HS_EMIT_SEND] = "SEND",
    [HS_EMIT_RECV] = "RECV",
};

/* `b` is one buffer for all; x the call, m and s the communicator and stream. */
static const char *const op_code[] = {
    [HS_EMIT_ALL_REDUCE] = "ncclAllReduce(b, b, x->count, x->type, ncclSum, m, s)",
    [HS_EMIT_BARRIER] = "ncclAllReduce(b, b, 1, ncclFloat32, ncclSum, m, s)",
    [HS_EMIT_BROADCAST] = "ncclBroadcast(b, b, x->count, x->type, x->peer_or_root, m, s)",
    [HS_EMIT_REDUCE] = "ncclReduce(b, b, x->count, x->type, ncclSum, x->peer_or_root, m, s)",
    [HS_EMIT_ALL_GATHER] = "ncclAllGather(b, b, x->count, x->type, m, s)",
    [HS_EMIT_REDUCE_SCATTER] = "ncclReduceScatter(b, b, x->count, x->type, ncclSum, m, s)",
    [HS_EMIT_ALL_TO_ALL] = "exchange(x, b, m, s, -1, -1)",
    [HS_EMIT_GATHER] = "exchange(x, b, m, s, -1, x->peer_or_root)",
    [HS_EMIT_SCATTER] = "exchange(x, b, m, s, x->peer_or_root, -1)",
    [HS_EMIT_SEND] = "ncclSend(b, x->count, x->type, x->peer_or_root, m, s)",
    [HS_EMIT_RECV] = "ncclRecv(b, x->count, x->type, x->peer_or_root, m, s)",
};

static void put_lines(struct hs_buf *out, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hs_buf_printf(out, "%s\n", lines[i]);
}
#define PUT_LINES(out, lines) put_lines((out), (lines), sizeof(lines) / sizeof((lines)[0]))

/* Rows with the same program and groups are one program of the text. */
static void number_program(struct program_text *t, uint32_t row)
{
    const struct hs_plan_rank *r = &t->e->plan.ranks[row];
    uint32_t k = 0;

    for (; k < t->programs; k++) {
        const struct hs_plan_rank *f = &t->e->plan.ranks[t->first[k]];

        if (f->program == r->program && f->slot_count == r->slot_count &&
            memcmp(f->groups, r->groups, r->slot_count * sizeof(*r->groups)) == 0)
            break;
    }
    if (k == t->programs)
        t->first[t->programs++] = row;
    t->program[row] = k;
}

static void measure(struct program_text *t)
{
    const struct hs_plan *plan = &t->e->plan;

    for (uint32_t g = 0; g < plan->group_count; g++) {
        t->group_number[g] = t->e->used[g] ? t->groups++ : HS_NO_ID;
        if (t->e->used[g] && plan->groups[g].size > t->members)
            t->members = plan->groups[g].size;
    }
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        if (p->call_count > t->longest)
            t->longest = p->call_count;
        for (uint32_t i = 0; i < p->call_count; i++) {
            t->has_op[hs_emit_op_of(&plan->signatures[p->calls[i].signature])] = true;
            t->has_batch |= p->calls[i].batch != 0;
        }
        number_program(t, row);
    }
}

static void put_head(struct program_text *t)
{
    hs_buf_put(t->out, HS_STR("/*\n * "));
    hs_emit_text(t->out, hs_str_of(t->about->code));
    hs_buf_put(t->out, HS_STR(", made again by hangscope emit c. The job showed:\n"));
    hs_emit_wrapped(t->out, " *     ", t->about->summary);
    hs_buf_printf(t->out,
                  " * Build:  gcc -Wall %s -o repro -lnccl -lcudart\n"
                  " * Run:    ./repro [SECONDS]    needs a GPU for each of the %u processes\n"
                  " * Expect: %s\n */\n",
                  t->about->file, t->e->plan.rank_count,
                  strcmp(t->about->code, "healthy") == 0
                      ? "every process says that its calls have ended."
                      : "when the time is over (20 s), who hangs says in which call.");
}

static void put_groups(struct program_text *t)
{
    const struct hs_plan *plan = &t->e->plan;

    hs_buf_printf(
        t->out,
        "\nenum { PROCESSES = %u, GROUPS = %u, MEMBERS = %u, PROGRAMS = %u, CALLS = %u };\n",
        plan->rank_count, t->groups ? t->groups : 1, t->members ? t->members : 1, t->programs,
        t->longest ? t->longest : 1);
    hs_buf_put(
        t->out,
        HS_STR("static const struct { int rank_of_job, program; } processes[PROCESSES] = { "));
    for (uint32_t i = 0; i < plan->rank_count; i++)
        hs_buf_printf(t->out, i ? ", { %u, %u }" : "{ %u, %u }", t->e->ranks[i], t->program[i]);
    hs_buf_put(t->out,
               HS_STR(" };\n"
                      "static const struct { const char *name; int size, members[MEMBERS]; } "
                      "groups[GROUPS] = {\n"));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct hs_plan_group *group = &plan->groups[g];
        struct hs_str desc = hs_plan_string(plan, group->desc);

        if (!t->e->used[g])
            continue;
        hs_buf_put(t->out, HS_STR("    { \""));
        hs_emit_text(t->out, desc.n ? desc : hs_plan_string(plan, group->name));
        hs_buf_printf(t->out, "\", %u, { ", group->size);
        for (uint32_t i = 0; i < group->size; i++)
            hs_buf_printf(t->out, i ? ", %u" : "%u", group->ranks[i]);
        hs_buf_put(t->out, HS_STR(" } },\n"));
    }
    hs_buf_put(t->out, HS_STR("};\n"));
}

static void put_call(struct program_text *t, const struct hs_plan_rank *row,
                     const struct hs_plan_call *call, bool more)
{
    const struct hs_plan *plan = &t->e->plan;
    const struct hs_plan_signature *sig = &plan->signatures[call->signature];
    const struct hs_dtype *dtype =
        sig->in.dtype_count ? hs_dtype_find(hs_plan_string(plan, sig->in.dtypes[0])) : NULL;
    uint32_t other = sig->peer != HS_NO_ID ? sig->peer : sig->root != HS_NO_ID ? sig->root : 0;
    struct hs_buf place;

    hs_buf_printf(t->out, "        { %s, %u, %llu, %s, %u%s },", op_names[hs_emit_op_of(sig)],
                  t->group_number[row->groups[call->slot]],
                  (unsigned long long)hs_emission_elements(t->e, sig),
                  dtype && dtype->nccl ? dtype->nccl : "ncclUint8", other,
                  !t->has_batch ? ""
                  : more        ? ", 1"
                                : ", 0");
    hs_buf_init(&place);
    hs_emit_place(&place, plan, call);
    if (place.n)
        hs_buf_printf(t->out, " /* %s */", place.p);
    t->out->failed |= place.failed;
    hs_buf_release(&place);
    hs_buf_putc(t->out, '\n');
}

static void put_programs(struct program_text *t)
{
    const struct hs_plan *plan = &t->e->plan;

    hs_buf_put(t->out, HS_STR("struct call { enum { NONE"));
    for (unsigned op = 0; op < HS_EMIT_OPS; op++) {
        if (t->has_op[op])
            hs_buf_printf(t->out, ", %s", op_names[op]);
    }
    hs_buf_printf(t->out,
                  (" } op; int group; size_t count; ncclDataType_t type; int peer_or_root%s; };\n"
                   "static const struct call programs[PROGRAMS][CALLS] = {\n"),
                  t->has_batch ? ", more" : "");
    for (uint32_t k = 0; k < t->programs; k++) {
        const struct hs_plan_rank *row = &plan->ranks[t->first[k]];
        const struct hs_program *p = &plan->programs[row->program];
        bool empty = p->call_count == 0 || p->calls[0].flags & HS_CALL_STALLED;

        hs_buf_put(t->out, empty ? HS_STR("    { { .op = NONE } },\n") : HS_STR("    {\n"));
        for (uint32_t i = 0; i < p->call_count && !(p->calls[i].flags & HS_CALL_STALLED); i++)
            put_call(t, row, &p->calls[i], i + 1 < hs_unit_end(p, i) && p->calls[i].batch);
        if (!empty)
            hs_buf_put(t->out, HS_STR("    },\n"));
    }
    hs_buf_put(t->out, HS_STR("};\n"));
}

static void put_calls(struct program_text *t)
{
    static const char *const exchange[] = {
        "",
        "/* Everyone to everyone, or all to one (`to`), or one to all (`from`). */",
        ("static void exchange(const struct call *x, void *b, ncclComm_t m, cudaStream_t s, int "
         "from,"),
        "                     int to)",
        "{",
        "    int me, size;",
        "",
        "    ncclCommUserRank(m, &me);",
        "    ncclCommCount(m, &size);",
        "    ncclGroupStart();",
        "    for (int i = 0; i < size; i++) {",
        "        if ((from < 0 || from == me) && (to < 0 || to == i))",
        "            ncclSend(b, x->count, x->type, i, m, s);",
        "        if ((from < 0 || from == i) && (to < 0 || to == me))",
        "            ncclRecv(b, x->count, x->type, i, m, s);",
        "    }",
        "    ncclGroupEnd();",
        "}",
    };

    if (t->has_op[HS_EMIT_ALL_TO_ALL] || t->has_op[HS_EMIT_GATHER] || t->has_op[HS_EMIT_SCATTER])
        PUT_LINES(t->out, exchange);
    hs_buf_put(t->out, HS_STR("\nstatic void make(const struct call *x, void *b, ncclComm_t m, "
                              "cudaStream_t s)\n{\n"));
    for (unsigned op = 0; op < HS_EMIT_OPS; op++) {
        if (t->has_op[op])
            hs_buf_printf(t->out, "    if (x->op == %s)\n        %s;\n", op_names[op], op_code[op]);
    }
    hs_buf_put(t->out, HS_STR("}\n"));
}

/* Room for what the largest call moves on one process, of the widest type. */
static uint64_t buffer_bytes(const struct program_text *t)
{
    const struct hs_plan *plan = &t->e->plan;
    uint64_t most = 1;

    for (uint32_t i = 0; i < plan->signature_keys.count; i++) {
        uint64_t n = hs_emission_elements(t->e, &plan->signatures[i]);

        most = n > most ? n : most;
    }
    return most * 8 * (t->members ? t->members : 1);
}

/* ---- what is the same for all programs ---- */

static const char *const before_run[] = {
    "",
    "/* Wait for a communicator, or for an event on the device; 0 when the time is over. */",
    "static int settled(ncclComm_t m, cudaEvent_t e, time_t end)",
    "{",
    "    ncclResult_t state = ncclInProgress;",
    "",
    "    for (; time(NULL) < end; usleep(1000)) {",
    "        if (m ? ncclCommGetAsyncError(m, &state) == ncclSuccess && state == ncclSuccess",
    "              : cudaEventQuery(e) == cudaSuccess)",
    "            return 1;",
    "    }",
    "    return 0;",
    "}",
    "",
    "static ncclComm_t join(int me, int g, time_t end)",
    "{",
    "    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;",
    "    ncclComm_t comm = NULL;",
    "",
    "    config.blocking = 0;",
    "    for (int i = 0; i < groups[g].size; i++) {",
    "        if (groups[g].members[i] != me)",
    "            continue;",
    "        if (i == 0)",
    ("            shared->ready[g] = ncclGetUniqueId((ncclUniqueId *)&shared->ids[g]) == "
     "ncclSuccess;"),
    "        while (!shared->ready[g] && time(NULL) < end)",
    "            usleep(1000);",
    "        ncclCommInitRankConfig(&comm, groups[g].size, shared->ids[g], i, &config);",
    "        settled(comm, NULL, end);",
    "    }",
    "    return comm;",
    "}",
    "",
    "static int run(int me, time_t end)",
    "{",
    "    const struct call *calls = programs[processes[me].program];",
    "    ncclComm_t comms[GROUPS];",
    "    cudaEvent_t ended[CALLS];",
    "    cudaStream_t stream;",
    "    void *b;",
    "    int n = 0;",
    "",
};

static const char *const make_one[] = {
    "        make(&calls[n], b, comms[calls[n].group], stream);",
    "        if (!settled(comms[calls[n].group], NULL, end))",
    "            break;",
};

static const char *const make_several[] = {
    "        if (n == 0 || !calls[n - 1].more)",
    "            ncclGroupStart();",
    "        make(&calls[n], b, comms[calls[n].group], stream);",
    ("        if (!calls[n].more && (ncclGroupEnd(), !settled(comms[calls[n].group], NULL, "
     "end)))"),
    "            break;",
};

static const char *const after_run[] = {
    "        cudaEventCreate(&ended[n]);",
    "        cudaEventRecord(ended[n], stream);",
    "    }",
    "    for (int i = 0; i < n; i++) {",
    "        if (!settled(NULL, ended[i], end))",
    ("            return dprintf(1, \"process %d (rank %d) waits in its call %d, of %s\\n\", "
     "me,"),
    ("                           processes[me].rank_of_job, i + 1, "
     "groups[calls[i].group].name);"),
    "    }",
    ("    dprintf(1, \"process %d (rank %d): all calls have ended\\n\", me, "
     "processes[me].rank_of_job);"),
    "    shared->done[me] = 1; /* it stays, as a rank of a job does */",
    "    for (int i = 0; i < PROCESSES && time(NULL) < end; i += shared->done[i])",
    "        usleep(1000);",
    "    return 0;",
    "}",
    "",
    "int main(int argc, char **argv)",
    "{",
    "    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 20);",
    "    int hangs = 0, status;",
    "",
    ("    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | "
     "MAP_ANONYMOUS, -1, 0);"),
    "    for (int i = 0; i < PROCESSES; i++) {",
    "        if (fork() == 0)",
    "            _exit(run(i, end) != 0); /* a device that hangs is not waited for */",
    "    }",
    "    while (wait(&status) > 0)",
    "        hangs |= status != 0;",
    "    return hangs;",
    "}",
};

static void put_rest(struct program_text *t)
{
    PUT_LINES(t->out, before_run);
    hs_buf_printf(
        t->out,
        "    if (cudaSetDevice(me) || cudaStreamCreate(&stream) || cudaMalloc(&b, %llu))\n"
        "        return dprintf(1, \"process %%d has no GPU\\n\", me);\n"
        "    for (int g = 0; g < GROUPS; g++)\n"
        "        comms[g] = join(me, g, end);\n"
        "    for (; n < CALLS && calls[n].op != NONE; n++) {\n",
        (unsigned long long)buffer_bytes(t));
    if (t->has_batch)
        PUT_LINES(t->out, make_several);
    else
        PUT_LINES(t->out, make_one);
    PUT_LINES(t->out, after_run);
}

static void put_all(struct program_text *t)
{
    measure(t);
    put_head(t);
    hs_buf_put(t->out, HS_STR("#include <cuda_runtime.h>\n#include <nccl.h>\n#include <stdio.h>\n"
                              "#include <stdlib.h>\n#include <sys/mman.h>\n#include "
                              "<sys/wait.h>\n#include <time.h>\n#include <unistd.h>\n"));
    put_groups(t);
    put_programs(t);
    hs_buf_put(t->out, HS_STR("static volatile struct shared { ncclUniqueId ids[GROUPS]; int "
                              "ready[GROUPS], done[PROCESSES]; } *shared;\n"));
    put_calls(t);
    put_rest(t);
}

enum hs_status hs_emit_c(const struct hs_plan *plan, const struct hs_emit_about *about,
                         struct hs_buf *out, struct hs_err *err)
{
    struct hs_emission e;
    struct program_text t = { .e = &e, .about = about, .out = out };
    enum hs_status status = hs_emission_make(plan, &e, err);

    if (status == HS_OK) {
        t.group_number = HS_NEW(&e.arena, uint32_t, plan->group_count + 1u);
        t.program = HS_NEW(&e.arena, uint32_t, plan->rank_count + 1u);
        t.first = HS_NEW(&e.arena, uint32_t, plan->rank_count + 1u);
        if (t.group_number && t.program && t.first)
            put_all(&t);
        else
            status = hs_no_memory(err);
    }
    hs_emission_release(&e);
    if (status != HS_OK)
        return status;
    return out->failed ? hs_no_memory(err) : HS_OK;
}
