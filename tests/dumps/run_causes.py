#!/usr/bin/env python3
"""run_causes.py HANGSCOPE: what the places in the user's code say - causes, and calls that are uneven.

Each case is a handful of ranks, each a list of calls (operation, elements, function, line). The last call of
a list that ends in "..." is unfinished.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile

LIBRARY = "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py"
T0 = 1_758_610_500_000_000_000


def frames(function, line):
    inner = [("all_reduce", LIBRARY, 2963)]
    user = [(function, "/workspace/train.py", line), ("main", "/workspace/train.py", 344)]
    return [{"name": n, "filename": f, "line": at} for n, f, at in inner + user]


def dump(rank, ranks, calls):
    entries = []
    for index, (op, elements, function, line, *waits) in enumerate(calls):
        done = not waits
        entries.append(
            {
                "frames": frames(function, line),
                "record_id": index,
                "pg_id": 0,
                "process_group": ("0", "default_pg"),
                "collective_seq_id": index + 1,
                "p2p_seq_id": 0,
                "op_id": index + 1,
                "profiling_name": f"nccl:{op}",
                "time_created_ns": T0 + index * 1_000_000 + rank,
                "input_sizes": [[elements]],
                "input_dtypes": ["Float"],
                "output_sizes": [[elements]],
                "output_dtypes": ["Float"],
                "state": "completed" if done else "scheduled",
                "time_discovered_started_ns": None,
                "time_discovered_completed_ns": T0 + index * 1_000_000 + 500_000 if done else None,
                "retired": done,
                "timeout_ms": 600_000,
                "is_p2p": False,
            }
        )
    done = sum(entry["retired"] for entry in entries)
    status = {
        "last_enqueued_collective": len(entries),
        "last_started_collective": -1,
        "last_completed_collective": done,
    }
    group = {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}
    dump = {"version": "2.10", "comm_lib_version": "2.27.3", "entries": entries}
    dump.update(pg_config={"0": group}, pg_status={"0": status})
    return pickle.dumps(dump, 2)


def step(line=219):
    return [("all_reduce", 1024, "train_step", line)]


def waiting(call):
    return [(*call, "...")]


CASES = {
    # name: (programs, cause or None, finding that must (not) be there)
    "a barrier that only rank 0 reaches": (
        [step() * 3 + waiting(("barrier", 1, "save_metrics", 301))] + [step() * 3 + waiting(step()[0])] * 3,
        "rank0-only-branch",
        None,
    ),
    "a rank out of data goes on to the closing barrier": (
        [step() * 5 + waiting(step()[0])] * 2
        + [step() * 5 + waiting(("barrier", 1, "finish", 401))]
        + [step() * 5 + waiting(step()[0])],
        "uneven-steps",
        None,
    ),
    "another branch of the same function": (
        [step() + waiting(step(219)[0])] * 2
        + [step() + waiting(("broadcast", 64, "train_step", 227))]
        + [step() + waiting(step(219)[0])],
        "data-dependent-branch",
        None,
    ),
    "a rank saves a checkpoint with a collective of its own": (
        [step() * 3 + waiting(step()[0])] * 3
        + [step() * 3 + waiting(("all_gather", 8, "save_checkpoint", 88))],
        "slow-checkpoint",
        None,
    ),
    "one place, other sizes: no cause is supported": (
        [step() * 3 + waiting(step()[0])] * 3 + [step() * 3 + waiting(("all_reduce", 7, "train_step", 219))],
        None,
        None,
    ),
    "healthy, and every call from the same places": ([step() * 6] * 4, None, "not uneven-calls"),
    "healthy, but one rank calls from another place": (
        [step() * 6] * 3 + [step() * 5 + [("all_reduce", 1024, "evaluate", 55)]],
        None,
        "uneven-calls",
    ),
}


def check(binary, programs, cause, finding):
    with tempfile.TemporaryDirectory() as folder:
        for rank, calls in enumerate(programs):
            with open(os.path.join(folder, f"rank_{rank}"), "wb") as stream:
                stream.write(dump(rank, len(programs), calls))
        run = subprocess.run([binary, "analyze", "--json", folder], capture_output=True, timeout=60)
    report = json.loads(run.stdout)
    if report["verdict"]["cause"] != cause:
        yield f"cause {report['verdict']['cause']} of {report['verdict']['code']}, want {cause}"
    codes = [f["code"] for f in report["findings"]]
    if finding and ("uneven-calls" in codes) != (finding == "uneven-calls"):
        yield f"findings {codes}, want {finding}"
    if finding and report["verdict"]["code"] != "healthy":
        yield f"code {report['verdict']['code']}, want healthy"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    for name, (programs, cause, finding) in CASES.items():
        found = list(check(sys.argv[1], programs, cause, finding))
        failed += bool(found)
        for line in found:
            print(f"{name}: {line}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
