"""Plans as Python data, and runs of them against the NCCL double. Standard library only."""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dumps"))

import hangscope_run  # noqa: E402

MARK = "HS_TEST_RUN"  # in the environment of a run: by it what is left of the run is found
GRACE_S = 5  # for what ends by itself
SHORT_S, LONG_S = 2, 20  # deadlines: of what hangs, of what does not


def world(ranks, *programs, groups=None, rows=None):
    """A plan. Without `rows` rank i runs programs[i], the last ones run the last program."""
    groups = groups or [{"name": "0", "desc": "default_pg", "ranks": f"0-{ranks - 1}"}]
    if rows is None:
        rows = [
            {"ranks": str(rank), "program": min(rank, len(programs) - 1), "groups": list(range(len(groups)))}
            for rank in range(ranks)
        ]
    return {
        "format": "hangscope.plan/1",
        "semantics": "nccl",
        "groups": [dict({"backend": "nccl"}, **group) for group in groups],
        "programs": programs,
        "ranks": rows,
    }


def call(op, shape, dtype="Float", group=0, **more):
    return dict({"group": group, "op": op, "in": [shape], "dtype": dtype}, **more)


def batch(*calls):
    return {"batch": list(calls)}


def shared_files():
    return {name for name in os.listdir("/dev/shm") if name.startswith("nccl-")}


def processes(mark):
    """The processes of a run."""
    found = []
    for name in os.listdir("/proc"):
        try:
            environment = Path("/proc", name, "environ").read_bytes() if name.isdigit() else b""
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment.split(b"\0"):
            found.append(int(name))
    return found


class Leftovers:
    """What a run leaves: its processes, and new shared memory of NCCL."""

    def __init__(self):
        self.mark, self.before = uuid.uuid4().hex, shared_files()

    def environment(self, more):
        return dict(os.environ, **{MARK: self.mark}, **more)

    def find(self):
        """Other tests have shared memory, too, but not for long."""
        end = time.monotonic() + GRACE_S
        while True:
            left = processes(self.mark) + sorted(shared_files() - self.before)
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.05)


class Lab:
    def __init__(self, hangscope, replay, double):
        self.hangscope, self.replay, self.double = hangscope, replay, Path(double)

    def variant(self, name):
        return self.double.with_name(f"libnccl_double_{name}.so")

    def run(self, plan, *options, library=None, deadline=LONG_S, env=None, timeout=90):
        """hangscope-replay on a plan."""
        left = Leftovers()
        command = [self.replay, "--json", "--deadline", str(deadline)]
        command += ["--nccl-lib", str(library or self.double), *options, "-"]
        done = subprocess.run(
            command,
            input=json.dumps(plan),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            env=left.environment(env or {}),
        )
        return Run(done, left.find())

    def traced(self, plan, *options, **more):
        """The run, and per rank process how often it called what."""
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace"
            env = dict(more.pop("env", None) or {}, HS_DOUBLE_TRACE=str(trace))
            run = self.run(plan, *options, env=env, **more)
            counts = collections.defaultdict(collections.Counter)
            for line in trace.read_text().splitlines() if trace.exists() else []:
                pid, name = line.split()
                counts[pid][name] += 1
        return run, list(counts.values())

    def verdicts(self, path, *options, deadline=SHORT_S, nccl=(), env=None):
        """What the dry run of a path says, and what the run says."""
        path, options = str(path), ["-q", *options]
        dry = hangscope_run.Verdict(self.hangscope, [path], *options, command="replay")
        wanted = ["--backend", "nccl", "--nccl-lib", str(self.double), "--deadline", str(deadline), *nccl]
        run = hangscope_run.Verdict(self.hangscope, [path], *options, *wanted, command="replay", env=env)
        return dry, run

    def same(self, path, *options, **more):
        """Whether the run gives the verdict of the dry run, and both."""
        dry, run = self.verdicts(path, *options, **more)
        known = dry.object is not None and run.object is not None and not dry.trouble and not run.trouble
        same = known and (dry.code, dry.culprits, dry.operation) == (run.code, run.culprits, run.operation)
        return same, f"dry {dry}; nccl {run}"


class Run:
    """The end of hangscope-replay."""

    def __init__(self, done, left):
        self.status, self.stderr, self.left = done.returncode, done.stderr, left
        self.stdout = done.stdout
        try:
            self.object = json.loads(done.stdout) if done.stdout else None
        except ValueError:
            self.object = None
        self.ranks = {row["rank"]: row for row in (self.object or {}).get("ranks", [])}

    @property
    def outcome(self):
        return self.object["outcome"] if self.object else None

    def calls(self):
        """The states of all calls, by rank."""
        return [self.ranks[rank]["calls"] for rank in sorted(self.ranks)]

    def states(self):
        return [self.ranks[rank]["state"] for rank in sorted(self.ranks)]

    def __str__(self):
        left = f", left behind: {self.left}" if self.left else ""
        what = f"{self.outcome} {self.calls()} {self.states()}" if self.object else self.stdout[-300:]
        return f"exit {self.status}{left} {what} {self.stderr.strip()[-300:]}"
