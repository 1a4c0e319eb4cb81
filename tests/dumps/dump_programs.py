"""Programs: each function builds a Job with, if asked, one fault put into it.

`option` carries ranks, steps, fault, culprits (list of ranks), tp, pp, batched, sub, bystanders, op and
so on; see make_dumps.py. A function leaves the run-ahead and all matters of writing to its caller.
"""

from dump_job import SECOND_NS, Call, Job

HIDDEN = [4096, 1, 512]


def base(option):
    """A job and the group that the program works in: the default group, or with `sub` a group of its own."""
    job = Job(option.ranks + option.bystanders)
    world = job.group("default_pg", range(job.size))
    job.early, job.eager = option.early, option.eager
    if not option.sub:
        return job, world
    job.everyone(world, "all_reduce_barrier", [[1]], [[1]], "Byte")
    work = job.group("WORK", range(option.ranks))
    if option.bystanders:
        side = job.group("BYSTANDERS", range(option.ranks, job.size))
        for _ in range(option.steps // 2):
            job.everyone(side, "all_reduce", [[64, 64]], [[64, 64]])
    return job, work


def add_idle_group(job):
    job.group("IDLE_GROUP", range(job.size), used=True)


def flat_step(job, group, number):
    """One of four collectives in turn, so that a shifted stream does not look like the others'."""
    size = len(group.ranks)
    turn = number % 4
    if turn == 0:
        job.everyone(group, "all_reduce", [[1024, 512]], [[1024, 512]], site="step")
    elif turn == 1:
        job.everyone(group, "_all_gather_base", [[256, 512]], [[256 * size, 512]], "BFloat16", site="forward")
    elif turn == 2:
        job.everyone(
            group, "_reduce_scatter_base", [[256 * size, 512]], [[256, 512]], "BFloat16", site="backward"
        )
    else:
        job.everyone(group, "all_reduce", [[8]], [[8]], "Long", site="evaluate")


def fault_index(job, option, rank):
    """Where in a rank's program the fault sits: two thirds in, an all_reduce of flat_step."""
    return option.steps * 2 // 3 // 4 * 4 + (1 if option.sub else 0)


def flat(option):
    job, work = base(option)
    for number in range(option.steps):
        flat_step(job, work, number)
    for rank in option.culprits:
        break_flat(job, option, rank)
    if option.fault == "stuck":
        job.broken.add((work.name, fault_index(job, option, 0) + (0 if option.sub else 1)))
    return job


def break_flat(job, option, rank):
    program, index = job.programs[rank], fault_index(job, option, rank)
    call = program[index]
    if option.fault == "missing":
        job.stop[rank] = index
    elif option.fault == "skip":
        del program[index : index + option.count]
    elif option.fault == "extra":
        extra = Call("coll", call.group, "all_reduce", [[3]], [[3]], site="evaluate")
        program[index:index] = [extra] * option.count
    elif option.fault == "size":
        call.ins, call.outs = [[1025, 512]], [[1025, 512]]
    elif option.fault == "dtype":
        call.in_dtypes = call.out_dtypes = ["Half"]
    elif option.fault == "type":
        program[index] = Call("coll", call.group, "broadcast", [[7]], [[7]], site="evaluate", root=0)
    elif option.fault == "deaf":
        job.deaf[rank] = index
    elif option.fault != "stuck":
        raise SystemExit(f"flat knows no fault {option.fault}")


def uniform(option):
    """The same all_reduce again and again; a culprit has less data and leaves its loop early."""
    job, work = base(option)
    for _ in range(option.steps):
        job.everyone(work, option.op or "all_reduce", [[512, 512]], [[512, 512]])
    for rank in option.culprits:
        job.stop[rank] = fault_index(job, option, rank)
    return job


def uneven(option):
    """Calls in which members may differ: all_to_all, list all_gather, gather, scatter, batched calls."""
    job, work = base(option)
    members = work.ranks
    for number in range(option.steps):
        root = members[number % len(members)]
        turn = number % 6
        for place, rank in enumerate(members):
            if turn == 0:
                job.add(rank, "coll", work, "all_to_all", [[64 + place, 8]], [[64 + place, 8]], uneven=True)
            elif turn == 1:
                parts = [("_broadcast_oop", None, [100 + other, 4], "Float") for other in range(len(members))]
                job.add(rank, "coalesced", work, "ALLGATHER_coalesced", parts=parts)
            elif turn == 2:
                outs = [[32]] * len(members) if rank == root else [[0]]
                job.add(rank, "coll", work, "gather", [[32]], outs, root=root, uneven=True)
            elif turn == 3:  # recorded with inputs and outputs swapped
                outs = [[48]] * len(members) if rank == root else [[0]]
                job.add(rank, "coll", work, "scatter", [[48]], outs, root=root, uneven=True)
            elif turn == 4:
                parts = [("_all_gather_base", None, [16 * (part + 1)], "BFloat16") for part in range(3)]
                job.add(rank, "coalesced", work, "coalesced", parts=parts)
            else:
                job.add(rank, "coll", work, "all_reduce", [[8]], [[8]])
    index = option.steps * 2 // 3 // 6 * 6 + (1 if option.sub else 0) + option.turn
    for rank in option.culprits:
        if option.fault == "missing":
            job.stop[rank] = index
    if option.fault == "stuck":
        job.broken.add((work.name, index + 1))
    return job


def one_op(option):
    """Rounds of all_reduce and of one operation under test (option.call builds it); see run_ops.py."""
    job, work = base(option)
    for number in range(option.steps):
        if number % 2 == 0:
            job.everyone(work, "all_reduce", [[8]], [[8]], "Long")
            continue
        for place, rank in enumerate(work.ranks):
            job.programs[rank].append(option.call(work, place, number))
    if option.fault == "stuck":
        job.broken.add((work.name, option.steps // 2 // 2 * 2 + 2))
    if option.fault == "missing":
        for rank in option.culprits:
            job.stop[rank] = option.steps // 2 // 2 * 2 + 1
    return job


def coalesced(option):
    """Batched collectives. Their end entry has unset sizes, or with `real-counts` real ones."""
    job, work = base(option)
    index = fault_index(job, option, 0)
    for number in range(option.steps):
        for rank in work.ranks:
            wrong = option.fault in ("size", "part-size") and rank in option.culprits and number == index
            real, part = [[3 * (257 if wrong else 256)]], [257 if wrong else 256]
            parts = [("all_reduce", None, part, "Float")] * 3
            sizes = real if option.real_counts else []
            job.add(
                rank, "coalesced", work, "coalesced", sizes, sizes, parts=[] if option.real_counts else parts
            )
    if option.fault == "missing":
        for rank in option.culprits:
            job.stop[rank] = index
    return job


def pipeline(option):
    """Stages in a row pass micro-batches on, one call at a time or batched; now and then all meet."""
    job, work = base(option)
    stages = work.ranks
    index = {}
    for number in range(option.steps):
        for place, rank in enumerate(stages):
            if number == option.steps * 2 // 3:
                index[rank] = len(job.programs[rank])
            stage(job, work, option, rank, place)
        if option.meet and number % option.meet == option.meet - 1:
            job.everyone(work, "all_reduce", [[1]], [[1]])
    for rank in option.culprits:
        if option.fault == "missing":
            job.stop[rank] = index[rank]
        elif option.fault in ("size", "dtype"):
            call = job.programs[rank][index[rank]]
            break_message(call, option.fault)
        else:
            raise SystemExit(f"pipeline knows no fault {option.fault}")
    return job


def stage(job, group, option, rank, place):
    last = len(group.ranks) - 1
    before = group.ranks[place - 1] if place else None
    after = group.ranks[place + 1] if place < last else None
    if option.batched:
        parts = [("send", after, HIDDEN, "BFloat16")] if after is not None else []
        parts += [("recv", before, HIDDEN, "BFloat16")] if before is not None else []
        job.add(rank, "batch", group, parts=parts, site="pipeline")
        return
    if before is not None:
        job.add(rank, "recv", group, "", [HIDDEN], [HIDDEN], "BFloat16", peer=before, site="pipeline")
    if after is not None:
        job.add(rank, "send", group, "", [HIDDEN], [HIDDEN], "BFloat16", peer=after, site="pipeline")


def break_message(call, fault):
    """The first message of this call gets another size or type than its peer expects."""
    size, dtype = ([4096, 1, 513], "BFloat16") if fault == "size" else (HIDDEN, "Half")
    if call.kind == "batch":
        kind, peer, _, _ = call.parts[0]
        call.parts = [(kind, peer, size, dtype)] + call.parts[1:]
    else:
        call.ins, call.outs, call.in_dtypes, call.out_dtypes = [size], [size], [dtype], [dtype]


def exchange(option):
    """Collectives, and now and then two neighbours exchange; at the fault both culprits send first."""
    job, work = base(option)
    at = option.steps * 2 // 3 // 4 * 4
    for number in range(option.steps):
        flat_step(job, work, number)
        if number % 4:
            continue
        for left, right in zip(work.ranks[::2], work.ranks[1::2]):
            calls = [
                (left, "send", right),
                (right, "recv", left),
                (left, "recv", right),
                (right, "send", left),
            ]
            if number == at and left in option.culprits:
                calls = [
                    (left, "send", right),
                    (right, "send", left),
                    (left, "recv", right),
                    (right, "recv", left),
                ]
            for rank, kind, peer in calls:
                if option.batched:
                    job.add(rank, "batch", work, parts=[(kind, peer, HIDDEN, "BFloat16")], site="pipeline")
                else:
                    job.add(rank, kind, work, "", [HIDDEN], [HIDDEN], "BFloat16", peer=peer, site="pipeline")
    return job


def two_groups(option):
    """All ranks in two groups; at the fault the culprits call them in the other order."""
    job, work = base(option)
    first, second = job.group("LEFT", work.ranks), job.group("RIGHT", work.ranks)
    at = option.steps * 2 // 3
    for number in range(option.steps):
        for rank in work.ranks:
            order = [first, second]
            if option.fault == "swap" and number == at and rank in option.culprits:
                order.reverse()
            for group in order:
                job.add(rank, "coll", group, "all_reduce", [[256]], [[256]])
        if number % 4 == 3:
            job.everyone(work, "all_reduce", [[1]], [[1]])
    return job


def mesh(option):
    """Tensor, pipeline and data parallel groups; stages pass activations, layers gather and scatter."""
    job, world = base(option)
    tp, pp = option.tp, option.pp
    dp = option.ranks // (tp * pp)
    assert tp * pp * dp == option.ranks
    at = {(p, d, t): (p * dp + d) * tp + t for p in range(pp) for d in range(dp) for t in range(tp)}
    place = {rank: key for key, rank in at.items()}
    data, tensor, line = {}, {}, {}

    def make(desc, table, ranks, timeout_ms):
        group = job.group(desc, ranks, timeout_ms=timeout_ms)
        if option.split_names:
            group.shown = next(other.name for other in job.groups if other.desc == desc)
        table.update((rank, group) for rank in group.ranks)

    short = 180_000 if option.unequal_timeouts else 600_000
    for p in range(pp):
        for t in range(tp):
            make("DATA_PARALLEL_GROUP", data, [at[p, d, t] for d in range(dp)], 600_000)
    for p in range(pp):
        for d in range(dp):
            make("TENSOR_MODEL_PARALLEL_GROUP", tensor, [at[p, d, t] for t in range(tp)], short)
    if pp > 1:
        for d in range(dp):
            for t in range(tp):
                make("PIPELINE_MODEL_PARALLEL_GROUP", line, [at[p, d, t] for p in range(pp)], short)

    for rank in range(option.ranks):
        p, d, t = place[rank]
        add = MeshStep(job, option, rank, world, data[rank], tensor[rank], line.get(rank))
        add.before = at[p - 1, d, t] if p else None
        add.after = at[p + 1, d, t] if p < pp - 1 else None
        for number in range(option.steps):
            add.step(number, p)
    for rank in option.culprits:
        break_mesh(job, option, rank, world, data[rank], tensor[rank])
    return job


class MeshStep:
    def __init__(self, job, option, rank, world, data, tensor, line):
        self.job, self.option, self.rank = job, option, rank
        self.world, self.data, self.tensor, self.line = world, data, tensor, line
        self.before = self.after = None

    def pass_on(self, kind, peer):
        if self.option.batched:
            self.job.add(
                self.rank, "batch", self.line, parts=[(kind, peer, HIDDEN, "BFloat16")], site="pipeline"
            )
        else:
            self.job.add(
                self.rank, kind, self.line, "", [HIDDEN], [HIDDEN], "BFloat16", peer=peer, site="pipeline"
            )

    def collective(self, group, op, small, grown=None, dtype="BFloat16", site="step"):
        ins, outs = (small, grown or small) if "scatter" not in op else (grown, small)
        self.job.add(self.rank, "coll", group, op, [ins], [outs], dtype, site=site)

    def step(self, number, p):
        size = self.option.tp
        for _ in range(2):
            if self.before is not None:
                self.pass_on("recv", self.before)
            for _ in range(self.option.layers + (p if self.option.uneven_stages else 0)):
                self.collective(
                    self.tensor, "_all_gather_base", HIDDEN, [HIDDEN[0] * size] + HIDDEN[1:], site="forward"
                )
                self.collective(
                    self.tensor,
                    "_reduce_scatter_base",
                    HIDDEN,
                    [HIDDEN[0] * size] + HIDDEN[1:],
                    site="backward",
                )
            if self.after is not None:
                self.pass_on("send", self.after)
        parts = len(self.data.ranks)
        self.collective(self.data, "_reduce_scatter_base", [4096 // parts], [4096], "Float")
        self.collective(self.data, "_all_gather_base", [4096 // parts], [4096 // parts * parts])
        self.collective(self.world, "all_reduce", [1], dtype="Float")


def break_mesh(job, option, rank, world, data, tensor):
    program = job.programs[rank]
    late = range(int(len(program) * 0.8), len(program))
    if option.fault == "missing":
        group = {"tensor": tensor, "data": data, "world": world}[option.stop_in]
        job.stop[rank] = next(index for index in late if program[index].group is group)
    elif option.fault == "cycle":  # the step's last call comes before its first one of the data group
        index = next(index for index in late if program[index].group is data)
        program[index], program[index + 2] = program[index + 2], program[index]
    else:
        raise SystemExit(f"mesh knows no fault {option.fault}")


def rooted(option):
    """Rooted calls between collectives, with early leave; a culprit never enters one rooted call."""
    job, work = base(option)
    root = work.ranks[0]
    for number in range(option.steps):
        if number % 4 != 2:
            flat_step(job, work, number)
        elif option.op == "gather":
            for rank in work.ranks:
                outs = [[32]] * len(work.ranks) if rank == root else [[0]]
                job.add(rank, "coll", work, "gather", [[32]], outs, root=root, uneven=True)
        else:
            job.everyone(work, option.op or "broadcast", [[16]], [[16]], root=root)
    for rank in option.culprits:
        job.stop[rank] = option.steps * 2 // 3 // 4 * 4 + 2 + (1 if option.sub else 0)
    return job


def busy(option):
    """The culprit leaves the others waiting and works on alone, in a group of its own, for minutes."""
    job = flat(option)
    for rank in option.culprits:
        solo = job.group("EVALUATION", [rank])
        program = job.programs[rank]
        del program[job.stop.pop(rank) :]
        for _ in range(40):
            program.append(
                Call("coll", solo, "all_reduce", [[1]], [[1]], site="evaluate", duration_ns=4 * SECOND_NS)
            )
    return job


PROGRAMS = {
    "flat": flat,
    "uniform": uniform,
    "uneven": uneven,
    "coalesced": coalesced,
    "pipeline": pipeline,
    "exchange": exchange,
    "two-groups": two_groups,
    "mesh": mesh,
    "rooted": rooted,
    "busy": busy,
}
