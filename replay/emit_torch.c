/* emit_torch.c - the PyTorch script. */
#include "replay/emit.h"

#include <stdlib.h>

/* The calls of a script: distinct ones once, with where they were made. */
struct script {
    const struct hs_emission *e;
    const struct hs_emit_about *about;
    struct hs_buf *out;
    struct hs_intern calls; /* lines of CALLS */
    uint32_t *group_number; /* by group: in GROUPS; HS_NO_ID: not used */
    bool has_op[HS_EMIT_OPS], has_stalled, has_silent, has_leavers;
};

static const char *const op_names[] = {
    [HS_EMIT_ALL_REDUCE] = "all_reduce",
    [HS_EMIT_BARRIER] = "barrier",
    [HS_EMIT_BROADCAST] = "broadcast",
    [HS_EMIT_REDUCE] = "reduce",
    [HS_EMIT_ALL_GATHER] = "all_gather",
    [HS_EMIT_REDUCE_SCATTER] = "reduce_scatter",
    [HS_EMIT_ALL_TO_ALL] = "all_to_all",
    [HS_EMIT_GATHER] = "gather",
    [HS_EMIT_SCATTER] = "scatter",
    [HS_EMIT_SEND] = "send",
    [HS_EMIT_RECV] = "recv",
};

/* How each is made: `data` holds the call's elements, `members` are processes. */
static const char *const op_code[] = {
    [HS_EMIT_ALL_REDUCE] = "dist.all_reduce(data, **rest)",
    [HS_EMIT_BARRIER] = "dist.barrier(**rest)",
    [HS_EMIT_BROADCAST] = "dist.broadcast(data, members[call.peer_or_root], **rest)",
    [HS_EMIT_REDUCE] = "dist.reduce(data, members[call.peer_or_root], **rest)",
    [HS_EMIT_ALL_GATHER] = "dist.all_gather([data.clone() for _ in members], data, **rest)",
    [HS_EMIT_REDUCE_SCATTER] = "dist.reduce_scatter(data, [data.clone() for _ in members], **rest)",
    [HS_EMIT_ALL_TO_ALL] =
        "dist.all_to_all_single(data.repeat(len(members)), data.repeat(len(members)), **rest)",
    [HS_EMIT_GATHER] =
        ("dist.gather(data, [data.clone() for _ in members] if me == call.peer_or_root else None, "
         "members[call.peer_or_root], **rest)"),
    [HS_EMIT_SCATTER] =
        ("dist.scatter(data, [data.clone() for _ in members] if me == call.peer_or_root else None, "
         "members[call.peer_or_root], **rest)"),
    [HS_EMIT_SEND] = "dist.isend(data, members[call.peer_or_root], rest[\"group\"])",
    [HS_EMIT_RECV] = "dist.irecv(data, members[call.peer_or_root], rest[\"group\"])",
};

/* ---- tables ---- */

/* The line of CALLS for a call, and its number there. HS_NO_ID without memory. */
static uint32_t number_of(struct script *s, const struct hs_plan_rank *row,
                          const struct hs_plan_call *call)
{
    const struct hs_plan *plan = &s->e->plan;
    const struct hs_plan_signature *sig = &plan->signatures[call->signature];
    const struct hs_dtype *dtype =
        sig->in.dtype_count ? hs_dtype_find(hs_plan_string(plan, sig->in.dtypes[0])) : NULL;
    uint32_t other = sig->peer != HS_NO_ID ? sig->peer : sig->root != HS_NO_ID ? sig->root : 0, id;
    struct hs_buf line, place;

    hs_buf_init(&line);
    hs_buf_init(&place);
    hs_emit_place(&place, plan, call);
    hs_buf_printf(&line, "    Call(%u, \"%s\", %llu, torch.%s, %u),",
                  s->group_number[row->groups[call->slot]], op_names[hs_emit_op_of(sig)],
                  (unsigned long long)hs_emission_elements(s->e, sig),
                  dtype ? dtype->torch : "float32", other);
    if (place.n) {
        hs_buf_put(&line, HS_STR("  # "));
        hs_buf_put(&line, hs_buf_str(&place));
    }
    id = line.failed || place.failed ? HS_NO_ID : hs_intern_put(&s->calls, hs_buf_str(&line));
    hs_buf_release(&line);
    hs_buf_release(&place);
    return id;
}

