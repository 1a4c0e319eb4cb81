"""What the benchmarks share: the cost of a command, who it names, and dumps of a job of any size, made
fast."""

import ast
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tests", "dumps"))

import dump_bytes
import dump_job
import dump_record

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CULPRIT = 3
DEEP = [
    (f"stage_{number}", f"site-packages/framework/core/schedule_{number}.py", 100 + number)
    for number in range(7)
]
LOAD = """
import pickle, sys, os
for folder in sys.argv[1:]:
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as stream:
            pickle.load(stream)
"""
# A process starts with the peak of the one that made it; so a small one goes between.
LAUNCH = """
import os, signal, sys, time
report, limit = int(sys.argv[1]), int(sys.argv[2])
os.set_inheritable(report, False)
late = []
started = time.perf_counter()
pid = os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ)
signal.signal(signal.SIGALRM, lambda number, frame: (late.append(1), os.kill(pid, signal.SIGKILL)))
signal.alarm(limit)
_, status, usage = os.wait4(pid, 0)
wall = time.perf_counter() - started
status = os.waitstatus_to_exitcode(status)
os.write(report, repr((wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, late or status)).encode())
"""
dump_record.TAIL[1:1] = DEEP  # stacks as deep as those of a real trainer


def busy_seconds():
    """CPU time that this machine has spent on anything, and that others have taken from it."""
    with open("/proc/stat") as stream:
        ticks = [int(word) for word in stream.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


class Cost:
    """The least wall time of some runs with the CPU time of that run, and the largest resident set.

    A run in which others had over a tenth of the machine does not count as one of them, as long as there is
    `patience`: seconds, of all that are measured.
    One more run goes first, to warm the cache (`warm`). `text` is what the last run printed, if it is
    wanted (`keep`), `status` how it ended; None: it was ended after `limit` seconds.
    """

    patience = 0

    def __init__(self, command, runs, statuses=(0, 1), warm=True, keep=False, limit=0):
        self.wall = self.user = float("inf")
        self.rss, self.text, self.status = 0, "", None
        left = runs
        if warm:
            self._run(command, keep, limit, counts=False)
        while left:
            started = time.monotonic()
            quiet = self._run(command, keep, limit, counts=True)
            if self.status is None:
                return
            if statuses and self.status not in statuses:
                said = self.text[-500:]
                raise SystemExit(f"{sys.argv[0]}: {command[0]} ended with {self.status}: {said}")
            if quiet or Cost.patience <= 0:
                left -= 1
            else:
                time.sleep(1)
                Cost.patience -= time.monotonic() - started

    def _run(self, command, keep, limit, counts):
        """-> whether the machine was quiet."""
        before = busy_seconds()
        sinks = (subprocess.PIPE, subprocess.STDOUT) if keep else (subprocess.DEVNULL, subprocess.PIPE)
        report, write = os.pipe()
        words = [sys.executable, "-S", "-E", "-c", LAUNCH, str(write), str(limit), *command]
        run = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=sinks[0], stderr=sinks[1], pass_fds=[write]
        )
        os.close(write)
        out, error = run.communicate()
        with os.fdopen(report) as stream:
            answer = stream.read()
        self.text = (out if keep else error).decode("utf-8", "replace")
        if not answer:
            raise SystemExit(f"{sys.argv[0]}: {command[0]} cannot be run: {self.text[-500:]}")
        wall, user, rss, status = ast.literal_eval(answer)
        self.status = None if isinstance(status, list) else status
        self.rss = max(self.rss, rss * 1024)
        if counts and wall < self.wall:
            self.wall, self.user = wall, user
        others = busy_seconds() - before - user
        return others <= 0.05 + 0.1 * wall * os.cpu_count()


def with_parts(page, parts):
    """A page with other text between `<!-- name -->` and `<!-- end -->`."""
    for name, text in parts.items():
        found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", page, re.S)
        page = page[: found.start(1)] + text + "\n" + page[found.end(1) :]
    return page


def write_figures(parts):
    """The same of docs/PERFORMANCE.md, where it lies."""
    path = os.path.join(ROOT, "docs", "PERFORMANCE.md")
    with open(path, encoding="utf-8") as file:
        page = with_parts(file.read(), parts)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def blamed(text):
    """Ranks that torchfrtrace names: those that lack a call, and those that differ."""
    ranks = {int(word) for word in re.findall(r"Culprit rank (\d+)", text)}
    for group in re.findall(r"^missing ranks: \{([\d, ]*)\}", text, re.M):
        ranks.update(int(word) for word in group.split(",") if word.strip())
    return ranks


