"""What the benchmarks share: the cost of a command, and dumps of a job of any size, made fast."""

import ast
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tests", "dumps"))

import dump_bytes
import dump_job
import dump_record

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


class Cost:
    """The least wall time of some runs with the CPU time of that run, and the largest resident set.

    One more run goes first, to warm the cache (`warm`). `text` is what the last run printed, if it is
    wanted (`keep`), `status` how it ended; None: it was ended after `limit` seconds.
    """

    def __init__(self, command, runs, statuses=(0, 1), warm=True, keep=False, limit=0):
        self.wall = self.user = float("inf")
        self.rss, self.text, self.status = 0, "", None
        for number in range(runs + warm):
            self._run(command, keep, limit, counts=number >= warm)
            if self.status is None:
                return
            if statuses and self.status not in statuses:
                said = self.text[-500:]
                raise SystemExit(f"{sys.argv[0]}: {command[0]} ended with {self.status}: {said}")

    def _run(self, command, keep, limit, counts):
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


def role(ranks, entries, frames, stops):
    """The bytes of a rank that waits in the last but ten calls, or of the one that never came there."""
    job = dump_job.Job(ranks)
    group = job.group("default_pg", range(ranks))
    steps = []
    when = dump_job.EPOCH_NS
    hang = entries - 10
    for index in range(entries - 10 if stops else entries):
        size = 1024 + index % 4
        call = dump_job.Call(
            "coll",
            group,
            "all_reduce",
            [[size, 512]],
            [[size, 512]],
            "BFloat16",
            site=("forward", "backward", "step", "evaluate")[index % 4],
        )
        step = dump_job.Step(call, CULPRIT, index, [], when)
        step.launched = when
        step.done = when + 700_000 if index < hang else None
        steps.append(step)
        when += 1_500_000
    rank = CULPRIT if stops else 0
    style = dump_record.Style(frames=frames)
    dump = dump_record.Recorder(job, rank, style).dump(steps, when + dump_job.SECOND_NS)
    return dump_bytes.encode(dump)


def make(folder, ranks, entries, frames):
    """One file per rank. Ranks of a role differ only in the id of their thread, which is patched in."""
    os.makedirs(folder)
    for stops in (False, True):
        data = role(ranks, entries, frames, stops)
        thread = re.search(rb"1396\d{11}", data).group()
        cut = data.index(thread)
        for rank in range(ranks):
            if (rank == CULPRIT) == stops:
                with open(os.path.join(folder, f"nccl_trace_rank_{rank}"), "wb") as stream:
                    stream.write(data[:cut])
                    stream.write(b"%d" % (139_600_000_000_000 + rank * 4096))
                    stream.write(data[cut + len(thread) :])


def size_of(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder))