static bool collect(struct script *s)
{
    const struct hs_plan *plan = &s->e->plan;
    uint32_t number = 0;

    for (uint32_t g = 0; g < plan->group_count; g++)
        s->group_number[g] = s->e->used[g] ? number++ : HS_NO_ID;
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0; i < p->call_count; i++) {
            s->has_stalled |= (p->calls[i].flags & HS_CALL_STALLED) != 0;
            s->has_op[hs_emit_op_of(&plan->signatures[p->calls[i].signature])] = true;
            if (number_of(s, &plan->ranks[row], &p->calls[i]) == HS_NO_ID)
                return false;
        }
    }
    return true;
}

/* A list that is broken into lines. */
struct list {
    struct hs_buf *out;
    size_t line; /* where the line begins */
    const char *lead;
    bool first;
};

static void begin_item(struct list *l, size_t room)
{
    if (!l->first)
        hs_buf_putc(l->out, ',');
    if (l->out->n - l->line + room > 94) {
        hs_buf_printf(l->out, "\n%s", l->lead);
        l->line = l->out->n - strlen(l->lead);
    } else if (!l->first) {
        hs_buf_putc(l->out, ' ');
    }
    l->first = false;
}

static void put_numbers(struct script *s, const char *name, const uint32_t *items, uint32_t count,
                        const char *comment)
{
    struct list l = { .out = s->out, .lead = "    ", .line = s->out->n, .first = true };

    hs_buf_printf(s->out, "%s = [", name);
    for (uint32_t i = 0; i < count; i++) {
        begin_item(&l, i + 1 == count ? 8 + strlen(comment) : 8);
        hs_buf_printf(s->out, "%u", items[i]);
    }
    hs_buf_printf(s->out, "]  # %s\n", comment);
}

static void put_groups(struct script *s)
{
    const struct hs_plan *plan = &s->e->plan;

    hs_buf_put(s->out, HS_STR("GROUPS = [  # name, processes\n"));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct hs_plan_group *group = &plan->groups[g];
        struct hs_str desc = hs_plan_string(plan, group->desc);
        struct list l = { .out = s->out, .lead = "        ", .line = s->out->n, .first = true };

        if (!s->e->used[g])
            continue;
        hs_buf_put(s->out, HS_STR("    (\""));
        hs_emit_text(s->out, desc.n ? desc : hs_plan_string(plan, group->name));
        hs_buf_put(s->out, HS_STR("\", ["));
        for (uint32_t i = 0; i < group->size; i++) {
            begin_item(&l, 8);
            hs_buf_printf(s->out, "%u", group->ranks[i]);
        }
        hs_buf_put(s->out, HS_STR("]),\n"));
    }
    hs_buf_put(s->out, HS_STR("]\n"));
}

static void put_calls(struct script *s)
{
    hs_buf_put(s->out, HS_STR("CALLS = [\n"));
    for (uint32_t i = 0; i < s->calls.count; i++)
        hs_buf_printf(s->out, "%s\n", hs_intern_get(&s->calls, i).p);
    hs_buf_put(s->out, HS_STR("]\n"));
}

/* One program: the numbers of its calls; a call that stalls ends it. */
static void put_program(struct script *s, const struct hs_plan_rank *row)
{
    const struct hs_program *p = &s->e->plan.programs[row->program];
    struct list l = { .out = s->out, .lead = "     ", .line = s->out->n, .first = true };

    hs_buf_put(s->out, HS_STR("    ["));
    for (uint32_t i = 0, end; i < p->call_count && !(p->calls[i].flags & HS_CALL_STALLED);
         i = end) {
        end = hs_unit_end(p, i);
        begin_item(&l, 6 * (size_t)(end - i));
        if (end - i > 1)
            hs_buf_putc(s->out, '[');
        for (uint32_t k = i; k < end; k++)
            hs_buf_printf(s->out, k > i ? ", %u" : "%u", number_of(s, row, &p->calls[k]));
        if (end - i > 1)
            hs_buf_putc(s->out, ']');
    }
    hs_buf_put(s->out, HS_STR("],\n"));
}