def named(text):
    """Ranks that hangscope names; text: its JSON."""
    return {row["rank"] for row in json.loads(text)["verdict"]["culprits"]}


SITES = ("forward", "backward", "step", "evaluate")


def encode(job, rank, calls, done, frames):
    """The bytes of a rank that made these calls, of which the first `done` are finished."""
    steps, when = [], dump_job.EPOCH_NS
    for index, call in enumerate(calls):
        step = dump_job.Step(call, rank, index, [], when)
        step.launched = when
        step.done = when + 700_000 if index < done else None
        steps.append(step)
        when += 1_500_000
    style = dump_record.Style(frames=frames)
    return dump_bytes.encode(dump_record.Recorder(job, rank, style).dump(steps, when + dump_job.SECOND_NS))


def reduce_of(group, index):
    size = [[1024 + index % 4, 512]]
    return dump_job.Call("coll", group, "all_reduce", size, size, "BFloat16", site=SITES[index % 4])


def replaced(data, old, new):
    """With another string: each is there once, with its length, and never by its place."""
    old, new = old.encode(), new.encode()
    old, new = (b"X" + len(text).to_bytes(4, "little") + text for text in (old, new))
    assert data.count(old) == 1, old
    return data.replace(old, new)


def thread_of(rank):
    return str(139_600_000_000_000 + rank * 4096)


def put(folder, rank, data):
    with open(os.path.join(folder, f"nccl_trace_rank_{rank}"), "wb") as stream:
        stream.write(data)


def make(folder, ranks, entries, frames):
    """A job of one group whose rank 3 leaves the last ten calls to the others. One file per rank.

    Ranks of a role differ only in the id of their thread, which is patched in.
    """
    os.makedirs(folder)
    job = dump_job.Job(ranks)
    group = job.group("default_pg", range(ranks))
    calls = [reduce_of(group, index) for index in range(entries)]
    waits = encode(job, 0, calls, entries - 10, frames)
    for rank in range(ranks):
        if rank != CULPRIT:
            put(folder, rank, replaced(waits, thread_of(0), thread_of(rank)))
    put(folder, CULPRIT, encode(job, CULPRIT, calls[: entries - 10], entries - 10, frames))


TENSOR = 8  # ranks of a tensor group; one of each is in a data group


class MeshRank:
    """Names and members of the two groups of a rank, as its dump writes them."""

    def __init__(self, rank, ranks):
        first = rank - rank % TENSOR
        self.names = f"{10000 + rank // TENSOR}", f"{20000 + rank % TENSOR}"
        self.members = range(first, first + TENSOR), range(rank % TENSOR, ranks, TENSOR)
        self.lists = [str(list(members)) for members in self.members]

    def texts(self):
        return [*self.names, *self.lists]


def make_mesh(folder, ranks, entries, frames):
    """A job of tensor and data groups: in each step four calls in the one, then one in the other.

    Rank 3 does not come to a call of its tensor group near the end. Its mates wait for it there, the rest
    of the job a little later for the mates; all run on as far as their queues let them.
    """
    os.makedirs(folder)
    hang = entries // 5 * 5 - 9
    for model, done in ((CULPRIT, hang), (0, hang), (TENSOR, hang + 3)):
        mine = MeshRank(model, ranks)
        job = dump_job.Job(ranks)
        groups = []
        for kind, (name, members) in zip(("TENSOR", "DATA"), zip(mine.names, mine.members)):
            groups.append(job.group(f"{kind}_PARALLEL_GROUP", members))
            groups[-1].name = groups[-1].shown = name
        calls = [reduce_of(groups[index % 5 == 4], index) for index in range(entries)]
        data = encode(job, model, calls[: hang if model == CULPRIT else entries], done, frames)
        for rank in range(ranks):
            kin = CULPRIT if rank == CULPRIT else 0 if rank < TENSOR else TENSOR
            if kin != model:
                continue
            text = replaced(data, thread_of(model), thread_of(rank))
            for old, new in zip(mine.texts(), MeshRank(rank, ranks).texts()):
                text = replaced(text, old, new)
            put(folder, rank, text)


def size_of(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder))