/* Rows with the same program and groups are one program of the script. */
static bool put_programs(struct script *s)
{
    const struct hs_plan *plan = &s->e->plan;
    uint32_t *of = calloc(plan->rank_count + 1u, sizeof(*of)), count = 0;
    uint32_t *first = calloc(plan->rank_count + 1u, sizeof(*first));

    if (!of || !first) {
        free(of);
        free(first);
        return false;
    }
    hs_buf_put(s->out,
               HS_STR("PROGRAMS = [  # calls by number; those of one list are made at once\n"));
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_plan_rank *r = &plan->ranks[row];
        uint32_t k = 0;

        for (; k < count; k++) {
            const struct hs_plan_rank *f = &plan->ranks[first[k]];

            if (f->program == r->program && f->slot_count == r->slot_count &&
                memcmp(f->groups, r->groups, r->slot_count * sizeof(*r->groups)) == 0)
                break;
        }
        if (k == count) {
            first[count++] = row;
            put_program(s, r);
        }
        of[row] = k;
    }
    hs_buf_put(s->out, HS_STR("]\n"));
    put_numbers(s, "PROCESSES", of, plan->rank_count, "the program of each");
    put_numbers(s, "RANKS", s->e->ranks, plan->rank_count,
                "the rank of the job that each stands for");
    free(of);
    free(first);
    return true;
}

static void put_roles(struct script *s, const char *name, uint8_t role, const char *comment)
{
    struct list l = { .out = s->out, .lead = "    ", .line = s->out->n, .first = true };

    hs_buf_printf(s->out, "%s = [", name);
    for (uint32_t i = 0; i < s->e->plan.rank_count; i++) {
        if (s->e->roles[i] == role) {
            begin_item(&l, 8);
            hs_buf_printf(s->out, "%u", i);
        }
    }
    hs_buf_printf(s->out, "]  # %s\n", comment);
}

/* ---- text ---- */

static void put_head(struct script *s)
{
    struct hs_buf *out = s->out;

    hs_buf_put(out, HS_STR("\"\"\""));
    hs_emit_text(out, hs_str_of(s->about->code));
    hs_buf_put(out, HS_STR(", made again by hangscope emit torch. The job showed:\n"));
    hs_emit_wrapped(out, "    ", s->about->summary);
    hs_buf_printf(out,
                  "\nRun:  torchrun --nproc-per-node=%u %s [--backend gloo|nccl] [--deadline S]\n",
                  s->e->plan.rank_count, s->about->file);
    hs_buf_put(out, strcmp(s->about->code, "healthy") == 0
                        ? HS_STR("Expect: every process says that its calls have ended.\n")
                        : HS_STR("Expect: the processes that hang say in which call when the "
                                 "deadline is over.\n"));
    if (s->has_stalled)
        hs_buf_put(out, HS_STR("Where a device stalled, the process stops before that call: "
                               "no program stalls a device.\n"));
    hs_buf_put(out, HS_STR("With TORCH_FR_DUMP_TEMP_FILE set, each saves its flight recorder there "
                           "(FILE + rank).\n\"\"\"\n\n"));
}

static bool has_any(const struct script *s, const char *word)
{
    for (unsigned op = 0; op < HS_EMIT_OPS; op++) {
        if (s->has_op[op] && strstr(op_code[op], word))
            return true;
    }
    return false;
}

static void put_perform(struct script *s)
{
    bool first = true;

    hs_buf_put(s->out,
               HS_STR("\n\ndef perform(numbers, works):\n"
                      "    \"\"\"Start some calls at once, then wait for them.\"\"\"\n"
                      "    for number in numbers:\n"
                      "        call = CALLS[number]\n"
                      "        rest = {\"group\": HANDLES[call.group], \"async_op\": True}\n"));
    if (has_any(s, "members"))
        hs_buf_put(s->out, HS_STR("        members = GROUPS[call.group][1]\n"));
    if (has_any(s, "me =="))
        hs_buf_put(s->out, HS_STR("        me = members.index(RANK)\n"));
    if (has_any(s, "data"))
        hs_buf_put(s->out, HS_STR("        data = torch.ones(call.count, dtype=call.dtype, "
                                  "device=DEVICE)\n"));
    for (unsigned op = 0; op < HS_EMIT_OPS; op++) {
        if (!s->has_op[op])
            continue;
        hs_buf_printf(s->out, "        %s call.op == \"%s\":\n            work = %s\n",
                      first ? "if" : "elif", op_names[op], op_code[op]);
        first = false;
    }
    hs_buf_put(s->out, HS_STR("        works.append((number, work))\n"
                              "    for _, work in works[-len(numbers):]:\n"
                              "        work.wait()\n"));
}

static void put_lines(struct hs_buf *out, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hs_buf_printf(out, "%s\n", lines[i]);
}

static void put_record(struct script *s)
{
    static const char *const before[] = {
        "\n\ndef save_record():",
        "    path = os.environ.get(\"TORCH_FR_DUMP_TEMP_FILE\")",
    };
    static const char *const after[] = {
        "        with open(f\"{path}{RANK}\", \"wb\") as out:",
        "            out.write(torch._C._distributed_c10d._dump_fr_trace())",
        "    STORE.add(\"saved\", 1)",
        "",
        "",
        "def stop(works, text):",
        "    \"\"\"Say where this process stands, and end it; the first to come does.\"\"\"",
        "    ENDING.acquire()",
        "    waits = [number for number, work in works if not work.is_completed()]",
        "    if waits and not text:",
        "        call = CALLS[waits[0]]",
        "        text = f\"waits in {call.op} of {GROUPS[call.group][0]}, its call {len(works)}\"",
        ("    print(f\"process {RANK} (rank {RANKS[RANK]}) {text or 'waits in no call'}\", "
         "flush=True)"),
        "    save_record()",
        "    end = time.monotonic() + 20  # torchrun ends all when the first one fails",
        "    while STORE.add(\"saved\", 0) < len(PROCESSES) and time.monotonic() < end:",
        "        time.sleep(0.1)",
        "    os._exit(1)",
    };

    put_lines(s->out, before, sizeof(before) / sizeof(before[0]));
    hs_buf_put(s->out, s->has_silent ? HS_STR("    if path and RANK not in SILENT:\n")
                                     : HS_STR("    if path:\n"));
    put_lines(s->out, after, sizeof(after) / sizeof(after[0]));
}

static void put_main(struct script *s)
{
    static const char *const before[] = {
        "\n\ndef main():",
        "    works = []",
        "    threading.Timer(ARGS.deadline, stop, (works, \"\")).start()",
        "    try:",
        "        for unit in PROGRAMS[PROCESSES[RANK]]:",
        "            perform(unit if isinstance(unit, list) else [unit], works)",
        "    except RuntimeError as error:",
        "        time.sleep(1)  # the recorder notes the end of a call a moment later",
        "        stop(works, f\"has an error in its call {len(works)}: {error}\")",
    };
    static const char *const leave[] = {
        "    if RANK in LEAVES:",
        "        save_record()",
        "        os._exit(0)",
    };
    static const char *const after[] = {
        "    done = STORE.add(\"done\", 1)",
        "    while done < len(PROCESSES):  # who has made its calls stays, as a rank of a job does",
        "        time.sleep(0.1)",
        "        done = STORE.add(\"done\", 0)",
        "    if ARGS.backend == \"nccl\":",
        "        torch.cuda.synchronize()",
        "    ENDING.acquire()",
        "    print(f\"process {RANK} (rank {RANKS[RANK]}): all calls have ended\", flush=True)",
        "    save_record()",
        "    os._exit(0)",
        "",
        "",
        "if __name__ == \"__main__\":",
        "    main()",
    };

    put_lines(s->out, before, sizeof(before) / sizeof(before[0]));
    if (s->has_leavers)
        put_lines(s->out, leave, sizeof(leave) / sizeof(leave[0]));
    put_lines(s->out, after, sizeof(after) / sizeof(after[0]));
}

static void put_start(struct script *s)
{
    hs_buf_put(s->out,
               HS_STR("\nparser = argparse.ArgumentParser()\nparser.add_argument(\"--backend\", "
                      "choices=[\"gloo\", \"nccl\"], default=\""));
    hs_buf_put(s->out, hs_str_of(s->about->backend));
    hs_buf_put(
        s->out,
        HS_STR("\")\n"
               "parser.add_argument(\"--deadline\", type=float, default=20.0, help=\"seconds\")\n"
               "ARGS = parser.parse_args()\n"
               "RANK = int(os.environ[\"RANK\"])\n"
               "DEVICE = \"cpu\" if ARGS.backend == \"gloo\" else "
               "f\"cuda:{os.environ['LOCAL_RANK']}\"\n"
               "if ARGS.backend == \"nccl\":\n"
               "    torch.cuda.set_device(DEVICE)\n"
               "ENDING = threading.Lock()\n"
               "HOUR = datetime.timedelta(hours=1)\n"
               "dist.init_process_group(ARGS.backend, timeout=HOUR)\n"
               "HANDLES = [\n"
               "    None if name == \"default_pg\" and len(members) == len(PROCESSES)\n"
               "    else dist.new_group(members, timeout=HOUR, group_desc=name)\n"
               "    for name, members in GROUPS\n"
               "]\n"
               "STORE = dist.distributed_c10d._get_default_store()\n"
               "for handle, (_, members) in zip(HANDLES, GROUPS):\n"
               "    if RANK in members:  # a first call, so that the records tell who is in it\n"
               "        dist.barrier(group=handle)\n"));
}

enum hs_status hs_emit_torch(const struct hs_plan *plan, const struct hs_emit_about *about,
                             struct hs_buf *out, struct hs_err *err)
{
    struct hs_emission e;
    struct script s = { .e = &e, .about = about, .out = out };
    enum hs_status status = hs_emission_make(plan, &e, err);
    bool ok;

    hs_intern_init(&s.calls);
    s.group_number = calloc(plan->group_count + 1u, sizeof(*s.group_number));
    ok = status == HS_OK && s.group_number && collect(&s);
    if (ok) {
        put_head(&s);
        hs_buf_put(out, HS_STR("import argparse\nimport collections\nimport datetime\nimport "
                               "os\nimport threading\n"
                               "import time\n\nimport torch\nimport torch.distributed as dist\n\n"
                               "Call = collections.namedtuple(\"Call\", \"group op count dtype "
                               "peer_or_root\")\n"));
        put_groups(&s);
        put_calls(&s);
        ok = put_programs(&s);
        for (uint32_t i = 0; i < e.plan.rank_count; i++) {
            s.has_silent |= e.roles[i] == HS_EMIT_SILENT;
            s.has_leavers |= e.roles[i] == HS_EMIT_LEAVES;
        }
        if (s.has_silent)
            put_roles(&s, "SILENT", HS_EMIT_SILENT, "these leave no record");
        if (s.has_leavers)
            put_roles(&s, "LEAVES", HS_EMIT_LEAVES, "these end when their calls are made");
        s.has_op[HS_EMIT_BARRIER] |= s.calls.count == 0; /* some operation has to be there */
        put_start(&s);
        put_perform(&s);
        put_record(&s);
        put_main(&s);
    }
    free(s.group_number);
    hs_intern_release(&s.calls);
    hs_emission_release(&e);
    if (status != HS_OK)
        return status;
    return ok && !out->failed ? HS_OK : hs_no_memory(err);
}
